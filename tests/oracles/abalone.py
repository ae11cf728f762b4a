"""An oracle for Abalone, written from `docs/games/abalone.md`, with a dictionary of cells."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from tests.oracles import BaseOracle

LETTERS = "abcdefghi"
NUMBERS = {
    "a": range(1, 6),
    "b": range(1, 7),
    "c": range(1, 8),
    "d": range(1, 9),
    "e": range(1, 10),
    "f": range(2, 10),
    "g": range(3, 10),
    "h": range(4, 10),
    "i": range(5, 10),
}
CELLS = {f"{letter}{n}" for letter in LETTERS for n in NUMBERS[letter]}
UP = {"NE": (1, 1), "E": (0, 1), "NW": (1, 0)}
"""What a step adds to the row and to the number; the other three directions are opposite."""
WAYS = {**UP, "SW": (-1, -1), "W": (0, -1), "SE": (-1, 0)}


def step(cell: str, way: str) -> str:
    """The next cell in a direction; "" off the board."""
    row, number = LETTERS.index(cell[0]) + WAYS[way][0], int(cell[1]) + WAYS[way][1]
    if not 0 <= row < len(LETTERS) or number not in NUMBERS[LETTERS[row]]:
        return ""
    return f"{LETTERS[row]}{number}"


BESIDE = {(cell, way): step(cell, way) for cell in CELLS for way in WAYS}


def side_by_side(cell: str, way: str, count: int) -> list[str]:
    """`count` cells in a line, or fewer if the board ends."""
    line: list[str] = []
    while cell and len(line) < count:
        line.append(cell)
        cell = BESIDE[cell, way]
    return line


GROUPS = [
    (line, [side for side in WAYS if WAYS[side] not in (delta, (-delta[0], -delta[1]))])
    for cell in sorted(CELLS)
    for way, delta in UP.items()
    for count in (2, 3)
    if len(line := side_by_side(cell, way, count)) == count
]
"""Two or three cells in a line, the first by letter and number first; and the ways aside."""


def half_turn(text: str) -> str:
    """The same position with the colours swapped and the board turned round."""
    board, mover, *rest = text.split()
    swap = str.maketrans("bw", "wb")
    return " ".join([board[::-1].translate(swap), mover.translate(swap), *rest])


EMPTY = "...../....../......./......../"
CORNERED = f"{EMPTY}........./......../......./www.../bbw.w w out=0,0"
"""After a5a4 two black marbles have no move."""
ALONE = f"{EMPTY}........./......../b....../.b..../wb... b out=0,0"
"""After c1b1 a white marble has no move."""
LAST = f"{EMPTY}......bbw/......../......./....../..... b"
"""After e7e8 no white marble is on the board."""
CROWD = "wwwww/bbbbbb/w.....b/..bww..b/.wwbbbw../b..wwb../b.....w/wwwwww/bbbbb b out=5,5"


class Oracle(BaseOracle):
    """One game of Abalone: `marbles` says whose marble, `b` or `w`, lies on a cell."""

    further = (
        {"position": CORNERED, "max_plies": 12},
        {"position": half_turn(CORNERED), "max_plies": 12},
        {"position": half_turn(ALONE), "max_plies": 30},
        {"position": f"{LAST} out=0,0", "max_plies": 20},
        {"position": half_turn(f"{LAST} out=5,0"), "max_plies": 20},
        {"position": f"{CROWD} ply=399", "tiebreak": "marbles"},
        {"position": half_turn(f"{CROWD} ply=58"), "max_plies": 60},
    )

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        board, mover, *rest = text.split()
        words = dict(word.split("=") for word in rest)
        self.marbles: dict[str, str] = {}
        for letter, row in zip(reversed(LETTERS), board.split("/"), strict=True):
            for number, mark in zip(NUMBERS[letter], row, strict=True):
                if mark != ".":
                    self.marbles[f"{letter}{number}"] = mark
        lying = list(self.marbles.values())
        usual = f"{14 - lying.count('b')},{14 - lying.count('w')}"
        black, white = words.get("out", usual).split(",")
        self.out = {"b": int(black), "w": int(white)}
        self.plies = int(words.get("ply", "0"))
        limit = options.get("max_plies")
        self.limit = 400 if limit is None else limit
        self.by_marbles = options.get("tiebreak") == "marbles"
        self.to_move = "bw".index(mover)
        self.moves = self.moves_of(mover)
        self.happened: set[str] = set()

    # ---- what is legal ----

    def moves_of(self, own: str) -> dict[str, list[str]]:
        """The moves of a side: for each name the marbles that move, the foremost first."""
        return dict([*self.in_line(own), *self.broadside(own)])

    def in_line(self, own: str) -> Iterator[tuple[str, list[str]]]:
        """Own marbles in line from the trailing one on, and the marbles they push."""
        for trailing, owner in self.marbles.items():
            if owner != own:
                continue
            for way in WAYS:
                train = self.train(trailing, way)
                if train:
                    yield trailing + BESIDE[trailing, way], train[::-1]

    def train(self, trailing: str, way: str) -> list[str]:
        """All that moves when a marble shoves; empty when it cannot."""
        line, whose, cell = [], "", trailing
        while cell in self.marbles:
            line.append(cell)
            whose += self.marbles[cell]
            cell = BESIDE[cell, way]
        own = self.marbles[trailing]
        if whose in (own, 2 * own, 3 * own):
            return line if cell else []
        other = "w" if own == "b" else "b"
        pushes = (2 * own + other, 3 * own + other, 3 * own + 2 * other)
        return line if whose in pushes else []

    def broadside(self, own: str) -> Iterator[tuple[str, list[str]]]:
        """Two or three in a line, each to a free cell aside."""
        marbles = self.marbles
        for line, ways in GROUPS:
            if any(marbles.get(cell) != own for cell in line):
                continue
            for way in ways:
                targets = [BESIDE[cell, way] for cell in line]
                if all(target and target not in marbles for target in targets):
                    yield line[0] + line[-1] + targets[0], line

    def legal(self) -> set[str]:
        """The names of the legal moves."""
        return set() if self.over else set(self.moves)

    def sought(self, rng: random.Random) -> set[str]:
        """Pushes, those off the board first."""
        own = "bw"[self.to_move]
        pushes = {
            name: moving
            for name, moving in self.moves.items()
            if self.marbles[moving[0]] != own and len(name) == 4
        }
        off = {name for name, moving in pushes.items() if not self.behind(name, moving[0])}
        return off or set(pushes)

    def behind(self, name: str, cell: str) -> str:
        """The cell that a marble reaches by a move; "" off the board."""
        way = next(way for way in WAYS if BESIDE[name[:2], way] == name[-2:])
        return BESIDE[cell, way]

    # ---- steps ----

    def play(self, name: str) -> None:
        """Make a legal move."""
        mover = self.to_move
        for cell in self.moves[name]:
            owner, goal = self.marbles.pop(cell), self.behind(name, cell)
            if goal:
                self.marbles[goal] = owner
            else:
                self.out[owner] += 1
        self.plies += 1
        self.to_move = 1 - mover
        self.moves = self.moves_of("bw"[1 - mover])
        if self.out["bw"[1 - mover]] == 6 or not self.moves:
            self.to_move = mover
            self._tell(mover)
            self._end("terminated", 1 if mover == 0 else -1)
        elif self.plies == self.limit:
            ahead = self.out["w"] - self.out["b"] if self.by_marbles else 0
            self._end("truncated", (ahead > 0) - (ahead < 0))

    def _tell(self, winner: int) -> None:
        loser = "bw"[1 - winner]
        left = min(3, list(self.marbles.values()).count(loser))
        what = "six out" if self.out[loser] == 6 else "not six out"
        what += "" if self.moves else f", no move with {left} marbles or more"
        what += ", at the limit" if self.plies == self.limit else ""
        self.happened.add(f"player_{winner} wins: {what}")

    def _end(self, how: str, gain: int) -> None:
        self.over, self.returns = how, (gain, -gain)

    def board(self) -> str:
        """The board as in a position text."""
        return "/".join(
            "".join(self.marbles.get(f"{letter}{n}", ".") for n in NUMBERS[letter])
            for letter in reversed(LETTERS)
        )
