"""How far from the end of a game its positions can be solved.

    python -m azumaya.benchmarks.studies.reach [--game NAME] [--agent NAME] [--seconds S]
        [--positions N]

Positions are taken from games with the seeds 0, 1, 2 and so on, a number of plies before the end.
Random players play them, or agents: each seat draws one of those given. A position counts as solved
when its value is proven; the values of its moves are not asked for. The clock is the CPU time of
one core. The distance grows by `--step` until fewer than half of the positions are solved; the last
distance before that is the reach.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence

from azumaya.baselines.agents import Agent
from azumaya.baselines.agents.asking import check_agent
from azumaya.baselines.agents.names import find_agent
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import SolverRooms, Solving
from azumaya.envs import GAMES, Position
from azumaya.envs.game import Game

STEPS, MEGABYTES = 20_000, 256
LONGEST = 500
"""Games of more plies are left out."""


def playout(game: Game, agents: Sequence[Agent], seed: int) -> list[Position]:
    """The positions of a game, up to its end or the longest allowed."""
    draws, line = random.Random(seed), [Position(game, seed=seed)]
    players = [draws.choice(agents) for _ in range(2)]
    while not line[-1].is_over and len(line) <= LONGEST:
        now = line[-1]
        (action,) = players[now.to_move].act([now], [draws.getrandbits(64)])
        line.append(now.copy().play(action))
    return line


def positions(game: Game, agents: Sequence[Agent], plies: int, count: int) -> Iterator[Position]:
    """Positions a given number of plies before the end of games, one of each."""
    found, seed = 0, -1
    while found < count and seed < 50 * count:
        seed += 1
        line = playout(game, agents, seed)
        if line[-1].is_over and len(line) > plies:
            found += 1
            yield line[-1 - plies]


def seconds_to_solve(rooms: SolverRooms, position: Position, limit: float) -> float:
    """CPU seconds until the value of a position is proven; infinite if they exceed the limit."""
    search, began = Solving(rooms.suited(position), position), time.thread_time()
    while search.value is None:
        if search.finished or time.thread_time() - began > limit:
            return math.inf
        search.run(STEPS)
    return time.thread_time() - began


def times_to_solve(questions: Iterable[Position], limit: float) -> list[float]:
    """CPU seconds until each position is solved; infinite if they exceed the limit."""
    rooms: SolverRooms | None = None
    times = []
    for position in questions:
        if rooms is None:
            rooms = SolverRooms(kernels_of(position), MEGABYTES)
            Solving(rooms.suited(position), position).run(1)  # compiles
        times.append(seconds_to_solve(rooms, position, limit))
    return times


def players(names: Sequence[str], games: Iterable[str]) -> list[Agent]:
    """The agents with these names; raises `ValueError` unless they can play these games."""
    agents = [find_agent(name) for name in names]
    for game in games:
        if GAMES[game].rules.resample is None:
            for name, agent in zip(names, agents, strict=True):
                check_agent(agent, Position(GAMES[game]), name)
    return agents


def main(words: Sequence[str] | None = None) -> None:
    """Print one line for each distance."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--game", action="append", choices=GAMES, help="repeat for more games")
    parser.add_argument(
        "--agent", action="append", help="who plays, by name; repeat for more, default random"
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds for a position")
    parser.add_argument("--positions", type=int, default=20, help="positions at each distance")
    parser.add_argument("--first", type=int, default=6, help="the first distance, in plies")
    parser.add_argument("--step", type=int, default=2)
    parser.add_argument("--last", type=int, default=200, help="the last distance")
    options = parser.parse_args(words)
    games = options.game or GAMES
    try:
        agents = players(options.agent or ["random"], games)
    except ValueError as error:
        parser.error(str(error))
    for name in games:
        if GAMES[name].rules.resample is not None:
            print(f"{name}: draws are hidden, nothing can be solved")
            continue
        for plies in range(options.first, options.last + 1, options.step):
            questions = positions(GAMES[name], agents, plies, options.positions)
            times = times_to_solve(questions, options.seconds)
            if not times:
                print(f"{name}: no game that ends has {plies} plies")
                break
            good = sum(map(math.isfinite, times))
            print(
                f"{name}: {plies} plies before the end, {good} of {len(times)} solved, "
                f"half of them within {statistics.median_low(times):.2f} s",
                flush=True,
            )
            if 2 * good < len(times):
                break


if __name__ == "__main__":
    main()
