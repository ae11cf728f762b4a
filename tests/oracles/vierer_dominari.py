"""An oracle for Vierer-Dominari, written from its page, with a dictionary of squares."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracles import dominari_board as on
from tests.oracles.dominari_turns import DominariOracle

FOURS = [(set(line[i : i + 4]), "line") for line in on.LINES for i in range(3)] + [
    (set(block), "block") for block in on.BLOCKS
]


MANY_BLANKS = ".B25aW/W1B4ec/..WW3d/.d5aW2/.Wd2B5/2caB.B b"
"""Eleven blanks of twelve."""


class Oracle(DominariOracle):
    """One game of Vierer-Dominari."""

    numbers = "12345"
    further = (
        {"position": MANY_BLANKS},
        {"referee": False, "position": MANY_BLANKS},
    )

    def places(self, player: int) -> set[str]:
        """Anywhere for the first number, later beside a stone."""
        if not self.stones:
            return set(on.SQUARES)
        return {
            square
            for square in on.empty(self.stones)
            if any(other in self.stones for other in on.BESIDE[square])
        }

    def lay(self, square: str, mark: str) -> None:
        """Lay a stone, without further effects."""
        self.stones[square] = mark

    def won_at_once(self) -> bool:
        """Whether the player to move has a four."""
        own = on.of(self.stones, self.to_move)
        done = [(four, kind) for four, kind in FOURS if four <= own]
        for four, kind in done:
            blank = " with a blank" if on.has_blank(self.stones, four) else ""
            wrong = "taken back: " if self.wrong else ""
            self.happened.add(f"{wrong}four in a {kind}{blank}")
        return bool(done)

    def is_decided(self) -> bool:
        """No number can be laid."""
        return not self.can_lay(self.to_move)

    def gain(self) -> int:
        """A draw."""
        self.happened.add("no number can be laid")
        return 0

    def good(self, names: Iterable[str]) -> set[str]:
        """In shy games moves that make no four, otherwise moves that help to fill blocks."""
        names = set(names)
        own = on.of(self.stones, self.to_move)
        winning = {n for n in names if any(four <= own | {n[1:]} for four, _ in FOURS)}
        if self.shy:
            return names - winning
        best = max((self.in_block(n[1:], own) for n in names), default=0)
        return {n for n in names if self.in_block(n[1:], own) == best}

    def in_block(self, square: str, own: set[str]) -> int:
        """How many own stones are in the block of a square."""
        return max(len(own & set(block)) for block in on.BLOCKS if square in block)
