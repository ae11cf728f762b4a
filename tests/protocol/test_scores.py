"""What is said over several games and seeds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import trim_mean
from typer.testing import CliRunner

from azumaya.baselines.arena.league.ratings import ALL
from azumaya.baselines.protocol.cells import COUNTED, Cell
from azumaya.baselines.protocol.report import draw_profiles, overall, shown
from azumaya.baselines.protocol.scores import (
    aggregate,
    by_contender,
    interquartile_mean,
    profile,
    ratings,
    scores_of,
    subsets,
)
from azumaya.baselines.protocol.tracks import AZUMAYA_3, Job
from azumaya.benchmarks.studies import subsets as study_of_subsets
from tests.library import ROOT

study = typer.Typer()
study.command()(study_of_subsets.main)

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def cell(name: str, game: str, pairs: dict[str, Sequence[int]], seed: int = 1) -> Cell:
    given = {opponent: tuple(each) for opponent, each in pairs.items()}
    job = Job(name, game, "", seed)
    return Cell(job, "", 0, 0.0, 4, 3, 0, 0, 0.0, given, 1.0, "0", "none", "none")


@given(SHARES)
def test_the_interquartile_mean_is_the_trimmed_mean_of_scipy(values: list[float]) -> None:
    """Of runs that are all repeated four times, so that a quarter of them is a whole number."""
    found = float(interquartile_mean(np.array(values), np.ones(len(values), int)))
    assert found == pytest.approx(float(trim_mean(np.repeat(values, 4), 0.25)), abs=1e-12)


@given(st.dictionaries(st.sampled_from("abcdefgh"), SHARES, min_size=1))
def test_an_aggregate_lies_in_its_interval(scores: dict[str, list[float]]) -> None:
    found = aggregate(scores)
    assert found is not None
    runs = [run for each in scores.values() for run in each]
    assert min(runs) - 1e-12 <= found.low <= found.value <= found.high <= max(runs) + 1e-12
    seeds = [len(each) for each in scores.values()]
    assert (found.games, found.seeds) == (len(scores), (min(seeds), max(seeds)))
    reordered = {game: runs[::-1] for game, runs in reversed(scores.items())}
    assert aggregate(reordered) == found


def test_runs_are_drawn_again_within_their_games() -> None:
    """A game whose seeds agree adds nothing to the interval, however far it is from others."""
    found = aggregate({"low": [0.1] * 5, "high": [0.9] * 5})
    assert found is not None
    assert (found.low, found.value, found.high) == pytest.approx((0.5, 0.5, 0.5))
    assert aggregate({}) is None


def test_agents_that_have_not_played_all_games_come_last_and_are_not_drawn(
    tmp_path: Path,
) -> None:
    """Their games may be the easier ones."""
    won, lost = (dict.fromkeys(COUNTED, pairs) for pairs in ((0, 0, 0, 0, 4), (4, 0, 0, 0, 0)))
    games = ("abalone", "halma_dominari")
    cells = [cell("one", games[0], won), *(cell("both", game, lost) for game in games)]
    assert [row.name for row in overall(by_contender(cells))] == ["both", "one"]
    assert [row.name for row in overall(by_contender(cells[:2]))] == ["one", "both"]
    again = cell("both", games[0], won, seed=2)
    written = {row.name: row.on_a_page for row in overall(by_contender([*cells, again]))}
    assert [written[name][3] for name in ("one", "both")] == ["1 x 1", "2 x 1 to 2"]
    draw_profiles(cells, picture := tmp_path / "profiles.svg")
    assert "<!-- both -->" in picture.read_text()
    assert "<!-- one -->" not in picture.read_text()


def test_few_seeds_of_a_game_give_no_interval() -> None:
    runs = [0.9, 0.8, 0.7]
    few, several = aggregate({"a": [0.1, 0.1], "b": runs}), aggregate({"a": [0.1] * 3, "b": runs})
    assert few is not None
    assert several is not None
    assert (few.sure, several.sure) == (False, True)
    assert " to " not in shown(few)
    assert " to " in shown(several)


def test_games_with_more_seeds_do_not_count_for_more() -> None:
    few, many = {"low": [0.0], "high": [1.0]}, {"low": [0.0] * 5, "high": [1.0, 1.0]}
    for scores in (few, many):
        found = aggregate(scores)
        assert found is not None
        assert found.value == 0.5
        assert profile(scores, np.array([0.5]))[0] == pytest.approx([0.5])


def test_aggregates_and_profiles_are_those_of_rliable() -> None:
    """Made with rliable 1.2.0 from the same numbers; its profiles count what exceeds a figure."""
    runs = np.random.default_rng(7).beta(2, 2, size=(5, 8))
    scores = {str(game): runs[:, game].tolist() for game in range(8)}
    found = aggregate(scores)
    assert found is not None
    assert found.value == pytest.approx(0.51225, abs=1e-5)
    wider = (5 / 4) ** 0.5  # four of five runs are drawn
    low_high = (found.low - found.value) / wider, (found.high - found.value) / wider
    assert low_high == pytest.approx((0.4268 - 0.51225, 0.5897 - 0.51225), abs=0.006)
    shares, ends = profile(scores, np.array([0.3, 0.5, 0.7]))
    assert shares.tolist() == pytest.approx([0.8, 0.525, 0.2])
    theirs = np.array([[0.675, 0.375, 0.075], [0.9, 0.65, 0.325]])
    assert ends == pytest.approx(shares + wider * (theirs - shares), abs=0.026)


@pytest.mark.parametrize("seeds", [3, 10])
def test_intervals_contain_the_truth_about_as_often_as_they_say(seeds: int) -> None:
    rng, hits = np.random.default_rng(1), 0
    for _ in range(200):
        runs = {game: rng.normal(0.5, 0.1, size=seeds).tolist() for game in "abcd"}
        found = aggregate(runs)
        assert found is not None
        hits += found.low <= 0.5 <= found.high
    assert 176 <= hits <= 198, hits


def test_a_profile_is_the_share_of_runs_that_reach_a_figure() -> None:
    at = np.array([0.0, 0.3, 0.5, 1.0])
    shares, (lows, highs) = profile({"a": [0.2, 0.4], "b": [0.5, 0.9]}, at)
    assert shares.tolist() == [1.0, 0.75, 0.5, 0.0]
    assert (lows <= shares).all()
    assert (shares <= highs).all()


def test_games_between_contenders_of_the_field_count_once() -> None:
    once = [cell("greedy", "g", {"random": [0, 0, 0, 2, 8]})]
    both = [*once, cell("random", "g", {"greedy": [8, 2, 0, 0, 0]})]
    found = ratings(by_contender(once))
    assert found == ratings(by_contender(both))
    assert found["g"]["random"].elo == 0
    assert found["g"]["greedy"].elo > 200


def test_games_count_if_the_opponent_has_no_cell_of_its_own_in_that_game() -> None:
    there = cell("random", "g", {"greedy": [8, 2, 0, 0, 0]})
    elsewhere = cell("greedy", "h", {"random": [0, 0, 0, 2, 8]})
    found = ratings(by_contender([there, elsewhere]))
    assert found["g"]["greedy"].elo == found["h"]["greedy"].elo > 200
    other_seed = cell("greedy", "g", {"random": [0, 0, 0, 2, 8]}, seed=2)
    assert ratings(by_contender([there, other_seed]))["g"]["greedy"].games == 40


def test_the_seeds_of_a_contender_are_one_agent() -> None:
    weak, strong = (cell("ppo", "g", {"random": [n, 0, 0, 0, 10 - n]}, n) for n in (5, 1))
    found = ratings(by_contender([weak, strong]))
    assert found["g"]["ppo"].games == 40
    assert found[ALL].keys() == {"ppo", "random"}


def test_games_without_an_exam_do_not_count_there() -> None:
    with_exam = cell("a", "g", {"greedy": [1], "uct:100": [1], "champion": [1]})
    without = Cell(**{**vars(with_exam), "wins": 0, "job": Job("a", "h", "", 1)})
    assert scores_of([with_exam, without], "exam") == {"g": [0.75]}
    assert scores_of([with_exam, without], "games won") == {"g": [0.0], "h": [0.0]}


def test_subsets_find_the_games_that_stand_for_all() -> None:
    rng = np.random.default_rng(3)
    skill = rng.uniform(size=12)
    noise = {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.5, "e": 0.5}
    results = {
        str(agent): {game: skill[agent] + rng.normal(0, each) for game, each in noise.items()}
        for agent in range(12)
    }
    results["new"] = {"a": 1.0}
    found = [*subsets(results)]
    assert len(found) == 10
    assert [error for error, _ in found] == sorted(error for error, _ in found)
    # what skill does not explain is in the mean over all games, too, so these two must be there
    assert {"d", "e"} <= {*found[0][1]}


def test_the_study_prints_the_best_sets_and_the_worst() -> None:
    league = ROOT / "docs/results/league.jsonl"
    done = CliRunner().invoke(study, [str(league), "--size", "7", "--shown", "2"])
    assert done.exit_code == 0, done.output
    head, _, *rows = done.output.splitlines()
    assert head == "| games | league.jsonl | mean |"
    shares = [float(row.split("|")[2].strip(" %")) for row in rows]
    assert len(rows) == 3
    assert shares == sorted(shares)


def test_the_study_refuses_files_of_different_games(tmp_path: Path) -> None:
    table = ROOT / "docs/results/table.jsonl"
    head, *cells = table.read_text().splitlines(keepends=True)
    small = tmp_path / "small.jsonl"
    small.write_text(head + "".join(c for c in cells if json.loads(c)["job"]["game"] in AZUMAYA_3))
    for words in ((table, small), (small, table), (small, "--size", 4)):
        done = CliRunner().invoke(study, [*map(str, words)])
        assert done.exit_code == 2
        assert "of the same games" in done.output
