"""Agents that ship with the package: for each game with files of its own another one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.sidecar import SUFFIXES
from azumaya.baselines.search.budget import Budget
from azumaya.envs import OptionError, Position
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.game import Game


class ByGameAgent(Agent):
    """Plays each game by an agent with the game's weights, which may search.

    Args:
        name: the agent's name, without a budget.
        folder: has the weights, files that are called like the games.
        steps: simulations or nodes per move; give this, `milliseconds` or neither.
        milliseconds: time per move.

    Raises:
        OptionError: the budget is invalid.
    """

    def __init__(
        self, name: str, folder: Path, steps: int | None, milliseconds: float | None
    ) -> None:
        self.budget = None if steps is milliseconds is None else Budget(steps, milliseconds)
        self.name = name if self.budget is None else f"{name}:{self.budget}"
        self.files = sorted(file for end in SUFFIXES for file in folder.glob(f"*{end}"))
        self._last: tuple[Game, Agent] | None = None

    def plays(self, game: Game) -> bool:
        """Whether there are weights for a game."""
        return game.name in self._games

    @property
    def _games(self) -> list[str]:
        return sorted({Path(file).stem for file in self.files})

    @abstractmethod
    def player_of(self, position: Position) -> Agent:
        """Make the agent that plays a position's game, which has weights."""

    def check(self, position: Position) -> None:
        """Check that there is an agent for a position's game, and that it can play it.

        Raises:
            OptionError: there is none.
            CheckpointError: its files are damaged, or do not fit the position.
            MissingExtraError: it needs a package that is not installed.
        """
        self._player(position).check(position)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """Choose a move in each position; all must be of one game.

        Raises:
            OptionError: there is no agent for the game, or a position or a key is invalid.
        """
        positions, keys = check_asked(positions, keys, alike=False)
        return list(self._player(positions[0]).act(positions, keys)) if positions else []

    def _player(self, position: Position) -> Agent:
        """The agent that plays the game of a position; only that of the last game is kept.

        The memory of a search stays allocated, and that of every game together is too much.
        """
        game = position.game
        if self._last is None or self._last[0] is not game:
            if not self.plays(game):
                known = ", ".join(self._games)
                raise OptionError(
                    f"agent {self.name}: there is none for {game.id}; it plays {known}"
                )
            self._last = game, self.player_of(position)
        return self._last[1]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_last": None}
