"""How far from the end of a game its positions can be solved.

    python -m azumaya.benchmarks.reach [--game NAME] [--seconds S] [--positions N]

Positions are taken from random games with the seeds 0, 1, 2 and so on, a number of plies before the
end. A position counts as solved when its value is proven; the values of its moves are not asked
for. The clock is the CPU time of one core. The distance grows by `--step` until fewer than half of
the positions are solved; the last distance before that is the reach.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator

from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import SolverRooms, Solving
from azumaya.envs import GAMES, Position
from azumaya.envs.game import Game

STEPS, MEGABYTES = 20_000, 256
LONGEST = 500
"""Random games of more plies are left out."""


def positions(game: Game, plies: int, count: int) -> Iterator[Position]:
    """Positions a given number of plies before the end of random games, one of each."""
    found, seed = 0, -1
    while found < count and seed < 50 * count:
        seed += 1
        draws, line = random.Random(seed), [Position(game, seed=seed)]
        while not line[-1].is_over and len(line) <= LONGEST:
            line.append(line[-1].copy().play(draws.choice(line[-1].legal_actions())))
        if line[-1].is_over and len(line) > plies:
            found += 1
            yield line[-1 - plies]


def seconds_to_solve(rooms: SolverRooms, position: Position, limit: float) -> float | None:
    """CPU seconds until the value of a position is proven; None if they exceed the limit."""
    search, began = Solving(rooms.suited(position), position), time.thread_time()
    while search.value is None:
        if search.finished or time.thread_time() - began > limit:
            return None
        search.advance(STEPS)
    return time.thread_time() - began


def solved(game: Game, plies: int, count: int, limit: float) -> tuple[int, int]:
    """How many positions at a distance are solved, of how many."""
    rooms: SolverRooms | None = None
    good = total = 0
    for position in positions(game, plies, count):
        if rooms is None:
            rooms = SolverRooms(kernels_of(position), MEGABYTES)
            Solving(rooms.suited(position), position).advance(1)  # compiles
        total += 1
        good += seconds_to_solve(rooms, position, limit) is not None
    return good, total


def main() -> None:
    """Print one line for each distance."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--game", action="append", choices=GAMES, help="repeat for more games")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds for a position")
    parser.add_argument("--positions", type=int, default=20, help="positions at each distance")
    parser.add_argument("--first", type=int, default=6, help="the first distance, in plies")
    parser.add_argument("--step", type=int, default=2)
    parser.add_argument("--last", type=int, default=200, help="the last distance")
    options = parser.parse_args()
    for name in options.game or GAMES:
        if GAMES[name].rules.resample is not None:
            print(f"{name}: draws are hidden, nothing can be solved")
            continue
        for plies in range(options.first, options.last + 1, options.step):
            good, total = solved(GAMES[name], plies, options.positions, options.seconds)
            print(f"{name}: {plies} plies before the end, {good} of {total} solved", flush=True)
            if 2 * good < total:
                break


if __name__ == "__main__":
    main()
