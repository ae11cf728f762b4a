"""An oracle for Sudoku Moyo, written from its page, with dictionaries of squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.oracles import BaseOracle
from tests.oracles.regions import FILES, RANKS, Regions

DRAFT_TURNS = "01100110"
"""The order of the draft: player_0 takes one, player_1 two, player_0 two, and so on."""


class Oracle(BaseOracle):
    """One game of Sudoku Moyo."""

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        board, mover, *rest = text.split()
        words = dict(word.split("=") for word in rest)
        self.chooses = options.get("setup") == "choose"
        self.points = options.get("scoring") == "points"
        self.light = int(words.get("light", "0"))
        self.regions = Regions(options.get("territory") or "standard", words.get("owners"))
        self.regions.lay_out(board)
        self.to_move = self.light if mover == "l" else 1 - self.light
        self.stage = words.get("stage", "play")
        self.handicap = [int(n) for n in words.get("handicap", "0,0").split(",")]
        self.starter = int(words.get("starter", "0"))
        self.lays_on = "points" in words
        self.gained = int(words.get("points", "0"))

    # ---- what is legal ----

    def own(self, player: int) -> str:
        """The letter of a player's regions."""
        return "L" if player == self.light else "D"

    def moves_of(self, player: int) -> set[str]:
        """The stones a player may lay: in the neutral region while any fits, then in their own."""
        return self.regions.fitting(".") or self.regions.fitting(self.own(player))

    def can_move(self, player: int) -> bool:
        """Whether a player could lay a stone."""
        return self.regions.any_fits(".") or self.regions.any_fits(self.own(player))

    def legal(self) -> set[str]:
        """The names of the legal moves."""
        if self.over:
            return set()
        if self.stage == "draft":
            return {f"r{r}" for r, owner in self.regions.owner.items() if owner == "?"}
        if self.stage == "colour":
            return {"light", "dark"}
        if self.stage == "starter":
            return {"start0", "start1"}
        if self.stage == "handicap":
            return self.regions.fitting(".")
        return self.moves_of(self.to_move)

    # ---- steps ----

    def play(self, name: str) -> None:
        """Make a legal move."""
        mover = self.to_move
        getattr(self, f"_{self.stage}")(name)
        if self.over:
            self.to_move = mover

    def _draft(self, name: str) -> None:
        owner = self.regions.owner
        owner[int(name[1:])] = self.own(self.to_move)
        taken = sum(letter in "LD" for letter in owner.values())
        if taken < len(DRAFT_TURNS):
            self.to_move = int(DRAFT_TURNS[taken])
        else:
            self._after_colours()

    def _colour(self, name: str) -> None:
        self.light = 0 if name == "light" else 1
        self._after_colours()

    def _after_colours(self) -> None:
        if self.chooses:
            self.stage, self.to_move = "starter", 1
        else:
            self._before_handicap()

    def _starter(self, name: str) -> None:
        self.starter = int(name[-1])
        self._before_handicap()

    def _before_handicap(self) -> None:
        player, stones = self.handicap
        if stones and self.regions.any_fits("."):
            self.stage, self.to_move = "handicap", player
            return
        self.stage, self.to_move = "play", self.starter
        if not self.can_move(self.to_move):
            self._won_by(1 - self.to_move)

    def _handicap(self, name: str) -> None:
        self.regions.lay(name)
        self.handicap[1] -= 1
        self._before_handicap()

    def _play(self, name: str) -> None:
        self.regions.lay(name)
        if self.lays_on:
            self.gained += 1
            self._won_by(self.to_move)
        elif self.can_move(1 - self.to_move):
            self.to_move = 1 - self.to_move
        else:
            self.gained = 1
            self._won_by(self.to_move)

    def _won_by(self, winner: int) -> None:
        self.to_move = winner
        if self.points:
            self.lays_on = True
            if self.can_move(winner):
                return
        gain = self.gained if self.points else 1
        self.over = "terminated"
        self.returns = (gain, -gain) if winner == 0 else (-gain, gain)

    def board(self) -> str:
        """The board as in a position text."""
        number = self.regions.number
        rows = ("".join(number.get(f + r, ".") for f in FILES) for r in reversed(RANKS))
        return "/".join(rows)
