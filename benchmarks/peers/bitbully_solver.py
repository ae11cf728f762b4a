"""BitBully: a solver of Connect Four in C++, without its opening book."""

# This script runs in the peer's environment, whose types are not available here.
# mypy: ignore-errors

from bitbully.bitbully_core import BitBullyCore, BoardCore
from script import Script

GAME = "connect_four"
POSITION = "44444421"
"""Moves from the start, as columns from 1. This position takes the solver 5.8 million nodes."""
NODE = (
    "one node of BitBully's search for the winner (nullWindow) of a position 8 moves deep, with no "
    "book; emptying the table counts in the time"
)


def board_after(columns):
    """The board after some moves."""
    board = BoardCore()
    for column in columns:
        assert board.play(int(column) - 1)
    return board


def solving():
    """A function that solves the position and returns the number of nodes."""
    solver, board = BitBullyCore(), board_after(POSITION)

    def chunk():
        solver.resetTranspositionTable()
        solver.resetNodeCounter()
        solver.nullWindow(board)
        return solver.getNodeCounter()

    return chunk


def main():
    """Measure the solver."""
    script = Script(__doc__)
    if script.wants(GAME):
        with script.attempt(GAME):
            script.row(GAME, "solver in C++", "alphabeta", NODE, solving())


if __name__ == "__main__":
    main()
