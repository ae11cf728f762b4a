"""Supervised processes: started, asked within a time limit, and ended with all they have started.

The messages are lines: a child is sent one with a request, and answers with one. Programs of any
language can do that; modules of this library that run as children do it with `messages`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from azumaya.baselines.system.keeper import LONGEST_REASON, STARTED

NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""Keeps Ctrl-C in a terminal from children on Windows, as a session of their own does elsewhere."""
KEEPER = str(Path(__file__).with_name("keeper.py"))
LOOK = 0.05
"""Seconds between looks at a child that is working, for those who look."""
MOST_WAITED = 1000.0
"""Seconds of one wait, far less than what systems take."""
LONGEST = 1 << 30
"""Bytes of the longest answer, unless the caller sets another limit."""
READ_AT_ONCE = 1 << 16
LARGEST_PIPE = 1 << 20
"""Bytes that a pipe may hold, unless a privileged process has enlarged it."""
ENDING = 2.0
"""Seconds for a child that has closed its output to end."""
PATIENCE = 10.0
"""Seconds that a keeper has to end everything."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Settings for children of which as many run as there are cores."""


class ChildError(Exception):
    """A child has not answered."""


class ChildTimeoutError(ChildError):
    """A child has not answered in time; it may be still at it."""


class ChildEndedError(ChildError):
    """A child has ended, or closed its output.

    Attributes:
        how: `exit code 3` or `signal 6`; empty if it has only closed its output.
    """

    def __init__(self, code: int | None) -> None:
        self.how = "" if code is None else how_ended(code)
        super().__init__(f"ended with {self.how}" if self.how else "closed its output")


class LongAnswerError(ChildError):
    """An answer is longer than the limit."""


def how_ended(code: int) -> str:
    """How a process ended, in words, by its exit code as `Popen` has it."""
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def module_words(module: str, *arguments: str) -> list[str]:
    """The words that run a module of this library as a child."""
    return [sys.executable, "-P", "-m", module, *arguments]


class Child:
    """A process of its own that answers requests, and whom nothing that it has started outlives.

    It ends when `end` is called or this process ends, even by a kill. What it has started ends with
    it: on Linux all of it, elsewhere what is still in its process group, and on Windows nothing.
    What it writes without being asked waits in its pipe, and counts as the next answers. One thread
    at a time may use it, except for `kill`.

    Args:
        words: the program and its arguments.
        longest: bytes of the longest answer.
        kept: how many bytes of what it writes to standard error are kept, and the rest counted;
            None if it shares that of this process.
        pass_fds: descriptors that it inherits; none on Windows.
        env: its environment; None for that of this process.
        cwd: the folder in which it runs.

    Attributes:
        prints: what it has written to standard error, unless it shares that.

    Raises:
        OSError: it cannot be started.
        ValueError: a word has a null byte.
    """

    def __init__(
        self, words: Sequence[str], *, longest: int = LONGEST, kept: int | None = None,
        pass_fds: Sequence[int] = (), env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:  # fmt: skip
        self._life: socket.socket | None = None
        theirs: socket.socket | None = None
        if hasattr(os, "killpg"):
            self._life, theirs = socket.socketpair()
            words = [sys.executable, "-I", "-S", KEEPER, str(theirs.fileno()), *words]
            pass_fds = (theirs.fileno(), *pass_fds)
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                stderr=None if kept is None else subprocess.PIPE, env=env, cwd=cwd,
                pass_fds=pass_fds, start_new_session=True, creationflags=NEW_GROUP,
            )  # fmt: skip
        except BaseException:
            self._close(self._life, theirs)
            raise
        self._close(theirs)
        self._pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._requests, self._answers, errors = (
            -1 if pipe is None else pipe.fileno() for pipe in self._pipes
        )
        self._longest, self._pending = longest, bytearray()
        self.prints = Prints(errors, kept or 0)
        self._begin()

    def _begin(self) -> None:
        """Wait until the keeper has started it; its pipes do not block from now on."""
        if self._life is None:
            return
        for pipe in self._pipes:
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
        try:
            said = self._life.recv(LONGEST_REASON)
            if said != STARTED:
                raise OSError(said.decode(errors="replace") or "its keeper has ended")
            self._life.settimeout(PATIENCE)
        except BaseException:
            self.end()
            raise

    @property
    def unread(self) -> int:
        """How many bytes have come after the last answer."""
        return len(self._pending)

    def ask(
        self, request: bytes, seconds: float | None = None, look: Callable[[], None] | None = None
    ) -> bytes:
        """The answer to a request; both are lines, without their newlines.

        Args:
            request: the request, which has no newline.
            seconds: the time for both; None to wait until the child answers or ends.
            look: called every `LOOK` seconds; what it raises ends the wait.

        Raises:
            ChildTimeoutError: it has not answered in this time.
            ChildEndedError: it has ended, or closed its output.
            LongAnswerError: its answer is too long.
        """
        end = None if seconds is None else time.monotonic() + seconds
        self._send(memoryview(request + b"\n"), end, look)
        searched = 0
        while (size := self._pending.find(b"\n", searched)) < 0 and searched < self._longest:
            searched = len(self._pending)
            self._read(_left(end, look))
        if not 0 <= size <= self._longest:
            raise LongAnswerError(f"an answer of more than {self._longest:,} bytes")
        answer = bytes(self._pending[:size])
        del self._pending[: size + 1]
        return answer

    def _send(self, left: memoryview, end: float | None, look: Callable[[], None] | None) -> None:
        """Write to the pipe, which may be full of requests that the child has never read."""
        while left:
            try:
                left = left[os.write(self._requests, left) :]
            except BlockingIOError:
                _wait([self._requests], _left(end, look), write=True)
            except OSError:  # it no longer reads
                raise self._ended() from None

    def _read(self, seconds: float) -> None:
        """Wait for some of an answer, and take in what is printed meanwhile."""
        for pipe in _wait([self._answers, *self.prints.open], seconds):
            if pipe != self._answers:
                self.prints.take_in()
            elif part := os.read(pipe, READ_AT_ONCE):
                self._pending += part
            else:
                raise self._ended()

    def _ended(self) -> ChildEndedError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING)
        return ChildEndedError(self._process.returncode)

    def send_signal(self, number: int) -> None:
        """Send a signal to its process group; not on Windows.

        It has been sent when this returns: a stop that came late would meet the next request, and
        a process that leaves the group while it is stopped is not woken with the group.
        """
        if self._life is not None:
            with contextlib.suppress(OSError):  # it has ended, or somebody has stopped its keeper
                self._life.send(bytes([number]))
                self._life.recv(1)

    def kill(self) -> None:
        """Let it end at once. Any thread may call this; who waits for an answer sees the end."""
        if self._life is None:
            self._process.kill()
        else:
            self._process.send_signal(signal.SIGCONT)  # somebody may have stopped its keeper
            with contextlib.suppress(OSError):  # its keeper has ended
                self._life.shutdown(socket.SHUT_RDWR)  # a forked process may have a copy of it

    def end(self) -> None:
        """End it and what it has started, wait until they have ended, and close its pipes."""
        self.kill()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # somebody stops its keeper again and again
            self._process.kill()
            self._process.wait()
        self.prints.drain()
        self._close(*self._pipes, self._life)
        self._requests = self._answers = -1  # their numbers may be those of other files soon

    @staticmethod
    def _close(*opened: IO[bytes] | socket.socket | None) -> None:
        for each in opened:
            if each is not None:
                each.close()


