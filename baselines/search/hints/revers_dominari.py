"""What learners can know of Revers-Dominari."""

from __future__ import annotations

from typing import Any

from azumaya.baselines.search.hints import Hints
from azumaya.envs.games._dominari.turn import fitting
from azumaya.envs.games.revers_dominari.rules import captured, places
from azumaya.envs.kernels.bits import ONE, ZERO, bit, lowest
from azumaya.envs.kernels.compile import kernel


def reach_kernel(places: Any) -> Any:
    """The kernel `reach(state, player, board)`: where a player's next number could go.

    Args:
        places: kernel `places(state, player)`: the cells where the player's number may go, the
            Sudoku rule aside.
    """

    @kernel
    def reach(state, player, board):
        board[0] = places(state, player)
        if not state.no_referee:
            board[0] &= fitting(state)

    return reach


reach = reach_kernel(places)


@kernel
def takes(state, player, board):
    """Rule 3: the stones that a player's next number could turn over, wherever it is placed."""
    own, other = state.colours[player], state.colours[1 - player]
    reach(state, player, board)
    left, caught = board[0], ZERO
    while left != ZERO:
        caught |= captured(own, other, bit(lowest(left)))
        left &= left - ONE
    board[0] = caught


HINTS = Hints(reach=reach, takes=takes)
