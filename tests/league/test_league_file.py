"""The file of a league: what is stored, torn and foreign lines, settings that do not fit."""

from __future__ import annotations

import errno
import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

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
from azumaya.baselines.system import journal
from azumaya.envs.adapters.batch.workers import available_cores

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


def reopened(path: Path) -> list[int]:
    """The numbers of the pairs that are there when the file is opened to go on."""
    file = LeagueFile(path)
    file.close()
    return [key.number for key in file.league.pairs]


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
    assert reopened(path) == [0, 1, 2]


def test_an_agent_that_joins_again_can_play_more_games(path: Path) -> None:
    file = LeagueFile(path)
    file.add_card(AgentCard("greedy", "built in", "", None, ("abalone",)))
    file.close()
    assert read_league(path).cards["greedy"].games == (GAME, "abalone")
    assert list(read_league(path).cards) == ["random", "greedy"]


@pytest.mark.parametrize("lost", [1, 10, 60])
def test_a_torn_last_line_is_dropped_and_the_pair_added_again(path: Path, lost: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-lost])
    assert [key.number for key in read_league(path).pairs] == [0, 1]
    assert path.read_bytes() == whole[:-lost]  # reading changes nothing
    file = LeagueFile(path)
    file.add_pair(result(2))
    file.close()
    assert path.read_bytes() == whole


def test_a_file_torn_at_any_byte_can_be_continued_or_is_refused(path: Path) -> None:
    """In a file without whole settings no game is stored, so that it takes those of a command."""
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    for size in sorted({*range(1, len(whole), 37), *ends, *(end + 1 for end in ends)}):
        path.write_bytes(whole[:size])
        if size < first:
            LeagueFile(path, seed=3).close()
            assert path.read_bytes() == whole[:first]
            path.write_bytes(whole[: first - 1])
            LeagueFile(path, seed=4).close()
            assert read_league(path).settings.seed == 4
        else:
            assert len(reopened(path)) == max(0, whole[:size].count(b"\n") - 4)
            assert path.read_bytes() == whole[: path.stat().st_size]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"record":"pair","game":"x"}', "damaged: Object missing required field `number`"),
        ("what", "line 8: damaged"),
        ("[]", "line 8: damaged"),
        ('{"record":"other"}', "record 'other' is unknown"),
        ('{"record":"agent","name":"x"}', "line 8: damaged"),
        ('{"record":' + "[" * 9999 + "]" * 9999 + "}", "nested more than 32 levels deep"),
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
        {"results": [2, 0]}, {"results": [True, 0]}, {"first": "nobody"}, {"number": "0"},
        {"milliseconds": ["a", 0]}, {"milliseconds": [math.nan, 0]}, {"moves": [None, 1]},
        {"faults": [[2, "x"], None]}, {"plies": [1]}, {"game": 1}, {"results": [1, 1, 1]},
        {"moves": [1, 1, 1]}, {"first": "random", "second": "greedy"}, {"second": "greedy"},
        {"game": "abalone"}, {"faults": [[0, "x"], None]}, {"faults": [None, [1, "x"]]},
    ):  # fmt: skip
        pair = {**json.loads(lines[-1]), "number": 9, **changes}
        path.write_text("\n".join([*lines, json.dumps(pair), ""]))
        with pytest.raises(LeagueFileError, match="line 8: damaged"):
            read_league(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(LeagueFileError, match=r"other.jsonl, line 1: not the file of a league"):
        LeagueFile(path)
    assert path.read_text() == '{"a": 1}\n'
    path.write_bytes(b"x" * (journal.LONGEST + 5))
    with pytest.raises(LeagueFileError, match="line 1: more than 67,108,864 bytes"):
        read_league(path)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for use in (read_league, LeagueFile):
        with pytest.raises(LeagueFileError, match="not a regular file"):
            use(pipe)


def test_other_settings_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LeagueFileError, match="was played with seed=3, not 4"):
        LeagueFile(path, seed=4)
    with pytest.raises(LeagueFileError, match="was played with balanced=True, not False"):
        LeagueFile(path, balanced=False)
    with path.open("ab") as file:
        file.write(b'{"torn')
    torn = path.read_bytes()
    with pytest.raises(LeagueFileError, match="was played with seed=3, not 4"):
        LeagueFile(path, seed=4)
    assert path.read_bytes() == torn, "a file that is refused stays as it was"
    monkeypatch.setattr(results, "balanced_starts", lambda game: (f"another book for {game}",))
    with pytest.raises(LeagueFileError, match="from other balanced starts of sudoku_moyo, "):
        LeagueFile(path)


def test_paths_may_be_texts(path: Path) -> None:
    assert read_league(str(path)).settings.seed == 3
    file = LeagueFile(str(path))
    file.close()
    assert (file.path, len(file.league.pairs)) == (path, 3)


@pytest.mark.parametrize("most", [0, 20])
def test_what_a_failed_write_leaves_is_taken_back(
    path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """So that the next line does not go on where it ends, as after a full disk."""
    whole, write, file = path.read_bytes(), os.write, LeagueFile(path)

    def full(number: int, data: memoryview) -> int:
        if len(data) <= 150:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(number, data[:most] if most else data[:-150])

    file.add_card(AgentCard("uct:5", "search", "", None, (GAME,)))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match=r"No space left.*league\.jsonl'$"):
            file.add_pair(result(3))
    file.add_pair(result(3))
    file.close()
    assert path.read_bytes().startswith(whole)
    assert [key.number for key in read_league(path).pairs] == [0, 1, 2, 3]


def test_two_leagues_cannot_write_one_file(path: Path) -> None:
    pytest.importorskip("fcntl")
    file = LeagueFile(path)
    with pytest.raises(LeagueFileError, match="another league is using it"):
        LeagueFile(path)
    file.close()
    LeagueFile(path).close()


def test_a_file_whose_last_flush_fails_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it can be opened again: its lock has gone with it."""
    file = LeagueFile(tmp_path / "league.jsonl")

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left.*league\.jsonl'$"):
            file.close()
    LeagueFile(tmp_path / "league.jsonl").close()
