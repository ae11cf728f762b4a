"""Sudoku tiles, the Sudoku of Brettspielnetz: the rules.

1. Of 81 tiles, nine of each number, nine lie on the board at random, one in each row and each
   column, no number twice in a row, column or block.
2. The other tiles are shuffled. The player to move is shown the next one and lays it on an empty
   cell, so that no number stands twice in a row, column or block (Sudoku's rule).
3. It scores a point for each tile already lying in the same row, column or block, counted once.
4. The game ends when the tile drawn fits nowhere, or the tiles run out. More points win; equal
   points draw.

With `misplacement` a tile may go to any empty cell. One that breaks Sudoku's rule there scores
nothing and is put aside for good.

Source: the rules of Brettspielnetz (2024) and `shared/rules.md`, section 4. Decisions: tiles put
aside; random starts are equally likely among all that obey the rule; the first tile is drawn
from those that fit.
Bound: every step uses up a tile, so an episode has at most 81 steps.

State, start and pile: see `sudoku_tiles_deal`.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.bits import ZERO, has, nibble, popcount, put, put_byte, word_count
from azumaya.envs.compile import kernel
from azumaya.envs.game import TERMINATED, Game, Option, Plane, Symmetries, one_of
from azumaya.envs.geometry.sudoku81 import CELLS, GRID, NUMBERS, PEERS, SQUARES, WORDS
from azumaya.envs.geometry.symmetry import houses_kept
from azumaya.envs.rules import sudoku_tiles_text as words_of
from azumaya.envs.rules.sudoku_tiles_deal import (
    EACH,
    STATE,
    TILES,
    draw,
    fits,
    lay,
    resample,
    reset,
)

MOST_POINTS = CELLS * 20 // 2
"""Each pair of cells that share a house scores once at most: for the tile laid later."""
HUNDRED = 100
PLANES = (
    *(Plane(f"tile {n}", f"a {n} lies here") for n in range(1, NUMBERS + 1)),
    Plane("fits", "the drawn tile may be laid here by Sudoku's rule"),
    Plane("to move", "1 if the observer is to move", "number"),
    Plane("drawn", "the number of the drawn tile, 0 if none is left", "number", NUMBERS),
    *(
        Plane(f"left {n}", f"tiles with the {n} still to be drawn", "number", EACH)
        for n in range(1, NUMBERS + 1)
    ),
    *(
        Plane(f"{whose} {part}", f"{part} of {who} points", "number", high)
        for whose, who in (("own", "the observer's"), ("opposing", "the opponent's"))
        for part, high in (("hundreds", MOST_POINTS // HUNDRED), ("ones", HUNDRED - 1))
    ),
    Plane("misplacement", "1 if tiles may be misplaced", "number"),
    Plane("points", "1 if the reward is points", "number"),
)
FITS_PLANE = NUMBERS
CELL_BITS, HIGH_BITS = 64, CELLS - 64
FIRST_NUMBER = 8 * word_count((FITS_PLANE + 1) * CELLS)

SYMMETRIES = Symmetries(
    group=houses_kept(GRID),
    numbers=NUMBERS,
    fields={
        "candidates": "number cells",
        "stones": "number cells",
        "empty": "cells",
        "left": "counts",
        "pile": "tiles",
        "tile": "tiles",
    },
    planes={"tile": "number", "left": "number", "drawn": "tile"},
    actions=lambda settings: ("cell",),
)
"""Tiles fit and score by houses alone, never by what lies beside them, and numbers count only by
being equal or not."""


# ---- rule predicates ----


@kernel
def may_lie(state, w):
    """Word `w` of the cells on which the drawn tile may be laid by Sudoku's rule (rule 2)."""
    return state.candidates[state.tile - 1, w] if state.tile else ZERO


@kernel
def points_on(state, cell):
    """Rule 3: the tiles lying in the row, column and block of a cell."""
    near = 0
    for w in range(WORDS):
        near += popcount(PEERS[cell, w] & ~state.empty[w])
    return near


# ---- kernels ----


@kernel
def write_legal(state, words):
    """The candidates of the drawn number; all empty cells where tiles may be misplaced."""
    if state.over:
        return
    for w in range(WORDS):
        words[w] = state.empty[w] if state.misplacement else may_lie(state, w)


