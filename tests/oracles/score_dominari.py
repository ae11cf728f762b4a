"""An oracle for Score-Dominari, written from its page, with a dictionary of squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.oracles import dominari_board as on
from tests.oracles.dominari_turns import DominariOracle

FIRST = {0: "a1", 1: "f6"}


NEARLY_STUCK = "..5fdc/..2315/d21e.f/c6.db./6a3b5d/5df1c2 w"
"""After white's number on f3 neither player can lay beside their own stones, but a6 is not dead."""
FAR_FROM_BLACK = "..24cf/..1ceb/b4.561/f53.2d/d65.1c/31f245"
WRONG_2 = FAR_FROM_BLACK.replace("f53.2d", "f5322d")
CLAIM_BY_RIGHT = f"{WRONG_2} b free=wb claim=1 undo={FAR_FROM_BLACK} turns=190"
"""The same with a wrong 2 on d3: after the undo black, who claims, cannot lay."""
MANY_BLANKS = ".fabBe/..WfBb/WB3daW/52BWBf/3.5Bd./65413W w"
"""Eleven blanks of twelve."""


class Oracle(DominariOracle):
    """One game of Score-Dominari: `free` are the players who may lay anywhere."""

    further = (
        {"position": NEARLY_STUCK},
        {"referee": False, "position": NEARLY_STUCK},
        {"referee": False, "position": CLAIM_BY_RIGHT},
        {"position": MANY_BLANKS},
    )

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        super().__init__(text, options)
        self.free = self._players("free")

    def _players(self, key: str) -> set[int]:
        return {"wb".index(letter) for letter in self.words.get(key, "")}

    def places(self, player: int) -> set[str]:
        """The corner first; then beside own stones, also diagonally, or by right anywhere."""
        own, empty = on.of(self.stones, player), set(on.empty(self.stones))
        if player in self.free:
            return empty
        if all(on.has_blank(self.stones, [square]) for square in own):
            return {FIRST[player]} & empty
        return empty & set().union(*(on.ROUND[square] for square in own))

    def lay(self, square: str, mark: str) -> None:
        """A number uses up the right to lay anywhere."""
        if mark not in "WB" and self.to_move in self.free:
            self.free.remove(self.to_move)
            near = any(
                on.OWNER.get(self.stones.get(s, "")) == self.to_move for s in on.ROUND[square]
            )
            self.happened.add("right used " + ("near" if near else "far"))
            if self.wrong:
                self.happened.add("right used wrongly")
        self.stones[square] = mark

    def skipped(self, player: int) -> None:
        """The player may lay the next number anywhere."""
        self.free.add(player)

    def is_decided(self) -> bool:
        """Every empty square is dead."""
        return self.dead() == set(on.empty(self.stones))

    def gain(self) -> int:
        """The gain from the difference in points."""
        difference = on.points(self.stones, 0) - on.points(self.stones, 1)
        self.happened.add("more points" if difference else "equal points")
        return self.reward_of(difference)

    # ---- what a claim restores ----

    def snapshot(self) -> Any:
        """The stones and the rights to lay anywhere."""
        return dict(self.stones), set(self.free)

    def snapshot_of_text(self, board: str) -> Any:
        """The snapshot written in a position text."""
        return on.read(board), self._players("undofree")

    def restore(self, kept: Any) -> None:
        """Restore a snapshot."""
        stones, free = kept
        if free != self.free:
            self.happened.add("a right given back")
        self.stones, self.free = dict(stones), set(free)
