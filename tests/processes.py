"""Runs Python and the command line in real processes, and waits for events."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEMORY = 4 << 30
"""Bytes of address space: enough for every command, but not for one that reads without end."""
PATIENCE = 120


LIMITED = """
import os, resource, sys
memory, size = map(int, sys.argv[1:3])
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
if size >= 0:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
os.execv(sys.executable, [sys.executable, "-m", "azumaya", *sys.argv[3:]])
"""
"""Sets the limits and then becomes `azumaya`."""


def start(*words: object, size: int | None = None, **more: Any) -> subprocess.Popen[str]:
    """Start `azumaya` in a process whose memory is limited.

    Args:
        words: the arguments of the command.
        size: the largest file in bytes that it may write.
        more: further arguments of `Popen`.
    """
    options: dict[str, Any] = {
        "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
    }  # fmt: skip
    environment = {**os.environ, "COLUMNS": "400", "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"}
    if size is not None:  # Python would keep bytecode that was cut off, and fail to load it later
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    limits = MEMORY, -1 if size is None else size
    return subprocess.Popen(
        [sys.executable, "-c", LIMITED, *map(str, limits + words)],
        text=True, env=environment, **{**options, **more},
    )  # fmt: skip


def run(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run `azumaya` to its end; see `start`."""
    with start(*words, **more) as process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out or "", err or "")


def python(
    *words: object, environment: Mapping[str, str] | None = None, check: bool = False, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run Python to its end, without limits.

    Args:
        words: what follows `python`.
        environment: variables that are added to those of this process.
        check: whether another exit code than 0 is an error.
        more: further arguments of `subprocess.run`.
    """
    more.setdefault("env", {**os.environ, **(environment or {})})
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, check=check, capture_output=True, text=True, **more)


@contextmanager
def serving(*words: object, **more: Any) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`azumaya serve` on a free port, as a user starts it: its process and its address.

    Args:
        words: further arguments of the command.
        more: further arguments of `Popen`.
    """
    command = [sys.executable, "-m", "azumaya", "serve", "--port", "0", "--no-browser"]
    command += map(str, words)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().split()[0]
        finally:
            process.terminate()


def eventually(happens: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until something has happened.

    The limit only ends a test that would otherwise hang, so it should be far longer than needed.

    Raises:
        AssertionError: it has not happened in time.
    """
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, f"it has not happened within {seconds:g} s"
        time.sleep(0.02)


def running_in(place: Path) -> list[int]:
    """The ids of processes that work in a folder, or in one that was there and has been removed."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(place):
                found.append(int(process.name))
        except OSError:  # it has ended
            continue
    return found


def inheriting(setting: str) -> list[str]:
    """The processes whose environment has a setting, such as `NAME=value`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            settings = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended, or is somebody else's
            continue
        if setting.encode() in settings and int(folder.name) != os.getpid():
            found.append(folder.name)
    return found


def running_with(word: str) -> list[int]:
    """The ids of other processes that have a word among their arguments."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = (folder / "cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        if word.encode() in said and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found
