"""How many stones will be laid in a position of Sudoku Horikomi, with sets of squares.

The rules are those that the docstrings of `azumaya.envs.games.shima.filling` state, and groups are
chosen in the same order: small ones first, numbers upwards, squares in reading order.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracles.moyo_endgame import PEERS, in_order
from tests.oracles.regions import NUMBERS


@dataclass
class Filling:
    """A position in which nothing fits in the neutral region.

    Attributes:
        fits: for each number the squares on which it fits.
        stock: for each number the stones that both players have left.
        sides: the squares of player_0's regions and of player_1's.
        regions: the squares of each region.
    """

    fits: dict[str, set[str]]
    stock: dict[str, int]
    sides: tuple[set[str], set[str]]
    regions: list[set[str]]

    def __post_init__(self) -> None:
        self.fits = {n: squares if self.stock[n] else set() for n, squares in self.fits.items()}

    def most_stones(self, player: int) -> int:
        """At most as many stones as squares, and as numbers, in each region."""
        total = 0
        for region in self.regions:
            inside = [self.fits[n] & region & self.sides[player] for n in NUMBERS]
            total += min(len(set().union(*inside)), sum(map(bool, inside)))
        return total

    def sure_stones(self, player: int) -> int:
        """Groups of which one square is sure to be filled, with no square in two of them."""
        free, total = set(self.sides[player]), 0
        for size in range(1, 5):
            for n in NUMBERS:
                regions = sum(bool(region & self.fits[n]) for region in self.regions)
                if regions > self.stock[n]:
                    continue
                for square in in_order(self.fits[n] & self.sides[player]):
                    group = {square} | PEERS[square] & self.fits[n]
                    if group <= free and len(group) <= size:
                        free -= group
                        total += 1
        return total

    def bounds(self, player: int, ahead: int) -> tuple[int, int]:
        """The least and the most that a player gains who leads by `ahead` stones."""
        if ahead + self.sure_stones(player) > self.most_stones(1 - player):
            return 1, 1
        if ahead + self.most_stones(player) < self.sure_stones(1 - player):
            return -1, -1
        return -1, 1