class Prints:
    """What a child writes to standard error.

    Attributes:
        open: the pipe, until it ends.
        size: how many bytes it has written.
        first: the first of them.
    """

    def __init__(self, pipe: int, kept: int) -> None:
        self.open, self._kept = [pipe] if pipe >= 0 else [], kept
        self.size, self.first = 0, b""

    def take_in(self) -> None:
        """Read some of it."""
        try:
            part = os.read(self.open[0], READ_AT_ONCE)
        except BlockingIOError:  # nothing there now
            part = b""
        if not part:
            self.open.clear()
        self.size += len(part)
        self.first += part[: max(0, self._kept - len(self.first))]

    def drain(self) -> None:
        """Take in what the pipe still holds; a process that was left behind may go on writing."""
        for _ in range(LARGEST_PIPE // READ_AT_ONCE):
            if self.open:
                self.take_in()
        self.open.clear()


def _left(end: float | None, look: Callable[[], None] | None) -> float:
    """How many seconds to wait for what comes next; raises `ChildTimeoutError` if none are left."""
    left = MOST_WAITED if end is None else end - time.monotonic()
    if left <= 0:
        raise ChildTimeoutError
    if look is None:
        return min(left, MOST_WAITED)
    look()
    return min(left, LOOK)


def _wait(pipes: Sequence[int], seconds: float, write: bool = False) -> list[int]:
    """Wait until a pipe can be read, or written, for so long at most; returns those that can."""
    if sys.platform == "win32":  # where pipes block, so that they can be written as they are
        end = time.monotonic() + seconds
        while not (found := [pipe for pipe in pipes if _has_content(pipe)]):
            if time.monotonic() > end:
                break
            time.sleep(LOOK / 5)
        return found
    looks = select.poll()
    for pipe in pipes:
        looks.register(pipe, select.POLLOUT if write else select.POLLIN)
    return [pipe for pipe, _ in looks.poll(1000 * seconds)]


def _has_content(pipe: int) -> bool:
    """Whether a pipe of Windows can be read, be it that it has ended."""
    if sys.platform == "win32":
        import _winapi  # noqa: PLC0415 - Windows alone has it
        import msvcrt  # noqa: PLC0415 - likewise

        with contextlib.suppress(BrokenPipeError):
            return bool(_winapi.PeekNamedPipe(msvcrt.get_osfhandle(pipe), 0)[0])
    return True
