"""Supervised processes: asked in time, too slow, ended with all they have started."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from azumaya.baselines.system import processes
from azumaya.baselines.system.processes import (
    Child,
    ChildEndedError,
    ChildTimeoutError,
    LongAnswerError,
    Prints,
)
from tests.processes import eventually, running_with

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")

ECHO = ["sh", "-c", "while read -r line; do echo $line; done"]
FLOOD = ["sh", "-c", "while true; do echo more; done"]


@pytest.fixture(name="started")
def _started() -> Iterator[list[Child]]:
    """Children that are ended after the test."""
    started: list[Child] = []
    yield started
    for child in started:
        child.end()


def test_each_request_has_its_answer(started: list[Child]) -> None:
    started.append(Child(ECHO))
    for request in (b"one", b"two", b"x" * 5000):
        assert started[0].ask(request, 60) == request
    assert started[0].unread == 0


def test_ctrl_c_in_a_terminal_of_windows_does_not_reach_children() -> None:
    """Elsewhere a session of their own keeps it from them."""
    code = """
import subprocess
subprocess.CREATE_NEW_PROCESS_GROUP = 512
from azumaya.baselines.system import processes
def popen(words, creationflags, **more): print(creationflags); raise OSError
subprocess.Popen = popen
try: processes.Child(["a program"])
except OSError: pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "512\n"


def test_what_is_written_without_being_asked_waits(started: list[Child]) -> None:
    """In its pipe, which is full then, and not in the memory of who asks."""
    started.append(Child(FLOOD, longest=100))
    for _ in range(3):
        assert started[0].ask(b"", 60) == b"more"
    time.sleep(0.1)
    assert started[0].unread <= processes.READ_AT_ONCE


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("exit 3", "ended with exit code 3"),
        ("kill -6 $$", "ended with signal 6"),
        ("read -r line; printf half", "ended with exit code 0"),
        ("exec >&-; exec sleep 60", "closed its output"),
    ],
)
def test_how_a_child_has_ended(started: list[Child], code: str, how: str) -> None:
    started.append(Child(["sh", "-c", code]))
    with pytest.raises(ChildEndedError, match=f"^{how}$"):
        started[0].ask(b"", 60)


@pytest.mark.parametrize("words", [["sleep", "60"], [*FLOOD[:2], "exec sleep 60"]])
def test_a_child_that_is_too_slow(started: list[Child], words: list[str]) -> None:
    """It does not answer, or not even read."""
    started.append(Child(words))
    for request in (b"", b"x" * (1 << 20)):
        with pytest.raises(ChildTimeoutError):
            started[0].ask(request, 0.1)


def test_an_answer_that_is_too_long(started: list[Child]) -> None:
    started.append(Child(["yes", "x" * 200], longest=100))
    with pytest.raises(LongAnswerError, match="an answer of more than 100 bytes"):
        started[0].ask(b"", 60)


def test_who_looks_can_end_the_wait(started: list[Child]) -> None:
    looks: list[float] = []

    def look() -> None:
        looks.append(time.monotonic())
        if len(looks) == 3:
            raise KeyError

    started.append(Child(["sleep", "60"]))
    with pytest.raises(KeyError):
        started[0].ask(b"", look=look)
    assert looks[-1] - looks[0] < 30


def test_who_waits_sees_that_a_child_is_killed(started: list[Child]) -> None:
    started.append(Child(["sleep", "60"]))
    killing = threading.Timer(0.2, started[0].kill)
    killing.start()
    with pytest.raises(ChildEndedError):
        started[0].ask(b"")
    killing.join()


def test_what_is_printed_is_counted_and_its_beginning_kept(started: list[Child]) -> None:
    code = "while read -r line; do printf abcdef >&2; echo done; done"
    started.append(Child(["sh", "-c", code], kept=8))
    for _ in range(3):
        assert started[0].ask(b"", 60) == b"done"
    started[0].end()
    assert (started[0].prints.size, started[0].prints.first) == (18, b"abcdefab")


