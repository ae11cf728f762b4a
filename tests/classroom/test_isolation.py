"""The layers that isolate a submission: what each allows, and what is said where one is missing."""

from __future__ import annotations

import gc
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.classroom import confine, linux
from azumaya.baselines.classroom.confine import (
    LANDLOCK,
    LAYERS,
    NAMESPACES,
    SECCOMP,
    Isolation,
    lacking,
)
from azumaya.baselines.classroom.games import play_game
from azumaya.baselines.classroom.grading import hidden_from
from azumaya.baselines.classroom.process import (
    IsolationError,
    Limits,
    Room,
    StartingError,
)
from azumaya.baselines.classroom.seccomp import MACHINES, program
from azumaya.baselines.classroom.submissions import Submission, SubmissionAgent
from tests.classroom.running import GAME, QUICK, asked, checked, needs_linux
from tests.classroom.submissions import FIRST, inside
from tests.processes import running_in

GRANDCHILD = inside(
    "child = os.fork()",
    "if child == 0:",
    "    os.setsid()",
    "    if os.fork() == 0:",
    "        os.closerange(0, 64)",
    "        time.sleep(1000)",
    "    os._exit(0)",
    "os.waitpid(child, 0)",
)
"""Starts a process that has left its parent, its session and all pipes behind; then answers."""


@needs_linux
@pytest.mark.parametrize("layers", [(), (NAMESPACES,)], ids=["nothing", "namespaces"])
def test_no_process_is_left_even_if_it_can_start_some(layers: tuple[str, ...], runs: Path) -> None:
    with asked(GRANDCHILD, Room(Limits(layers=layers, megabytes=1024))) as process:
        assert set(process.isolation.layers) == set(layers)
        assert set(process.isolation.missing) & set(LAYERS) == set(LAYERS) - set(layers)
        assert ("RLIMIT_NPROC" in process.isolation.missing) == (NAMESPACES not in layers)
        assert lacking(process.isolation)
        assert len(running_in(runs)) == 2 + 2 * len(layers)


def test_what_a_missing_layer_allows_is_said() -> None:
    every = dict.fromkeys(LAYERS, "in force")
    assert lacking(Isolation(every)) == []
    for layer in (LANDLOCK, SECCOMP):
        without = {name: words for name, words in every.items() if name != layer}
        assert lacking(Isolation(without)), layer
        said = "; ".join(lacking(Isolation(without)))
        assert ("empty and change existing ones" in said) == (layer == LANDLOCK)
    assert "delete and rename files" in lacking(Isolation({NAMESPACES: ""}))
    assert "delete and rename files" not in lacking(Isolation({LANDLOCK: ""}))
    unlimited = Isolation(every, {"RLIMIT_NPROC": "not here"})
    assert lacking(unlimited) == ["start as many threads as its memory holds"]
    assert "use the network" in lacking(Isolation({LANDLOCK: ""}))
    assert "use the network" not in lacking(Isolation({LANDLOCK: "", NAMESPACES: ""}))


@needs_linux
@pytest.mark.usefixtures("runs")
def test_isolation_that_is_required_is_required_of_every_process() -> None:
    """Not only of the first: namespaces, for example, may run out."""
    room = Room(Limits(megabytes=512, layers=(NAMESPACES, LANDLOCK), isolated=True))
    with pytest.raises(IsolationError, match="could start processes"):
        checked(FIRST, room)


