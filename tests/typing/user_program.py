"""A user's program: `make lint` checks its types against the installed wheel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, assert_type

import numpy as np

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.arena import play_pairing
from azumaya.envs import GAMES, IllegalActionError, OptionError, Position, make, make_vec, raw
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.game import Game
from azumaya.envs.notation import read_records, write_records
from azumaya.wrappers import FlatObservations, SeatStatistics, SingleAgentEnv


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


def play_raw(game: Game) -> None:
    """A game without wrappers, by the first legal moves."""
    env = raw(game)
    env.reset(seed=1)
    for agent in env.agent_iter():
        assert_type(agent, str)
        observation, _, termination, truncation, _ = env.last()
        over = termination or truncation
        env.step(None if over else observation["action_mask"].argmax())
    assert_type(env.action_space("player_0").n, np.int64)
    flat = FlatObservations(make(game))
    flat.reset(seed=1)
    print([flat.observe(agent)["action_mask"].sum() for agent in flat.agent_iter(1)])


def play_many(name: str) -> float:
    """Some steps of many games."""
    games = make_vec(name, 64)
    assert_type(games.single_action_space.n, np.int64)
    assert_type(games.single_observation_space["observation"].shape, tuple[int, ...] | None)
    counted = SeatStatistics(games)
    counted.reset(seed=1)
    counted.step(counted.unwrapped.random_actions())
    assert_type(games, AzumayaVectorEnv)
    games.reset(seed=1)
    rewards = games.step(games.random_actions())[1]
    position = games.position(0)
    assert_type(position, Position)
    return float(rewards.sum())


def play_on_a_gpu(name: str, device: str) -> None:
    """Tensors in, tensors out."""
    games = make_vec(name, 64, device="cuda")
    assert_type(games, Any)
    games.check()
    assert_type(make_vec(name, 64, device=device), Any)


class First:
    """An agent of one's own, which gives an array."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> np.ndarray:
        """The first legal action."""
        return np.array([position.legal_actions()[0] for position in positions])


def measure(name: str, file: Path) -> float:
    """A match of two agents, with a copy of its records."""
    score = play_pairing(name, First(), "random", starts=1, record=file)
    write_records(file.with_suffix(".copy"), read_records(file))
    return score.rate


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
    _, info = env.reset(seed=1)
    assert_type(env.action_masks(), np.ndarray)
    assert_type(env.action_space.n, np.int64)
    env.step(env.action_space.sample(info["action_mask"]))


if __name__ == "__main__":
    for game in GAMES.values():
        assert_type(game, Game)
        play_one(game.name, 1)
        play_raw(game)
        play_many(game.name)
        learn(game.name)
