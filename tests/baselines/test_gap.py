"""The generalisation gap: training on a part of the puzzles, and measuring on both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from azumaya.baselines.agents import Agent, GreedyAgent, RandomAgent
from azumaya.baselines.agents.evaluator import NetworkEvaluator
from azumaya.baselines.arena.rounds import Score, start_set
from azumaya.baselines.training import maskable_ppo, ppo
from azumaya.baselines.training.alphazero_games import SelfPlay
from azumaya.baselines.training.command import read_words
from azumaya.baselines.training.value_games import Player
from azumaya.benchmarks.studies import gap
from azumaya.envs import Position
from azumaya.envs.puzzles import load_part
from tests.training.run_helpers import SCRIPTS, tiny_ppo


class Memoriser(Agent):
    """Plays well on the puzzles to train on, and at random on all others."""

    name = "memoriser"

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        known = [position.options["puzzle"] == "train" for position in positions]
        assert len(set(known)) == 1
        return list((GreedyAgent() if known[0] else RandomAgent()).act(positions, keys))


def puzzles_of(algorithm: str, config: Any) -> np.ndarray:
    """The puzzles of the games from which an algorithm learns."""
    if algorithm == "maskable_ppo":
        setup = maskable_ppo.make_env(config).duel.setup
    elif algorithm == "ppo":
        setup = ppo.Games(config).env.setup
    elif algorithm == "alphazero":
        setup = SelfPlay(config, NetworkEvaluator(torch.nn.Identity())).start.setup
    else:
        setup = Player(config).setup
    digits: np.ndarray = setup.settings["puzzle"].digits
    return digits


@pytest.mark.parametrize("algorithm", SCRIPTS)
def test_every_script_trains_on_a_part(algorithm: str, tmp_path: Path) -> None:
    """`--options puzzle train` is enough; the checkpoint will say so."""
    words = ["--options", "puzzle", "train", "--games", "4", "--output", str(tmp_path / "run")]
    kind = type(SCRIPTS[algorithm][1](tmp_path))
    config = read_words(kind, [*words, "--game", "sudoku_moyo"], "").completed()
    assert (puzzles_of(algorithm, config) == load_part("train")).all()
    sidecar = config.sidecar(729)
    assert sidecar is not None
    assert sidecar.options == {"puzzle": "train"}


def test_what_was_memorised_is_the_gap() -> None:
    words = (f"{__name__}:Memoriser", "greedy")
    clever, plain = gap.measure(gap.Config(words, game="sudoku_moyo", starts=60))
    assert clever.interval()[0] > 0.2
    assert clever.scores[0].rate > 0.4
    assert clever.scores[1].rate < 0.2
    assert plain.interval()[0] < 0 < plain.interval()[1]
    assert {score.games for score in (*clever.scores, *plain.scores)} == {120}


def test_repeated_puzzles_tell_nothing_new() -> None:
    """Of 2,000 starts of a part many have the same puzzle, whose games are much alike."""
    (found,) = gap.measure(gap.Config(("greedy",), "sudoku_moyo", starts=500, against="random"))
    for part, (different, wider) in enumerate(((1245, 1.02), (492, 1.15))):
        begun = start_set("sudoku_moyo", {"puzzle": gap.PARTS[part]}, gap.EVALUATION_SEED)
        assert begun.different(2000) == different
        (low, high), (worst, best) = found.intervals[part], found.scores[part].interval()
        assert high - low > wider * (best - worst)


def test_the_table_has_the_gap_of_each_agent_and_their_mean() -> None:
    """Train less test, and without a sign where it is rounded to zero."""

    def made(name: str, *wins: int) -> gap.Gap:
        one, other = (Score("a", "b", each, 0, 1000 - each) for each in wins)
        return gap.Gap(name, (one, other), (one.interval(), other.interval()))

    found = [made("one", 700, 600), made("two", 500, 550), made("three", 500, 550)]
    assert made("none", 9, 9).gap == 0
    lines = [cell.split(" ", 1) for cell in gap.gap_table(found, "").columns[3]._cells]  # type: ignore[union-attr]
    assert [rate for rate, _ in lines] == ["10.0%", "-5.0%", "-5.0%", "0.0%"]
    assert lines[0][1] == "[5.8, 14.1]"
    assert lines[3][1] == "[-5.0, 10.0]"


def test_a_run_is_measured_by_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    ppo.main(tiny_ppo(run, options={"puzzle": "train"}))
    capsys.readouterr()
    assert gap.run_words([str(run), str(run / "policy"), "--starts", "5"]) == 0
    told = capsys.readouterr().out
    assert "5 starts on each part" in told
    for heading in ("train puzzles", "test puzzles", "gap", "mean of these", "agents"):
        assert heading in told


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["greedy", "--game", "abalone"], "does not start from puzzles"),
        (["greedy", "--game", "nothing"], "no such game"),
        (["nobody"], "nobody"),
        (["greedy", "--against", "nobody"], "nobody"),
        (["greedy", "--starts", "0"], "--starts"),
        ([], "name at least one"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gap.run_words(words) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert reason in told
    assert told.count("\n") == 1
