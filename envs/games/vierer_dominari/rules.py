"""Vierer-Dominari: the rules.

1. On the empty board the first number goes anywhere. Every later one goes beside a stone of either
   colour. Blanks count as stones; diagonal neighbours do not count.
2. Blanks are placed in the mover's own colour.
3. Four stones of one's own colour, numbers or blanks, win at once if they are side by side in a
   row or column, or fill a block.
4. If no number can be placed by rule 1 when a turn is over, the game is a draw.

The numbers are 1 to 5. The turn, blanks and the game without a referee are in `_dominari/turn.py`.

Source: "Sudoku goes Classic"; the whole contract and the decisions are in
`docs/games/vierer_dominari.md`. Nobody is ever skipped, since rule 1 is the same for both players.
How it ends: by rule 3 or 4; without a referee also by a draw after a claim or by the turn limit.
Bound: the board takes 36 stones, and each number is followed by at most one `end`, so 72 steps;
without a referee 200 turns of at most 14 steps.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.games._dominari.board import BLANK_STONES
from azumaya.envs.games._dominari.turn import (
    can_lay,
    claim_kernel,
    close_turn,
    count_turn,
    dead_cells,
    finish,
    finish_kernel,
    observe_turn,
    play_kernel,
    retract_kernel,
    taken,
    write_legal_kernel,
)
from azumaya.envs.games.vierer_dominari.board import BOARD
from azumaya.envs.geometry.dominari36 import (
    BLOCKS,
    COLUMNS,
    DOWN,
    FULL,
    RIGHT,
    ROWS,
    SIZE,
    beside,
    step,
)
from azumaya.envs.kernels.bits import U64, ZERO, board_of, popcount
from azumaya.envs.kernels.compile import kernel

AT = BOARD.at

IN_A_ROW = 4
BLOCK_ENDS = board_of([block[-1] for block in BLOCKS], 1)[0]
"""The last cell of each block."""
FOURS = np.array(
    [
        board_of(line[first : first + IN_A_ROW], 1)[0]
        for line in ROWS + COLUMNS
        for first in range(SIZE - IN_A_ROW + 1)
    ]
    + [board_of(block, 1)[0] for block in BLOCKS]
)
"""Every four of rule 3."""
BEGINS = np.array(
    [
        board_of((line[first] for line in lines for first in range(SIZE - IN_A_ROW + 1)), 1)[0]
        for lines in (ROWS, COLUMNS)
    ]
    + [board_of((block[0] for block in BLOCKS), 1)[0]]
)
"""The first cells of the fours in rows, in columns and in blocks."""
OTHER_CELLS = np.array([[1, 2, 3], [SIZE, 2 * SIZE, 3 * SIZE], [1, SIZE, SIZE + 1]], U64)
"""How much further the other cells of such a four are."""
FOUR_SCORES = np.array([[0, 1, 6, 60, 1000], [0, 1, 8, 400, 1000]])
"""The score of a four by how many of its cells a player holds, if the opponent holds none. The
second row is for the player to move, who may fill it. With one row for both, greedy play did not
block an opponent who held three."""


# ---- rule predicates ----


@kernel
def places(state, player):
    """Rule 1: where a number may go, the Sudoku rule aside."""
    stones = taken(state)
    if stones == ZERO:
        return FULL
    return beside(stones) & ~stones


@kernel
def has_four(board):
    """Rule 3: whether a player with these stones has a four."""
    pairs = board & step(board, RIGHT)
    squares = pairs & step(pairs, DOWN) & BLOCK_ENDS
    rows = pairs & step(step(pairs, RIGHT), RIGHT)
    pairs = board & step(board, DOWN)
    columns = pairs & step(step(pairs, DOWN), DOWN)
    return squares | rows | columns != ZERO


# ---- kernels ----


@kernel
def next_turn(state, mover):
    """The other player is next; False if the game ends (rule 4)."""
    state.to_move = 1 - mover
    state.targets = places(state, 1 - mover)
    return can_lay(state)


@kernel
def no_payoff(state):
    """Rule 4: a draw."""
    return 0


retract = retract_kernel(next_turn)


@kernel
def after_stone(state, colour, cell):
    """Rule 3: four stones end the game, or undo the turn if it was wrong."""
    if not has_four(state.colours[colour]):
        return False
    if state.wrong:
        retract(state, colour)
        close_turn(state, colour, 0)
    else:
        count_turn(state)
        finish(state, 1 - 2 * colour, colour)
    return True


play = play_kernel(
    BOARD,
    after_stone,
    finish_kernel(next_turn, retract, no_payoff),
    claim_kernel(retract),
)
write_legal = write_legal_kernel(BOARD)


@kernel
def observe(state, player, packed):
    """Write the planes."""
    observe_turn(state, player, packed, AT)


@kernel
def score_fours(own, closed, scores, turn):
    """The scores of the fours without a closed cell, by how many of their cells are a player's."""
    total = 0
    for k in range(BEGINS.shape[0]):
        a, b, c = OTHER_CELLS[k, 0], OTHER_CELLS[k, 1], OTHER_CELLS[k, 2]
        fours = BEGINS[k] & ~(closed | closed >> a | closed >> b | closed >> c)
        # Each bit is a four, counted by its first cell: `ones` and `twos` are the binary digits of
        # the number of own stones, unless these are all four.
        first, second, third, fourth = own, own >> a, own >> b, own >> c
        ones = first ^ second ^ third ^ fourth
        pair, other_pair = first & second, third & fourth
        twos = pair ^ other_pair ^ ((first ^ second) & (third ^ fourth))
        total += scores[turn, 1] * popcount(fours & ones & ~twos)
        total += scores[turn, 2] * popcount(fours & ~ones & twos)
        total += scores[turn, 3] * popcount(fours & ones & twos)
        total += scores[turn, 4] * popcount(fours & pair & other_pair)
    return total


@kernel
def evaluate(state, player):
    """The scores of the fours still open to a player, less those open to the opponent."""
    own, other = state.colours[player], state.colours[1 - player]
    turn = np.int64(state.to_move == player)
    stuck = ZERO
    if popcount(state.blanks) == BLANK_STONES:
        stuck = dead_cells(state)
    return score_fours(own, other | stuck, FOUR_SCORES, turn) - score_fours(
        other, own | stuck, FOUR_SCORES, 1 - turn
    )
