"""Settings of searches: each is taken in its range by every search that has it, and no other."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.search import (
    PUCT,
    UCT,
    AlphaBeta,
    BatchPUCT,
    Budget,
    KeptUCT,
    SolverFirstAgent,
    solve,
)
from azumaya.envs import OptionError, Position
from tests.search.evaluations import Linear

SEARCHES: dict[str, tuple[Any, Callable[..., Any]]] = {
    "uct": (UCT, UCT),
    "puct": (PUCT, lambda budget, **given: PUCT(budget, **{"rollouts": 0.5, **given})),
    "alphabeta": (AlphaBeta, AlphaBeta),
    "batch puct": (BatchPUCT, lambda budget, **given: BatchPUCT(budget, Linear(), **given)),
    "kept": (KeptUCT, lambda budget, **given: KeptUCT(Position("connect_four"), budget, **given)),
    "solver first": (
        SolverFirstAgent, lambda budget, **given: SolverFirstAgent(RandomAgent(), budget, **given)
    ),
}  # fmt: skip
"""By name: the class, which has the settings, and what makes a search of a budget and settings."""
NUMBER, WHOLE = "a number from ", "a whole number from "
RANGES: dict[str, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {
    # above 3.4e38 it would be infinite where bonuses are computed, and choose the first move
    "exploration": (f"{NUMBER}0 to 1,000,000", (0, 1e6), (-1, 1.1e6, 3.5e38, 10**400)),
    # what is divided by a smaller one would be infinite
    "temperature": (f"{NUMBER}1e-30", (1e-30,), (0, 9e-31, 5e-324)),
    "megabytes": ("a number above 0 to 10,000,000", (64,), (0, -1, 1e12, None)),
    "rollouts": (f"{NUMBER}0 to 1", (0, 1), (-0.1, 1.5)),
    "noise": (f"{NUMBER}0 to 1", (0, 1), (-0.1, 1.5)),
    "concentration": (f"{NUMBER}0.01", (0.01,), (0, 0.009)),
    "cut": (f"{WHOLE}0 to 1073741824", (0, 2**30), (-1, 1.5, 2**30 + 1, 2**70, None)),
    "delay": (WHOLE, (0, 1), (-1, 1.5)),
    "breadth": (WHOLE, (0, 8), (-1, 2.5)),
    "threads": (WHOLE, (1, None), (-1, 0, 1.5)),
    "leaves": (WHOLE, (1,), (0, 1.5)),
    "batch": (WHOLE, (1,), (0, 1.5)),
    "games": (WHOLE, (1,), (0, 1.5)),
}
"""By setting: its range as errors name it, values in it, and values out of it."""


@pytest.mark.parametrize("name", SEARCHES)
def test_settings_are_taken_in_their_range_alone(name: str) -> None:
    """At once, before there is a position to search."""
    search, make = SEARCHES[name]
    for setting in inspect.getfullargspec(search).kwonlyargs:
        told, right, wrong = RANGES[setting]
        for value in right:
            make(Budget(10), **{setting: value})
        for value in (*wrong, math.nan, math.inf, "1", True):
            with pytest.raises(OptionError, match=rf"^{setting}=.*: {re.escape(told)}"):
                make(Budget(10), **{setting: value})


@pytest.mark.parametrize("name", SEARCHES)
def test_budgets_are_checked_at_once(name: str) -> None:
    for budget in (100, "100", None, Budget):
        with pytest.raises(OptionError, match=r"^budget=.*: a Budget is needed, such as Budget"):
            SEARCHES[name][1](budget)


@pytest.mark.parametrize(
    "given", [{}, {"steps": 0}, {"steps": 1.5}, {"steps": 1, "milliseconds": 1}]
)
def test_bad_budgets_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="budget"):
        Budget(**given)


def test_the_solver_has_a_budget_and_memory_too() -> None:
    for given in ({"nodes": 10, "megabytes": 0}, {"nodes": 0}, {"milliseconds": -1}, {}):
        with pytest.raises(OptionError):
            solve(Position("abalone"), **given)


@pytest.mark.parametrize("name", ["uct", "puct", "batch puct"])
def test_positions_that_are_over_are_refused(name: str) -> None:
    start, over = Position("connect_four"), Position("connect_four")
    while not over.is_over:
        over.play(over.legal_actions()[0])
    with pytest.raises(OptionError, match=r"positions\[1\]: the game is over"):
        SEARCHES[name][1](Budget(10)).search([start, over], [0, 0])


@pytest.mark.parametrize("name", ["uct", "puct", "batch puct"])
def test_positions_of_several_kinds_are_refused(name: str) -> None:
    """A search has room for states and moves like the first's, a network logits for its actions."""
    positions = [Position("score_dominari"), Position("score_dominari", referee=False)]
    with pytest.raises(
        OptionError, match=r"positions\[1\]: of .* actions; all must be of .* actions"
    ):
        SEARCHES[name][1](Budget(10)).search(positions, [0, 0])