@kernel
def play(state, action):
    """Lay the drawn tile on a cell, or put it aside, and draw the next."""
    mover, number = state.to_move, state.tile - 1
    if has(state.candidates[number, action >> 6], action & 63):
        gain = points_on(state, action)
        state.scores[mover] += gain
        if state.points:
            state.payoff += gain if mover == 0 else -gain
        lay(state, number, action)
    if state.height == 0:
        state.tile = 0
        finish(state)
        return
    draw(state)
    if fits(state, state.tile - 1):
        state.to_move = 1 - mover
    else:
        finish(state)


@kernel
def finish(state):
    """Rule 4: the game is over; the side to move stays whoever made the last step."""
    state.over = TERMINATED
    if not state.points:
        lead = state.scores[0] - state.scores[1]
        state.payoff = np.int64(lead > 0) - np.int64(lead < 0)


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    for n in range(NUMBERS):
        put_board(words, n, state.stones[n, 0], state.stones[n, 1])
    put_board(words, FITS_PLANE, may_lie(state, 0), may_lie(state, 1))
    put_byte(words, FIRST_NUMBER, np.int64(state.to_move == player and not state.over))
    put_byte(words, FIRST_NUMBER + 1, state.tile)
    at = FIRST_NUMBER + 2
    for n in range(NUMBERS):
        put_byte(words, at + n, nibble(state.left, n))
    at += NUMBERS
    for side in range(2):
        score = state.scores[player ^ side]
        put_byte(words, at + 2 * side, score // HUNDRED)
        put_byte(words, at + 2 * side + 1, score % HUNDRED)
    put_byte(words, at + 4, state.misplacement)
    put_byte(words, at + 5, state.points)


@kernel
def put_board(words, plane, low, high):
    """One plane of cells."""
    put(words, plane * CELLS, CELL_BITS, low)
    put(words, plane * CELLS + CELL_BITS, HIGH_BITS, high)


@kernel
def evaluate(state, player):
    """The own points less the opponent's."""
    return state.scores[player] - state.scores[1 - player]


GAME = Game(
    name="sudoku_tiles",
    title="Sudoku tiles",
    state=STATE,
    shape=(9, 9),
    planes=PLANES,
    options=(
        Option(
            "start",
            "random",
            '`"random"`, `"one_each"` or 81 characters (`.` or `0` = empty)',
            "The tiles on the board: nine at random, one in each row and column; the numbers 1 to "
            "9 once each, one in each row, column and block; or any board that obeys Sudoku's "
            "rule and has a cell for the first tile.",
            words_of.check_start,
        ),
        Option(
            "draws",
            None,
            "digits 1-9 or None",
            "The tiles drawn first, in this order; the others are drawn by the seed. From a "
            "position text they follow the tile drawn, as long as they are left.",
            words_of.check_draws,
        ),
        Option(
            "misplacement",
            False,
            "`False`, `True`",
            "Every empty cell is an action; a tile laid against Sudoku's rule scores 0 and is put "
            "aside for good.",
            one_of("misplacement", False, True),
        ),
        Option(
            "reward",
            "win",
            '`"win"`, `"points"`',
            "`win`: +1, -1 or 0 at the end. `points`: whoever lays a tile gets its points, the "
            "opponent their negative, at once; nothing more at the end.",
            one_of("reward", "win", "points"),
        ),
    ),
    reset=reset,
    play=play,
    write_legal=write_legal,
    observe=observe,
    evaluate=evaluate,
    num_actions=lambda settings: CELLS,
    max_steps=lambda settings: TILES,
    payoff_bound=lambda settings: MOST_POINTS if settings["reward"] == "points" else 1,
    starts=words_of.starts,
    move_name=lambda action, settings: SQUARES[action],
    parse_move=words_of.parse_move,
    write_text=words_of.write_text,
    read_text=words_of.read_text,
    explain=words_of.explain,
    action_cells=lambda action, settings: (action,),
    scene=words_of.scene,
    check_state=words_of.check_state,
    resample=resample,
    hidden=("pile", "fixed", "began"),
    revealed=words_of.revealed,
    symmetries=SYMMETRIES,
    variants=words_of.VARIANTS,
)
