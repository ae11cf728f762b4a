"""Measurements of the compiled value: positions evaluated a second, moves of self-play a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from azumaya.baselines.agents.search import AlphaBetaAgent, PUCTAgent
from azumaya.baselines.values.network import scratch_words
from azumaya.baselines.values.value import KIND, Value, untrained
from azumaya.benchmarks import search
from azumaya.benchmarks.batches import values_kernel
from azumaya.benchmarks.timing import measure
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.game import RUNNING, Game

SEED = 0
WIDTH = 16
"""The hidden units of the compiled value, as in the training scripts."""
PLIES = 128
"""The random moves, game after game, that lead to the positions."""
POSITIONS, FEW = 4096, 64
"""The different positions evaluated between two readings of the clock: by the compiled value, which
keeps what positions share, and by torch."""
NODES, MEGABYTES, SIMULATIONS = 300, 4, 32
"""The effort of a move of self-play: alpha-beta's as in `expert_iteration`, and that of PUCT."""
LEARNERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "td_value": ("value", {}),
    "expert_iteration": ("value", {"nodes": NODES}),
    "ppo": ("ppo", {}),
    "maskable_ppo": ("maskable_ppo", {}),
}
"""The training scripts that are measured, with options; by the names of their rows."""

LOOP = (
    "one position evaluated from its state: observation, features, network; positions of different "
    "games, which share little; a call from Python "
)
LOOPS = {True: LOOP + "for each", False: LOOP + "for a batch, as a search evaluates"}


def value_of(game: Game) -> Value:
    """An untrained compiled value."""
    return untrained(game, WIDTH, SEED, {})


def running_games(game: Game, count: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Positions of random games: `(count,)` states, and their observations and masks by name."""
    env = AzumayaVectorEnv(game, count, threads=1, copy=True)
    env.reset(seed=SEED)
    env.rollout(PLIES)
    states, series = env.get_state()
    seen, _ = env.set_state((states, series))
    rows = np.resize(np.flatnonzero(states["over"] == RUNNING), count)
    return states[rows], {name: array[rows] for name, array in seen.items()}


def evaluations(game: Game, size: int, seconds: float, repeats: int) -> dict[str, Any]:
    """Positions evaluated by the compiled value, `size` in each call."""
    value, (states, _) = value_of(game), running_games(game, max(size, POSITIONS))
    work = values_kernel(game, value.shape)
    scratch = np.zeros(scratch_words(game, value.shape), np.uint64)
    out = np.zeros(size, np.float32)
    parts = [states[at : at + size] for at in range(0, len(states), size)]
    rates = measure(calls(lambda part: work(part, value.weights, scratch, out), parts, size),
                    seconds, repeats)  # fmt: skip
    return {**rates.fields(), "network": KIND, "includes": LOOPS[size == 1]}


def calls(work: Callable[[Any], Any], parts: list[Any], size: int) -> Callable[[], int]:
    """A function that does work on every part, and returns how many units these have."""

    def chunk() -> int:
        for part in parts:
            work(part)
        return size * len(parts)

    return chunk


def self_play(game: Game, form: str, seconds: float, repeats: int) -> dict[str, Any]:
    """Moves of self-play by a search with the compiled value: `alphabeta` or `puct`."""
    evaluation = value_of(game).evaluation()
    agent = (
        AlphaBetaAgent(NODES, evaluation=evaluation, megabytes=MEGABYTES, threads=1)
        if form == "alphabeta"
        else PUCTAgent(SIMULATIONS, evaluation=evaluation, threads=1)
    )
    row = search.self_play(game, agent, seconds, repeats)
    return {**row, "network": KIND, "search": agent.name}
