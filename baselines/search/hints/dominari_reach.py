"""Where numbers can go in Revers- and Score-Dominari."""

from __future__ import annotations

from typing import Any

from azumaya.envs.games._dominari.turn import fitting
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
