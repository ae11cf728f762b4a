"""Faults in Vierer-Dominari and in the code it builds on."""

from tests.faults import Fault

VIERER = "envs/games/dominari/vierer.py"
TURN, BOARD = "envs/games/dominari/turn.py", "envs/games/dominari/board.py"

FAULTS = (
    Fault(
        "fours may fill any square", VIERER, "step(pairs, DOWN) & BLOCK_ENDS", "step(pairs, DOWN)"
    ),
    Fault(
        "a full block does not win",
        VIERER,
        "return squares | rows | columns != ZERO",
        "return rows | columns != ZERO",
    ),
    Fault(
        "a column does not win",
        VIERER,
        "return squares | rows | columns != ZERO",
        "return squares | rows != ZERO",
    ),
    Fault(
        "numbers may be laid diagonally to a stone",
        VIERER,
        "return beside(stones) & ~stones",
        "return (beside(stones) | step(step(stones, RIGHT), DOWN)) & ~stones",
    ),
    Fault(
        "a wrong turn wins",
        VIERER,
        "    if state.wrong:\n        retract(state, colour)\n",
        "    if state.wrong == 2:\n        retract(state, colour)\n",
    ),
    Fault(
        "a wrong turn makes a draw",
        TURN,
        "        elif state.wrong:\n",
        "        elif state.wrong == 2:\n",
    ),
    Fault(
        "a claim can be repeated",
        TURN,
        "            finish(state, 0, claimant)\n        else:\n            forget(state)",
        "            finish(state, 0, claimant)\n        else:\n            state.wrong = 0",
    ),
    Fault(
        "an older mistake makes player_0 win",
        TURN,
        "finish(state, 0, claimant)",
        "finish(state, 1, claimant)",
    ),
    Fault(
        "the wrong side has won",
        VIERER,
        "finish(state, 1 - 2 * colour, colour)",
        "finish(state, 2 * colour - 1, colour)",
    ),
    Fault("thirteen blanks", BOARD, "BLANK_STONES = 12", "BLANK_STONES = 13"),
    Fault("a turn too many", BOARD, "TURN_LIMIT = 200", "TURN_LIMIT = 201"),
    Fault("blanks stay when a turn is taken back", TURN, "    state.blanks &= before\n", ""),
)
