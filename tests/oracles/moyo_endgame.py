"""What a solver may conclude about a position of Sudoku Moyo, with sets of stones.

A candidate is a pair of a number and a square. The rules here are those that the docstrings of
`azumaya.envs.games.shima.endgame` and `race` state, and choices are made in the same order: numbers
upwards, squares in reading order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.oracles.regions import NUMBERS, SQUARES, block_of

PEERS = {
    square: {
        other
        for other in SQUARES
        if other != square
        and (other[0] == square[0] or other[1] == square[1] or block_of(other) == block_of(square))
    }
    for square in SQUARES
}
"""The squares that share a row, a column or a block with a square."""
ORDER = {square: place for place, square in enumerate(SQUARES)}


def in_order(squares: Iterable[str]) -> list[str]:
    """Squares in reading order."""
    return sorted(squares, key=ORDER.__getitem__)


def seen_by(squares: Iterable[str]) -> set[str]:
    """All squares that see one of these."""
    return set().union(*(PEERS[square] for square in squares))


def alone(squares: set[str]) -> set[str]:
    """The squares that see none of the others."""
    return {square for square in squares if not PEERS[square] & squares}


@dataclass
class Endgame:
    """A position in which nothing fits in the neutral region.

    Attributes:
        fits: for each number the squares on which it fits.
        sides: the squares of player_0's regions and of player_1's.
        regions: the squares of each region.
    """

    fits: dict[str, set[str]]
    sides: tuple[set[str], set[str]]
    regions: list[set[str]]

    def squares(self, *, several: bool = False) -> set[str]:
        """The squares on which a number fits, or at least two."""
        counts = {s: sum(s in self.fits[n] for n in NUMBERS) for s in SQUARES}
        return {square for square, count in counts.items() if count > several}

    # ---- simplifying ----

    def simplify(self) -> None:
        """Remove candidates that are never needed."""
        for player in range(2):
            self.remove_in_free_squares(player)
        for player in range(2):
            self.remove_covered(player)

    def remove_in_free_squares(self, player: int) -> None:
        """Where a candidate has no peers, keep it and those that hurt the opponent."""
        mine, theirs = self.sides[player], self.sides[1 - player]
        free = set().union(*(alone(self.fits[n]) for n in NUMBERS)) & mine
        kept: set[str] = set()
        for n in NUMBERS:
            before = set(self.fits[n])
            for square in in_order(before & free):
                peers = PEERS[square] & before
                if peers & theirs:
                    continue
                if not peers and square not in kept:
                    kept.add(square)
                else:
                    self.fits[n].remove(square)

    def remove_covered(self, player: int) -> None:
        """Remove candidates that the only one of another square makes superfluous."""
        mine, theirs = self.sides[player], self.sides[1 - player]
        several = self.squares(several=True)
        for n in NUMBERS:
            here = self.fits[n]
            for square in in_order(here & mine - several):
                if square not in here:
                    continue
                for other in in_order(PEERS[square] & here & mine):
                    own = PEERS[square] & here
                    others = PEERS[other] & here
                    if own - {other} <= others and others & theirs <= own:
                        here.remove(other)

    # ---- moves that are never better than another ----

    def moves(self, player: int) -> set[tuple[str, str]]:
        """The stones that a player can lay."""
        return {(n, square) for n in NUMBERS for square in self.fits[n] & self.sides[player]}

    def taken_by(self, number: str, square: str, player: int) -> set[tuple[str, str]]:
        """The stones of a player that can no longer be laid after a stone, but that stone."""
        same_square = {(n, square) for n in NUMBERS if square in self.fits[n]}
        seen = {(number, other) for other in self.fits[number] & PEERS[square]}
        return ((same_square | seen) & self.moves(player)) - {(number, square)}

    def at_least_as_good(self, one: tuple[str, str], other: tuple[str, str], player: int) -> bool:
        """Whether a move takes all that another takes, and of the player's own stones no more."""
        lost = self.taken_by(*one, player) - {other}
        if not lost <= self.taken_by(*other, player):
            return False
        return self.taken_by(*other, 1 - player) <= self.taken_by(*one, 1 - player)

    # ---- the race ----

    def most_stones(self, player: int) -> tuple[int, set[str]]:
        """The most stones that a player can lay, and the squares that are counted one by one."""
        total, singly = 0, set()
        for region in self.regions:
            squares = self.squares() & region & self.sides[player]
            numbers = sum(bool(self.fits[n] & squares) for n in NUMBERS)
            total += min(len(squares), numbers)
            if numbers >= len(squares):
                singly |= region & self.sides[player]
        return total, singly

    def lead(self, player: int) -> tuple[int, int]:
        """Half stones by which a player is sure to be ahead, to move and to wait."""
        mine, theirs = self.sides[player], self.sides[1 - player]
        most, singly = self.most_stones(1 - player)
        spoilable = singly - self.squares(several=True)
        race = Race()
        for n in NUMBERS:
            own, opposing = self.fits[n] & mine, self.fits[n] & theirs
            left = race.settle_safe(own, seen_by(opposing))
            race.contest_number(left, opposing, spoilable)
        gain = race.gain_of_first()
        return race.worth - 2 * most + gain, race.worth - 2 * most - gain


@dataclass
class Race:
    """The squares that a player has counted.

    Attributes:
        sure: squares that are sure stones.
        contested: squares with one chosen candidate, and how many squares it spoils.
        extra: half stones for squares with two candidates that spoil.
    """

    sure: set[str] = field(default_factory=set)
    contested: dict[str, int] = field(default_factory=dict)
    extra: int = 0

    @property
    def worth(self) -> int:
        """What all of it is worth on average, in half stones."""
        return 2 * len(self.sure) + sum(1 + k for k in self.contested.values()) + self.extra

    def settle_safe(self, own: set[str], threatened: set[str]) -> set[str]:
        """Count candidates that nothing threatens; returns those that are left."""
        left = own - self.sure
        for square in in_order(left - threatened):
            if square in left:
                self.sure.add(square)
                self.contested.pop(square, None)
                left = left - {square} - PEERS[square]
        return left

    def contest_number(self, left: set[str], opposing: set[str], spoilable: set[str]) -> None:
        """Count candidates that something threatens, first those that spoil something."""
        for least in (1, 0):
            for square in in_order(left):
                threats = PEERS[square] & opposing
                spoils = min(len(threats & spoilable), 3)
                if square in left and spoils >= least:
                    left = left - {square} - PEERS[square] - seen_by(threats)
                    self.contest(square, spoils)

    def contest(self, square: str, spoils: int) -> None:
        """Count a candidate; a square with two of them is sure."""
        if square in self.contested:
            self.extra += 2 * min(self.contested.pop(square), spoils)
            self.sure.add(square)
        else:
            self.contested[square] = spoils

    def gain_of_first(self) -> int:
        """What it is worth to come first: the players take the largest in turn."""
        taken = sorted(self.contested.values(), reverse=True)
        return sum((1 + k) * (-1) ** turn for turn, k in enumerate(taken))
