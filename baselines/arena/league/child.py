"""The process in which games are played: `python -m azumaya.baselines.arena.league.child BOARD`.

It answers jobs with reports. Its keeper ends it, even in the middle of a game, with all processes
that it has started.
"""

from __future__ import annotations

import sys

from azumaya.baselines.arena.league.games import Board, Table
from azumaya.baselines.system.messages import Messages


def main(board: int) -> None:
    """Play games until there are no more jobs; `board` is the descriptor of the board's file."""
    messages, table = Messages(), Table(Board(board))
    while (job := messages.read()) is not None:
        messages.answer(table.answer(job))


if __name__ == "__main__":
    main(int(sys.argv[1]))
