"""Processes that a run starts: none of them outlives it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

GRACE = 3.0
"""Seconds a child gets to end by itself before it is killed."""

ENDING = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]


def end_on_signals() -> None:
    """Let the signals that end a process do so as an exit: children are ended on the way out.

    A signal that is ignored, as by `nohup`, stays so.
    """
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _exit)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def run_child(
    command: Sequence[str],
    timeout: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep what it prints.

    The child is given a process group of its own. Where this process is interrupted or the time
    is up, the whole group is ended: pip and the peers' scripts have children, too.

    Args:
        command: the command and its arguments.
        timeout: the most seconds it may take.
        environment: its environment variables; None for those of this process.
        folder: the folder it runs in; None for that of this process.

    Raises:
        subprocess.TimeoutExpired: it took longer.
    """
    with subprocess.Popen(
        command, env=environment, cwd=folder, text=True, process_group=0 if _POSIX else None,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            _end(process)
            raise
    return subprocess.CompletedProcess(list(command), process.returncode, out, err)


_POSIX = os.name == "posix"


def _end(process: subprocess.Popen[str]) -> None:
    """End a child and what it has started, first politely."""
    if not _POSIX:
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):  # all of them have ended
        os.killpg(process.pid, signal.SIGTERM)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
