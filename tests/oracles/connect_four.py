"""An oracle for Connect Four, written from the text of its rules: a list of discs per column."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.oracles import BaseOracle

COLUMNS, HEIGHT = "abcdefg", 6
WAYS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Oracle(BaseOracle):
    """One game of Connect Four."""

    further = ({"position": "......./......./...o.../...x.../...o.../...x... x"},)

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        board, mover = text.split()
        rows = board.split("/")
        self.columns = {
            name: [row[i] for row in reversed(rows) if row[i] != "."]
            for i, name in enumerate(COLUMNS)
        }
        self.to_move = "xo".index(mover)
        self.happened = set()

    def legal(self) -> set[str]:
        """Rule 2."""
        if self.over:
            return set()
        return {name for name, discs in self.columns.items() if len(discs) < HEIGHT}

    def play(self, name: str) -> None:
        """Rules 2 to 4."""
        self.columns[name].append("xo"[self.to_move])
        ways = self.lines_through(name)
        if ways:
            self.over = "terminated"
            self.returns = (1, -1) if self.to_move == 0 else (-1, 1)
            self.happened |= {f"four in a {way}" for way in ways}
        elif not self.legal():
            self.over = "terminated"
            self.happened.add("draw")
        else:
            self.to_move = 1 - self.to_move

    def disc(self, column: int, row: int) -> str:
        """The disc on a cell; "" if it is empty."""
        if not 0 <= column < len(COLUMNS):
            return ""
        discs = self.columns[COLUMNS[column]]
        return discs[row] if 0 <= row < len(discs) else ""

    def lines_through(self, name: str) -> set[str]:
        """The directions in which the top disc of a column is in a line of four."""
        column, row = COLUMNS.index(name), len(self.columns[name]) - 1
        own, found = self.disc(column, row), set()
        for way, (right, up) in zip(("row", "column", "rise", "fall"), WAYS, strict=True):
            length = 1
            for sign in (1, -1):
                n = 1
                while self.disc(column + sign * n * right, row + sign * n * up) == own:
                    n, length = n + 1, length + 1
            if length >= 4:
                found.add(way)
        return found

    def board(self) -> str:
        """The rows from top to bottom."""
        return "/".join(
            "".join(self.disc(column, row) or "." for column in range(len(COLUMNS)))
            for row in reversed(range(HEIGHT))
        )

    def sought(self, rng: random.Random) -> set[str]:
        """Moves that do not win, because full boards are rare in random play."""
        quiet = set()
        for name in self.legal():
            self.columns[name].append("xo"[self.to_move])
            if not self.lines_through(name):
                quiet.add(name)
            self.columns[name].pop()
        return quiet