def test_what_goes_on_printing_does_not_keep_who_ends_it() -> None:
    """A process that was left behind, where there is no subreaper, may never stop writing."""
    with open("/dev/zero", "rb") as endless:
        prints = Prints(endless.fileno(), 0)
        prints.drain()
    assert prints.size == processes.LARGEST_PIPE


def test_pipes_with_high_numbers_can_be_read(started: list[Child]) -> None:
    """Other code of the process may have a thousand files open; `select` takes no such numbers."""
    resource = pytest.importorskip("resource")
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2000:
        pytest.skip("needs 2,000 descriptors")
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1200)]
    try:
        started.append(Child(ECHO))
        assert started[0].ask(b"high", 60) == b"high"
    finally:
        for number in opened:
            os.close(number)


def test_of_a_process_that_cannot_be_started_nothing_is_left(
    recwarn: pytest.WarningsRecorder,
) -> None:
    gc.collect()  # files that earlier tests have left open are closed now, and not below
    recwarn.clear()
    before = sorted(os.listdir("/dev/fd"))
    with pytest.raises(OSError, match="no such program"):
        Child(["./no such program"])
    gc.collect()
    assert not recwarn.list
    assert sorted(os.listdir("/dev/fd")) == before


@on_linux
def test_a_child_can_be_ended_while_a_forked_copy_of_this_process_lives() -> None:
    child = Child(["sh", "-c", "echo $$; exec sleep 60"])
    own = int(child.ask(b""))
    if (copy := os.fork()) == 0:
        signal.pause()
    child.end()
    os.kill(copy, signal.SIGKILL)
    os.waitpid(copy, 0)
    assert not Path(f"/proc/{own}").exists()


@on_linux
def test_what_a_child_leaves_does_not_stay_in_the_table_of_processes(started: list[Child]) -> None:
    """As it would be while the child runs: its keeper is the parent."""
    started.append(Child(["sh", "-c", "(true &); echo $PPID; exec sleep 60"]))
    keeper = int(started[0].ask(b""))
    children = Path(f"/proc/{keeper}/task/{keeper}/children")
    eventually(lambda: _names(children) == ["sleep"], 20)


def _names(children: Path) -> list[str]:
    """The names of processes whose ids are in a file; of one that has just ended there is none."""
    places = [Path(f"/proc/{one}/comm") for one in children.read_text().split()]
    try:
        return [place.read_text().strip() for place in places]
    except OSError:
        return []


@on_linux
def test_a_child_can_be_stopped_and_goes_on(started: list[Child]) -> None:
    started.append(Child(["sh", "-c", "echo $$; while read -r line; do echo $line; done"]))
    status = Path(f"/proc/{int(started[0].ask(b'first'))}/stat")

    def state() -> str:
        return status.read_text().rpartition(")")[2].split()[0]

    started[0].send_signal(signal.SIGSTOP)
    eventually(lambda: state() == "T")
    started[0].send_signal(signal.SIGCONT)
    assert started[0].ask(b"next", 60) == b"first"


def block() -> Callable[[], object]:
    """Block `SIGCHLD`, as another program might; returns what undoes it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    return lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def ignore() -> Callable[[], object]:
    """Ignore it; returns what undoes it."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return lambda: signal.signal(signal.SIGCHLD, before)


@on_linux
@pytest.mark.parametrize("how", [block, ignore])
def test_ends_are_noticed_below_a_program_that_does_not_ask_for_them(
    started: list[Child], how: Callable[[], Callable[[], object]]
) -> None:
    """Its processes inherit that; what ends while it is ignored leaves no exit code behind."""
    undo = how()
    try:
        started.append(Child(["sh", "-c", "sleep 60 & sleep 0.5; exit 6"]))
    finally:
        undo()
    with pytest.raises(ChildEndedError, match="exit code 6"):
        started[0].ask(b"", 10)


ASKED = "import os, signal, time; print(input(), flush=True)"
"""What a child does first that stops or kills its keeper, which must have told that it runs."""


