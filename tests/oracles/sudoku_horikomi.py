"""An oracle for Sudoku Horikomi, written from its page; the stages before play are Moyo's."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from tests.oracles.regions import NUMBERS, SQUARES
from tests.oracles.sudoku_moyo import Oracle as Moyo

SET = 4
"""How many stones of each number a player has."""

LOCKED = "74.23..9653.96..428.1..57...9.62..344.75.81...2.34..69275..18...6.49..231.8..75.."
"""No number fits on any empty cell; each block has 3 to 5 empty cells."""
SPARSE = "..92.854.76..3...1..24.589.61..7...3..59.428.37..1...6..48.295.13..6...7..85.942."
"""No number fits here either: rows and columns form two groups each, and the empty cells are where
a row of one group meets a column of the other."""
DEALS = {
    5: "119919991691292229235431513353374448442255165185566664667762337727757789888484838",
    4: "119919991691192229223328413353373448441254455185565664665767326726757779888384788",
    3: "119919991691191229223323382342373348444154445185555564667567276726656779787883888",
    2: "119919991591191129223323332232272337444454445885545553667767776516646669778888888",
}
"""By number of stones, regions for that board in which 1-4 and 5-8 hold equally many stones, and
5-8 win by having more regions with this number of stones. The ninth region is full."""


def dealt(size: int, owners: str) -> dict[str, Any]:
    """The territory of a deal, as in a game record."""
    return {"regions": tuple(int(mark) for mark in DEALS[size]), "owners": owners}


class Oracle(Moyo):
    """One game of Sudoku Horikomi; `left` counts the stones a player still has by number."""

    further = (
        {"territory": "draft", "puzzle": LOCKED},
        {"territory": "draft", "setup": "choose", "puzzle": LOCKED},
        *(
            {"territory": dealt(size, owners), "setup": "choose", "puzzle": SPARSE}
            for size, owners in zip(DEALS, ("LLLLDDDD.", "DDDDLLLL.") * 2, strict=True)
        ),
    )

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        territory = options.get("territory")
        if isinstance(territory, Mapping):
            options = {**options, "territory": SimpleNamespace(**territory)}
        super().__init__(text, options)
        assert "scoring" not in options
        self.left: dict[tuple[int, str], int] = {}
        self.happened: set[str] = set()
        if self.stage == "play":
            self._count_stock()
        words = dict(word.split("=") for word in text.split()[2:])
        if "stock" in words:
            light, dark = words["stock"].split(",")
            for player, counts in ((self.light, light), (1 - self.light, dark)):
                for number, count in zip(NUMBERS, counts, strict=True):
                    self.left[player, number] = int(count)

    def _count_stock(self) -> None:
        """Givens count for the owner of their region."""
        for player in (0, 1):
            own = [self.regions.number.get(square) for square in self.squares_of(player)]
            for number in NUMBERS:
                self.left[player, number] = SET - own.count(number)

    def squares_of(self, player: int) -> list[str]:
        """The squares of a player's four regions."""
        return self.regions.squares_of(self.own(player))

    # ---- what is legal ----

    def moves_of(self, player: int) -> set[str]:
        """In the neutral region while any number fits there, then in all other regions."""
        opening = self.regions.fitting(".")
        if opening:
            return opening
        anywhere = self.regions.fitting("L") | self.regions.fitting("D")
        return {name for name in anywhere if self.left[player, name[0]] > 0}

    def can_move(self, player: int) -> bool:
        """Whether a player could lay a stone."""
        return bool(self.moves_of(player))

    def sought(self, rng: random.Random) -> set[str]:
        """During play, stones of the numbers of which fewest are left."""
        if self.stage != "play":
            return set()
        names = self.legal()
        least = min(self.left[self.to_move, name[0]] for name in names)
        return {name for name in names if self.left[self.to_move, name[0]] == least}

    # ---- steps ----

    def _before_handicap(self) -> None:
        player, stones = self.handicap
        if stones and self.regions.any_fits("."):
            self.stage, self.to_move = "handicap", player
            return
        self.stage = "play"
        self._count_stock()
        self._next_is(self.starter)
        if self.over:
            self.happened.add("over when play begins")
        elif self.to_move != self.starter:
            self.happened.add("the starter skipped")

    def _play(self, name: str) -> None:
        opening = self.regions.any_fits(".")
        self.regions.lay(name)
        if not opening:
            self.left[self.to_move, name[0]] -= 1
        mover = self.to_move
        self._next_is(1 - mover)
        if self.to_move == mover and not self.over:
            self.happened.add("skipped")

    def _next_is(self, player: int) -> None:
        """Pass the move to a player, skip them if they have none, or end the game."""
        if self.can_move(player):
            self.to_move = player
        elif self.can_move(1 - player):
            self.to_move = 1 - player
        else:
            self._rank()

    def _rank(self) -> None:
        """Compare the totals of stones, then the stones in each region, the fullest first."""
        light, dark = self.standing("L"), self.standing("D")
        gain = (light > dark) - (light < dark)
        self.happened.add(self.reason(light, dark))
        gain = gain if self.light == 0 else -gain
        self.over = "terminated"
        self.returns = (gain, -gain)

    def reason(self, light: list[int], dark: list[int]) -> str:
        """What decided the game."""
        for rank, (one, other) in enumerate(zip(light, dark, strict=True)):
            if one != other:
                return f"decided by {f'regions of {10 - rank}' if rank else 'Moyo stones'}"
        return "a draw"

    def standing(self, owner: str) -> list[int]:
        """The higher the better: few Moyo stones, then many regions with 9, 8, 7 ... stones."""
        stones = {region: 0 for region, whose in self.regions.owner.items() if whose == owner}
        for square in SQUARES:
            if square in self.regions.number and self.regions.region[square] in stones:
                stones[self.regions.region[square]] += 1
        counts = list(stones.values())
        moyo = 9 * len(counts) - sum(counts)
        return [-moyo, *(counts.count(size) for size in range(9, -1, -1))]
