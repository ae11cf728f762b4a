"""What learners can know of Halma-Dominari."""

from __future__ import annotations

from azumaya.baselines.search.hints import Hints
from azumaya.envs.games.halma_dominari.board import CHOOSE, NUMBERS
from azumaya.envs.games.halma_dominari.rules import START, goals, stones_of, taken_cells
from azumaya.envs.geometry.dominari36 import FULL
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import word_in


@kernel
def reach(state, player, board):
    """The free cells to which a player's stones could go, or where the next one could be placed."""
    if state.stage == CHOOSE:
        board[0] = START[player] & ~stones_of(state, player)
        return
    found = goals(state, player, taken_cells(state))
    for n in range(NUMBERS):
        board[0] |= word_in(found, n) & FULL


HINTS = Hints(reach=reach)
