"""An oracle for Sudoku tiles, written from its page, with a dictionary of squares."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.oracles import BaseOracle
from tests.oracles.regions import FILES, NUMBERS, RANKS, SQUARES, block_of

OF_EACH = 9

SEEN = {
    square: [
        other
        for other in SQUARES
        if other != square
        and (other[0] == square[0] or other[1] == square[1] or block_of(other) == block_of(square))
    ]
    for square in SQUARES
}
"""The squares in the row, column and block of a square, each once."""

MIDGAME = (
    "142693.../3...1.685/.6..4829./6.94.152./78..624.1/21.8597.3/4931.7852/.285.4.39/.562...14"
    " 1 tile=8 score=169,172"
)


class Oracle(BaseOracle):
    """One game of Sudoku tiles; the tile drawn is read from the text and must be possible."""

    needs_text = True
    further = (
        {"position": MIDGAME, "reward": "points"},
        {"position": MIDGAME, "misplacement": True},
        {"position": f"{MIDGAME} aside=010203010", "misplacement": True, "reward": "points"},
    )

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        board, mover, *rest = text.split()
        words = dict(word.split("=") for word in rest)
        self.lying = {
            square: mark
            for square, mark in zip(SQUARES, board.replace("/", ""), strict=True)
            if mark != "."
        }
        self.to_move = int(mover)
        self.scores = [int(score) for score in words["score"].split(",")]
        counts = words.get("aside", "000000000")
        self.aside = Counter({n: int(count) for n, count in zip(NUMBERS, counts, strict=True)})
        self.lenient = bool(options.get("misplacement"))
        self.by_points = options.get("reward") == "points"
        self.start = options.get("start") or "random"
        self.order = options.get("draws") or ""
        self.tile = ""
        self.happened: set[str] = set()
        if self.by_points:
            self._gain(self.scores[0] - self.scores[1])
        if not self.drawn_before():
            self._check_start()

    # ---- the tiles ----

    def drawn_before(self) -> int:
        """How many tiles were laid or put aside after the start."""
        at_start = sum(self.start.count(n) for n in NUMBERS) if len(self.start) == 81 else 9
        return len(self.lying) - at_start + self.aside.total()

    def _check_start(self) -> None:
        """Check that the option allows the start."""
        assert all(not self.clash(mark, square) for square, mark in self.lying.items())
        if len(self.start) == 81:
            marks = "".join(self.lying.get(square, ".") for square in SQUARES)
            assert marks == self.start.replace("0", ".")
            return
        assert len(self.lying) == 9
        assert {square[0] for square in self.lying} == set(FILES)
        assert {square[1] for square in self.lying} == set(RANKS)
        if self.start == "one_each":
            assert set(self.lying.values()) == set(NUMBERS)
            assert len({block_of(square) for square in self.lying}) == 9

    def hidden(self) -> Counter[str]:
        """The tiles neither on the board nor put aside."""
        all_tiles = Counter(dict.fromkeys(NUMBERS, OF_EACH))
        all_tiles.subtract(self.lying.values())
        all_tiles.subtract(self.aside)
        assert min(all_tiles.values()) >= 0
        return all_tiles

    def see(self, text: str) -> None:
        """Read the tile drawn; the game ends if it fits nowhere or none is left."""
        _, _, *rest = text.split()
        words = dict(word.split("=") for word in rest)
        assert words["score"] == f"{self.scores[0]},{self.scores[1]}", f"score {self.scores}"
        aside = "".join(str(self.aside[n]) for n in NUMBERS)
        assert words.get("aside", "0" * 9) == aside, f"aside {aside}"
        self.tile, hidden = words.get("tile", ""), self.hidden()
        assert bool(self.tile) == bool(hidden.total()), f"{hidden.total()} tiles are left"
        if self.tile:
            assert hidden[self.tile] > 0, f"no {self.tile} is left"
            ordered = self.order[self.drawn_before() :][:1]
            assert ordered in ("", self.tile), f"{ordered} was to come"
        if not any(self.may_lie(square) for square in SQUARES):
            self._finish()

    # ---- what is legal ----

    def clash(self, number: str, square: str) -> bool:
        """Whether a number on a square would occur twice in a row, a column or a block."""
        return any(self.lying.get(other) == number for other in SEEN[square])

    def may_lie(self, square: str) -> bool:
        """Whether the tile drawn may be laid on a square by the Sudoku rule."""
        return bool(self.tile) and square not in self.lying and not self.clash(self.tile, square)

    def legal(self) -> set[str]:
        """The names of the legal moves."""
        if self.over:
            return set()
        if self.lenient:
            return set(SQUARES) - set(self.lying)
        return {square for square in SQUARES if self.may_lie(square)}

    def sought(self, rng: random.Random) -> set[str]:
        """Wrong places, so that tiles run out before cells do; otherwise moves with most points."""
        names = self.legal()
        wrong = {square for square in names if not self.may_lie(square)}
        if wrong:
            return wrong
        most = max(self.worth(square) for square in names)
        return {square for square in names if self.worth(square) == most}

    def worth(self, square: str) -> int:
        """The points for a tile on a square."""
        return sum(other in self.lying for other in SEEN[square])

    # ---- steps ----

    def play(self, name: str) -> None:
        """Lay the tile, or put it aside if it breaks the Sudoku rule."""
        points = 0
        if self.may_lie(name):
            points = self.worth(name)
            self.lying[name] = self.tile
        else:
            self.aside[self.tile] += 1
        self.scores[self.to_move] += points
        if self.by_points:
            self._gain(points if self.to_move == 0 else -points)
        self.to_move = 1 - self.to_move

    def _gain(self, gain: int) -> None:
        self.returns = (self.returns[0] + gain, self.returns[1] - gain)

    def _finish(self) -> None:
        """End the game; the player who made the last step stays to move."""
        self.over, self.to_move = "terminated", 1 - self.to_move
        self.happened.add("the tile fits nowhere" if self.tile else "the tiles run out")
        if self.scores[0] == self.scores[1]:
            self.happened.add("equal points")
        if not self.by_points:
            ahead = self.scores[0] - self.scores[1]
            self._gain((ahead > 0) - (ahead < 0))

    def board(self) -> str:
        """The board as in a position text."""
        rows = ("".join(self.lying.get(f + r, ".") for f in FILES) for r in reversed(RANKS))
        return "/".join(rows)
