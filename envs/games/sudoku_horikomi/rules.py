"""Sudoku Horikomi, by Günter Cornett, a variant of Sudoku Moyo: the rules.

1. A Sudoku puzzle is laid out. Its stones belong to the regions in which they lie.
2. While any number may still be placed in the neutral region, the player to move places one there.
3. After that, the player to move places a number in any region but the neutral one, the opponent's
   regions included.
4. No number appears twice in a row, a column, a block or a region.
5. Each player has four stones of each number. A given is taken from the stones of the owner of its
   region, a stone placed by rule 3 from those of the player who places it. Stones placed by rule 2
   or as a handicap are taken from neither.
6. A player without a move is skipped. The game ends when neither player has one.
7. Then all empty cells get Moyo stones. The player with fewer Moyo stones in their own four regions
   wins; if equal, the player with more full regions; then with more regions of eight stones, of
   seven, and so on. If all are equal, the game is a draw.

Source: the rulebook of Sudoku Moyo (intellego holzspiele), variant Horikomi. The game's
page, with all options, is `docs/games/sudoku_horikomi.md`.
Decisions: rule 5; and a starter who cannot move when play begins, after other steps, is skipped by
rule 6.
End: neither player can place a stone.
Bound: as in Sudoku Moyo, 91 steps.

Actions, state and planes are in `board`, the stages before play in `before_play`. `reset` is
`draw_start`: one of the prepared starts, drawn by the episode's key.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import TERMINATED
from azumaya.envs.games._shima.before_play import (
    observe_before_play,
    play_before,
    write_before_play,
)
from azumaya.envs.games._shima.board import (
    ALL_STONES,
    DARK,
    HANDICAP,
    LIGHT,
    PLAY,
    ROW,
    STONES_WITH,
)
from azumaya.envs.games._shima.stones import (
    lay,
    neutral_candidates,
    observe_cells,
    own,
    region_word,
    word_of,
)
from azumaya.envs.games.sudoku_horikomi.board import AT, SET
from azumaya.envs.geometry.sudoku81 import CELLS, LOW_BITS, NUMBERS, WORDS
from azumaya.envs.kernels.bits import U64, ZERO, bit, get, nibble, popcount, put_byte
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit, load, store, where

FULL_STOCK = U64(int(str(SET) * NUMBERS, 16))
"""`SET` stones of each number, four bits a number."""

_FIRST = [w * LOW_BITS // CELLS for w in range(ROW)]
STONES_OF_FIRST = np.array([STONES_WITH[n, w] for w, n in enumerate(_FIRST)], U64)
STONES_OF_SECOND = np.array([ALL_STONES[w] & ~STONES_OF_FIRST[w] for w in range(ROW)], U64)
STOCK_OF_FIRST = np.array([1 << (4 * n) for n in _FIRST], U64)
STOCK_OF_SECOND = STOCK_OF_FIRST << U64(4)
"""A word of a row holds stones of at most two numbers. By word: the stones of the first number and
of the second, and the bit of `in_stock` that says whether any stone of that number is left."""

RANK_BITS = 3
"""Bits that count up to four regions that hold equally many stones."""
STONES_RANK = RANK_BITS * (NUMBERS + 1)
"""The bit of `rank` at which the number of stones begins, above ten counts of regions."""
CELL_WEIGHT = 16
"""What a cell counts in `evaluate`, compared with one candidate."""


# ---- rule predicates ----


@kernel
def in_stock(state, player):
    """Rule 5: the stones of the numbers that a player has left, as a row."""
    stock = state.stock[player]
    left = stock | (stock >> U64(1)) | (stock >> U64(2))  # 1 to 4 set one of the lowest three bits
    first = where(load(STOCK_OF_FIRST, 0, ROW) & left, load(STONES_OF_FIRST, 0, ROW))
    second = where(load(STOCK_OF_SECOND, 0, ROW) & left, load(STONES_OF_SECOND, 0, ROW))
    return first | second


@kernel
def can_move(state, player):
    """Rules 2 to 5: whether a player could place a stone if it were their turn."""
    own_choices = load(state.candidates, 0, ROW) & in_stock(state, player)
    return any_bit(neutral_candidates(state) | own_choices)


@kernel
def is_neutral(state, cell):
    """Rule 2: whether a cell lies in the neutral region."""
    return not (get(state.territory[LIGHT], cell) or get(state.territory[DARK], cell))


@kernel
def filled(state, w):
    """Word `w` of the cells on which a stone lies."""
    cells = ZERO
    for n in range(NUMBERS):
        cells |= word_of(state.stones, n, w)
    return cells


@kernel
def rank_of_region(stones):
    """What a region adds to its owner's rank, given the number of stones in it."""
    return (stones << STONES_RANK) + (1 << (RANK_BITS * stones))


