"""Faults in Halma-Dominari and in the code it builds on."""

from tests.faults import Fault

RULES, MOVES = "envs/games/halma/rules.py", "envs/games/halma/moves.py"

FAULTS = (
    Fault("one jump only", MOVES, "        landed = landed | fresh\n", "        return fresh\n"),
    Fault(
        "free cells on which the number clashes are jumped over",
        MOVES,
        "landed = jumps_from(stones, player, taken)",
        "landed = jumps_from(stones, player, ~room(state, player) | taken)",
    ),
    Fault("the Sudoku rule does not bind", MOVES, " & room(state, player)\n", "\n"),
    Fault(
        "a stone jumps over the corner though no stone is there",
        MOVES,
        "gate = GATE[player] if CORNER[player] & taken else ZERO",
        "gate = GATE[player]",
    ),
    Fault("no leaving at the end of a chain", MOVES, "(stones | landed) & gate", "stones & gate"),
    Fault(
        "a chain that reaches the corner may go on out",
        MOVES,
        "leaving = (stones & CORNER[player])",
        "leaving = ((stones | landed) & CORNER[player])",
    ),
    Fault(
        "stones may go round the edge",
        MOVES,
        "    cells = forward(stones, player, 0)\n",
        "    cells = forward(stones, player, 0)\n"
        "    cells = cells | ((stones >> DOWN_BITS[player, 1] << UP_BITS[player, 1]) & FULL)\n",
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
