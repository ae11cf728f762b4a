"""The command line in real processes: with limits, and with output that leads nowhere."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "azumaya"]
MEMORY = 4 << 30
"""Bytes of address space: enough for every command, and soon gone where one reads without end."""
PATIENCE = 120


def start(*words: object, size: int | None = None, **more: Any) -> subprocess.Popen[str]:
    """Start `azumaya` in a process whose memory is limited.

    Args:
        words: its arguments.
        size: the most bytes of a file that it may write.
        more: what else `Popen` takes.
    """
    options: dict[str, Any] = {
        "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
    }  # fmt: skip
    environment = {**os.environ, "COLUMNS": "400", "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        preexec_fn=_limits(size), text=True, env=environment, **{**options, **more},
    )  # fmt: skip


def _limits(size: int | None) -> Callable[[], None]:
    def apply() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return apply


def run(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run `azumaya` to its end; see `start`."""
    with start(*words, **more) as process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out or "", err or "")


def running_with(word: str) -> list[int]:
    """The processes that have a word among their arguments, by number, but for this one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = (folder / "cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        if word.encode() in said and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found
