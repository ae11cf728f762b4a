"""The champions: values that ship with the package, one for each game, and an agent that uses them.

Each was trained by `azumaya.baselines.training.td_value`; the notes of its sidecar have the seed
and the steps.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.search.agents import AlphaBetaAgent, PUCTAgent
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.values.value import Value, ValueAgent, load_value
from azumaya.envs import OptionError, Position
from azumaya.envs.game import Game

CHAMPION = "champion"
DATA = Path(__file__).with_name("data")


def champion_file(game: Game) -> Path:
    """Where the weights of a game's champion are, or would be, in the package."""
    return DATA / f"{game.name}.safetensors"


@functools.cache
def champion_value(game: Game) -> Value:
    """The value that ships with the package for a game.

    Raises:
        OptionError: there is none for this game.
        CheckpointError: the file of the installed package is damaged.
        MissingExtraError: safetensors is not installed.
    """
    file = champion_file(game)
    if not file.exists():
        raise OptionError(f"agent {CHAMPION}: there is none for {game.id}")
    return load_value(file)


class ChampionAgent(Agent):
    """Plays any game with the value that ships for it.

    Without a budget it looks one move ahead. With one it searches: by alpha-beta, or by PUCT where
    draws are hidden from the players.

    Args:
        steps: nodes per move (simulations of PUCT); give this, `milliseconds` or neither.
        milliseconds: time per move.

    Raises:
        OptionError: the budget is invalid.
    """

    def __init__(self, steps: int | None = None, milliseconds: float | None = None) -> None:
        self._budget = (steps, milliseconds)
        self.name = CHAMPION
        if self._budget != (None, None):
            self.name = f"{CHAMPION}:{Budget(steps, milliseconds)}"
        self._players: dict[str, Agent] = {}

    def check(self, position: Position) -> None:
        """Check that there is a champion of a position's game; raises as `champion_value`."""
        self._player(position).check(position)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The champion's move in each position; all must be of one game.

        Raises:
            OptionError: there is no champion of the game.
        """
        return list(self._player(positions[0]).act(positions, keys)) if positions else []

    def _player(self, position: Position) -> Agent:
        game = position.game
        if game.id not in self._players:
            value = champion_value(game)
            if self._budget == (None, None):
                player: Agent = ValueAgent(value, CHAMPION)
            elif kernels_of(position).hidden_draws:
                player = PUCTAgent(*self._budget, evaluation=value.evaluation())
            else:
                player = AlphaBetaAgent(*self._budget, evaluation=value.evaluation())
            self._players[game.id] = player
        return self._players[game.id]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_players": {}}
