"""A game under way between two players, of whom each is a person or an agent."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, field

from azumaya.baselines.agents import Agent
from azumaya.baselines.arena.entrants import Entrant
from azumaya.envs import Position
from azumaya.envs.notation import GameRecord, record_of
from azumaya.envs.position import episode_key


@dataclass
class Table:
    """A game under way.

    Attributes:
        players: who plays, player_0 first.
        seed: the seed of the agents' random draws.
        history: the positions so far, the start first.
        moves: the names of the moves between them.
    """

    players: tuple[Entrant, Entrant]
    seed: int
    history: list[Position]
    moves: list[str] = field(default_factory=list)

    @property
    def here(self) -> Position:
        """The position on the board."""
        return self.history[-1]

    @property
    def key(self) -> int:
        """The key of the random draws in this position."""
        return int(episode_key(self.seed, 0, len(self.history)))

    @property
    def agent(self) -> Agent | None:
        """The agent to move; None for a person, or when the game is over."""
        return None if self.here.is_over else self.players[self.here.to_move].agent

    @property
    def last_action(self) -> int | None:
        """The action that led here; None at the start."""
        if not self.moves:
            return None
        return self.history[-2].action(self.moves[-1])

    def play(self, move: str) -> None:
        """Make a move.

        Raises:
            ValueError: it is no legal move; nothing was changed.
        """
        after = self.here.copy().play(move)
        self.moves.append(move)
        self.history.append(after)

    @property
    def undone(self) -> int | None:
        """The number of moves left after `undo`; None if there is nothing to undo."""
        return self.last_of([n for n, player in enumerate(self.players) if player.agent is None])

    def last_of(self, players: Collection[int]) -> int | None:
        """The number of moves before the last one that one of some players made; None if none."""
        plies = range(len(self.moves) - 1, -1, -1)
        return next((ply for ply in plies if self.history[ply].to_move in players), None)

    def undo(self) -> bool:
        """Go back to where a person last made a move; returns whether there was one."""
        ply = self.undone
        if ply is not None:
            self.go_back(ply)
        return ply is not None

    def turn_before(self, ply: int) -> int:
        """The number of moves before the turn that the move before `ply` was part of."""
        begun = max(0, ply - 1)
        while begun and self.history[begun - 1].to_move == self.history[begun].to_move:
            begun -= 1
        return begun

    def turns_since(self, ply: int) -> tuple[int, int]:
        """How many turns each player has ended since the position after `ply` moves."""
        moved = itertools.pairwise(self.history[ply:])
        ended = [now.to_move for now, then in moved if then.is_over or then.to_move != now.to_move]
        return ended.count(0), ended.count(1)

    def go_back(self, ply: int) -> None:
        """Take all moves back but the first `ply`."""
        del self.history[ply + 1 :], self.moves[ply:]

    def record(self) -> GameRecord:
        """The record of the game as far as it was played."""
        moves = self.moves[: len(self.history) - 1]  # Ctrl-C may have come between the two
        names = (self.players[0].name, self.players[1].name)
        return record_of(self.history[0], moves, self.here, names)