@kernel
def rank(state, player):
    """Rule 7 as one number: the higher wins.

    Stones in the player's own regions (which mean fewer Moyo stones) count most, then the full
    regions, then those with eight stones, and so on.
    """
    low, high = filled(state, 0), filled(state, 1)
    side, total = own(state, player), 0
    for r in range(NUMBERS):
        in_low, in_high = region_word(state, r, 0), region_word(state, r, 1)
        if (in_low & state.territory[side, 0]) | (in_high & state.territory[side, 1]) != ZERO:
            stones = popcount(low & in_low) + popcount(high & in_high)
            total += rank_of_region(stones)
    return total


@kernel
def winner_sign(state):
    """Rule 7: 1 if player_0 has won, -1 if player_1 has, 0 for a draw."""
    lead = rank(state, 0) - rank(state, 1)
    return np.int64(lead > 0) - np.int64(lead < 0)


# ---- kernels ----


@kernel
def write_legal(state, packed):
    """Set the bits of the legal actions.

    These are the neutral candidates if there are any, else the candidates of the numbers in stock;
    before play, the choices of the stage.
    """
    if state.over:
        return
    if state.stage < HANDICAP:
        write_before_play(state, packed)
        return
    neutral = neutral_candidates(state)
    if any_bit(neutral):
        store(packed, 0, neutral)
    else:
        choices = in_stock(state, state.to_move)
        store(packed, 0, load(state.candidates, 0, ROW) & choices)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if state.stage < PLAY:
        play_before(state, action)
        if state.stage == PLAY:
            open_play(state)
            give_turn(state, state.to_move, mover)
        return
    number, cell = action // CELLS, action % CELLS
    if not is_neutral(state, cell):
        state.stock[mover] -= bit(4 * number)
    lay(state, number, cell)
    give_turn(state, 1 - mover, mover)


@kernel
def open_play(state):
    """Rule 5: take the givens outside the neutral region out of their owners' stocks.

    When play begins, no other stones lie there.

    Returns whether the player to move can place a stone.
    """
    for player in range(2):
        side = own(state, player)
        stock = FULL_STOCK
        for n in range(NUMBERS):
            givens = 0
            for w in range(ROW):
                givens += popcount(state.stones[w] & state.territory[side, w] & STONES_WITH[n, w])
            stock -= U64(givens) << U64(4 * n)
        state.stock[player] = stock
    return can_move(state, state.to_move)


@kernel
def give_turn(state, player, mover):
    """Rule 6: give the turn to a player, or to the other one, or end the game.

    After the end the side to move stays the player who made the last step.
    """
    if can_move(state, player):
        state.to_move = player
    elif can_move(state, 1 - player):
        state.to_move = 1 - player
    else:
        state.over = TERMINATED
        state.payoff = winner_sign(state)
        state.to_move = mover


@kernel
def observe(state, player, packed):
    """Write the planes `PLANES`."""
    observe_cells(state, player, packed)
    observe_before_play(state, player, packed, AT)
    for n in range(NUMBERS):
        put_byte(packed, AT.own_stock_1 + n, nibble(state.stock[player], n))
        put_byte(packed, AT.opposing_stock_1 + n, nibble(state.stock[1 - player], n))


@kernel
def evaluate(state, player):
    """Cells that are filled or can be in the player's regions, and candidates, less the opponent's.

    Cells count most: with one step of lookahead this won 98 % of 1,000 games against random play
    and 65 % against cells alone; candidates alone won 79 % and 15 %.
    """
    mine, theirs = own(state, player), own(state, 1 - player)
    balance = 0
    for w in range(WORDS):
        alive = filled(state, w)
        for n in range(NUMBERS):
            if nibble(state.stock[0] | state.stock[1], n):
                choices = word_of(state.candidates, n, w)
                alive |= choices
                balance += popcount(choices & state.territory[mine, w])
                balance -= popcount(choices & state.territory[theirs, w])
        balance += CELL_WEIGHT * popcount(alive & state.territory[mine, w])
        balance -= CELL_WEIGHT * popcount(alive & state.territory[theirs, w])
    return balance
