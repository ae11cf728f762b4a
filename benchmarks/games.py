"""Measurements of any game: bare rules, batched steps, the AEC loop, memory."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from typing import Any

import numpy as np

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.arena.rounds import Score
from azumaya.benchmarks import signature
from azumaya.benchmarks.limits import CHUNK, LIMITS, limits
from azumaya.benchmarks.timing import Rates, Stopwatch, measure, stopwatch_cost
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.aec.wrapped import wrap
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.game import Game

BARE_GAMES, BARE_PLIES = 256, 200
"""For bare rules, the number of games and the moves that one call makes in each."""
SEED = 0
MATCH_STARTS = 100
"""Starts of a match between agents, each of which is played in both seats."""
FEW, MANY = 256, 1280
"""The games of the two vector environments between which memory is compared."""

BARE = "one random legal move inside a compiled loop: mask, choice, rules, reset at a game's end"
MATCH = "one whole game of greedy against random from a plain start, results counted"
STEP = (
    "one applied move: checked action, rules, autoreset, mask and observation of the next player; "
    "steps that only begin a new game count in the time but not as moves"
)
AEC = (
    "one applied move: last() (observation and mask), np.flatnonzero(mask), random pick, step(); "
    "resets and the None steps of finished agents count in the time but not as moves"
)


def bare(game: Game, seconds: float, repeats: int) -> dict[str, Any]:
    """Random play in compiled code on one core, without observations."""
    env = AzumayaVectorEnv(game, BARE_GAMES, threads=1, observation="none", copy=False)
    env.reset(seed=SEED)

    def chunk() -> int:
        env.rollout(BARE_PLIES)
        return BARE_GAMES * BARE_PLIES

    rates = measure(chunk, seconds, repeats)
    return {**rates.fields(), "includes": BARE, "signature": signature.of_rollout(game)}


def matches(game: Game, seconds: float, repeats: int) -> dict[str, Any]:
    """Whole games of the greedy agent against the random one, from plain starts."""
    agents, seeds = (GreedyAgent(), RandomAgent()), itertools.count(0, MATCH_STARTS)
    scores: list[Score] = []

    def chunk() -> int:
        score = play_pairing(game.name, *agents, MATCH_STARTS, next(seeds), balanced=False)
        scores.append(score)
        return score.games

    rates = measure(chunk, seconds, repeats)
    mark = signature.of_numbers([*scores[0].by_seat, *scores[0].draws_by_seat])
    return {**rates.fields(), "includes": MATCH, "plays": mark}


class StepLoop:
    """Random play in a vector environment; a stopwatch measures its steps."""

    def __init__(self, env: Any) -> None:
        self.env, self.watch = env, Stopwatch(stopwatch_cost())
        env.reset(seed=SEED)
        self._over = 0
        self._rounds = max(1, CHUNK // env.num_envs)

    def chunk(self) -> int:
        """Make some steps; returns the number of moves."""
        env, watch, moves = self.env, self.watch, 0
        for _ in range(self._rounds):
            actions = env.random_actions()
            watch.start()
            _, _, terminated, truncated, _ = env.step(actions)
            watch.stop()
            moves += env.num_envs - self._over
            self._over = int(np.count_nonzero(terminated | truncated))
        return moves

    def bytes_written(self) -> list[int]:
        """The size in bytes of each array that a step writes, including padding."""
        outputs, rewards, terminated, truncated, infos = self.env.step(self.env.random_actions())
        arrays = [*outputs.values(), rewards, terminated, truncated]
        arrays += [infos["to_move"], infos["rewards"]]
        return [int(array.strides[0]) * len(array) for array in arrays]


def batch(
    game: Game,
    observation: str,
    size: int,
    threads: int,
    seconds: float,
    repeats: int,
    copies: bool = False,
) -> dict[str, Any]:
    """Steps of a batch with masks and autoreset, and the limits set by memory."""
    env = AzumayaVectorEnv(game, size, threads=threads, observation=observation, copy=copies)
    loop, steps = StepLoop(env), Rates()
    loops = measure(loop.chunk, seconds, repeats, (loop.watch, steps))
    written = loop.bytes_written()
    row = {**steps.fields(), **loops.fields("loop_"), "includes": STEP, "bytes": sum(written)}
    row["bytes_per_step"] = round(sum(written) / size, 1)
    for name, rates in limits(written, size, seconds / 4, repeats).items():
        row[name] = rates.fields()["value"]
    row["limits"] = LIMITS
    env.close()
    row["signature"] = signature.of_batch(game, observation, size, threads)
    return row


def play_aec(env: Any, rng: random.Random) -> int:
    """One episode of random play in an AEC environment, ours or not; returns its moves."""
    moves = 0
    env.reset(seed=rng.randrange(1 << 30))
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        legal = np.flatnonzero(observation["action_mask"])
        env.step(int(legal[int(rng.random() * len(legal))]))
        moves += 1
    return moves


def aec(game: Game, form: str, seconds: float, repeats: int) -> dict[str, Any]:
    """The AEC loop with observations and masks: `raw_env` or `env`."""
    env = RawEnv(game) if form == "raw_env" else wrap(RawEnv(game))
    rng = random.Random(SEED)
    rates = measure(lambda: play_aec(env, rng), seconds, repeats)
    return {**rates.fields(), "includes": AEC, "signature": signature.of_aec(game)}


def memory(game: Game, observation: str) -> dict[str, Any]:
    """The bytes that one more game takes in a vector environment: in total, and for its state.

    The total is what NumPy and Python allocate: states, packed masks, outputs, spaces.
    """

    def allocated(size: int) -> int:
        env = AzumayaVectorEnv(game, size, threads=1, observation=observation, copy=False)
        env.reset(seed=SEED)
        env.step(env.random_actions())
        return tracemalloc.get_traced_memory()[0]

    allocated(FEW)  # so that what is allocated only once is not counted below
    tracemalloc.start()
    try:
        before, less = tracemalloc.get_traced_memory()[0], allocated(FEW)
        between = tracemalloc.get_traced_memory()[0]
        more = allocated(MANY)
    finally:
        tracemalloc.stop()
    slope = ((more - between) - (less - before)) / (MANY - FEW)
    return {"value": round(slope, 1), "state": game.rules.state.itemsize}
