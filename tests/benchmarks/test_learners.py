"""The rows of training scripts and networks: what they count, and what they show of it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch

import azumaya.benchmarks
from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.training import ppo, value, value_games
from azumaya.baselines.values.learning import learn_kernel
from azumaya.baselines.values.network import Shape
from azumaya.benchmarks import games, learning, networks, plan, report, search
from azumaya.benchmarks.batches import values_kernel
from azumaya.benchmarks.results import Row
from azumaya.benchmarks.timing import Rates
from azumaya.envs import Position
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.setup import prepare
from tests.benchmarks.conftest import TINY
from tests.cases import TESTED, YARDSTICK

KINDS = ("learner", "evaluation", "pass", "self-play")
SMALL = {
    "td_value": {"games": 4, "most_plies": 25, "width": 4},
    "expert_iteration": {"games": 2, "most_plies": 25, "nodes": 30, "width": 4},
    "ppo": {"games": 16, "rollout": 8, "batch": 32},
    "maskable_ppo": {"games": 8, "rollout": 8, "batch": 32, "epochs": 1},
}


@pytest.fixture(autouse=True)
def small_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates that take some milliseconds, of networks for which other tests need kernels, too."""
    monkeypatch.setattr(learning, "UPDATES", SMALL)


def rows_of(game: Game) -> Iterator[Row]:
    """The rows of a game's scripts and networks."""
    for job in plan.jobs(replace(TINY, learners=1), [game]):
        if job.fields["kind"] in KINDS:
            yield {"key": job.key, **job.fields, **job.measure()}


def check_rows(rows: list[Row], game: Game) -> None:
    """Every row has a rate, and every training script has learned something of its own."""
    for row in rows:
        assert 0 < row["low"] <= row["value"] <= row["high"] < 1e9, row
        assert row["includes"]
    learners = [row for row in rows if row["kind"] == "learner"]
    assert [row["form"] for row in learners] == list(networks.LEARNERS)
    assert {row["network"] for row in rows} == {"value", learners[-1]["network"]}
    text = report.render({"machine": {}, "settings": "tiny"}, rows)
    for title in ("Learning", "Networks", "Self-play with search"):
        assert f"| {game.name} |" in text.split(f"## {title}\n")[1].split("\n## ")[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTED)
def test_every_game_has_these_rows(name: str) -> None:
    game = TESTED[name]
    rows = list(rows_of(game))
    check_rows(rows, game)
    searches = 3 if game.rules.resample is None else 2  # alpha-beta has no nodes of chance
    assert len({row["key"] for row in rows}) == len(rows) == 4 + 4 + 4 + searches


def test_what_is_measured_are_the_scripts_as_they_are() -> None:
    configs = value.Config().completed(), value.Config(nodes=networks.NODES).completed()
    assert [config.width for config in configs] == [networks.WIDTH] * 2
    expert = import_module("azumaya.baselines.training.expert_iteration")  # which warns
    assert expert.Config().nodes == networks.NODES
    assert value_games.MEGABYTES == networks.MEGABYTES


def test_only_games_asked_for_are_learned() -> None:
    """`Budget.learners` is a number of games."""
    games = list(TESTED.values())[:3]
    jobs = plan.jobs(replace(TINY, learners=2), games)
    found = {job.fields["game"] for job in jobs if job.fields["kind"] == "learner"}
    assert found == {game.name for game in games[:2]}


# ---- training scripts ----


def steps_of(monkeypatch: pytest.MonkeyPatch, script: str) -> tuple[list[int], str]:
    """The steps of the updates of an algorithm but the first, and the digest of its agent."""
    counts: list[int] = []

    class Counting(learning.Meter):
        """Goes on for two updates."""

        def count(self, units: int) -> bool:
            """Note the units."""
            counts.append(units)
            self.rates = Rates([1.0] * len(counts), [1.0] * len(counts))
            return True

    monkeypatch.setattr(learning, "Meter", Counting)
    row = learning.learned(YARDSTICK, script, 1.0, 2)
    return counts, row["plays"]


def test_steps_learned_from_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of MaskablePPO's, in self-play only the learner's own, and every position of games."""
    whole = 8 * 8
    assert steps_of(monkeypatch, "maskable_ppo")[0] == [whole] * 2
    most = 16 * 8
    assert all(most / 2 < steps < most for steps in steps_of(monkeypatch, "ppo")[0])
    plies: list[int] = []

    def counting(shape: Shape) -> Callable[..., float]:
        def learn(order: np.ndarray, *more: Any) -> float:
            plies.append(len(order))
            return float(learn_kernel(shape)(order, *more))

        return learn

    monkeypatch.setattr(value, "learn_kernel", counting)
    for script in ("td_value", "expert_iteration"):
        plies.clear()
        assert steps_of(monkeypatch, script)[0] == plies[1:]


def test_the_digest_shows_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same each time, and another one if the script learns something else."""
    before = [steps_of(monkeypatch, script)[1] for script in ("td_value", "ppo")]
    assert before == [steps_of(monkeypatch, script)[1] for script in ("td_value", "ppo")]
    gains = ppo.advantages

    def backwards(shape: Shape) -> Callable[..., float]:
        def learn(*given: Any) -> float:
            *first, rows, learner = given
            rows = rows._replace(targets=-rows.targets)
            return float(learn_kernel(shape)(*first, rows, learner))

        return learn

    monkeypatch.setattr(value, "learn_kernel", backwards)
    monkeypatch.setattr(ppo, "advantages", lambda *given: -gains(*given))
    after = [steps_of(monkeypatch, script)[1] for script in ("td_value", "ppo")]
    assert not set(before) & set(after)


