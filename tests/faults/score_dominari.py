"""Faults in Score-Dominari and in the code it builds on."""

from tests.faults import Fault

SCORE = "envs/games/dominari/score.py"
TURN = "envs/games/dominari/turn.py"
SHIFTS = "envs/geometry/shifts36.py"

FAULTS = (
    Fault("the right is never used up", SCORE, "        state.free[colour] = 0\n", ""),
    Fault(
        "an undo does not give the rights back",
        SCORE,
        "    state.free[BLACK] = state.prior_free[BLACK]\n",
        "",
    ),
    Fault(
        "the skipping player gets the right",
        SCORE,
        "        state.free[state.to_move] = 1\n",
        "        state.free[1 - state.to_move] = 1\n",
    ),
    Fault(
        "the game ends when the next player is stuck",
        SCORE,
        "    while not can_lay(state):\n",
        "    if not can_lay(state):\n        return False\n    while not can_lay(state):\n",
    ),
    Fault(
        "diagonals do not count",
        SHIFTS,
        "return level | step(wide, DOWN) | step(wide, UP)",
        "return level | step(board, DOWN) | step(board, UP)",
    ),
    Fault(
        "older mistakes do not matter",
        TURN,
        "elif breaks_rule(state):",
        "elif state.no_referee == 2:",
    ),
    Fault(
        "the corners are swapped",
        SCORE,
        'np.array([CELL["a1"], CELL["f6"]])',
        'np.array([CELL["f6"], CELL["a1"]])',
    ),
    Fault("rows count as blocks", TURN, "total += 3 if h < ROWS_AND_COLUMNS else 2", "total += 2"),
    Fault(
        "a blank costs nothing",
        TURN,
        "                total -= 1\n",
        "                total -= 0\n",
    ),
    Fault(
        "blanks count as numbers",
        TURN,
        "total = popcount(own & ~state.blanks)",
        "total = popcount(own)",
    ),
    Fault(
        "the constraint boards stay when a turn is taken back",
        TURN,
        "    find_candidates(state)\n    state.phase = NUMBER\n",
        "    state.phase = NUMBER\n",
    ),
)
