"""Leagues in processes: crashes and time-outs, determinism, and what is left after kill -9."""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from azumaya.baselines.arena.league import crew, games
from azumaya.baselines.arena.league.cards import AgentCard, card_of
from azumaya.baselines.arena.league.crew import (
    LeagueError,
    Outcome,
    PairJob,
    Unplayed,
    Worker,
    play_locally,
)
from azumaya.baselines.arena.league.games import Board
from azumaya.baselines.arena.league.league import join, local_crew, play_league, sitting_out
from azumaya.baselines.arena.league.results import LeagueFile, PairKey, PairResult, read_league
from azumaya.baselines.arena.league.schedule import Plan
from azumaya.baselines.system import processes as supervision
from azumaya.envs import OptionError
from tests import processes
from tests.league.playing import GAME, league_here, outcomes
from tests.odd_agents import ODD, UNMADE

CRASHES = {
    f"{ODD}:Crashes:1": "crashed its process: exit code 7",
    f"{ODD}:Raises:1": "ValueError: [red]what[/b] it says",
}
FAULTS = {**CRASHES, f"{ODD}:Hangs:1": "time-out: no move in 1.5 s"}


pytestmark = pytest.mark.usefixtures("beside_the_agents")


def test_on_windows_a_process_that_inherits_nothing_finds_the_board(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, started = dict[str, bytearray](), list[str]()

    def mapped(file: int, size: int, name: str) -> bytearray:
        assert file == -1
        return memory.setdefault(name, bytearray(size))

    def child(words: list[str], *, pass_fds: tuple[int, ...], **more: object) -> None:
        assert pass_fds == ()
        started.append(words[-1])

    windows = SimpleNamespace(platform="win32")
    monkeypatch.setattr(crew, "sys", windows)
    monkeypatch.setattr(games, "sys", windows)
    monkeypatch.setattr(games, "mmap", SimpleNamespace(mmap=mapped))
    monkeypatch.setattr(crew, "Child", child)
    for worker in (Worker(), Worker()):
        worker._running()
        Board(int(started[-1])).write(1)
        assert worker._board.read()[0] == 1
    assert len(memory) == 2


@pytest.mark.parametrize("names", [CRASHES, pytest.param(FAULTS, marks=pytest.mark.slow)], ids=len)
def test_crashes_and_time_outs_lose_games_and_two_processes_play_what_one_does(
    names: dict[str, str], tmp_path: Path
) -> None:
    here, path = tmp_path / "here.jsonl", tmp_path / "processes.jsonl"
    league_here(here, ["greedy", "uct:10"], pairs=2)
    file = LeagueFile(path)
    join(file, ["greedy", "uct:10"], [GAME])
    play_league(file, Plan((GAME,), 2), local_crew(2))
    fine = outcomes(path)
    assert fine == outcomes(here)
    cards = join(file, names, [GAME])
    odd = {card.id: card.name for card in cards}
    # only against random, and in one pair: each of these games costs a process
    lonely = [key for key in ("greedy", "uct:10") if key in file.league.cards]
    for key in lonely:
        del file.league.cards[key]
    play_league(file, Plan((GAME,), 1, limit=1.5, only=frozenset(odd)), local_crew(2))
    file.close()
    pairs = [pair for key, pair in file.league.pairs.items() if key not in fine]
    assert len(pairs) == len(names) * (len(names) + 1) // 2
    for pair in pairs:
        for fault, result in zip(pair.faults, pair.results, strict=True):
            assert fault is not None
            loser = (pair.key.first, pair.key.second)[fault[0]]
            assert fault[1] == names[odd[loser]]
            assert result == (-1 if fault[0] == 0 else 1)
    assert set(read_league(path).pairs) == {*fine, *(pair.key for pair in pairs)}


def job_of(name: str = "greedy", kind: str = "built in", limit: float = 1.0) -> PairJob:
    """A pair of games of an agent against the random one."""
    key = PairKey(GAME, 0, card_of(name, [GAME]).id, "random")
    return PairJob(key, (name, "random"), (kind, "built in"), 0, True, limit)


def pairs_in(path: Path) -> int:
    """How many pairs the file of a league has."""
    return path.read_bytes().count(b'"record":"pair"') if path.exists() else 0


def test_a_league_that_was_killed_goes_on_with_every_game_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, whole = tmp_path / "league.jsonl", tmp_path / "whole.jsonl"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))  # for the processes started here
    words = ["league", "greedy", "uct:30", "--game", GAME, "--pairs", 40, "--results", path]
    with processes.start(*words, "--processes", 2) as process:
        processes.eventually(lambda: pairs_in(path) >= 5)
        assert processes.inheriting(f"TMPDIR={temporary}")
        process.send_signal(signal.SIGKILL)
    processes.eventually(
        lambda: not processes.inheriting(f"TMPDIR={temporary}")
    )  # none that plays is left
    assert not list(temporary.iterdir())
    killed = path.read_bytes()
    assert 5 <= killed.count(b'"record":"pair"') < 3 * 40
    path.write_bytes(killed[:-7])  # and the last line torn
    league_here(path, ["greedy", "uct:30"], pairs=40)
    league_here(whole, ["greedy", "uct:30"], pairs=40)
    assert outcomes(path) == outcomes(whole)
    assert path.read_bytes().count(b'"record":"pair"') == 3 * 40
    assert path.read_bytes().startswith(killed[: killed.rindex(b"\n", 0, -7)])


