"""A user's program: `make lint` checks its types against the installed wheel."""

from __future__ import annotations

from typing import assert_type

import numpy as np

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.envs import GAMES, IllegalActionError, OptionError, Position, make, make_vec
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.game import Game
from azumaya.wrappers import SingleAgentEnv


def play_one(name: str, seed: int) -> tuple[int, int]:
    """A random game in the AEC environment."""
    env = make(name, render_mode="ansi")
    env.reset(seed=seed)
    raw = env.unwrapped
    assert_type(raw, RawEnv)
    assert_type(raw.position, Position)
    agent = RandomAgent()
    while not raw.position.is_over:
        env.step(agent.act([raw.position], [seed])[0])
    assert_type(raw.position.legal_moves(), list[str])
    assert_type(raw.position.action_mask(), np.ndarray)
    return raw.position.returns()


def play_many(name: str) -> float:
    """Some steps of many games."""
    games = make_vec(name, 64)
    assert_type(games, AzumayaVectorEnv)
    games.reset(seed=1)
    rewards = games.step(games.random_actions())[1]
    position = games.position(0)
    assert_type(position, Position)
    return float(rewards.sum())


def explain(game: Game, move: str) -> str:
    """Why a move is legal or not."""
    position = Position(game, seed=1)
    try:
        position.play(move)
    except IllegalActionError as error:
        return str(error)
    except OptionError:
        raise
    return position.explain(position.legal_actions()[0])


def learn(name: str) -> None:
    """One seat as a Gymnasium environment."""
    env = SingleAgentEnv(name, opponent=GreedyAgent())
    env.reset(seed=1)
    assert_type(env.action_masks(), np.ndarray)


if __name__ == "__main__":
    for game in GAMES.values():
        assert_type(game, Game)
        play_one(game.name, 1)
        play_many(game.name)
        learn(game.name)
