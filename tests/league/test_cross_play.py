"""Cross-play: shares and intervals from a league's results, what follows, and the command."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from azumaya.baselines.arena import league as arena
from azumaya.baselines.arena.intervals import of_pairs
from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.league.cross_report import won_tables
from azumaya.baselines.arena.league.ratings import ALL
from azumaya.baselines.arena.league.results import LeagueFile, PairKey, PairResult, read_league
from azumaya.envs import OptionError
from tests.commands import azumaya, refused
from tests.league.playing import GAME

OTHER = "abalone"
command = functools.partial(azumaya, "league", "cross-play")
cross_play = functools.partial(arena.cross_play, resamples=40)
"""Its intervals are rough; those of the command are not."""
RESULTS = [(1, 1), (1, 1), (1, -1), (0, 0)]
"""Four pairs: 2, 2, 1 and 1 of 2 points, 6 of 8."""
SHARE = 0.75


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def made_up(wins: list[tuple[str, str]], repeats: int = 5, game: str = GAME) -> None:
    """A league in `league.jsonl` in which the first of each two agents wins three games of four."""
    file = LeagueFile(Path("league.jsonl"))
    names = dict.fromkeys(name for two in wins for name in two)
    for name in names:
        file.add_card(AgentCard(name, "python", "", None, (game,)))
    for one, other in wins:
        first, second = sorted((one, other))
        sign = 1 if first == one else -1
        for number in range(repeats * len(RESULTS)):
            won = RESULTS[number % len(RESULTS)]
            results = (sign * won[0], sign * won[1])
            key = PairKey(game, number, first, second)
            file.add_pair(PairResult(key, results, (9, 9), (10, 10), (1.0, 1.0)))
    file.close()


LADDER = [("ann", "bob"), ("ann", "random"), ("bob", "random")]
CYCLE = [("ann", "bob"), ("bob", "cy$"), ("cy$", "ann")]
BELOW = [(name, "random") for name in ("ann", "bob", "cy$")]


def test_shares_and_intervals_are_those_of_the_pairs() -> None:
    made_up(LADDER)
    found = cross_play(read_league("league.jsonl"), GAME)
    assert found.agents == ("ann", "bob", "random")
    assert found.pairs.tolist() == [[0, 20, 20], [20, 0, 20], [20, 20, 0]]
    assert found.won.values[0, 1] == found.won.values[1, 2] == SHARE
    assert found.won.values[2, 0] == 1 - SHARE
    low, high = of_pairs((0, 0, 10, 0, 10))
    assert (found.won.lows[0, 1], found.won.highs[0, 1]) == (low, high)
    assert (found.won.lows[1, 0], found.won.highs[1, 0]) == pytest.approx((1 - high, 1 - low))
    assert np.isnan(np.diag(found.won.values)).all()


def test_the_best_of_a_ladder_is_the_whole_mixture() -> None:
    made_up(LADDER)
    found = cross_play(read_league("league.jsonl"))
    assert found.nash is not None
    assert found.alpha is not None
    assert found.nash_average is not None
    assert found.nash.values == pytest.approx([1, 0, 0])
    assert found.alpha.values == pytest.approx([1, 0, 0], abs=1e-6)
    assert found.nash_average.values == pytest.approx([0.5, 1 - SHARE, 1 - SHARE])
    assert found.cycles == ()
    for estimates in (found.nash, found.alpha, found.nash_average):
        assert (estimates.lows <= estimates.values).all()
        assert (estimates.values <= estimates.highs).all()


def test_a_cycle_is_found_and_shared_evenly() -> None:
    made_up([*CYCLE, *BELOW])
    found = cross_play(read_league("league.jsonl"))
    assert [[found.agents[place] for place in cycle] for cycle in found.cycles] == [
        ["ann", "bob", "cy$"]
    ]
    assert found.nash is not None
    assert found.nash.values == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-9)
    assert len({rating.elo for rating in found.ratings[:3] if rating}) == 1  # ratings see no cycle


def test_a_cycle_within_the_intervals_is_none() -> None:
    made_up([*CYCLE, *BELOW], repeats=1)
    assert cross_play(read_league("league.jsonl")).cycles == ()


def test_over_all_games_shares_are_means_and_intervals_narrower() -> None:
    made_up(LADDER)
    made_up([(two, one) for one, two in LADDER], game=OTHER)
    league = read_league("league.jsonl")
    both, one = cross_play(league), cross_play(league, OTHER)
    assert (both.game, one.game) == (ALL, OTHER)
    assert both.won.values[0, 1] == 0.5
    assert both.pairs[0, 1] == 40
    down, up = one.won.values[0, 1] - one.won.lows[0, 1], one.won.highs[0, 1] - one.won.values[0, 1]
    assert both.won.highs[0, 1] == pytest.approx(0.5 + np.hypot(down, up) / 2)
    assert both.won.lows[0, 1] == pytest.approx(0.5 - np.hypot(down, up) / 2)


def test_agents_that_have_not_met_have_no_mixture() -> None:
    made_up([*LADDER, ("cy$", "random")])
    league = read_league("league.jsonl")
    found = cross_play(league)
    assert found.strangers() == ("ann", "cy$")
    assert (found.nash, found.nash_average, found.alpha) == (None, None, None)
    assert cross_play(league, agents=["ann", "bob", "random"]).nash is not None
    result = command()
    assert result.exit_code == 0, result.output
    assert "ann and cy$ have not met" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--game", OTHER], "no pair of it was played"),
        (["--game", "chess"], "chess"),
        (["ann", "dave"], "'dave'"),
        (["ann"], "two agents"),
        (["--results", "none.jsonl"], "none.jsonl"),
        (["--output", "map.txt"], "map.txt"),
    ],
)
def test_what_cannot_be_shown_is_refused(words: list[str], reason: str) -> None:
    made_up(LADDER)
    refused(command(*words), reason)


def test_without_results_and_of_a_game_that_an_agent_does_not_play_nothing_is_shown() -> None:
    made_up(LADDER, repeats=0)
    with pytest.raises(OptionError, match="no pair"):
        cross_play(read_league("league.jsonl"))
    made_up(LADDER)
    for wrong in ("ann", [7]):
        with pytest.raises(OptionError, match=r"agents=.*: must be a list of names or ids"):
            cross_play(read_league("league.jsonl"), agents=wrong)
    with pytest.raises(OptionError, match="resamples=0: a whole number from 1"):
        cross_play(read_league("league.jsonl"), resamples=0)
    made_up([("eve", "random")], game=OTHER)
    with pytest.raises(OptionError, match=f"does not play {OTHER}"):
        cross_play(read_league("league.jsonl"), OTHER, ["ann", "random"])


def test_the_command_prints_tables_json_and_a_picture() -> None:
    made_up([*CYCLE, *BELOW])
    result = command("--output", "map.svg")
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert "33% 50% 33%" in text
    assert "1 75 25 75" in text
    assert "cycle: ann beats bob (75 %" in text
    words = {text.text for text in ElementTree.parse("map.svg").iter() if text.text}
    assert words
    before = Path("map.svg").read_bytes()
    found = json.loads(command("--json", "--output", "map.svg").stdout)
    assert Path("map.svg").read_bytes() == before
    assert found["cycles"] == [["ann", "bob", "cy$"]]
    assert found["agents"][0]["agent"] == "ann"
    assert found["agents"][0]["nash"]["value"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["won"][0] == [None, SHARE, 1 - SHARE, SHARE]


def test_a_narrow_terminal_has_several_tables() -> None:
    names = [f"a{number}" for number in range(9)]
    made_up([(one, two) for i, one in enumerate(names) for two in names[i + 1 :]], repeats=1)
    said, *tables = won_tables(cross_play(read_league("league.jsonl"), resamples=2), 40)
    assert said == "What row wins against column, % (in brackets: the 95 % interval contains 50)"
    assert [len(table.columns) for table in tables if not isinstance(table, str)] == [8, 3]
