"""No game pays more than its payoff bound, on which proofs rely."""

from __future__ import annotations

import pytest

from azumaya.baselines.search.game_kernels import payoff_bound
from azumaya.envs import GAMES
from tests.cases import CASES, Case
from tests.search.positions import before_the_end


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_no_game_pays_more_than_its_bound(case: Case) -> None:
    usual = payoff_bound(case.position())
    assert usual >= 1
    for seed in range(5):
        end = before_the_end(case.game, dict(case.options), seed, 0)
        assert end.is_over
        assert abs(end.returns()[0]) <= usual


def test_wins_pay_one() -> None:
    assert all(game.options.payoff_bound(game.options.defaults) == 1 for game in GAMES.values())
