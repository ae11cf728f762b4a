"""Faults in Abalone and in the code it builds on."""

from tests.faults import Fault

RULES, MOVES = "envs/games/abalone/rules.py", "envs/games/abalone/moves.py"

FAULTS = (
    Fault(
        "three push three",
        MOVES,
        "    third = facing_all(room | one | both) & own\n",
        "    both = both | (facing_all(both) & theirs)\n"
        "    third = facing_all(room | one | both) & own\n",
    ),
    Fault(
        "two push two",
        MOVES,
        "second = facing_all(room | one | third) & own",
        "second = facing_all(room | one | both | third) & own",
    ),
    Fault(
        "four marbles move in line",
        MOVES,
        "    return facing_all(room | second) & own\n",
        "    fourth = facing_all(facing_all(third) & second) & own\n"
        "    return facing_all(room | second | fourth) & own\n",
    ),
    Fault(
        "nothing is pushed off the board",
        MOVES,
        "one = (facing_all(room) | ~load(HAS, 0, DIRECTIONS)) & theirs",
        "one = facing_all(room) & theirs",
    ),
    Fault(
        "a broadside needs one free cell only",
        MOVES,
        "twos = pairs & beside & facing_each(beside, AXIS_TURNS, KINDS)",
        "twos = pairs & beside",
    ),
    Fault(
        "a broadside of three needs two free cells only",
        MOVES,
        "threes = twos & facing_each(twos, AXIS_TURNS, KINDS)",
        "threes = twos & facing_each(pairs, AXIS_TURNS, KINDS)",
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
        "    return any_bit(in_line(own, theirs, free))\n",
        "    return False\n",
    ),
    Fault(
        "marbles always count at the limit",
        RULES,
        "state.payoff = state.tiebreak * tiebreak_payoff(state)",
        "state.payoff = tiebreak_payoff(state)",
    ),
    Fault(
        "the limit is a ply late",
        RULES,
        "state.ply >= state.max_plies",
        "state.ply > state.max_plies",
    ),
)
