"""The comparison of populations: whom each algorithm plays, and what comes out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from azumaya.baselines.arena.empirical_games import nash_mixture
from azumaya.baselines.arena.exploitability import RATE
from azumaya.baselines.arena.rounds import Rounds, start_set
from azumaya.baselines.training import population
from azumaya.baselines.training.population import ALGORITHMS, Config, Mixture, Population, play
from azumaya.baselines.values.value import ValueAgent

GAME = "vierer_dominari"
STARTS = start_set(GAME)


@pytest.fixture(autouse=True)
def _short_generations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "GENERATION", 1)


def test_self_play_is_against_the_learner_as_it_is_now() -> None:
    found = Population("self-play", STARTS, 0)
    first = found.mixture.agents[0].value.weights
    found.update(RATE)
    assert found.learner.opponent is found.learner.agent
    assert len(found.mixture.agents) == 1
    assert (found.mixture.agents[0].value.weights != first).any()
    assert found.mixture.agents[0].value.weights is not found.learner.agent.value.weights


def test_fictitious_self_play_is_against_all_past_versions() -> None:
    found = Population("fictitious", STARTS, 0)
    for versions in (2, 3):
        found.update(RATE)
        assert found.learner.opponent in found.mixture.agents[: versions - 1]
        assert found.mixture.weights.tolist() == [1 / versions] * versions


def test_psro_is_against_the_nash_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three versions of which each has beaten the next, and a fourth that loses against all."""
    beaten_by = iter([[1.0], [0.0, 1.0], [0, 0, 0]])
    shares = np.arange(5) / 4

    def planted(*_: object) -> np.ndarray:
        share = won.pop(0)
        return np.eye(5, dtype=np.int64)[int(np.flatnonzero(shares == share)[0])]

    monkeypatch.setattr(population, "play", planted)
    found = Population("psro", STARTS, 0)
    for row in beaten_by:
        won = [*row]
        found.update(RATE)
        assert not won
    assert found.mixture.weights == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-9)
    assert found.mixture.weights == pytest.approx(nash_mixture(found._won - found._won.T))
    for _ in range(3):
        won = [0.0] * len(found.mixture.agents)
        found.update(RATE)
        assert found.learner.opponent in found.mixture.agents[:3]


def test_a_mixture_plays_each_start_with_the_agent_that_was_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Here games end before they begin, drawn; what counts is who plays which."""
    seen = []

    def record(games: Rounds, agents: tuple[ValueAgent, ValueAgent]) -> None:
        seen.append((agents, games._numbers.tolist(), games.first_seats.tolist()))

    monkeypatch.setattr(population, "play_out", record)
    first, second, third = (Population("self-play", STARTS, s).mixture.agents[0] for s in range(3))
    drawn, alone = Mixture([first, second], np.array([0.5, 0.5])), Mixture([third], np.ones(1))
    pairs = play(STARTS, drawn, alone, 10, seed=1, first=5)
    assert pairs.tolist() == [0, 0, 10, 0, 0]
    assert [agents for agents, _, _ in seen] == [(first, third), (second, third)]
    assert sorted(n for _, numbers, _ in seen for n in numbers) == sorted([*range(5, 15)] * 2)
    for _, numbers, seats in seen:
        assert numbers[::2] == numbers[1::2]
        assert seats == [0, 1] * (len(numbers) // 2)


def test_equal_games_give_equal_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = Config(games=100, starts=4, seeds=2, output=tmp_path / "found.json")
    first, second = ([_measures(r) for r in population.main(config)] for _ in range(2))
    assert first == second
    printed = capsys.readouterr().out
    assert all(algorithm in printed for algorithm in ALGORITHMS)
    stored = json.loads((tmp_path / "found.json").read_text())
    assert [(row["algorithm"], row["policy"]) for row in stored] == [
        ("self-play", "newest"), ("fictitious", "mixture"), ("fictitious", "newest"),
        ("psro", "mixture"), ("psro", "newest"),
    ]  # fmt: skip
    for row in stored:
        assert row["games"] == [128, 128]
        assert [sum(pairs) for pairs in row["response"]] == [4, 4]
        assert sum(row["others"]) == 2 * 4 * (4 if row["algorithm"] == "self-play" else 3)


def _measures(result: population.Result) -> tuple[object, ...]:
    return result.algorithm, result.policy, result.response, result.others


@pytest.mark.parametrize("words", [["--game", "chess"], ["--time", "0min"], ["--seeds", "x"]])
def test_what_cannot_be_run_is_refused(words: list[str]) -> None:
    try:
        code: object = population.run_words(words)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
