"""A behaviour signature: a digest of the positions that random play reaches.

Every rate of stepping a game is stored with it. It changes only when a rule changes. It does not
depend on the layout of the states, the form of observations, the size of the batch or the number of
threads. All ways to step a game give the same signature, because the choices in each game depend
only on its seed. So a change made for speed cannot alter behaviour unnoticed.

Rates of search, matches, self-play and training are stored with another digest, `plays`: of what
was searched or played. Rates of networks alone have none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from azumaya.baselines.agents.base import Agent
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.adapters.devices import vector_env
from azumaya.envs.adapters.lookahead import choose_random
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.position import episode_key

WATCHED = 32
"""The number of games in a signature, with the seeds 0, 1, ..."""
PLIES = 128
"""The number of moves in each of them, episode after episode."""
MAX_GAMES = 2048
"""The largest batch used for a signature; larger batches behave the same."""
ASKED = 256
"""The number of games from which the positions come that show how an agent plays."""


def of_rollout(game: Game, device: str = "cpu") -> str:
    """The signature of compiled random play."""
    env = vector_env(game, WATCHED, device=device, observation="none", copy=False)
    env.reset(seed=list(range(WATCHED)))
    ended = env.rollout(PLIES)
    return _digest(ended, [str(env.position(i)) for i in range(WATCHED)])


def of_batch(
    game: Game, observation: str, size: int, threads: int | None = 1, device: str = "cpu"
) -> str:
    """The signature of batched steps; a batch smaller than `WATCHED` is played several times."""
    size, ended = min(size, MAX_GAMES), 0
    texts: list[str] = []
    for first in range(0, WATCHED, size):
        arguments = {"threads": threads} if device == "cpu" else {}
        env = vector_env(
            game, size, device=device, observation=observation, copy=False, **arguments
        )
        env.reset(seed=list(range(first, first + size)))
        more, ends = _play_batch(env, min(size, WATCHED - first))
        texts += more
        ended += ends
        env.close()
    return _digest(ended, texts)


def _play_batch(env: AzumayaVectorEnv, watched: int) -> tuple[list[str], int]:
    """The texts of the first games after `PLIES` moves each, and how many episodes ended."""
    texts, made = [""] * watched, np.zeros(watched, np.int64)
    over, ended = np.zeros(watched, np.bool_), 0
    while not all(texts):
        made += ~over
        _, _, terminated, truncated, _ = env.step(env.random_actions())
        ends: Any = terminated | truncated  # an array, or a tensor on a device
        was_over, over = over, np.array(_on_host(ends)[:watched])
        ended += int((over & ~was_over & (made <= PLIES)).sum())
        for i in np.flatnonzero((made >= PLIES) & ~over):
            texts[i] = texts[i] or str(env.position(int(i)))
    return texts, ended


def _on_host(flags: Any) -> Any:
    return flags.cpu().numpy() if hasattr(flags, "cpu") else flags


def of_aec(game: Game) -> str:
    """The signature of the AEC environment."""
    env = RawEnv(game)
    played = [_play_aec(env, seed) for seed in range(WATCHED)]
    return _digest(sum(ended for _, ended in played), [text for text, _ in played])


def of_agent(game: Game, agent: Agent) -> str:
    """A digest of the moves that an agent chooses in positions of random games.

    An agent that has learned by floating-point numbers may choose other moves on another processor.
    """
    env = AzumayaVectorEnv(game, ASKED, threads=1, observation="none", copy=False)
    env.reset(seed=list(range(ASKED)))
    env.rollout(PLIES)
    reached = [env.position(i) for i in range(ASKED)]
    running = [position for position in reached if not position.is_over]
    return of_numbers(agent.act(running, range(len(running))))


def of_numbers(numbers: Sequence[int]) -> str:
    """A digest of moves, visits or other whole numbers."""
    return _digest(len(numbers), [str(int(number)) for number in numbers])


def _play_aec(env: RawEnv, seed: int) -> tuple[str, int]:
    env.reset(seed=seed)
    episode = ply = 0
    for _ in range(PLIES):
        mask = env.infos[env.agent_selection]["action_mask"]
        octets = np.zeros(8 * word_count(len(mask)), np.uint8)
        packed = np.packbits(mask, bitorder="little")
        octets[: len(packed)] = packed
        key = episode_key(seed, 0, episode)
        words = octets.view(np.uint64)
        env.step(int(choose_random(words, len(words), key, ply)))
        ply += 1
        if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            env.reset()
            episode, ply = episode + 1, 0
    return str(env.position), episode


def _digest(ended: int, texts: list[str]) -> str:
    state = hashlib.blake2b(digest_size=6)
    state.update("\n".join([str(ended), *texts]).encode())
    return state.hexdigest()
