"""Processes that are ended with all that they have started, also when this process is killed.

Between this process and such a process there is a third one, the keeper: this file, run as a
script, which imports the standard library only. On Linux, processes whose parent has ended become
children of the keeper, so it finds them all, also those that have left the session.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER` of Linux: to be the parent of all descendants that lose theirs."""
STARTED = b"+"
"""What a keeper says of a process that runs; of another one it says why it does not."""
LONGEST_REASON = 4096
PATIENCE = 10.0
"""Seconds that a keeper has to end everything."""


class KeptProcess(subprocess.Popen[bytes]):
    """A process with a keeper. Its exit code and its pipes are those of the process itself.

    When the process ends, what it has started is ended, too: on Linux all of it, elsewhere what is
    still in its process group, and on Windows nothing.

    Args:
        words: the program and its arguments.
        pass_fds: descriptors that the process inherits.
        more: further arguments of `Popen`.

    Raises:
        OSError: it cannot be started.
        ValueError: a word has a null byte.
    """

    def __init__(self, words: Sequence[str], pass_fds: Sequence[int] = (), **more: Any) -> None:
        self._life: socket.socket | None = None
        if not hasattr(os, "killpg"):
            super().__init__(words, **more)
            return
        self._life, theirs = socket.socketpair()
        try:
            with theirs:
                number = theirs.fileno()
                super().__init__(
                    [sys.executable, "-I", "-S", __file__, str(number), *words],
                    pass_fds=(number, *pass_fds), start_new_session=True, **more,
                )  # fmt: skip
            said = self._life.recv(LONGEST_REASON)
            if said != STARTED:
                with self:  # closes its pipes
                    raise OSError(said.decode(errors="replace") or "its keeper has ended")
        except BaseException:
            self._life.close()
            raise

    def end(self) -> None:
        """End the process and what it has started, and wait until they have ended."""
        if self._life is None:
            self.kill()
        else:
            self.send_signal(signal.SIGCONT)  # somebody may have stopped its keeper
            with contextlib.suppress(OSError):  # its keeper has ended
                self._life.shutdown(socket.SHUT_RDWR)  # a forked process may have a copy of it
            self._life.close()
        try:
            self.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # somebody has stopped it
            self.kill()
            self.wait()


def how_ended(code: int) -> str:
    """How a process ended, in words, by its exit code as `Popen` has it."""
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def end_all(child: int) -> None:
    """End a child of this process, and every process that it has left to this one."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    while True:
        for left in _children():
            with contextlib.suppress(OSError):
                os.kill(left, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def _children() -> list[int]:
    """The ids of the children of this process, where Linux lists them."""
    try:
        with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


# ---- in the keeper ----


def keep(life: socket.socket, words: Sequence[str]) -> NoReturn:
    """Start a process; end with it, and end it when the other end of `life` is closed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, ctypes.c_ulong(1), *[ctypes.c_ulong(0)] * 3)
    os.set_inheritable(life.fileno(), False)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # another program may have ignored or blocked it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    try:
        process = subprocess.Popen(words, close_fds=False, start_new_session=True)
    except (OSError, ValueError) as error:
        life.send(str(error).encode(errors="replace")[:LONGEST_REASON])
        os._exit(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1):  # whose other ends must see that the process closes them
        os.dup2(nowhere, pipe)
    life.send(STARTED)
    signal.signal(signal.SIGCHLD, lambda *_: _reap(process, life))
    _reap(process, life)
    life.recv(1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    end_all(process.pid)
    _exit_as(process.returncode or 0)


def _reap(process: subprocess.Popen[bytes], life: socket.socket) -> None:
    """Note that a process has ended, and let nothing that it has left stay in the table."""
    with contextlib.suppress(OSError):  # no child is left
        while process.returncode is None and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == process.pid:
                process.returncode = os.waitstatus_to_exitcode(ended[1])
                life.shutdown(socket.SHUT_RDWR)


def _exit_as(code: int) -> NoReturn:
    """End with the exit code of another process, or by the signal that ended it."""
    if code < 0:
        import resource  # noqa: PLC0415 - Windows has none

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the other process has left its own
        with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    keep(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
