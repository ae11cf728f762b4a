"""Memory for a search along one line of play, which alpha-beta and proof-number search share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.children import DONE, PLIES
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.table import MOST_HASHED
from azumaya.envs.errors import OptionError
from azumaya.envs.game import as_states
from azumaya.envs.kernels.bits import U64
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.states import words_of

USUAL_MOVES = 64
"""The moves for which there is room at each ply, on average over a line."""
SHORT = 1000.0
"""Time limits in milliseconds up to which a search should not wait for memory."""

CONTROL = np.dtype(
    [
        ("ply", np.int64),
        ("phase", np.int64),  # the next step, which each search numbers from 0; or `DONE`
        ("nodes", np.int64),  # positions visited, which is moves made
        ("age", np.int64),
        ("key", U64),  # breaks ties at the root
        ("bound", np.int64),  # the game's payoff bound, for alpha-beta, as are the next two
        ("value", np.int64),  # value of the last position, for player_0
        ("proven", np.int64),  # whether that is independent of the horizon
    ]
)


class Line(NamedTuple):
    """The memory of a search along one line, as its kernels take it.

    Attributes:
        states: `(n,)`, the root and the positions after the moves of the line.
        words_of: their words, `(n, W)`.
        outlooks: room for one outlook.
        words: room for a row of legal actions.
        frames: `(PLIES + 1,)`, a frame for each ply.
        tried: `(PLIES + 1,)`, the move tried at each ply, for alpha-beta.
        moves: `(n,)`, the listed moves, each with the slot of the position after it.
        table: the table of positions.
        control: `(1,)`, the state of the search, see `CONTROL`.
        weights: those of the `Evaluation`, for alpha-beta.
        scratch: what the `Evaluation` may write to.
    """

    states: np.ndarray
    words_of: np.ndarray
    outlooks: np.ndarray
    words: np.ndarray
    frames: np.ndarray
    tried: np.ndarray
    moves: np.ndarray
    table: np.ndarray
    control: np.ndarray
    weights: np.ndarray
    scratch: np.ndarray


@kernel
def forget(control, key):
    """Empty a search's table and reset its counters; `key` breaks ties at the root."""
    own = control[0]
    own.age += 1  # entries of another age do not count
    own.ply, own.phase, own.nodes, own.key = 0, DONE, 0, key


class LineRoom:
    """A frame for each ply of a line, and slots for the positions after its moves.

    Args:
        kernels: the game's kernels.
        run: the kernel `run(limit, line)` that goes on until `limit` positions were visited or the
            search ends.
        frame: the dtype of a frame.
        move: the dtype of a listed move.
        table: the table of positions, whose entries have a field `age`.

    Attributes:
        memory: all of it, for kernels.

    Raises:
        HiddenDrawsError: the game has hidden draws.
        OptionError: positions have too many words to be looked up in a table.
    """

    def __init__(
        self,
        kernels: GameKernels,
        run: Any,
        frame: np.dtype[Any],
        move: np.dtype[Any],
        table: np.ndarray,
    ) -> None:
        kernels.check_open()
        self.kernels, self._run, self._touched = kernels, run, False
        slots = 1 + USUAL_MOVES * PLIES + 64 * kernels.words
        states = kernels.game.new_states(slots)
        outlooks = np.zeros((1, max(kernels.hints.outlook_words, 1)), np.uint64)
        hashed = words_of(states) if kernels.hints.outlook is None else outlooks
        if hashed.shape[1] > MOST_HASHED:
            raise OptionError(
                f"{kernels.game.id}: positions of {hashed.shape[1]:,} words cannot be looked up in "
                f"a table; the most is {MOST_HASHED:,}, also of an outlook"
            )
        self.memory = Line(
            states, words_of(states), outlooks, np.zeros(kernels.words, np.uint64),
            as_states(np.zeros(PLIES + 1, frame)), np.zeros(PLIES + 1, np.int64),
            as_states(np.zeros(slots, move)), table, as_states(np.zeros(1, CONTROL)),
            np.zeros(0, np.float32), np.zeros(0, np.uint64),
        )  # fmt: skip

    def prepare(self, budget: Budget) -> None:
        """Get ready for searches with a budget; call it before the clock runs.

        If they are short, all of the table's memory is taken now. Systems that give it out in pages
        of 2 MB may need milliseconds for each, and a search soon visits them all.
        """
        if not self._touched and (budget.milliseconds or math.inf) <= SHORT:
            self.memory.table["age"] = 0  # which it is before the first search
            self._touched = True

    def forget(self, key: int = 0) -> None:
        """Empty the table and reset the counters; `key` breaks ties at the root."""
        forget(self.memory.control, np.uint64(key))

    def go_on(self, limit: int) -> None:
        """Search until `limit` positions have been visited or the search ends."""
        self._run(limit, self.memory)

    @property
    def nodes(self) -> int:
        """Positions visited since the search forgot all others."""
        return int(self.memory.control["nodes"][0])

    @property
    def done(self) -> bool:
        """Whether the current search has ended."""
        return bool(self.memory.control["phase"][0] == DONE)
