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
    requests, answers = os.dup(0), os.dup(1)  # which processes of agents do not inherit
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)  # a process of an agent's that reads finds no jobs
    os.close(nowhere)
    os.dup2(2, 1)  # what agents print is no report
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, jobs), daemon=True).start()
    table = Table(Board(board))
    while True:
        report = table.answer(json.loads(jobs.get()))
        write_all(answers, json.dumps(report).encode() + b"\n")


def _receive(requests: int, jobs: queue.SimpleQueue[bytes]) -> None:
    with open(requests, "rb") as lines:
        for line in lines:
            jobs.put(line)
    _end()


def _end() -> NoReturn:
    """End at once, even in the middle of a game, and the programs that were started with it."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
