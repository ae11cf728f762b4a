"""Journals: what leagues, classes and seeded work have in common, once for all of them."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.league.results import LeagueFile, LeagueFileError, PairKey, PairResult
from azumaya.baselines.classroom.games import Played
from azumaya.baselines.classroom.store import ClassFile, ClassFileError, Meeting
from azumaya.baselines.system.work import WorkFileError, open_work
from azumaya.envs.notation import GameRecord

GAME = "vierer_dominari"


@dataclass
class Opened:
    """A journal that is open.

    Attributes:
        add: adds the result of a number.
        there: the numbers of the results that there are.
    """

    add: Callable[[int], object]
    there: Callable[[], list[int]]


@contextlib.contextmanager
def league(path: Path, seed: int) -> Iterator[Opened]:
    with contextlib.closing(LeagueFile(path, seed)) as file:

        def add(number: int) -> None:
            for name in ("random", "greedy"):
                file.add_card(AgentCard(name, "built in", "", None, (GAME,)))
            key = PairKey(GAME, number, "greedy", "random")
            file.add_pair(PairResult(key, (1, -1), (12, 9), (5, 4), (0.5, 0.25)))

        yield Opened(add, lambda: [key.number for key in file.league.pairs])


@contextlib.contextmanager
def grading(path: Path, seed: int) -> Iterator[Opened]:
    record = GameRecord("azumaya/x", {}, "start", ("1a1",), (1.0, -1.0), date="2026-11-26")
    games = Played(1, 0, record), Played(-1, 1, record, (0, "crashed"))
    with contextlib.closing(ClassFile(path, {"game": GAME, "seed": seed})) as file:
        yield Opened(
            lambda number: file.add_meeting(Meeting("a.py@1", "b.py@2", number, games)),
            lambda: [number for _, _, number in file.meetings],
        )


@contextlib.contextmanager
def work(path: Path, seed: int) -> Iterator[Opened]:
    with open_work(path, {"what": "squares", "seed": seed}) as (lines, add):

        def both(number: int) -> None:
            add({"number": number})
            lines.append({"number": number})

        yield Opened(both, lambda: [line["number"] for line in lines])


Open = Callable[[Path, int], contextlib.AbstractContextManager[Opened]]
KINDS: dict[str, tuple[Open, type[ValueError]]] = {
    "league": (league, LeagueFileError),
    "class": (grading, ClassFileError),
    "work": (work, WorkFileError),
}


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@pytest.fixture(name="opens", params=KINDS)
def _opens(request: pytest.FixtureRequest, path: Path) -> Open:
    """Opens a journal, in which there are three results."""
    opens: Open = KINDS[request.param][0]
    with opens(path, 3) as opened:
        for number in (0, 1, 2):
            opened.add(number)
    return opens


def error_of(opens: Open) -> type[ValueError]:
    return next(error for each, error in KINDS.values() if each is opens)


def test_results_are_there_when_it_is_opened_again(opens: Open, path: Path) -> None:
    before = path.read_bytes()
    with opens(path, 3) as opened:
        assert opened.there() == [0, 1, 2]
    assert path.read_bytes() == before


def test_a_file_torn_at_any_byte_goes_on(opens: Open, path: Path) -> None:
    """Until a line is added nothing is changed, except where the settings were torn."""
    whole = path.read_bytes()
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]
    for size in sorted({*range(1, len(whole), 37), *ends, *(end + 1 for end in ends)}):
        path.write_bytes(whole[:size])
        with opens(path, 3) as opened:
            kept = opened.there()
            assert kept == list(range(len(kept)))
            assert path.read_bytes() == whole[: max(size, ends[0] + 1)]
            for number in range(len(kept), 3):
                opened.add(number)
        assert path.read_bytes() == whole


def test_settings_change_only_where_there_is_no_result(opens: Open, path: Path) -> None:
    """The first ones may have been wrong, or may not have been written to their end."""
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for torn in (whole, whole + b'{"torn'):
        path.write_bytes(torn)
        with pytest.raises(error_of(opens)), opens(path, 4):
            pass
        assert path.read_bytes() == torn, "a file that is refused stays as it was"
    for begun in (whole[:first], whole[:first] + b'{"torn', whole[: first - 1], whole[:3], b""):
        path.write_bytes(begun)
        with opens(path, 4) as opened:
            opened.add(7)
        with opens(path, 4) as opened:
            assert opened.there() == [7]


@pytest.mark.parametrize(
    "content",
    [
        b"hello\n",
        b"hello",
        b'{"width": 3}\n',
        b'{"width"',
        b"[1]\n",
        b'{"record":"x"}\n',
        b"\xff\n",
    ],
)
def test_somebody_elses_file_stays_as_it_is(opens: Open, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(error_of(opens), match=r"journal\.jsonl"), opens(path, 3):
        pass
    assert path.read_bytes() == content


@pytest.mark.parametrize("line", ["[1]", "7", "null", '{"a', "{}", '{"a":' + "[" * 99 + "]" * 99])
def test_damage_is_told_with_its_line(opens: Open, path: Path, line: str) -> None:
    if line == "{}" and opens is work:
        pytest.skip("any object may be a result of work")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], line.encode() + b"\n", *lines[2:]]))
    before = path.read_bytes()
    with pytest.raises(error_of(opens), match=r"journal\.jsonl, line 3: damaged: "), opens(path, 3):
        pass
    assert path.read_bytes() == before


def test_only_one_process_has_it_open(opens: Open, path: Path) -> None:
    pytest.importorskip("fcntl")
    with opens(path, 3) as opened:
        with pytest.raises(error_of(opens), match="another"), opens(path, 3):
            pass
        opened.add(3)
    with opens(path, 3) as opened:
        assert opened.there() == [0, 1, 2, 3]


@pytest.mark.parametrize("most", [0, 5])
def test_what_a_failed_write_leaves_is_taken_back(
    opens: Open, path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """So that the next line does not go on where it ends, as after a full disk."""
    write = os.write

    def full(number: int, data: memoryview) -> int:
        if len(data) < 12 or not most:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(number, data[:most])

    with opens(path, 3) as opened:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(OSError, match=r"No space left.*journal\.jsonl'$"):
                opened.add(3)
        opened.add(4)
    with opens(path, 3) as opened:
        assert opened.there() == [0, 1, 2, 4]


def test_a_file_whose_last_flush_fails_is_closed(
    opens: Open, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it can be opened again: its lock has gone with it."""

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left.*journal\.jsonl'$"), opens(path, 3):
        monkeypatch.setattr(os, "fsync", full)
    monkeypatch.undo()
    with opens(path, 3) as opened:
        assert opened.there() == [0, 1, 2]


def test_a_late_line_does_not_end_up_in_another_file(opens: Open, path: Path) -> None:
    """As a thread may add one that was interrupted together with the work."""
    before = path.read_bytes()
    with opens(path, 3) as opened:
        pass
    other = path.with_name("other")
    with other.open("wb"), pytest.raises(OSError, match="Bad file"):
        opened.add(3)
    assert other.read_bytes() == b""
    assert path.read_bytes() == before


@pytest.mark.parametrize("opens", [opens for opens, _ in KINDS.values()], ids=KINDS)
def test_pipes_and_devices_are_refused_instead_of_waited_for(opens: Open, path: Path) -> None:
    os.mkfifo(path)
    for special in (path, Path("/dev/zero")):
        with pytest.raises(error_of(opens), match="not a regular file"), opens(special, 3):
            pass