@pytest.mark.parametrize("package", ["torch", "sb3_contrib"])
def test_rows_without_their_packages_are_skipped(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row says what is missing; the compiled value needs none of them."""
    monkeypatch.setitem(sys.modules, package, None)
    for name in ("azumaya.benchmarks.learning", "azumaya.baselines.training.maskable_ppo"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr(azumaya.benchmarks, "learning")
    row = plan._with_torch("learned", YARDSTICK, "maskable_ppo", 0.001, 1)
    assert list(row) == ["skipped"]
    assert f"needs the package {package!r}: pip install" in row["skipped"]
    assert networks.evaluations(YARDSTICK, 1, 0.001, 1)["value"] > 0


# ---- networks ----


def test_positions_are_running_and_seen_by_their_movers() -> None:
    states, seen = networks.running_games(YARDSTICK, 200)
    assert len(states) == 200
    assert (states["over"] == RUNNING).all()
    setup = prepare(YARDSTICK, {})
    for i in range(0, 200, 20):
        position = Position.of_states(YARDSTICK, setup, states[i : i + 1])
        assert (seen["observation"][i] == position.observation(position.to_move)).all()
        assert (seen["action_mask"][i] == position.action_mask()).all()


def test_torch_computes_the_compiled_value() -> None:
    """The network whose passes are the limit is the same one."""
    value, (states, _) = networks.value_of(YARDSTICK), networks.running_games(YARDSTICK, 50)
    out = np.zeros(50, np.float32)
    scratch = value.evaluation().new_scratch()
    values_kernel(YARDSTICK, value.shape)(states, value.weights, scratch, out)
    twin, inputs = learning.value_pass(YARDSTICK, 50)
    with torch.inference_mode():
        (found,) = twin(*inputs)
    sign = np.where(states["to_move"] == 0, 1, -1)
    assert out.std() > 0.01
    assert found.numpy() * sign == pytest.approx(out / value.weights[value.shape.bound], abs=1e-5)


# ---- self-play ----


def test_self_play_goes_on_after_games_end() -> None:
    """Its digest is that of the first moves, and does not depend on the time."""
    agent, seen = RandomAgent(), list[int]()
    act = agent.act
    agent.act = lambda positions, keys: seen.append(len(positions)) or act(positions, keys)  # type: ignore[method-assign, func-returns-value]
    short = search.self_play(YARDSTICK, agent, 0.0001, 1)
    assert set(seen) == {search.GAMES}
    seen.clear()
    long = search.self_play(YARDSTICK, agent, 0.05, 2)
    assert len(seen) > 50  # longer than the longest game
    assert short["plays"] == long["plays"]


SEARCHES: dict[str, tuple[Callable[[float, int], Row], str]] = {
    "uct": (functools.partial(search.uct, YARDSTICK, 0), "EXPLORATION"),
    "uct, cut": (functools.partial(search.uct, YARDSTICK, 10), "EXPLORATION"),
    "puct": (functools.partial(search.puct, YARDSTICK), "PUCT_EXPLORATION"),
    "alphabeta": (functools.partial(search.alphabeta, YARDSTICK), "PROVEN"),
    "match": (functools.partial(games.matches, YARDSTICK), ""),
}
"""Other measurements of play, and a constant that changes what is searched."""


@pytest.mark.parametrize("name", SEARCHES)
def test_what_is_searched_or_played_has_a_digest(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its beginning, so that it does not depend on the time."""
    measure, constant = SEARCHES[name]
    plays = measure(0.0001, 1)["plays"]
    assert measure(0.02, 2)["plays"] == plays
    if constant:
        monkeypatch.setattr(search, constant, 3)
    else:
        monkeypatch.setattr(games, "GreedyAgent", RandomAgent)
    assert measure(0.0001, 1)["plays"] != plays


# ---- the report ----


def test_the_report_compares_with_sb3_and_torch() -> None:
    both = {
        "kind": "learner",
        "game": "go",
        "network": "board",
        "sizes": {"width": 8},
        "plays": "ab",
    }
    rows = [
        {**both, "key": "1", "form": "ppo", "value": 4e3},
        {**both, "key": "2", "form": "maskable_ppo", "value": 1e3},
        {"kind": "pass", "key": "3", "game": "go", "network": "board", "size": 64, "value": 8e3},
        {"kind": "pass", "key": "4", "game": "go", "network": "board", "size": 512, "value": 7e3},
        {"kind": "pass", "key": "5", "game": "go", "network": "value", "size": 64, "value": 9e9},
        {"kind": "evaluation", "key": "6", "game": "go", "network": "board", "size": 1, "value": 5},
    ]  # fmt: skip
    text = report.render({"machine": {}, "settings": "tiny"}, rows)
    assert "| go | `ppo` | board, width 8 | 4 k | 4 | 8 k | 0.5 | `ab` |" in text
    assert "| go | `maskable_ppo` | board, width 8 | 1 k | 1 | 8 k | 0.125 | `ab` |" in text
    assert "| go | board | 5 | 8 k | 7 k |" in text
