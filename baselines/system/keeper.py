"""The keeper of a child process: this file, run as a script between the child and its parent.

It ends the child with all that this has started, also when the parent is killed. On Linux,
processes whose parent has ended become children of the keeper, so it finds them all, also those
that have left the session. It imports the standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

SUBREAPER, DEATH_SIGNAL = 36, 1
"""Options of Linux's `prctl`: to be the parent of all descendants that lose theirs, and which
signal a process is sent when its parent ends."""
ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
"""The signals on which a keeper ends its child, which may have sent them."""
STARTED = b"+"
"""What a keeper says of a child that runs; of another one it says why it does not."""
LONGEST_REASON = 4096


def keep(life: socket.socket, words: Sequence[str]) -> NoReturn:
    """Start a child; end with it, and end it when the other end of `life` is closed.

    Until then each byte that comes is a signal, which the process group of the child is sent; then
    the byte is sent back.
    """
    _control(SUBREAPER, 1)
    os.set_inheritable(life.fileno(), False)
    for ending in ENDING:  # before there is a child that may send them
        signal.signal(getattr(signal, ending), lambda *_: _stop(life))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # another program may have ignored or blocked it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    try:
        process = subprocess.Popen(
            words, close_fds=False, start_new_session=True,
            preexec_fn=lambda: _control(DEATH_SIGNAL, signal.SIGKILL),  # noqa: PLW1509 - no threads
        )  # fmt: skip
    except (OSError, ValueError) as error:
        _say(life, str(error).encode(errors="replace")[:LONGEST_REASON])
        os._exit(1)
    _let_go()
    _say(life, STARTED)
    signal.signal(signal.SIGCHLD, lambda *_: _reap(process, life))
    _reap(process, life)
    for order in _orders(life):
        if process.returncode is None:
            with contextlib.suppress(OSError):  # it has just ended
                os.killpg(process.pid, order[0])
        _say(life, order)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    _end_all(process.pid)
    exit_as(process.returncode or 0)


def _control(option: int, value: int) -> None:
    """Set a property of this process, where there is `prctl`."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)


def _say(life: socket.socket, content: bytes) -> None:
    """Tell the parent, which may have ended."""
    with contextlib.suppress(OSError):
        life.send(content)


def _orders(life: socket.socket) -> Iterator[bytes]:
    """The bytes that come from the parent, until it closes its end, be it with bytes unread."""
    with contextlib.suppress(ConnectionResetError):
        while order := life.recv(1):
            yield order


def _let_go() -> None:
    """Close the pipes, whose other ends must see that the child closes them, and leave its folder.

    Errors are still printed where those of the child are.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1):
        os.dup2(nowhere, pipe)
    os.chdir("/")


def _reap(process: subprocess.Popen[bytes], life: socket.socket) -> None:
    """Note that the child has ended, and let nothing that it has left stay in the table."""
    with contextlib.suppress(OSError):  # no child is left
        while process.returncode is None and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == process.pid:
                process.returncode = os.waitstatus_to_exitcode(ended[1])
                _stop(life)


def _stop(life: socket.socket) -> None:
    """Let the keeper end, as when the other end is closed, which it may be already."""
    with contextlib.suppress(OSError):
        life.shutdown(socket.SHUT_RD)  # what is still to be said can be said


def _end_all(child: int) -> None:
    """End the child, and every process that it has left to this one."""
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


def exit_as(code: int) -> NoReturn:
    """End with the exit code of another process, or by the signal that ended it."""
    if code < 0:
        import resource  # noqa: PLC0415 - Windows has none

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the other has left its own
        with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    keep(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
