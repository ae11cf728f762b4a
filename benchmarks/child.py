"""Child processes of a benchmark run; none of them outlives it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

GRACE = 3.0
"""Seconds that a child has to exit by itself before it is killed."""


def run_child(
    command: Sequence[str],
    timeout: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and capture its output.

    The child gets its own process group. If this process is interrupted or the time is up, the
    whole group is ended, because pip and the peers' scripts have children, too.

    Args:
        command: the command and its arguments.
        timeout: the most seconds that it may take.
        environment: its environment variables; None means those of this process.
        folder: the folder in which it runs; None means that of this process.

    Raises:
        subprocess.TimeoutExpired: the command took longer.
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
    """End a child and its own children, first by SIGTERM, then by SIGKILL."""
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
