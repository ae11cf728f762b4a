"""The payoff bound, on which proofs rely; that no game pays more is a law of the contract."""

from __future__ import annotations

from dataclasses import replace

import pytest

from azumaya.baselines.search import analyse, solve
from azumaya.envs import GAMES, OptionError, Position
from tests.cases import YARDSTICK


def test_payoffs_that_searches_cannot_count_are_refused() -> None:
    """Above it bounds would be "proven" that a game's payoffs exceed."""
    options = YARDSTICK.options
    rich = replace(YARDSTICK, name="rich", options=replace(options, payoff_bound=lambda _: 2**18))
    for search in (solve, analyse):
        with pytest.raises(OptionError, match=r"can gain 262,144; searches need .* below 262,144"):
            search(Position(rich, seed=1), nodes=10)
    poor = replace(rich, options=replace(options, payoff_bound=lambda _: 2**18 - 1))
    assert solve(Position(poor, seed=1), nodes=10).value is None


def test_wins_pay_one() -> None:
    assert all(game.options.payoff_bound(game.options.defaults) == 1 for game in GAMES.values())
