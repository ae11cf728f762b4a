"""The other side of the process in which a submission runs: it starts, asks, times and ends it.

Nothing that comes from the process is trusted. Its answers are lines of JSON of a limited length,
each with the number of the question; anything else is a fault of the submission.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azumaya.baselines.arena import exams
from azumaya.baselines.arena.league.crew import LOOK, ONE_THREAD, StoppedError
from azumaya.baselines.classroom.confine import LAYERS, Isolation, lacking
from azumaya.baselines.system.files import UnusableFileError, locked, parse_json
from azumaya.baselines.system.keeper import how_ended
from azumaya.envs.kernels.cache import cache_root
from azumaya.envs.registry import MODULES

LONGEST_LINE = 1 << 14
"""Bytes of the longest answer that is read."""
READ_AT_ONCE = 1 << 16
LARGEST_PIPE = 1 << 20
"""Bytes that a pipe may hold, unless a privileged process has enlarged it."""
KEPT_OUTPUT = 2_000
"""Bytes of what a submission prints that are kept; the rest is counted."""
LONGEST_ERROR = 400
STARTING = 600.0
"""Seconds for a process to start; minutes if kernels are compiled on a busy machine."""
FOLDERS = "azumaya-class-"
"""The prefix of the folders in which submissions run."""
SETTLED = 60.0
"""Seconds after which a folder is locked if its run lives."""
ENDING = 2.0
PASSED_ON = ("PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT", MODULES)
"""Environment variables that a process is given; and those that begin with `NUMBA_`."""


def printable(text: str) -> str:
    """A text in which what cannot be printed, such as a line break, is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class SubmissionError(Exception):
    """A submission failed instead of giving a move; the message says how."""


class StartingError(RuntimeError):
    """The process of a submission cannot be started, through no fault of the submission."""


class IsolationError(StartingError):
    """Submissions cannot be isolated as far as was asked for."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use.

    Attributes:
        move: seconds for a move.
        game: seconds for all its moves of a game.
        loading: seconds to load the file.
        megabytes: address space of its process.
        layers: the layers of isolation to put in force.
        baselines: whether it may import `azumaya.baselines`, without the exams.
        isolated: whether a process in which a layer is missing is an error.
    """

    move: float = 2.0
    game: float = 10.0
    loading: float = 10.0
    megabytes: int = 2048
    layers: tuple[str, ...] = LAYERS
    baselines: bool = False
    isolated: bool = False


@dataclass(frozen=True)
class Room:
    """Where submissions run.

    Attributes:
        limits: what each of them may use.
        hidden: folders and files that none of them may read, besides the exams.
        cpu: seconds of processor time of each process, see `grading.processor_seconds`.
        stop: set to end everything soon.
    """

    limits: Limits = Limits()
    hidden: tuple[Path, ...] = ()
    cpu: int = 1000
    stop: threading.Event = field(default_factory=threading.Event)


