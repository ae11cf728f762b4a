"""A process that has imported pytest and numba, and forks itself for every run of pytest.

    python warm.py

It reads a JSON object a line: `tree`, the copy of the library; `words`, pytest's arguments; and
`limit`, the most seconds that the run may take. It answers each with a line: the exit code, or
`null` if there was no end. What pytest printed is in the file `printed` of the copy. Of the library
and its tests it imports nothing, because each run has its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time

import numba  # noqa: F401 - what takes longest to import
import pytest

ASKING = os.getppid()


def main() -> int:
    """Run what is asked for until there is no more; in the processes that it forks, pytest."""
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            return tested(asked["tree"], asked["words"])
        print(json.dumps(ended(child, asked["limit"])), flush=True)
    return 0


def tested(tree: str, words: list[str]) -> int:
    """Run pytest in a copy, as a process of its own would; returns its exit code."""
    os.setpgid(0, 0)
    os.chdir(tree)
    for stream, name in ((0, os.devnull), (1, "printed"), (2, os.devnull)):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), stream)
    os.environ["PYTHONPATH"] = os.environ["AZUMAYA_COPY"] = f"{tree}/site"
    sys.path[:1] = [tree, f"{tree}/site"]
    return int(pytest.main(words))


def ended(child: int, limit: float) -> int | None:
    """Wait for a child and end what it has left; returns its exit code, None if time is up.

    Time is up, too, once nobody waits for the answer.
    """
    last = time.monotonic() + limit
    while time.monotonic() < last and os.getppid() == ASKING:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            code: int | None = os.waitstatus_to_exitcode(status)
            break
        time.sleep(0.02)
    else:
        code = None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if code is None:
        os.waitpid(child, 0)
    return code


if __name__ == "__main__":
    sys.exit(main())
