"""The 9x9 board with nine regions, for the oracles of the games played on it."""

from __future__ import annotations

from typing import Any

FILES, RANKS, NUMBERS = "abcdefghi", "123456789", "123456789"
SQUARES = tuple(f + r for r in reversed(RANKS) for f in FILES)
"""In reading order from the top left."""
BLOCK_OWNERS = {"standard": "LDLL.DDLD", "corners": "LDLD.DLDL", "draft": "????.????"}
LINE_OWNERS = "LDLD.LDLD"


def block_of(square: str) -> int:
    """The block of a square, 1 to 9 in reading order."""
    return 3 * ((9 - int(square[1])) // 3) + FILES.index(square[0]) // 3 + 1


def region_of(square: str, territory: Any) -> int:
    """The region of a square."""
    if territory == "rows":
        return 10 - int(square[1])
    if territory == "columns":
        return FILES.index(square[0]) + 1
    if isinstance(territory, str):
        return block_of(square)
    return int(territory.regions[SQUARES.index(square)])


def owners_of(territory: Any) -> str:
    """The owners of the regions in the order of their numbers."""
    if isinstance(territory, str):
        return BLOCK_OWNERS.get(territory, LINE_OWNERS)
    return str(territory.owners)


class Regions:
    """The stones on the board and the owners of the regions.

    Attributes:
        number: the number on each square that has a stone.
        owner: the owner of each region: `L`, `D`, `.` (neutral) or `?` (still free).
        groups: for each square the four groups it is in: row, column, block and region. No
            number may occur twice in a group.
        used: the numbers in each group.
    """

    def __init__(self, territory: Any, owners: str | None) -> None:
        self.number: dict[str, str] = {}
        letters = owners or owners_of(territory)
        self.owner = {region: letters[region - 1] for region in range(1, 10)}
        self.region = {square: region_of(square, territory) for square in SQUARES}
        self.groups = {
            square: (
                ("row", square[1]),
                ("column", square[0]),
                ("block", block_of(square)),
                ("region", self.region[square]),
            )
            for square in SQUARES
        }
        self.used: dict[tuple[str, Any], set[str]] = {
            group: set() for groups in self.groups.values() for group in groups
        }

    def lay_out(self, board: str) -> None:
        """Lay the stones of the first word of a position text."""
        for square, mark in zip(SQUARES, board.replace("/", ""), strict=True):
            if mark != ".":
                self.lay(mark + square)

    def lay(self, name: str) -> None:
        """Lay a stone, like `5e4`."""
        number, square = name[0], name[1:]
        assert square not in self.number
        self.number[square] = number
        for group in self.groups[square]:
            assert number not in self.used[group]
            self.used[group].add(number)

    def free_numbers(self, square: str) -> set[str]:
        """The numbers that may be laid on a square."""
        if square in self.number:
            return set()
        return set(NUMBERS).difference(*(self.used[group] for group in self.groups[square]))

    def squares_of(self, owner: str) -> list[str]:
        """The squares of an owner's regions."""
        return [square for square in SQUARES if self.owner[self.region[square]] == owner]

    def fitting(self, owner: str) -> set[str]:
        """All stones that may be laid in the regions of an owner."""
        return {
            number + square
            for square in self.squares_of(owner)
            for number in self.free_numbers(square)
        }

    def any_fits(self, owner: str) -> bool:
        """Whether any stone may be laid in the regions of an owner."""
        return any(self.free_numbers(square) for square in self.squares_of(owner))