def test_a_process_that_ends_for_no_fault_of_an_agent_is_replaced_then_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stands in for a machine on which games cannot be played at all."""
    monkeypatch.setenv("PYTHONHOME", "/nowhere")  # Python cannot start
    with pytest.raises(LeagueError, match="ended 3 times while no agent was thinking"):
        list(play_locally([job_of()], 1))


def played(job: PairJob) -> PairResult:
    """A pair of games, played in a process of its own."""
    with contextlib.closing(Worker()) as worker:
        pair = worker.play_pair(job, threading.Event())
    assert isinstance(pair, PairResult)
    return pair


LEAVES = """
import subprocess, sys, time
words = [sys.executable, "-c", "import time; time.sleep(999)", MARK]
subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)
time.sleep(999)
"""


def leaving(mark: str) -> str:
    """A program that never answers, and starts another in a session of its own."""
    code = LEAVES.replace("MARK", repr(mark))
    return f"program:{shlex.join([sys.executable, '-c', code, mark])}"


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")


@on_linux
def test_a_program_that_is_too_slow_is_ended_with_all_it_has_started(tmp_path: Path) -> None:
    pair = played(job_of(leaving(str(tmp_path)), "program", 1.5))
    assert pair.faults == ((0, "time-out: no move in 1.5 s"),) * 2
    assert not processes.running_with(str(tmp_path))


@on_linux
@pytest.mark.slow
def test_programs_end_with_a_command_that_is_killed(tmp_path: Path) -> None:
    """And with them all that they have started."""
    words = ["league", leaving(str(tmp_path)), "random", "--game", GAME]
    with processes.start(*words, "--results", tmp_path / "league.jsonl") as process:
        # the command, a keeper, the program, and what that has started
        processes.eventually(lambda: len(processes.running_with(str(tmp_path))) > 3)
        process.send_signal(signal.SIGKILL)
    processes.eventually(lambda: not processes.running_with(str(tmp_path)))


def test_programs_that_agents_start_read_no_jobs() -> None:
    """Such a program waits for a pipe of jobs to end, or takes the next job."""
    pair = played(job_of(f"{ODD}:Starts", "program", 20.0))
    assert pair.faults == (None, None)


def test_no_agent_is_charged_for_a_machine_that_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stands in for a suspended machine: whoever looks at the clock does so with long gaps.

    An agent that is charged must be late at two looks. This machine may itself miss some, so that
    one would think for longer; it is ended before.
    """
    monkeypatch.setattr(supervision, "LOOK", 0.5)
    faults = []
    for still, seconds in ((0.02, 2), (10.0, 10)):
        monkeypatch.setattr(crew, "STILL", still)
        faults.append(played(job_of(f"{ODD}:Slow:{seconds}", "python", 0.5)).faults[0])
    assert faults == [None, (0, "time-out: no move in 0.5 s")]


