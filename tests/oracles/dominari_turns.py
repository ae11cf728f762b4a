"""What the oracles of Vierer, Revers and Score share: turns of a number and blanks; claims.

From `docs/games/dominari.md` and `docs/games/conventions.md`.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from tests.oracles import BaseOracle
from tests.oracles import dominari_board as on

TURNS = 200
SHY = 0.5
"""The share of `sought` games that avoid early ends (`DominariOracle.sought`)."""


class DominariOracle(BaseOracle):
    """One game: a number, then blanks; with claims where there is no referee.

    Attributes:
        stones: the mark on each square that has a stone.
        filling: whether the number of this turn has been laid and blanks may follow.
        wrong: whether the number of the turn in progress, or else of the last one, broke the
            Sudoku rule.
        kept: the result of `snapshot` before that turn; None if the turn was not wrong.
        claim: whether the player to move may claim.
        turns: how many turns were played, including those undone.
    """

    numbers = "123456"

    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        board, mover, *rest = text.split()
        self.words = dict(word.split("=") for word in rest)
        self.stones = on.read(board)
        self.to_move = "wb".index(mover)
        self.referee = options.get("referee") is not False
        self.margin = options.get("reward") == "margin"
        self.filling = self.words.get("phase") == "blanks"
        self.claim = "claim" in self.words
        self.last: int | None = 1 - self.to_move if self.claim else None
        self.turns = int(self.words.get("turns", "0"))
        self.wrong = "undo" in self.words
        self.kept: Any = self.snapshot_of_text(self.words["undo"]) if self.wrong else None
        self.happened: set[str] = set()
        self.shy: bool | None = None

    # ---- what each game defines ----

    @abstractmethod
    def places(self, player: int) -> set[str]:
        """The empty squares where a player may lay a number, ignoring the Sudoku rule."""

    @abstractmethod
    def lay(self, square: str, mark: str) -> None:
        """Lay a stone of either colour and apply its effects on the board."""

    @abstractmethod
    def is_decided(self) -> bool:
        """Whether the game is over at the end of a turn."""

    @abstractmethod
    def gain(self) -> int:
        """What player_0 gains at the end of the game."""

    def won_at_once(self) -> bool:
        """Whether the stone just laid ends the game before the end of the turn."""
        return False

    def blank_colours(self) -> str:
        """The first letters of the blanks a player may lay."""
        return "wb"[self.to_move]

    def skipped(self, player: int) -> None:
        """Called when a player is skipped because they cannot lay."""

    def snapshot(self) -> Any:
        """Everything that a claim restores."""
        return dict(self.stones)

    def snapshot_of_text(self, board: str) -> Any:
        """The snapshot written in a position text."""
        return on.read(board)

    def restore(self, kept: Any) -> None:
        """Restore a snapshot."""
        self.stones = dict(kept)

    # ---- what is legal ----

    def fitting(self, square: str) -> set[str]:
        """The numbers that may be laid on an empty square by the Sudoku rule."""
        return set(self.numbers) - on.numbers_round(self.stones, square)

    def dead(self) -> set[str]:
        """The dead squares."""
        return {square for square in on.empty(self.stones) if not self.fitting(square)}

    def can_lay(self, player: int) -> bool:
        """Whether a player can lay a number by the full rules."""
        return any(self.fitting(square) for square in self.places(player))

    def fillable(self) -> set[str]:
        """The squares where blanks may be laid, while blanks are left."""
        lying = sum(mark in "WB" for mark in self.stones.values())
        if lying < on.BLANKS:
            return self.dead()
        if self.dead():
            self.happened.add("no blank is left for a dead square")
        return set()

    def legal(self) -> set[str]:
        """The names of the legal moves."""
        if self.over:
            return set()
        if self.filling:
            return {"end"} | {
                colour + square for square in self.fillable() for colour in self.blank_colours()
            }
        names = {
            number + square
            for square in self.places(self.to_move)
            for number in (self.fitting(square) if self.referee else self.numbers)
        }
        return names | {"claim"} if self.claim else names

    # ---- steps ----

    def play(self, name: str) -> None:
        """Make a legal move."""
        if name == "claim":
            self._claim()
        elif name == "end":
            self._turn_over()
        elif name[0] in "wb":
            self.happened.add("blank")
            self.lay(name[1:], name[0].upper())
            self._go_on()
        else:
            number, square = name[0], name[1:]
            self.wrong = number not in self.fitting(square)
            self.kept = self.snapshot() if self.wrong else None
            self.lay(square, on.MARKS[self.to_move][int(number) - 1])
            self._go_on()

    def _go_on(self) -> None:
        self.claim = False
        if self.won_at_once():
            self._end_by_turn(1 if self.to_move == 0 else -1)
            return
        self.filling = bool(self.fillable())
        if not self.filling:
            self._turn_over()

    def _turn_over(self) -> None:
        self.filling = False
        if self.is_decided():
            self._end_by_turn(self.gain())
            return
        self.turns += 1
        self.last = self.to_move
        self._pass_on()

    def _end_by_turn(self, gain: int) -> None:
        if not self.wrong:
            if on.breaks_rule(self.stones):
                self.happened.add("a right turn ends a wrong board")
            self._end(gain)
            return
        mover, self.filling = self.to_move, False
        self.turns += 1
        self._undo()
        self._pass_on()
        then = "it goes on" if self.to_move == mover else "the other one goes on"
        self.happened.add(f"a wrong turn would end the game: {self.over or then}")

    def _undo(self) -> None:
        lying = len(self.stones)
        self.restore(self.kept)
        if lying - len(self.stones) > 1:
            self.happened.add("blanks taken back")
        self.wrong, self.kept, self.last = False, None, None

    def _pass_on(self) -> None:
        """Pass the turn to the other player; a player who cannot lay is skipped."""
        self._first_of(1 - self.to_move)
        if not self.referee and self.turns >= TURNS:
            self.over = "truncated"

    def _first_of(self, player: int) -> None:
        for skips in range(3):
            if self.can_lay(player):
                break
            self.happened.add("both skipped" if skips else "skipped")
            self.skipped(player)
            player = 1 - player
        assert self.can_lay(player)
        self.to_move = player
        self.claim = not self.referee and self.last == 1 - player

    def _claim(self) -> None:
        claimant, self.claim = self.to_move, False
        if self.wrong:
            self._undo()
            self._first_of(claimant)
            skipped = self.to_move != claimant
            self.happened.add("claimant skipped" if skipped else "claim finds a wrong turn")
        elif on.breaks_rule(self.stones):
            self.happened.add("claim finds an old fault")
            self._end(0)
        else:
            self.happened.add("claim finds nothing")

    def _end(self, gain: int) -> None:
        if self.turns >= TURNS - 1 and not self.referee:
            self.happened.add("an end in the last turn")
        self.over, self.claim, self.filling = "terminated", False, False
        self.returns = (gain, -gain)

    def reward_of(self, difference: int) -> int:
        """What player_0 gains with this lead in points."""
        if self.margin:
            return difference
        return (difference > 0) - (difference < 0)

    def board(self) -> str:
        """The board as in a position text."""
        return on.write(self.stones)

    # ---- what random play rarely finds ----

    def sought(self, rng: random.Random) -> set[str]:
        """Claims, correct numbers and blanks; in shy games no moves that end the game soon."""
        if self.shy is None:
            self.shy = rng.random() < SHY
        legal = self.legal()
        if self.filling:
            return self.good(legal - {"end"})
        if self.claim and rng.random() < (0.4 if self.wrong else 0.1):
            return {"claim"}
        return self.good({name for name in legal if self.is_right(name)})

    def is_right(self, name: str) -> bool:
        """Whether a move lays a number that breaks no rule."""
        return name[0] in self.numbers and name[0] in self.fitting(name[1:])

    def good(self, names: Iterable[str]) -> set[str]:
        """The moves among `names` that lead to rare situations."""
        return set(names)
