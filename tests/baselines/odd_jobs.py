"""Jobs for worker processes; little is imported, so that these start quickly."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np


def square_or_die(mark: str, number: int) -> int:
    """The square of a number; the first process to see 3 dies and leaves a mark."""
    if number == 3 and not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2


def die(_: None, job: int) -> int:
    """Never returns."""
    os.kill(os.getpid(), signal.SIGKILL)
    return job


def line_or_die(mark: str, seed: int) -> dict[str, int]:
    """The same as a line of a file of work."""
    return {"seed": seed, "square": square_or_die(mark, seed)}


def line_or_sleep(awake: int, seed: int) -> dict[str, int]:
    """A line of a file of work; seeds from `awake` on never give one."""
    if seed >= awake:
        time.sleep(3600)
    return {"seed": seed}


def fail(name: str, job: int) -> int:
    """Raises an error."""
    raise ValueError(f"{name} {job}")


def identity_of(shared: list[str], job: int) -> tuple[str, int, int, int]:
    """What a job sees: a word, its number, its process, and which object holds the word."""
    return shared[0], job, os.getpid(), id(shared)


def bytes_and_wipe(shared: dict[str, np.ndarray], name: str) -> bytes:
    """The bytes of an array, which is all zeros in this process from then on."""
    content = shared[name].tobytes()
    shared[name][:] = 0
    return content