@on_linux
def test_all_ends_though_its_keeper_was_stopped(tmp_path: Path) -> None:
    code = f"{ASKED}; os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)"
    child = Child([sys.executable, "-c", code, str(tmp_path)])
    assert child.ask(b"now", 60) == b"now"
    eventually(lambda: len(running_with(str(tmp_path))) == 2)
    states = [Path(f"/proc/{number}/stat") for number in running_with(str(tmp_path))]
    eventually(lambda: any(") T " in state.read_text() for state in states), 20)
    child.end()
    assert not running_with(str(tmp_path))


@on_linux
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_all_ends_when_a_child_ends_its_keeper(tmp_path: Path, ending: int) -> None:
    code = f"import os, time; os.fork() or os.setsid(); os.kill(os.getppid(), {int(ending)})"
    child = Child([sys.executable, "-c", f"{code}; time.sleep(60)", str(tmp_path)])
    eventually(lambda: not running_with(str(tmp_path)), 20)
    child.end()


@on_linux
def test_a_child_that_kills_its_keeper_ends_with_it(tmp_path: Path) -> None:
    code = f"{ASKED}; os.kill(os.getppid(), 9); time.sleep(60)"
    child = Child([sys.executable, "-c", code, str(tmp_path)])
    assert child.ask(b"now", 60) == b"now"
    with pytest.raises(ChildEndedError, match="signal 9"):
        child.ask(b"", 60)
    eventually(lambda: not running_with(str(tmp_path)), 20)
    child.end()


ENDED_EARLY = """
import os, signal, socket, sys
from azumaya.baselines.system import keeper
keeper._let_go = lambda: os.kill(os.getpid(), signal.SIGTERM)
keeper.keep(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
"""
"""A keeper that is sent a signal as soon as its child has started."""


@on_linux
@pytest.mark.parametrize(
    ("words", "when"),
    [
        pytest.param([processes.KEEPER], "before", id="its parent has ended when the child starts"),
        pytest.param([processes.KEEPER], "after", id="its parent ends with something unread"),
        pytest.param(["-c", ENDED_EARLY], "never", id="a signal comes at once"),
    ],
)
def test_a_keeper_ends_its_child_whenever_its_own_end_comes(
    tmp_path: Path, words: list[str], when: str
) -> None:
    life, theirs = socket.socketpair()
    if when == "before":
        life.close()
    program = [*words, str(theirs.fileno()), "sh", "-c", "sleep 60", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, *program], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as keeper:  # fmt: skip
        theirs.close()
        if when == "after":
            select.select([life], [], [])
            life.close()
        assert keeper.communicate(timeout=20)[1] == b""
    life.close()
    assert not running_with(str(tmp_path))


@on_linux
def test_how_a_child_ended_is_told_though_its_signal_is_blocked(started: list[Child]) -> None:
    code = "from signal import *; pthread_sigmask(SIG_UNBLOCK, [15]); raise_signal(15)"
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        started.append(Child([sys.executable, "-c", code]))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    with pytest.raises(ChildEndedError, match="signal 15"):
        started[0].ask(b"", 60)


def test_a_child_that_was_ended_is_asked_in_vain() -> None:
    """The numbers of its pipes may be those of others then."""
    child = Child(ECHO)
    child.end()
    pipes = [os.pipe() for _ in range(4)]
    with pytest.raises(ChildEndedError):
        child.ask(b"stray", 0.1)
    for reader, writer in pipes:
        os.close(writer)
        assert os.read(reader, 10) == b""
        os.close(reader)


@on_linux
def test_a_signal_has_been_sent_when_the_call_returns(started: list[Child]) -> None:
    """A late stop would meet the next request, and who leaves the group meanwhile sleeps on."""
    started.append(Child(["sh", "-c", "echo $PPID; exec sleep 60"]))
    keeper, began = int(started[0].ask(b"")), time.monotonic()
    os.kill(keeper, signal.SIGSTOP)
    waking = threading.Timer(0.3, os.kill, (keeper, signal.SIGCONT))
    waking.start()
    started[0].send_signal(signal.SIGSTOP)
    assert time.monotonic() - began > 0.25
    waking.join()