class PlayerProcess:
    """A running submission.

    Args:
        game: the name of the game.
        name: the name of its file.
        source: the content of the file.
        room: what it may use.

    Attributes:
        isolation: what confines it.
        printed: the bytes it has printed.
        output: the first of them.

    Raises:
        IsolationError: a layer of isolation is required, and missing.
        StartingError: the process does not start.
        SubmissionError: the submission cannot be loaded.
        StoppedError: the room is being closed.
    """

    def __init__(self, game: str, name: str, source: bytes, room: Room) -> None:
        self._room, self._limits = room, room.limits
        self.printed, self.output, self._pending = 0, b"", b""
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: int | None = None
        self._folder = ""
        try:
            self._make()
            ready = self._started(game)
            self.isolation = Isolation(ready["layers"], ready["missing"])
            if self._limits.isolated:
                _require(self.isolation)
            self._load(name, source)
            self._signal(signal.SIGSTOP)  # except while it is asked, so as to take nobody's time
        except BaseException:
            self.close()
            raise

    def ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        """What the submission answers to a position: the name or the number of a move.

        Raises:
            SubmissionError: it fails, or takes longer. After that the process may have ended.
        """
        self._signal(signal.SIGCONT)
        try:
            found = self._exchange(dict(request), b"", seconds)
        finally:
            self._signal(signal.SIGSTOP)
        if not isinstance(found.get("move"), str | int):
            raise SubmissionError("wrote to the pipe of its answers, and no move")
        return found["move"]

    def close(self) -> None:
        """End the process and all that it has started."""
        self._signal(signal.SIGCONT)
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                process.terminate()  # it ends what it has started, and itself
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(ENDING)
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._drain()
            for pipe in (self._requests, self._answers, self._prints):
                os.close(pipe)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def _signal(self, number: int) -> None:
        """Send a signal to the process and all that it has started."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, number)

    def _make(self) -> None:
        """Make the folder and start the process; what the system refuses is nobody's fault."""
        try:
            self._folder = tempfile.mkdtemp(prefix=FOLDERS)
            self._lock = _opened(self._folder)
            locked(self._lock)  # where there are no locks, folders of killed runs remain
            with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
                their_ends = self._open_pipes(theirs, ours)
                self._start(their_ends)
                ours.pop_all()  # open until `close`
        except OSError as error:
            raise StartingError(
                f"the process of a submission cannot be started: {error}"
            ) from error

    def _open_pipes(
        self, theirs: contextlib.ExitStack, ours: contextlib.ExitStack
    ) -> tuple[int, int, int]:
        """Make the pipes; returns the ends for requests, answers and prints of the process.

        Its ends are closed with one stack, those of this process with the other.
        """
        their_ends, our_ends = [], []
        for is_read in (True, False, False):
            read, write = os.pipe()
            their_end, our_end = (read, write) if is_read else (write, read)
            theirs.callback(os.close, their_end)
            ours.callback(os.close, our_end)
            os.set_blocking(our_end, False)
            their_ends.append(their_end)
            our_ends.append(our_end)
        self._requests, self._answers, self._prints = our_ends
        requests, answers, prints = their_ends
        return requests, answers, prints

    def _start(self, their_ends: tuple[int, int, int]) -> None:
        requests, answers, printing = their_ends
        module = "azumaya.baselines.classroom.player"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(requests), str(answers)],
            stdin=subprocess.DEVNULL, stdout=printing, stderr=printing, cwd=self._folder,
            env=_environment(self._folder), pass_fds=(requests, answers), start_new_session=True,
        )  # fmt: skip

    def _spec(self, game: str) -> dict[str, Any]:
        """How the process is to confine itself; not among its arguments, which it can read."""
        return {
            "game": game,
            "memory": self._limits.megabytes << 20,
            "seconds": self._room.cpu,
            "layers": self._limits.layers,
            # the kernels of searches take too long to be compiled in every process
            "cached": self._limits.baselines,
            "readable": [self._folder, *(_cache() if self._limits.baselines else [])],
            "hidden": [str(p) for p in (*self._room.hidden, *_hidden(self._limits.baselines))],
        }

    def _started(self, game: str) -> dict[str, Any]:
        try:
            self._write(json.dumps(self._spec(game)).encode() + b"\n", STARTING)
            found: dict[str, Any] = parse_json(self._line(STARTING, "starting"))
        except (SubmissionError, UnusableFileError) as error:
            said = self.output.decode(errors="replace").strip().splitlines()[-1:]
            raise StartingError(
                f"the process of a submission did not start: {error} {' '.join(said)}"
            ) from error
        return found

    def _load(self, name: str, source: bytes) -> None:
        about = {"name": name, "size": len(source)}
        found = self._exchange(about, source, self._limits.loading)
        if found.get("loaded") is not True:
            raise SubmissionError("wrote to the pipe of its answers while it was loaded")

    def _exchange(self, request: dict[str, Any], more: bytes, seconds: float) -> dict[str, Any]:
        """Send a request and read its answer."""
        number = secrets.randbits(48)  # so that no answer can be written in advance
        self._write(json.dumps({"id": number, **request}).encode() + b"\n" + more, seconds)
        try:
            found = parse_json(self._line(seconds, "to be loaded" if more else "for a move"))
        except UnusableFileError:
            found = None
        if not isinstance(found, dict) or found.get("id") != number or self._pending:
            raise SubmissionError("wrote to the pipe of its answers")
        if "error" in found:
            raise SubmissionError(printable(str(found["error"])[:LONGEST_ERROR]))
        return found

    def _write(self, content: bytes, seconds: float) -> None:
        left, end = memoryview(content), time.monotonic() + seconds
        while left:
            try:
                left = left[os.write(self._requests, left) :]
            except BlockingIOError:
                if time.monotonic() > end:
                    raise SubmissionError(f"took no request in {seconds:g} s") from None
                select.select([], [self._requests], [], 0.05)
            except OSError:
                raise SubmissionError(self._how_it_ended()) from None

    def _line(self, seconds: float, what: str) -> bytes:
        """The next line of the answers; what is printed meanwhile is taken in."""
        looks, end = select.poll(), time.monotonic() + seconds
        for pipe in (self._answers, self._prints):
            looks.register(pipe, select.POLLIN)
        while b"\n" not in self._pending:
            left = end - time.monotonic()
            if left <= 0:
                raise SubmissionError(f"time-out: it needed more than {seconds:.3g} s {what}")
            if self._room.stop.is_set():
                raise StoppedError
            for pipe, _ in looks.poll(1000 * min(left, LOOK)):
                part = _read(pipe)
                if pipe == self._prints:
                    self._take_in(part)
                    if not part:
                        looks.unregister(pipe)
                elif not part:
                    raise SubmissionError(self._how_it_ended())
                else:
                    self._pending += part
            if len(self._pending) > LONGEST_LINE:
                raise SubmissionError(f"gave an answer of more than {LONGEST_LINE:,} bytes")
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _take_in(self, part: bytes) -> None:
        self.printed += len(part)
        self.output += part[: max(0, KEPT_OUTPUT - len(self.output))]

    def _drain(self) -> None:
        """Take in what the pipe still holds; a process that was left behind may go on writing."""
        for _ in range(LARGEST_PIPE // READ_AT_ONCE):
            part = _read(self._prints)
            if not part:
                return
            self._take_in(part)

    def _how_it_ended(self) -> str:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(ENDING)
            if abs(code) > 128:
                code = 128 - abs(code)
            return f"ended its process: {how_ended(code)}"
        return "closed the pipe of its answers"


def remove_left_folders() -> None:
    """Remove the folders that runs of this user which were killed have left behind.

    The system unlocks a folder when its run ends in whatever way, so no run loses its own. Only
    empty ones are removed.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        with contextlib.suppress(OSError):  # somebody else's, or in use
            if time.time() - folder.stat().st_mtime > SETTLED:
                folder_file = _opened(folder)
                try:
                    if locked(folder_file, without_locks=False):
                        folder.rmdir()
                finally:
                    os.close(folder_file)


def _opened(folder: str | Path) -> int:
    """A descriptor of a folder."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _read(pipe: int) -> bytes:
    try:
        return os.read(pipe, READ_AT_ONCE)
    except OSError:  # nothing there now
        return b""


def _cache() -> list[str]:
    """The folder of compiled kernels, from which the process of a submission loads its own."""
    return [] if os.environ.get("AZUMAYA_CACHE_DIR") == "" else [str(cache_root())]


def _hidden(baselines: bool) -> list[Path]:
    """What of this library a submission may not read: the exams, and mostly its agents."""
    package = exams.DATA.parents[1]
    return [exams.DATA] if baselines else [package]


def _environment(home: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith("NUMBA_")
    }
    if site.ENABLE_USER_SITE:  # otherwise it would be looked for in the new home
        kept["PYTHONUSERBASE"] = site.getuserbase()
    cache = _cache()
    return {
        **kept, "HOME": home, "TMPDIR": home, "PATH": os.defpath,
        "AZUMAYA_CACHE_DIR": cache[0] if cache else "", **dict.fromkeys(ONE_THREAD, "1"),
    }  # fmt: skip


def _require(isolation: Isolation) -> None:
    """Raise `IsolationError` if a submission in this isolation could do harm."""
    could = lacking(isolation)
    if could:
        why = "; ".join(f"{layer}: {reason}" for layer, reason in isolation.missing.items())
        raise IsolationError(f"a submission could {', '.join(could)} ({why})")
