"""The rematch rule of Sudoku Moyo: the same puzzle twice, with the roles swapped.

1. The first game is played as Sudoku Moyo, scored by points.
2. The second game begins from the same puzzle. The other player has light, and the other player
   starts. Regions, colours and starter that were chosen in the first game are swapped, not chosen
   again; a handicap stays with its player. A starter without a move loses the second game at once.
3. The only rewards come at the end of the second game: +1, -1 or 0 by the sum of both games.

Source: the rulebook of Sudoku Moyo (intellego holzspiele). See
`docs/games/sudoku_moyo.md`, section Match.
Decisions: those of Sudoku Moyo.
End: the second game is over.
Bound: twice that of one game, 182 steps.

`reset`, `write_legal` and `evaluate` are those of Sudoku Moyo.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import RUNNING
from azumaya.envs.games._shima.before_play import begin_handicap, first_start
from azumaya.envs.games._shima.board import ALL_STONES, NUMBER_ACTIONS, PLAY, ROW, STARTER
from azumaya.envs.games._shima.stones import lay, observe_cells, put_stones
from azumaya.envs.games.sudoku_moyo import rules as moyo
from azumaya.envs.games.sudoku_moyo.rules import can_move, win
from azumaya.envs.games.sudoku_moyo_match.board import AT, GIVENS_PLANE
from azumaya.envs.geometry.sudoku81 import CELLS
from azumaya.envs.kernels.bits import clear, get, put_byte
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import load, store


@kernel
def play(state, action):
    """Make a legal move; the last move of the first game begins the second."""
    mover = state.to_move
    if state.stage == STARTER:
        state.began = action - first_start(state)
    moyo.play(state, action)
    if state.over and state.game == 0:
        begin_second(state, mover)
    sum_up(state)


@kernel
def begin_second(state, mover):
    """Rule 2: the same puzzle, with the roles swapped."""
    state.first = state.payoff
    state.game = 1
    state.over = RUNNING
    state.payoff = 0
    state.streak = 0
    lay_puzzle_again(state)
    state.light = 1 - state.light
    state.starter = 1 - state.began
    state.handicap = state.stones_before
    state.handicap_player = state.lays_before
    begin_handicap(state)
    if state.stage == PLAY and not can_move(state, state.to_move):
        win(state, 1 - state.to_move, mover)


@kernel
def lay_puzzle_again(state):
    """Clear the board and place the puzzle again."""
    store(state.candidates, 0, load(ALL_STONES, 0, ROW))
    clear(state.stones)
    for action in range(NUMBER_ACTIONS):
        if get(state.givens, action):
            lay(state, action // CELLS, action % CELLS)


@kernel
def sum_up(state):
    """Rule 3: when the second game is over, the sum of both decides."""
    if state.over:
        total = state.first + state.payoff
        state.payoff = np.int64(total > 0) - np.int64(total < 0)


@kernel
def observe(state, player, packed):
    """Write the planes `PLANES`."""
    observe_cells(state, player, packed)
    put_stones(packed, GIVENS_PLANE, load(state.givens, 0, ROW))
    moyo.observe_numbers(state, player, packed, AT)
    ahead = state.first if player == 0 else -state.first
    lays = 10 if state.lays_before == player and state.stones_before else 0
    known = state.stage > STARTER or not state.chooses
    put_byte(packed, AT.second, state.game)
    put_byte(packed, AT.began, np.int64(known and state.began == player))
    put_byte(packed, AT.ahead, max(ahead, 0))
    put_byte(packed, AT.behind, max(-ahead, 0))
    put_byte(packed, AT.handicap_to_come, state.stones_before + lays)
