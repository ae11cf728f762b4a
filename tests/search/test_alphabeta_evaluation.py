"""Alpha-beta with an evaluation of one's own: it is used at the horizon, and proves nothing."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.search import AlphaBetaAgent, solve
from azumaya.baselines.search.alphabeta import AlphaBeta
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.evaluation import own_evaluation
from azumaya.baselines.search.table import UNIT
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game
from azumaya.envs.kernels.compile import INTERPRETED
from tests.cases import YARDSTICK
from tests.search.evaluations import evaluation_of
from tests.search.positions import label, late, midgame

SCORE = GAMES["score_dominari"]


def searched(position: Position, nodes: int, evaluation: Any, key: int = 1) -> Any:
    search = AlphaBeta(Budget(nodes), evaluation, threads=1, megabytes=4)
    return search.search([position], [key])[0]


@pytest.mark.parametrize("given", [{"noise": 1.0}, {"constant": -1.0}], ids=str)
def test_proofs_do_not_rest_on_the_evaluation(given: dict[str, float]) -> None:
    evaluation, exact = evaluation_of(**given), 0
    for position, gains in late(YARDSTICK, {}, 16):
        found = searched(position, 50_000, evaluation)
        exact += found.exact
        assert not found.exact or found.value == max(gains.values())
        assert not found.exact or gains[found.best] == found.value
    assert exact == 16


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"reward": "margin"}], ids=label)
def test_proofs_agree_with_the_solver_on_points(options: dict[str, object]) -> None:
    for position, gains in late(SCORE, options, 8):
        found = searched(position, 50_000, own_evaluation(position))
        assert found.exact
        assert found.value == max(gains.values()) + position.returns()[position.to_move]


@pytest.mark.parametrize("weight", [1.0, 100.0, -100.0])
def test_a_proven_win_is_worth_more_than_a_promised_one(weight: float) -> None:
    position = Position.from_text(YARDSTICK, "......./......./......./......./...o.../..xx.o. x")
    found = searched(position, 100_000, evaluation_of(constant=weight))
    assert found.exact
    assert found.value == 1
    assert found.best in solve(position, nodes=100_000).best


def test_the_evaluation_is_used_at_the_horizon() -> None:
    start = Position(YARDSTICK)
    for position in (start, start.copy().play("a")):
        wanted = searched(position, 40, evaluation_of(centre=0.5))
        assert wanted.best == start.action("d")
        assert wanted.score == UNIT // 2
        assert not wanted.exact
        feared = searched(position, 400, evaluation_of(centre=-0.5))
        assert feared.best != start.action("d")


def test_weights_may_change_between_searches() -> None:
    evaluation, start = evaluation_of(centre=0.5), Position(YARDSTICK)
    search = AlphaBeta(Budget(40), evaluation, threads=1)
    assert search.search([start], [1])[0].best == start.action("d")
    evaluation.weights[:] *= -1
    assert search.search([start], [1])[0].best != start.action("d")
    if not INTERPRETED:
        assert len(search.rooms._rooms[0]._run.signatures) == 1


@pytest.mark.parametrize(
    "game", [YARDSTICK, pytest.param(SCORE, marks=pytest.mark.slow)], ids=label
)
def test_the_result_depends_only_on_the_key(game: Game) -> None:
    positions = [midgame(game, {}, seed, 5) for seed in range(5)]
    keys = [3, 3, 2**64 - 1, 0, 5]
    evaluation = own_evaluation(positions[0])
    together = AlphaBeta(Budget(3000), evaluation, threads=3).search(positions, keys)
    apart = [
        AlphaBeta(Budget(3000), evaluation, threads=1).search([p], [k])[0]
        for p, k in zip(positions, keys, strict=True)
    ]
    assert together == apart


def test_nan_counts_as_lost() -> None:
    found = searched(Position(YARDSTICK), 2000, evaluation_of(constant=np.nan))
    assert found.best in Position(YARDSTICK).legal_actions()
    assert not found.exact


def test_the_agent() -> None:
    start = Position(YARDSTICK)
    agent = AlphaBetaAgent(500, evaluation=own_evaluation(start))
    assert agent.name == "alphabeta:500:own"
    moves = agent.act([start] * 3, [1, 2, 3])
    assert pickle.loads(pickle.dumps(agent)).act([start] * 3, [1, 2, 3]) == moves
    with pytest.raises(OptionError, match="evaluation='own': an Evaluation or None"):
        AlphaBetaAgent(500, evaluation="own")  # type: ignore[arg-type]
