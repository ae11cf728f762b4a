"""The file of a league: what is stored, torn and foreign lines, settings that do not fit."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from azumaya.baselines.arena.league import results
from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.league.results import (
    LeagueFile,
    LeagueFileError,
    PairKey,
    PairResult,
    read_league,
)
from azumaya.envs import OptionError
from azumaya.envs.engine.workers import available_cores

GAME = "vierer_dominari"
CARDS = [AgentCard(name, "built in", "", None, (GAME,)) for name in ("random", "greedy")]


def result(number: int) -> PairResult:
    key = PairKey(GAME, number, "greedy", "random")
    return PairResult(key, (1, -1), (12, 0), (5, 4), (0.5, 0.25), (None, (0, "time-out")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a league with two agents and three pairs."""
    path = tmp_path / "league.jsonl"
    file = LeagueFile(path, seed=3)
    for card in CARDS:
        file.add_card(card)
    for number in (0, 1, 2):
        file.add_pair(result(number))
    file.close()
    return path


def test_what_is_stored_is_read(path: Path) -> None:
    league = read_league(path)
    assert league.settings.seed == 3
    assert league.settings.balanced
    assert list(league.cards.values()) == CARDS
    assert league.in_order() == [result(number) for number in (0, 1, 2)]


def test_the_file_says_when_and_where_its_pairs_were_played(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line for each change of day, machine or version, before the pairs."""
    (first,) = read_league(path).sessions
    assert first == results.this_session()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", first.date)
    assert first.cores == available_cores()
    later = replace(first, date="2999-12-31", commit="abc+")
    monkeypatch.setattr(results, "this_session", lambda: later)
    LeagueFile(path).close()
    assert read_league(path).sessions == [first], "nothing was played"
    file = LeagueFile(path)
    file.add_pair(result(3))
    file.add_pair(result(4))
    file.close()
    assert read_league(path).sessions == [first, later]
    kinds = [json.loads(line)["record"] for line in path.read_text().splitlines()]
    assert kinds == ["league", "agent", "agent", "session", *["pair"] * 3, "session", *["pair"] * 2]


def test_each_pair_and_agent_counts_once(path: Path) -> None:
    before = path.read_bytes()
    file = LeagueFile(path)
    file.add_card(CARDS[0])
    file.add_pair(result(1))
    file.close()
    assert path.read_bytes() == before
    path.write_bytes(before + before.splitlines(keepends=True)[-1])
    assert [key.number for key in read_league(path).pairs] == [0, 1, 2]


def test_an_agent_that_joins_again_can_play_more_games(path: Path) -> None:
    file = LeagueFile(path)
    file.add_card(AgentCard("greedy", "built in", "", None, ("abalone",)))
    file.close()
    assert read_league(path).cards["greedy"].games == (GAME, "abalone")
    assert list(read_league(path).cards) == ["random", "greedy"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"record":"pair","game":"x"}', "damaged: Object missing required field `number`"),
        ('{"record":"other"}', "record 'other' is unknown"),
        ('{"record":"agent","name":"x"}', "line 8: damaged"),
        (
            '{"record":"session","date":[],"cpu":"","cores":2,"azumaya":"","commit":""}',
            r"Expected `str`, got `array` - at `\$.date`",
        ),
    ],
)
def test_whole_lines_that_are_no_lines_of_a_league_are_refused(
    path: Path, line: str, message: str
) -> None:
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")
    before = path.read_bytes()
    with pytest.raises(LeagueFileError, match=message):
        LeagueFile(path)
    assert path.read_bytes() == before


def test_results_that_cannot_be_are_refused(path: Path) -> None:
    lines = path.read_text().splitlines()
    for changes in (
        {"first": "nobody"}, {"number": "0"}, {"moves": [None, 1]}, {"plies": [1]},
        {"game": 1}, {"game": "abalone"}, {"results": [1, 1, 1]}, {"results": [True, 0]},
        {"milliseconds": ["a", 0]}, {"faults": ["x", None]},
    ):  # fmt: skip
        pair = {**json.loads(lines[-1]), "number": 9, **changes}
        path.write_text("\n".join([*lines, json.dumps(pair), ""]))
        with pytest.raises(LeagueFileError, match="line 8: damaged"):
            read_league(path)


def test_other_settings_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LeagueFileError, match="was played with seed=3, not 4"):
        LeagueFile(path, seed=4)
    with pytest.raises(LeagueFileError, match="was played with balanced=True, not False"):
        LeagueFile(path, balanced=False)
    monkeypatch.setattr(results, "balanced_starts", lambda game: (f"another book for {game}",))
    with pytest.raises(LeagueFileError, match="from other balanced starts of sudoku_moyo, "):
        LeagueFile(path)


def test_paths_may_be_texts(path: Path) -> None:
    assert read_league(str(path)).settings.seed == 3
    file = LeagueFile(str(path))
    file.close()
    assert (file.path, len(file.league.pairs)) == (path, 3)


def test_seeds_may_be_of_any_whole_type_and_others_are_refused(path: Path) -> None:
    file = LeagueFile(path, seed=np.int64(3))  # type: ignore[arg-type]
    file.close()
    assert type(file.league.settings.seed) is int
    for wrong in ("", False, -1):
        with pytest.raises(OptionError, match="seed="):
            LeagueFile(path, seed=wrong)  # type: ignore[arg-type]


def test_a_head_without_results_that_makes_no_sense_is_replaced(path: Path) -> None:
    head = json.loads(path.read_bytes().splitlines()[0])
    path.write_text(json.dumps({**head, "seed": "x", "azumaya": "0"}) + "\n")
    LeagueFile(path).close()
    assert read_league(path).settings.seed == 0
