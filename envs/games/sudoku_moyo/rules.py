"""Sudoku Moyo, by Günter Cornett: the rules.

1. A Sudoku puzzle is laid out. Its stones belong to the regions in which they lie.
2. While any number may still be placed in the neutral region, the player to move places one there.
3. After that, the player to move places a number in one of their own regions.
4. No number appears twice in a row, a column, a block or a region.
5. A player who is to move and cannot place a stone loses. There is no draw.

With `scoring="points"` the winner goes on placing stones for as long as one fits. The score is the
number of stones placed since the loser's last one.

Source: the rulebook of Sudoku Moyo (intellego holzspiele). The game's page, with all options, is
`docs/games/sudoku_moyo.md`.
Decisions: a starter who cannot move when play begins has lost at once; with points the winner
then gets what can still be placed, perhaps nothing.
End: the player to move cannot place a stone; with points, the winner cannot either.
Bound: every step but the ten before play places a stone, so a game has at most 91 steps.

Actions, state and planes are in `board`, the stages before play in `before_play`. `reset` is
`draw_start`: one of the prepared starts, drawn by the episode's key.
"""

from __future__ import annotations

from azumaya.envs.game import TERMINATED
from azumaya.envs.games._shima.before_play import (
    observe_before_play,
    play_before,
    write_before_play,
)
from azumaya.envs.games._shima.board import HANDICAP, NEUTRAL, PLAY, POINTS, ROW
from azumaya.envs.games._shima.stones import (
    lay,
    neutral_candidates,
    neutral_room,
    observe_cells,
    own,
    stones_of,
)
from azumaya.envs.games.sudoku_moyo.board import AT
from azumaya.envs.geometry.sudoku81 import CELLS
from azumaya.envs.kernels.bits import popcount, put_byte
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit, load, store

# ---- rule predicates ----


@kernel
def target(state):
    """Rules 2 and 3: the owner of the regions in which the player to move must place."""
    return NEUTRAL if neutral_room(state) else own(state, state.to_move)


@kernel
def can_move(state, player):
    """Rules 2 to 4: whether a player could place a stone if it were their turn."""
    forbidden = stones_of(state, own(state, 1 - player))
    return any_bit(load(state.candidates, 0, ROW) & ~forbidden)


@kernel
def starter_can_move(state):
    """Whether the player to move could place a stone."""
    return can_move(state, state.to_move)


# ---- kernels ----


@kernel
def write_legal(state, packed):
    """Set the bits of candidates AND territory, or of the choices before play."""
    if state.over:
        return
    if state.stage < HANDICAP:
        write_before_play(state, packed)
        return
    neutral = neutral_candidates(state)
    if any_bit(neutral):
        store(packed, 0, neutral)
    else:
        side = stones_of(state, own(state, state.to_move))
        store(packed, 0, load(state.candidates, 0, ROW) & side)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if state.stage < PLAY:
        play_before(state, action)
        if state.stage == PLAY and not can_move(state, state.to_move):
            win(state, 1 - state.to_move, mover)
        return
    lay(state, action // CELLS, action % CELLS)
    if state.stage == POINTS:
        state.streak += 1
        finish_points(state, mover, mover)
    elif can_move(state, 1 - mover):
        state.to_move = 1 - mover
    else:
        state.streak = state.points
        win(state, mover, mover)


@kernel
def win(state, winner, mover):
    """Rule 5: the winner's opponent is to move and cannot."""
    if state.points:
        state.stage = POINTS
        finish_points(state, winner, mover)
    else:
        finish(state, winner, 1, mover)


@kernel
def finish_points(state, winner, mover):
    """Scoring by points: the winner must go on while a stone fits; then the game is over."""
    state.to_move = winner
    if not can_move(state, winner):
        finish(state, winner, state.streak, mover)


@kernel
def finish(state, winner, gain, mover):
    """End the game; the side to move stays the player who made the last step."""
    state.over = TERMINATED
    state.payoff = gain if winner == 0 else -gain
    state.to_move = mover


@kernel
def observe(state, player, packed):
    """Write the planes `PLANES`."""
    observe_cells(state, player, packed)
    observe_numbers(state, player, packed, AT)


@kernel
def observe_numbers(state, player, packed, at):
    """Write the planes `NUMBER_PLANES`; `at` is that of the game."""
    observe_before_play(state, player, packed, at)
    put_byte(packed, at.points, state.streak + 1 if state.points else 0)


@kernel
def evaluate(state, player):
    """Mobility: the candidates in the player's regions minus those in the opponent's."""
    mine, theirs = own(state, player), own(state, 1 - player)
    balance = 0
    for w in range(ROW):
        balance += popcount(state.candidates[w] & state.territory[mine, w])
        balance -= popcount(state.candidates[w] & state.territory[theirs, w])
    return balance
