"""Connect Four for a score: the sooner a win, the more it pays.

A win pays 22 less the winner's discs: 18 with four, 1 with all 21. A draw pays 0. These are the
scores of Pascal Pons, "Solving Connect Four" (2016), so the solver finds them by playing this game.
"""

from __future__ import annotations

from dataclasses import replace

from azumaya.baselines.search.hints import Hints, register_hints
from azumaya.benchmarks.yardstick import connect_four
from azumaya.benchmarks.yardstick.connect_four import CELLS, IN_A_ROW
from azumaya.benchmarks.yardstick.connect_four_search import (
    BOARD,
    OUTLOOK_WORDS,
    UP,
    most_of_o,
    most_of_x,
    outlook,
    parries,
    rank,
    threats,
    widen,
)
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import ZERO, popcount
from azumaya.envs.kernels.compile import kernel

MOST = CELLS // 2 + 1
"""A win pays this less the winner's discs."""


@kernel
def play(state, action):
    """Drop a disc."""
    mover = state.to_move
    connect_four_play(state, action)
    state.payoff *= MOST - popcount(state.discs[mover])


connect_four_play = connect_four.play


@kernel
def bounds(state):
    """What the player to move gains at least and at most.

    A win or a loss at once is exact. Otherwise both players need two more discs for a win, and the
    bounds of Connect Four tell who does not win.
    """
    mover = state.to_move
    own, other = widen(state.discs[mover]), widen(state.discs[1 - mover])
    empty = BOARD & ~(own | other)
    landing = empty & ~(empty >> UP)
    gain, loss = MOST - popcount(own) - 1, MOST - popcount(other) - 1
    if threats(own, empty) & landing != ZERO:
        return gain, gain
    feared = threats(other, empty)
    if not parries(landing, feared):
        return -loss, -loss
    if mover == 0:
        most = most_of_x(other, feared, empty, landing)
    else:
        most = most_of_o(other, feared, empty, landing)
    highest = max(gain - 1, 0)
    return min(1 - loss, 0), min(highest, most) if most < 1 else highest


def scores(game: Game) -> Game:
    """Connect Four for a score."""
    rules = replace(game.rules, play=play)
    options = replace(game.options, payoff_bound=lambda settings: MOST - IN_A_ROW)
    return replace(game, name="connect_four_score", rules=rules, options=options)


GAME: Game = scores(connect_four.GAME)
register_hints(GAME, Hints(bounds=bounds, outlook=outlook, outlook_words=OUTLOOK_WORDS, rank=rank))
