"""What search and learners can know of Score-Dominari."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.hints import Hints
from azumaya.baselines.search.hints.revers_dominari import reach_kernel
from azumaya.envs.games._dominari.turn import MOST_POINTS, ROWS_AND_COLUMNS, fitting, lead, taken
from azumaya.envs.games.score_dominari.rules import places
from azumaya.envs.geometry.dominari36 import HOUSE_BOARDS
from azumaya.envs.kernels.bits import ZERO, popcount
from azumaya.envs.kernels.compile import kernel


@kernel
def most_more(state, player):
    """The most points that a player can still add to those on the board, with a referee."""
    other, total = state.colours[1 - player], popcount(fitting(state))
    open_cells = ~taken(state)
    for h in range(HOUSE_BOARDS.shape[0]):
        house = HOUSE_BOARDS[h]
        if house & other == ZERO and house & open_cells != ZERO:
            total += 3 if h < ROWS_AND_COLUMNS else 2
    return total


@kernel
def bounds(state):
    """The least and the most that the player to move still gains."""
    ahead = lead(state, state.to_move)
    least = ahead - most_more(state, 1 - state.to_move)
    most = ahead + most_more(state, state.to_move)
    if state.no_referee:
        least, most = -MOST_POINTS, MOST_POINTS
    if state.margin:
        return least, most
    return (
        np.int64(least > 0) - np.int64(least < 0),
        np.int64(most > 0) - np.int64(most < 0),
    )


reach = reach_kernel(places)

HINTS = Hints(bounds=bounds, reach=reach)
