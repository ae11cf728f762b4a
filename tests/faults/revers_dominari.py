"""Faults in Revers-Dominari and in the code it builds on."""

from tests.faults import Fault

REVERS = "envs/games/dominari/revers.py"
TURN = "envs/games/dominari/turn.py"
SHIFTS = "envs/geometry/shifts36.py"

FAULTS = (
    Fault(
        "cells of the last file lead to the next row",
        SHIFTS,
        "[FULL & ~board_of(COLUMNS[5], 1)[0],",
        "[FULL,",
    ),
    Fault(
        "only one stone of a corner is captured",
        REVERS,
        "caught |= (side | post) & other",
        "caught |= side & other",
    ),
    Fault(
        "only one stone of an upright pair is captured",
        REVERS,
        "caught |= corner | side",
        "caught |= side",
    ),
    Fault(
        "a line needs no own end",
        REVERS,
        "if step(line, direction) & own != ZERO:",
        "if line != ZERO:",
    ),
    Fault(
        "a blank of the other colour captures for the mover",
        REVERS,
        "    if colour == state.to_move:\n",
        "    if colour == state.to_move or state.phase:\n",
    ),
    Fault(
        "an own blank does not capture",
        REVERS,
        "    if colour == state.to_move:\n",
        "    if colour == state.to_move and state.phase == 0:\n",
    ),
    Fault(
        "the mask knows half of the corners",
        REVERS,
        "cells |= step(own_side, along) & (other_side | other_post)",
        "cells |= step(own_side, along) & other_side",
    ),
    Fault(
        "four in a row are too many", REVERS, "LONGEST_LINE = SIZE - 2", "LONGEST_LINE = SIZE - 3"
    ),
    Fault(
        "the game ends when the next player is stuck",
        REVERS,
        "    state.targets = places(state, mover)\n    return can_lay(state)",
        "    return False",
    ),
    Fault(
        "dead cells need not be empty",
        TURN,
        "return FULL & ~(taken(state) | fitting(state))",
        "return FULL & ~fitting(state)",
    ),
    Fault(
        "the mask keeps the rule without a referee",
        TURN,
        "allowed = FULL if state.no_referee else state.candidates[n]",
        "allowed = state.candidates[n]",
    ),
    Fault(
        "one may claim after an undo",
        TURN,
        "if state.no_referee and stands and state.to_move != mover:",
        "if state.no_referee and state.to_move != mover:",
    ),
    Fault(
        "the side to move at the end",
        TURN,
        "    state.payoff = payoff\n    state.to_move = mover",
        "    state.payoff = payoff\n    state.to_move = 1 - mover",
    ),
    Fault(
        "the margin has the wrong sign",
        TURN,
        "        return difference\n",
        "        return -difference\n",
    ),
)