@pytest.mark.parametrize("what", ["os.pipe", "subprocess.Popen"])
def test_what_the_system_refuses_is_no_fault_of_a_submission(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk or too many open files: no game is lost by that, and nothing stays open."""
    calls = 0

    def refuse(*arguments: object, **named: object) -> Any:
        nonlocal calls
        calls += 1
        if what == "os.pipe" and calls == 1:
            return pipe()
        raise OSError(28, "No space left on device")

    agents = [SubmissionAgent(Submission("first.py", FIRST), GAME, Room(QUICK)), RandomAgent()]
    gc.collect()  # files that earlier tests have left open are closed now, and not below
    pipe, before = os.pipe, sorted(os.listdir("/dev/fd"))
    monkeypatch.setattr(what, refuse)
    with pytest.raises(StartingError, match=r"cannot be started: .*No space left"):
        play_game(start_set(GAME), 0, 0, agents)
    monkeypatch.undo()
    assert sorted(os.listdir("/dev/fd")) == before


def test_only_failures_of_the_submission_lose_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> Any:
        raise MemoryError("of the grader")

    agent = SubmissionAgent(Submission("first.py", FIRST), GAME, Room(QUICK))
    monkeypatch.setattr(agent, "choose", fails)
    with pytest.raises(MemoryError, match="of the grader"):
        play_game(start_set(GAME), 0, 0, [agent, RandomAgent()])


def test_a_limit_that_cannot_be_set_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: int, limits: tuple[int, int]) -> None:
        if number == resource.RLIMIT_AS:
            raise ValueError("not here")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    found = Isolation(dict.fromkeys(LAYERS, "in force"))
    confine._set_limits(1 << 30, found)
    assert found.missing == {"RLIMIT_AS": "not here"}
    assert lacking(found) == ["take all memory"]


def test_a_folder_is_carved_around_what_is_hidden(tmp_path: Path) -> None:
    secret, open_ = tmp_path / "a" / "secret", tmp_path / "a" / "open"
    for folder in (secret, open_, tmp_path / "b"):
        folder.mkdir(parents=True)
    rights = linux.carve([str(tmp_path)], [str(secret)])
    assert rights == {
        str(tmp_path): linux.READ_DIR,
        str(tmp_path / "a"): linux.READ_DIR,
        str(open_): linux.READ,
        str(tmp_path / "b"): linux.READ,
    }
    assert linux.carve([str(secret)], [str(tmp_path)]) == {}


def test_python_may_be_in_the_folder_of_the_results(tmp_path: Path) -> None:
    """For instance `--output .` in a project with its virtual environment."""
    libraries, own = tmp_path / ".venv" / "lib", tmp_path / "submissions"
    for folder in (libraries, own):
        folder.mkdir(parents=True)
    results = ("class.jsonl", "marks.csv", "report.html", ".marks.csv.7.tmp", "other")
    for name in results:
        (tmp_path / name).write_text("")
    hidden = [str(path) for path in hidden_from(own, tmp_path)]
    assert linux.carve([str(libraries)], hidden) == {str(libraries): linux.READ}
    assert set(linux.carve([str(tmp_path)], hidden)) == {
        str(tmp_path), str(tmp_path / ".venv"), str(tmp_path / "other")
    }  # fmt: skip


@pytest.mark.parametrize("kind", MACHINES)
def test_the_filter_allows_what_it_lists_and_nothing_else(kind: str) -> None:
    """The filter, interpreted; some calls are allowed or not by their first two arguments."""
    machine = MACHINES[kind]
    lines, number = program(machine, 7), machine.allowed

    def decide(call: int, first: int = 0, second: int = 0, code: int = machine.code) -> int:
        loaded, place = 0, 0
        while True:
            operation, yes, no, value = lines[place]
            place += 1
            if operation == 0x20:
                loaded = {0: call, 4: code, 16: first, 24: second}[value]
            elif operation == 0x54:
                loaded &= value
            elif operation == 0x06:
                return value
            else:
                holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
                place += yes if holds[operation] else no

    allowed, refused, absent = 0x7FFF0000, 0x00050001, 0x00050026
    some = {"clone", "tgkill", "prlimit64", "prctl", "fcntl", "ioctl", "socketpair"}
    assert {decide(number[name]) for name in number.keys() - some} == {allowed}
    assert {decide(call) for call in set(range(424)) - {*number.values()}} == {refused}
    assert {decide(call) for call in set(range(424, 600)) - {*number.values()}} == {absent}
    assert decide(0x40000000 + 1) == absent, "a call of another convention"
    assert decide(1, code=0x40000003) == refused, "of another kind of machine"

    def are_allowed(name: str, *arguments: tuple[int, int]) -> list[bool]:
        return [decide(number[name], *both) == allowed for both in arguments]

    assert are_allowed("clone", (0x00010F00, 0), (17, 0)) == [True, False]
    assert are_allowed("tgkill", (7, 0), (8, 0)) == [True, False]
    assert are_allowed("prlimit64", (0, 0), (8, 0)) == [True, False]
    assert are_allowed("prctl", (15, 0), (1, 0), (4, 0)) == [True, False, False]
    assert are_allowed("fcntl", (3, 4), (3, 1030), (3, 5), (3, 1024), (3, 1031)) == [
        True, True, False, False, False
    ]  # fmt: skip
    assert are_allowed("ioctl", (0, 0x541B), (0, 0x5500), (0, 0x40086602)) == [True, False, False]
    assert are_allowed("socketpair", (1, 1 | 0x80000), (1, 2), (1, 3), (2, 1)) == [
        True, False, False, False
    ]  # fmt: skip
