"""The features of a position: which rows of a value network's first layer are added up.

A feature set turns an observation into a list of row numbers. A network adds these rows instead of
multiplying a matrix, so an evaluation costs little more than reading the rows that apply.

`feature_sets.py` chooses the set of a game. Where only houses matter, `house_features.py` and
`open_features.py` treat all numbers alike, and all cells alike. On other boards cells share rows
with their symmetric images only (`board_features.py`); where it matters which numbers still fit a
cell, `laying_rows.py` adds rows. `plain_features` shares nothing and is there for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import ONE, ZERO, lowest
from azumaya.envs.kernels.compile import kernel


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a game.

    Attributes:
        kind: a name that is stored with a network; it changes if the meaning of the rows does.
        rows: the number of rows.
        most: the most features of a position.
        room: the size of the array that `write` needs: the features, and scratch space behind them.
        row_words: the words of a row for `write`: a packed observation, a zero behind it, and what
            `add` writes.
        write: kernel `write(row, memo, player, features)`: write the row numbers for an observation
            of `player`, `(row_words,)` uint64, to `(room,)` int32, and return how many there are.
            `memo`, `(memo_words,)` uint64, is zero at first, and only `write` changes it. What it
            holds changes the speed, never the result.
        memo_words: the words that `write` keeps from call to call, to work less; 0 for none.
        add: kernel `add(state, player, row)`: write to `row`, zeroed, what features need beyond the
            observation, for a player in a running position; None if nothing is needed.
        added_words: the words that `add` writes.
    """

    kind: str
    rows: int
    most: int
    room: int
    row_words: int
    write: Any
    memo_words: int = 0
    add: Any = None
    added_words: int = 0


def plain_features(game: Game) -> Features:
    """Features that know nothing of a game: each bit of the packed observation has a row.

    They are there for comparison: with them every number and every cell has to be learned on its
    own.
    """
    words = game.observation.packed_words
    bits = 64 * words
    return Features("plain 1", bits, bits, bits, words + 1, _plain_kernel(words))


def _plain_kernel(words):  # type: ignore[no-untyped-def]
    """The kernel of the features, for observations of this many words."""

    @kernel
    def write(row, memo, player, features):
        count = 0
        for w in range(words):
            left = row[w]
            while left != ZERO:
                features[count] = 64 * w + lowest(left)
                count += 1
                left &= left - ONE
        return count

    return write
