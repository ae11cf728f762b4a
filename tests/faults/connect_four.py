"""Faults in Connect Four, the yardstick."""

from tests.faults import Fault

RULES = "benchmarks/yardstick/connect_four.py"

FAULTS = (
    Fault(
        "fours go round the edge",
        RULES,
        "pairs & (pairs >> (STEPS[d] + STEPS[d])) & BEGINS[d] != ZERO",
        "pairs & (pairs >> (STEPS[d] + STEPS[d])) != ZERO",
    ),
    Fault("a rising diagonal does not win", RULES, "range(STEPS.shape[0])", "range(3)"),
    Fault(
        "three win",
        RULES,
        "pairs & (pairs >> (STEPS[d] + STEPS[d])) & BEGINS[d]",
        "pairs & (pairs >> STEPS[d]) & BEGINS[d]",
    ),
    Fault(
        "a full column takes a disc",
        RULES,
        "packed[0] = open_columns(state)",
        "packed[0] = TOP",
    ),
    Fault("a full board is no draw", RULES, "        state.over = TERMINATED\n", "        pass\n"),
    Fault("the loser is paid", RULES, "TERMINATED, 1 - 2 * mover", "TERMINATED, 2 * mover - 1"),
    Fault(
        "observed always from player_0's side",
        RULES,
        "put(packed, 0, CELLS, state.discs[player])",
        "put(packed, 0, CELLS, state.discs[0])",
    ),
    Fault(
        "texts with hanging discs are read",
        RULES,
        "if marks[cell] != EMPTY == marks[cell + WIDTH]:",
        "if marks[cell] != EMPTY != marks[cell + WIDTH] == 2:",
    ),
)
