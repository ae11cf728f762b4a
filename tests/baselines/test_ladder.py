"""The ladder: where a trained agent stands."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.search import AlphaBetaAgent
from azumaya.baselines.training import evaluation
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.evaluation import (
    Ladder,
    Rung,
    draw_ladder,
    evaluate,
    ladder_table,
)
from azumaya.envs import OptionError
from tests.library import ROOT
from tests.training.run_helpers import tiny_td

GAME = "vierer_dominari"


def config_of(**changes: object) -> RunConfig:
    """Options of a small evaluation."""
    given = {"game": GAME, "final_starts": 4, "ladder_starts": 2, **changes}
    return tiny_td(Path("unused"), **given)


@pytest.fixture(scope="module")
def rungs() -> list[Rung]:
    """The ladder of an agent that plays like greedy, with short searches."""
    config, agent = config_of(), GreedyAgent()
    agent.name = "trained"
    said: list[str] = []
    made = Ladder(config, agent, AlphaBetaAgent(2000), evaluate(config, agent, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "MILLISECONDS", 1.0)
        found = list(made.rungs(said.append))
    assert len(said) == sum(not rung.stored for rung in found)
    return [rung for rung in found if not rung.stored]


def test_the_ladder_goes_from_random_to_search(rungs: list[Rung]) -> None:
    names = [rung.name for rung in rungs]
    assert [names[i] for i in (0, 1, 3, 4)] == ["random", "greedy", "trained", "uct:1ms"]
    assert names[2].startswith("uct:")
    assert names[2].endswith(" (same time)")
    assert names[5] == "trained + 1 ms of search"
    random, greedy, _, trained, _, searching = rungs
    assert random.greedy is not None
    assert random.greedy < 0.3
    assert (random.trained or 0) > 0.8
    assert greedy.greedy is None
    assert trained.trained is None
    assert greedy.exam == trained.exam
    assert (random.exam or 0) < (greedy.exam or 0) < (searching.exam or 0)
    for rung in rungs:
        for field in ("greedy", "exam", "trained"):
            share, interval = getattr(rung, field), getattr(rung, f"{field}_interval")
            assert (share is None) == (interval is None)
            assert share is None or interval[0] <= share <= interval[1]


def test_the_ladder_is_drawn_and_printed(rungs: list[Rung], tmp_path: Path) -> None:
    draw_ladder([*rungs, Rung("old", stored=True)], tmp_path / "ladder.png", GAME)
    assert (tmp_path / "ladder.png").read_bytes().startswith(b"\x89PNG")
    names = list(ladder_table([*rungs, Rung("old", stored=True)], GAME).columns[0].cells)
    assert [str(name) for name in names] == ["old*", *(r.name for r in reversed(rungs))]
    assert json.loads(json.dumps([*map(asdict, rungs)]))[0]["name"] == "random"


@pytest.mark.parametrize(("seconds", "simulations"), [((6, 3), 100), ((0.001, 3), 1)])
def test_the_same_time_means_as_many_simulations(
    seconds: tuple[float, float], simulations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent's time for some moves, and that of 50 simulations for each of them."""
    taken = iter(seconds)
    monkeypatch.setattr(evaluation, "_seconds", lambda call: (call(), next(taken))[1])
    assert Ladder(config_of(), RandomAgent(), None, []).simulations() == simulations


def test_options_without_an_exam_have_none() -> None:
    config = config_of(options={"referee": False}).completed()
    agent = RandomAgent()
    made = Ladder(config, agent, None, evaluate(config, agent, 1))
    first = next(made.rungs(lambda _: None))
    assert first.exam is None
    assert first.greedy is not None
    assert not list(evaluation.stored_rungs(config))


@pytest.mark.parametrize(
    ("options", "default"), [({"referee": None}, True), ({"referee": True}, True),
                             ({"referee": False}, False)],
)  # fmt: skip
def test_options_that_say_the_default_change_nothing(
    options: dict[str, object], default: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exam is taken and the stored results are shown, as the same starts are played."""
    config = tiny_td(Path("unused"), game=GAME, options=options).completed()
    assert Ladder(config, RandomAgent(), None, []).with_exam == default
    assert len(list(evaluation.stored_rungs(config))) == default
    assert bool(start_set(GAME, options).texts) == default
    monkeypatch.setattr(evaluation, "answers_of", lambda *_: SimpleNamespace(kept_wins=0.5))
    assert evaluation.exam_kept(config, RandomAgent()) == ({"exam": 0.5} if default else {})


def test_results_can_be_stored(
    rungs: list[Rung], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "STORED", tmp_path / "stored.json")
    evaluation.STORED.write_text("{}")
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"game": GAME}))
    with pytest.raises(OptionError, match=r"run: there is no ladder of a run here"):
        evaluation.store([run])
    random = Rung("random", trained=0.9, trained_interval=(0.8, 1.0))
    objects = [*map(asdict, [random, Rung("policy", 0.6, (0.5, 0.7), 0.8, (0.7, 0.9))])]
    (run / "ladder.json").write_text(json.dumps(objects))
    evaluation.store([run])
    assert evaluation.stored_results()[GAME]["random"] == 0.9
    (kept,) = evaluation.stored_rungs(config_of())
    assert kept == Rung("MaskablePPO", 0.6, [0.5, 0.7], 0.8, [0.7, 0.9], stored=True)  # type: ignore[arg-type]
    assert not list(evaluation.stored_rungs(config_of(game="abalone")))


@pytest.mark.parametrize("game", ["sudoku_moyo", "vierer_dominari"])
def test_stored_results_ship_with_the_package(game: str) -> None:
    (rung,) = evaluation.stored_rungs(config_of(game=game))
    assert rung.stored
    assert rung.name == "MaskablePPO"
    assert 0 < (rung.greedy or 0) < 1
    assert rung.exam is not None
    assert rung.exam_interval is not None
    assert rung.exam_interval[0] < rung.exam < rung.exam_interval[1]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    shipped = settings["tool"]["setuptools"]["package-data"]["azumaya.baselines.training"]
    assert shipped == [evaluation.STORED.name]