def test_one_look_does_not_end_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first says that an agent has been thinking for ever, all others that it has begun."""
    looks = iter([(0, 1e9, False)])
    monkeypatch.setattr(Board, "read", lambda board: next(looks, (0, 0.0, False)))
    assert played(job_of(limit=10.0)).faults == (None, None)
    assert next(looks, None) is None, "it was looked at"


@pytest.mark.parametrize(
    ("how", "limit", "why"),
    [
        ("crashes", 60.0, "cannot be made: it crashed its process: exit code 7"),
        ("hangs", 0.3, "cannot be made in 0.3 s"),
    ],
)
def test_an_agent_whose_making_ends_or_stops_its_process_sits_out(
    monkeypatch: pytest.MonkeyPatch, how: str, limit: float, why: str
) -> None:
    job = job_of(f"{ODD}:Unmade", "program", limit)
    monkeypatch.setenv(UNMADE, how)
    with contextlib.closing(Worker()) as worker:
        unplayed = worker.play_pair(job, threading.Event())
    assert unplayed == Unplayed(job.key, job.key.first, why)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os; os._exit(0)", "cannot be made: it crashed its process: exit code 0"),
        pytest.param(
            "import time; time.sleep(1000)", "cannot be made in 0.3 s", marks=pytest.mark.slow
        ),
        pytest.param(
            "raise KeyboardInterrupt", "RuntimeError: KeyboardInterrupt()", marks=pytest.mark.slow
        ),
    ],
)
def test_a_module_that_ends_or_stops_its_process_cannot_join_and_sits_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if "sleep" in code:
        monkeypatch.setitem(games.GRACE, "python", 0.3)
    (tmp_path / "never_made.py").write_text(code)
    name = "never_made:Bot"
    card = AgentCard(name, "python", "0a1b", None, (GAME,))
    assert sitting_out([card]) == {card.id: f"cannot be made: OptionError: agent {name}: {why}"}
    file = LeagueFile(tmp_path / "league.jsonl")
    with pytest.raises(OptionError, match=re.escape(f"agent {name}: {why}")):
        join(file, [name], [GAME])
    file.close()


BOT = """
from azumaya.baselines.agents import {kind}
class Bot({kind}): "Another agent with each kind."
"""


def test_the_new_code_of_an_agent_does_not_play_under_its_old_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in a new process, nor in one that has loaded the old code."""
    monkeypatch.chdir(tmp_path)
    (module := tmp_path / "edited_bot.py").write_text(BOT.format(kind="RandomAgent"))
    file, name = LeagueFile(tmp_path / "league.jsonl"), "edited_bot:Bot"
    (old,) = join(file, [name], [GAME])
    worker = Worker()

    def crew_of_one(jobs: Iterable[PairJob]) -> Iterator[Outcome]:
        for job in jobs:
            yield worker.play_pair(job, threading.Event())

    play_league(file, Plan((GAME,), 1), crew_of_one)
    # of another size: Python's cache does not notice an edit within a second that keeps the size
    module.write_text(BOT.format(kind="GreedyAgent") + "\n")
    (new,) = join(file, [name], [GAME])
    assert old.id != new.id
    with pytest.warns(UserWarning, match=f"{old.id} sits out: its files have changed"):
        play_league(file, Plan((GAME,), 6, only=frozenset({new.id})), crew_of_one)
    played = Counter((key.first, key.second) for key in file.league.pairs)
    assert played == {(old.id, "random"): 1, (new.id, "random"): 6}
    own = [pair.results for key, pair in file.league.pairs.items() if key.first == new.id]
    assert sum(sum(results) for results in own) >= 8, "it is the greedy one that plays"
    late = PairJob(
        PairKey(GAME, 9, old.id, "random"), (name, "random"), ("python", "built in"), 0, True, 60.0
    )
    unplayed = Unplayed(late.key, old.id, "its files have changed")
    assert worker.play_pair(late, threading.Event()) == unplayed
    worker.close()
    file.close()


def test_a_league_that_is_stopped_closes_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Worker] = []

    def play_pair(worker: Worker, job: PairJob, stop: object) -> PairResult:
        return PairResult(job.key, (1, 1), (1, 1), (1, 1), (1.0, 1.0))

    def close(worker: Worker) -> None:
        closed.append(worker)

    monkeypatch.setattr(Worker, "play_pair", play_pair)
    monkeypatch.setattr(Worker, "close", close)
    results = play_locally(iter(job_of, None), 3)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(closed) == 3
