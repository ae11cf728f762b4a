"""The 6x6 board, for the oracles of Vierer-, Revers- and Score-Dominari."""

from __future__ import annotations

from collections.abc import Iterable

FILES, RANKS = "abcdef", "123456"
MARKS = {0: "123456W", 1: "abcdefB"}
"""The marks of each player in a position text: numbers, then the blank."""
OWNER = {mark: player for player, marks in MARKS.items() for mark in marks}
NUMBER = {m: n for own in MARKS.values() for m, n in zip(own, "123456 ", strict=True)}
OTHER_SIDE = dict(zip(MARKS[0] + MARKS[1], MARKS[1] + MARKS[0], strict=True))
BLANKS = 12

SQUARES = tuple(file + rank for rank in reversed(RANKS) for file in FILES)
"""In reading order from the top left."""
LINES = tuple(
    [[file + rank for file in FILES] for rank in RANKS]
    + [[file + rank for rank in RANKS] for file in FILES]
)
BLOCKS = tuple(
    [file + rank for file in FILES[f : f + 2] for rank in RANKS[r : r + 2]]
    for f in (0, 2, 4)
    for r in (0, 2, 4)
)
SEEN = {
    square: {other for house in (*LINES, *BLOCKS) if square in house for other in house} - {square}
    for square in SQUARES
}
"""The squares that share a row, a column or a block with a square."""

Stones = dict[str, str]
"""For each square that has a stone, its mark."""


def step(square: str, files: int, ranks: int) -> str:
    """The square some files and ranks further; "" off the board."""
    file, rank = FILES.index(square[0]) + files, RANKS.index(square[1]) + ranks
    return FILES[file] + RANKS[rank] if 0 <= file < 6 and 0 <= rank < 6 else ""


STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
DIAGONAL = ((1, 1), (1, -1), (-1, -1), (-1, 1))
BESIDE = {s: {step(s, *way) for way in STRAIGHT} - {""} for s in SQUARES}
ROUND = {s: {step(s, *way) for way in STRAIGHT + DIAGONAL} - {""} for s in SQUARES}
"""The neighbours of each square, without and with diagonals."""


def read(board: str) -> Stones:
    """The stones of the first word of a position text."""
    marks = zip(SQUARES, board.replace("/", ""), strict=True)
    return {square: mark for square, mark in marks if mark != "."}


def write(stones: Stones) -> str:
    """The first word of a position text."""
    return "/".join(
        "".join(stones.get(file + rank, ".") for file in FILES) for rank in reversed(RANKS)
    )


def empty(stones: Stones) -> list[str]:
    """The squares without a stone."""
    return [square for square in SQUARES if square not in stones]


def of(stones: Stones, player: int) -> set[str]:
    """The squares of a player's stones."""
    return {square for square, mark in stones.items() if OWNER[mark] == player}


def has_blank(stones: Stones, squares: Iterable[str]) -> bool:
    """Whether a blank is on any of the squares."""
    return any(stones.get(square, "") in ("W", "B") for square in squares)


def numbers_round(stones: Stones, square: str) -> set[str]:
    """The numbers in the houses of a square, except its own."""
    return {NUMBER[stones[other]] for other in SEEN[square] if other in stones} - {" "}


def breaks_rule(stones: Stones) -> bool:
    """Whether a house contains a number twice."""
    return any(NUMBER[mark] in numbers_round(stones, square) for square, mark in stones.items())


def points(stones: Stones, player: int) -> int:
    """A player's points for numbers and for houses full of own stones."""
    own = of(stones, player)
    total = sum(not has_blank(stones, [square]) for square in own)
    for houses, worth in ((BLOCKS, 2), (LINES, 3)):
        for house in houses:
            if own.issuperset(house):
                total += worth - has_blank(stones, house)
    return total
