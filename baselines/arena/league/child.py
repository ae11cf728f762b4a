"""The process in which games are played: `python -m azumaya.baselines.arena.league.child BOARD`.

It reads jobs from standard input, one line of JSON each, and writes a report for each. Its keeper
ends it, even in the middle of a game, with all processes that it has started.
"""

from __future__ import annotations

import json
import os
import sys

from azumaya.baselines.arena.league.games import Board, Table
from azumaya.baselines.system.files import write_all


def main(board: int) -> None:
    """Play games until there are no more jobs; `board` is the descriptor of the board's file."""
    requests, answers = os.dup(0), os.dup(1)  # which processes of agents do not inherit
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)  # a process of an agent's that reads finds no jobs
    os.close(nowhere)
    os.dup2(2, 1)  # what agents print is no report
    table = Table(Board(board))
    with open(requests, "rb") as jobs:
        for job in jobs:
            report = table.answer(json.loads(job))
            write_all(answers, json.dumps(report).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
