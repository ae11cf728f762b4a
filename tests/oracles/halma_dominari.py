"""An oracle for Halma-Dominari, written from its page, with a dictionary of squares."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.oracles import BaseOracle

FILES, RANKS, NUMBERS = "abcdef", "123456", "123456"
MARKS = {0: "123456", 1: "abcdef"}
STARTS = {0: ["a1", "b1", "c1", "a2", "b2", "a3"], 1: ["f6", "e6", "d6", "f5", "e5", "f4"]}
CORNER = {0: "f6", 1: "a1"}
"""Where a player's stones leave the board."""
AHEAD = {0: ((0, 1), (1, 0), (1, 1)), 1: ((0, -1), (-1, 0), (-1, -1))}
OUT = "off"
"""One step beyond the corner, in any direction; no other place beyond the edge can be reached."""

Stone = tuple[int, str]
"""A player and a number."""


def coordinates(square: str) -> tuple[int, int]:
    """File and rank, from 0."""
    return FILES.index(square[0]), RANKS.index(square[1])


def next_square(square: str, ahead: tuple[int, int]) -> str:
    """The next square in a direction; "" off the board."""
    file, rank = (at + step for at, step in zip(coordinates(square), ahead, strict=True))
    return FILES[file] + RANKS[rank] if 0 <= file < 6 and 0 <= rank < 6 else ""


SQUARES = tuple(file + rank for rank in reversed(RANKS) for file in FILES)
NEXT = {
    (square, ahead): next_square(square, ahead)
    for square in SQUARES
    for player in (0, 1)
    for ahead in AHEAD[player]
}


def share_a_house(one: str, other: str) -> bool:
    """Whether two squares are in one row, column or block."""
    (file, rank), (file_2, rank_2) = coordinates(one), coordinates(other)
    blocks = (file // 2, rank // 2), (file_2 // 2, rank_2 // 2)
    return file == file_2 or rank == rank_2 or blocks[0] == blocks[1]


LONG_CHAIN = ".....f/....../....a./....../....4./12.3.. w"
"""The 1 may jump four times, and a fifth time off the board."""
LONG_CHAIN_BACK = "..c.ba/.d..../....../.1..../....../6..... b"


class Oracle(BaseOracle):
    """One game of Halma-Dominari: `at` says where each stone on the board is."""

    further = ({"position": LONG_CHAIN}, {"position": LONG_CHAIN_BACK})

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        board, mover, *rest = text.split()
        self.at: dict[Stone, str] = {}
        for square, mark in zip(SQUARES, board.replace("/", ""), strict=True):
            for player, marks in MARKS.items():
                if mark in marks:
                    self.at[player, NUMBERS[marks.index(mark)]] = square
        self.choosing = "stage=choose" in rest
        assert not self.choosing or options.get("setup") == "choose"
        self.to_move = "wb".index(mover)
        self.happened: set[str] = set()
        self.moves = self.moves_of(self.to_move)

    # ---- what is legal ----

    def legal(self) -> set[str]:
        """The names of the legal moves."""
        if self.over:
            return set()
        if self.choosing:
            laid = sum(player == self.to_move for player, _ in self.at)
            taken = self.at.values()
            starts = STARTS[self.to_move]
            return {NUMBERS[laid] + square for square in starts if square not in taken}
        return self.moves

    def moves_of(self, player: int) -> set[str]:
        """All moves of a player's stones."""
        return {
            number + goal
            for (owner, number), square in self.at.items()
            if owner == player
            for goal in self.goals(player, square)
            if goal == OUT or self.fits(player, number, goal)
        }

    def goals(self, player: int, square: str) -> set[str]:
        """Where a stone may end its move, ignoring the Sudoku rule."""
        if square == CORNER[player]:
            return {OUT}
        taken = set(self.at.values())
        near = {NEXT[square, ahead] for ahead in AHEAD[player]}
        return (near - taken - {""}) | self.jumps(player, square, taken)

    def jumps(self, player: int, square: str, taken: set[str]) -> set[str]:
        """Where one or more jumps may end."""
        goals = set()
        for ahead in AHEAD[player]:
            over = NEXT[square, ahead]
            if over not in taken:
                continue
            if over == CORNER[player]:
                goals.add(OUT)
                continue
            behind = NEXT[over, ahead]
            if behind and behind not in taken:
                goals |= {behind} | self.jumps(player, behind, taken)
        return goals

    def fits(self, player: int, number: str, square: str) -> bool:
        """Whether a number may end on a square, with the opponent's equal in no house of it."""
        other = self.at.get((1 - player, number))
        return other is None or not share_a_house(square, other)

    def sought(self, rng: random.Random) -> set[str]:
        """Jumps."""
        if self.choosing:
            return set()
        return {name for name in self.moves if self.hops(name)}

    def hops(self, name: str) -> int:
        """The least number of jumps that a move of this length takes."""
        at, goal = self.at[self.to_move, name[0]], name[1:]
        if goal == OUT:
            goal = CORNER[self.to_move]
        pairs = zip(coordinates(at), coordinates(goal), strict=True)
        steps = [abs(one - other) for one, other in pairs]
        return max(steps) // 2

    # ---- steps ----

    def play(self, name: str) -> None:
        """Make a legal move."""
        mover, number, goal = self.to_move, name[0], name[1:]
        if not self.choosing and self.hops(name) > 1:
            self.happened.add("a chain" + " off the board" * (goal == OUT))
        if goal == OUT:
            stepped = self.at[mover, number] == CORNER[mover]
            self.happened.add(f"out by a {'step' if stepped else 'jump'}")
            del self.at[mover, number]
        else:
            self.at[mover, number] = goal
        if self.choosing and len(self.at) < 2 * len(NUMBERS):
            self.to_move = 1 - mover
            return
        self.choosing = False
        if all(owner != mover for owner, _ in self.at):
            self._end(1 if mover == 0 else -1)
            return
        for player in (1 - mover, mover):
            self.moves = self.moves_of(player)
            if self.moves:
                self.to_move = player
                self.happened |= {"skipped"} if player == mover else set()
                return
        self.happened.add(f"a draw with {len(self.at)} stones on the board")
        self._end(0)

    def _end(self, gain: int) -> None:
        self.over, self.returns = "terminated", (gain, -gain)

    def board(self) -> str:
        """The board as in a position text."""
        marks = {
            square: MARKS[player][NUMBERS.index(number)]
            for (player, number), square in self.at.items()
        }
        rows = ("".join(marks.get(file + rank, ".") for file in FILES) for rank in reversed(RANKS))
        return "/".join(rows)
