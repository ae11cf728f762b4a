"""The networks that ship with the package, for some games, and an agent that plays by them.

Each was trained by `azumaya.baselines.training.ppo` on a GPU; the notes of its sidecar have the
command.
"""

from __future__ import annotations

from pathlib import Path

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.by_game import ByGameAgent
from azumaya.baselines.agents.search import BatchPUCTAgent
from azumaya.envs import Position
from azumaya.envs.extras import require
from azumaya.envs.game import Game

CHAMPION_NET = "champion-net"
DATA = Path(__file__).with_name("data")


def champion_net_file(game: Game) -> Path:
    """Where the weights of a game's network are, or would be, in the package."""
    return DATA / f"{game.name}.safetensors"


class ChampionNetAgent(ByGameAgent):
    """Plays by the network that ships for a game.

    Without a budget it plays the move with the largest logit. With one, it searches by PUCT.

    Args:
        steps: simulations per move; give this, `milliseconds` or neither.
        milliseconds: time per move.

    Raises:
        OptionError: the budget is invalid.
    """

    def __init__(self, steps: int | None = None, milliseconds: float | None = None) -> None:
        super().__init__(CHAMPION_NET, DATA, steps, milliseconds)

    def player_of(self, position: Position) -> Agent:
        """The agent with the network of a position's game."""
        require("torch", "train")
        from azumaya.baselines.agents import evaluator, policy  # noqa: PLC0415 - need torch

        file = champion_net_file(position.game)
        if self.budget is None:
            return policy.PolicyAgent.load(file)
        network = evaluator.NetworkEvaluator.load(file)
        return BatchPUCTAgent(network, self.budget.steps, self.budget.milliseconds)
