"""The process in which games are played: `python -m azumaya.baselines.arena.league.child BOARD`.

It reads jobs from standard input, one line of JSON each, and writes a report for each. When its
input ends, it removes the board's file and ends with all processes it has started, so that nothing
is left of a league that was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from typing import NoReturn

from azumaya.baselines.arena.league.games import Board, Table


def main(board: str) -> None:
    """Play games until there are no more jobs."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what agents print is no report
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(jobs, board), daemon=True).start()
    table = Table(Board(board))
    while True:
        report = table.play(json.loads(jobs.get()))
        left = memoryview(json.dumps(report).encode() + b"\n")
        while left:
            left = left[os.write(answers, left) :]


def _receive(jobs: queue.SimpleQueue[bytes], board: str) -> None:
    for line in sys.stdin.buffer:
        jobs.put(line)
    with contextlib.suppress(OSError):
        os.unlink(board)  # of a league that was killed; any other has removed it or will do so
    _end()


def _end() -> NoReturn:
    """End at once, even in the middle of a game, and the programs that were started with it."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
