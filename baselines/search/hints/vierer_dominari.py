"""What search can know of Vierer-Dominari."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.hints import Hints
from azumaya.envs.games._dominari.board import BLANK_STONES, BLANKS
from azumaya.envs.games._dominari.turn import dead_cells
from azumaya.envs.games.vierer_dominari.rules import FOURS, IN_A_ROW, evaluate, has_four
from azumaya.envs.geometry.dominari36 import FULL, PEERS
from azumaya.envs.kernels.bits import ZERO, bit, lowest, popcount
from azumaya.envs.kernels.compile import kernel


@kernel
def fillable(state, own, dead):
    """Rule 3: whether blanks on dead cells can complete a four with these stones."""
    if not has_four(own | dead):
        return False
    left = BLANK_STONES - popcount(state.blanks)
    if left >= IN_A_ROW:
        return True
    for i in range(FOURS.shape[0]):
        missing = FOURS[i] & ~own
        if missing & ~dead == ZERO and popcount(missing) <= left:
            return True
    return False


@kernel
def wins_now(state):
    """Rule 3: whether the player to move can complete a four in this turn, with a referee."""
    own, dead = state.colours[state.to_move], dead_cells(state)
    if state.phase == BLANKS:
        return fillable(state, own, dead)
    some, several = ZERO, ZERO
    for n in range(len(state.candidates)):
        several |= some & state.candidates[n]
        some |= state.candidates[n]
    for n in range(len(state.candidates)):
        left = state.candidates[n] & state.targets
        while left != ZERO:
            cell = lowest(left)
            here = bit(cell)
            left ^= here
            killed = state.candidates[n] & ~several & PEERS[cell]
            if fillable(state, own | here, dead | killed):
                return True
    return False


@kernel
def bounds(state):
    """The least and the most that the player to move still gains."""
    if state.no_referee:
        return -1, 1
    if wins_now(state):
        return 1, 1
    own, other = state.colours[state.to_move], state.colours[1 - state.to_move]
    return -np.int64(has_four(FULL & ~own)), np.int64(has_four(FULL & ~other))


HINTS = Hints(bounds=bounds, rank=evaluate)
