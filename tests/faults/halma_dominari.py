"""Faults in Halma-Dominari and what it stands on."""

from tests.faults import Fault

RULES = "envs/rules/halma_dominari.py"

FAULTS = (
    Fault("one jump only", RULES, "        landed |= fresh\n", "        return fresh\n"),
    Fault(
        "free cells on which the number clashes are jumped over",
        RULES,
        "landed = jumps_from(stone, player, taken)",
        "landed = jumps_from(stone, player, taken | (FULL & ~fits(state, player, number)))",
    ),
    Fault(
        "the Sudoku rule does not bind",
        RULES,
        " & fits(state, player, number)\n",
        "\n",
    ),
    Fault(
        "a stone jumps over the corner though no stone is there",
        RULES,
        "over = (stone | landed) & GATE[player] != ZERO and corner & taken != ZERO",
        "over = (stone | landed) & GATE[player] != ZERO",
    ),
    Fault(
        "no leaving at the end of a chain",
        RULES,
        "over = (stone | landed) & GATE[player] != ZERO",
        "over = stone & GATE[player] != ZERO",
    ),
    Fault(
        "a chain that reaches the corner may go on out",
        RULES,
        "if stone == corner or (over and stone != ZERO):",
        "if (stone | landed) & corner != ZERO or (over and stone != ZERO):",
    ),
    Fault(
        "stones may go round the edge",
        RULES,
        "    board = board & KEPT[player, way]\n",
        "",
    ),
    Fault(
        "the game is a draw when the next player cannot move",
        RULES,
        "        state.to_move = 1 - mover\n    elif not can_move(state, mover):\n",
        "        state.to_move = 1 - mover\n    else:\n",
    ),
    Fault(
        "the loser wins",
        RULES,
        "state.payoff = 1 - 2 * mover",
        "state.payoff = 2 * mover - 1",
    ),
    Fault(
        "the last stone laid by black is left out",
        RULES,
        "if mover == BLACK and laid(state, BLACK) == NUMBERS:",
        "if mover == BLACK and laid(state, BLACK) == NUMBERS - 1:",
    ),
)
