"""An oracle for Revers-Dominari, written from its page, with a dictionary of squares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.oracles import dominari_board as on
from tests.oracles.dominari_turns import DominariOracle

START = {"c3": 0, "d4": 0, "c4": 1, "d3": 1}
CENTRE = ("c4", "d4", "c3", "d3")


MANY_BLANKS = "...Wea/..WcBd/BBbdfe/B3562B/B162cB/451WW. b"
"""Eleven blanks of twelve."""


class Oracle(DominariOracle):
    """One game of Revers-Dominari."""

    further = (
        {"position": MANY_BLANKS},
        {"referee": False, "position": MANY_BLANKS},
    )

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        super().__init__(text, options)
        if len(self.stones) == len(START):
            self._check_start(options.get("centre"))

    def _check_start(self, centre: str | None) -> None:
        """Check that four different numbers are in their places."""
        assert {square: on.OWNER[mark] for square, mark in self.stones.items()} == START
        numbers = "".join(on.NUMBER[self.stones[square]] for square in CENTRE)
        assert len(set(numbers)) == 4
        assert centre in (None, numbers)

    # ---- captures ----

    def captured(self, square: str, player: int) -> set[str]:
        """The stones captured by a player's stone laid on a square."""
        return set().union(*self.ways(square, player).values())

    def ways(self, square: str, player: int) -> dict[str, set[str]]:
        """The captured stones by each of the three ways to capture."""
        own, other = on.of(self.stones, player), on.of(self.stones, 1 - player)
        return {
            "in a line": set(self.in_lines(square, own, other)),
            "round a corner": set(self.round_corners(square, own, other)),
            "by two pairs": set(self.by_pairs(square, own, other)),
        }

    def in_lines(self, square: str, own: set[str], other: set[str]) -> Iterator[str]:
        """Stones in a gapless line between the new stone and one of the same player."""
        for way in on.STRAIGHT:
            line, at = [], on.step(square, *way)
            while at in other:
                line.append(at)
                at = on.step(at, *way)
            if at in own:
                yield from line

    def round_corners(self, square: str, own: set[str], other: set[str]) -> Iterator[str]:
        """A stone beside the new one and beside an own one diagonal to the new one."""
        for way in on.DIAGONAL:
            corner = on.step(square, *way)
            if corner in own:
                yield from on.BESIDE[square] & on.BESIDE[corner] & other

    def by_pairs(self, square: str, own: set[str], other: set[str]) -> Iterator[str]:
        """Two stones that make a square with the new one and an own one beside it."""
        for way in on.DIAGONAL:
            far = on.step(square, *way)
            if not far:
                continue
            corners = on.BESIDE[square] & on.BESIDE[far]
            if far in other and len(corners & own) == 1 and len(corners & other) == 1:
                yield from corners & other | {far}

    # ---- the shared turn ----

    def places(self, player: int) -> set[str]:
        """The squares where a stone would capture."""
        return {s for s in on.empty(self.stones) if self.captured(s, player)}

    def lay(self, square: str, mark: str) -> None:
        """Lay a stone and turn over its captures; a blank of the other colour captures nothing."""
        mover = self.to_move
        self.note(square, mark)
        turned = self.captured(square, mover) if on.OWNER[mark] == mover else set()
        self.stones[square] = mark
        for other in turned:
            self.stones[other] = on.OTHER_SIDE[self.stones[other]]

    def note(self, square: str, mark: str) -> None:
        """Record rare events."""
        mover, stone = self.to_move, "blank" if mark in "WB" else "number"
        if on.OWNER[mark] != mover:
            caught = self.captured(square, 1 - mover)
            self.happened.add("foreign blank" + (" that would capture" if caught else ""))
            return
        ways = {way: caught for way, caught in self.ways(square, mover).items() if caught}
        for way, caught in ways.items():
            self.happened.add(f"{stone} captures {way}{' only' if len(ways) == 1 else ''}")
            if on.has_blank(self.stones, caught):
                self.happened.add(f"a blank is captured {way}")
        if not ways:
            self.happened.add(f"{stone} captures nothing")

    def blank_colours(self) -> str:
        """Blanks of either colour."""
        return "wb"

    def is_decided(self) -> bool:
        """Neither player can lay a number."""
        return not self.can_lay(0) and not self.can_lay(1)

    def gain(self) -> int:
        """The gain from the difference in points."""
        difference = on.points(self.stones, 0) - on.points(self.stones, 1)
        self.happened.add("more points" if difference else "equal points")
        return self.reward_of(difference)

    def good(self, names: Iterable[str]) -> set[str]:
        """Blanks that capture, if there are any."""
        names = set(names)
        mover = self.to_move
        if not self.filling:
            return names
        catching = {n for n in names if n[0] == "wb"[mover] and self.captured(n[1:], mover)}
        return catching or names
