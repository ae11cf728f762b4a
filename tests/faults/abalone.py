"""Faults in Abalone and what it stands on."""

from tests.faults import Fault

RULES, MOVES = "envs/rules/abalone.py", "envs/rules/abalone_moves.py"

FAULTS = (
    Fault(
        "three push three",
        RULES,
        "    third = own & facing(free | one | both, direction)\n",
        "    both |= theirs & facing(both, direction)\n"
        "    third = own & facing(free | one | both, direction)\n",
    ),
    Fault(
        "two push two",
        RULES,
        "second = own & facing(free | one | third, direction)",
        "second = own & facing(free | one | both | third, direction)",
    ),
    Fault(
        "four marbles move in line",
        RULES,
        "    return own & facing(free | second, direction)\n",
        "    return own & facing(free | second | (own & facing(second & facing(third, direction),"
        " direction)), direction)\n",
    ),
    Fault(
        "nothing is pushed off the board",
        RULES,
        "one = theirs & (facing(free, direction) | ~HAS[direction])",
        "one = theirs & facing(free, direction)",
    ),
    Fault(
        "a broadside needs one free cell only",
        RULES,
        "twos = pairs & beside & facing(beside, axis)",
        "twos = pairs & beside",
    ),
    Fault(
        "a broadside of three needs two free cells only",
        RULES,
        "threes = twos & facing(twos, axis)",
        "threes = twos & facing(pairs, axis)",
    ),
    Fault(
        "the third marble of a broadside stays",
        RULES,
        "if action >= FIRST_THREE:",
        "if action > FIRST_THREE + 200:",
    ),
    Fault(
        "the second marble pushed stays where it is",
        RULES,
        "pushed = one | (shifted(one, direction) & theirs)",
        "pushed = one",
    ),
    Fault("five out win", RULES, "state.out[other] >= TO_WIN", "state.out[other] >= TO_WIN - 1"),
    Fault(
        "a player without a legal move is to move",
        RULES,
        "if state.out[other] >= TO_WIN or not can_move(state, other):",
        "if state.out[other] >= TO_WIN:",
    ),
    Fault(
        "pushes are no moves to one who has no other",
        RULES,
        "    return pushes != ZERO\n",
        "    return False\n",
    ),
    Fault(
        "marbles always count at the limit",
        RULES,
        "state.payoff = state.tiebreak * lead(state)",
        "state.payoff = lead(state)",
    ),
    Fault(
        "the limit is a ply late",
        RULES,
        "state.ply >= state.max_plies",
        "state.ply > state.max_plies",
    ),
)
