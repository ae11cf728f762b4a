"""The process in which games are played: `python -m azumaya.baselines.arena.league.child BOARD`.

It reads jobs from standard input, one line of JSON each, and writes a report for each. It ends with
all processes it has started when its input ends, so that nothing is left when the league is killed.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from typing import NoReturn

from azumaya.baselines.arena.league.games import Board, Table
from azumaya.baselines.files import write_all


def main(board: int) -> None:
    """Play games until there are no more jobs; `board` is the descriptor of the board's file."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what agents print is no report
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(jobs,), daemon=True).start()
    table = Table(Board(board))
    while True:
        report = table.play(json.loads(jobs.get()))
        write_all(answers, json.dumps(report).encode() + b"\n")


def _receive(jobs: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        jobs.put(line)
    _end()


def _end() -> NoReturn:
    """End at once, even in the middle of a game, and the programs that were started with it."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
