"""Compare the solver with naive minimax on thousands of positions of each game.

    python -m tests.search.crosscheck --game all --positions 10000 --seed 0

Positions are taken from the ends of random games, over the settings of a game in turn. For each
of them the values of all moves are compared with those of `Minimax`, which knows no table, no
windows and no bounds. Progress is kept in `--state` (default `runs/solver-crosscheck`): after an
interruption the same command continues, unless the library or its tests have changed since. The
check of a game stops at its first disagreement, which is printed; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from azumaya.baselines.search.game_kernels import GameKernels, kernels_of
from azumaya.baselines.search.solver import SolverRooms, Solving
from azumaya.envs import Position
from azumaya.envs.game import Game
from tests.cases import TESTED
from tests.library import version_of_sources
from tests.search.minimax import late_positions
from tests.search.positions import settings_of

CHECKED = {game.name: game for game in TESTED.values() if game.rules.resample is None}
EACH = 16
"""Positions from one seed, of two or more random games."""
NODES, MEGABYTES = 10**7, 1


@dataclass
class Progress:
    """The progress of the check of one game.

    Attributes:
        game, tree: what is checked, and the largest tree.
        next_seed, positions, mismatch: how far it has come, and the first disagreement.
        seconds: CPU time.
        sources: the version of what was checked.
    """

    game: str
    tree: int
    next_seed: int
    positions: int = 0
    seconds: float = 0.0
    mismatch: str = ""
    sources: str = field(default_factory=version_of_sources)


@functools.cache
def rooms_of(kernels: GameKernels) -> SolverRooms:
    """The solver's memory, the same for all positions: nothing of one may reach another."""
    return SolverRooms(kernels, MEGABYTES)


def moves_of(position: Position) -> dict[int, int | None]:
    """What the solver says that each move gains."""
    search = Solving(rooms_of(kernels_of(position)).suited(position), position)
    search.run(NODES)
    return search.solution().moves


def check_seed(game: Game, seed: int, tree: int) -> tuple[int, str]:
    """Compare the positions of one seed; returns their number, and the first disagreement."""
    settings = settings_of(game)
    start = Position(game, seed=seed, **settings[seed % len(settings)])
    count = 0
    for position, gains in late_positions(start, seed, EACH, tree):
        found = moves_of(position)
        if found != gains:
            where = f"{game.name} {position.options}: {position}"
            return count, f"{where}: the solver says {found}, minimax {gains}"
        count += 1
    return count, ""


def load(file: Path, fresh: Progress) -> Progress:
    """The progress kept in a file, if it is of the same check of the same sources."""
    if file.exists():
        kept = json.loads(file.read_text())
        if (kept["tree"], kept.get("sources")) == (fresh.tree, fresh.sources):
            return Progress(**kept)
        print(f"{fresh.game}: begins again, because the sources or the trees differ", flush=True)
    return fresh


def save(progress: Progress, file: Path) -> None:
    """Keep the progress, so that an interruption loses nothing that was saved before."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_suffix(".new")
    aside.write_text(json.dumps(vars(progress), indent=1))
    aside.replace(file)


def run(progress: Progress, goal: int, file: Path) -> None:
    """Check positions of a game until there are enough or there is a disagreement."""
    shown = time.monotonic()
    while progress.positions < goal and not progress.mismatch:
        began = time.process_time()
        game = CHECKED[progress.game]
        count, progress.mismatch = check_seed(game, progress.next_seed, progress.tree)
        progress.positions += count
        progress.next_seed += 1
        progress.seconds = round(progress.seconds + time.process_time() - began, 2)
        save(progress, file)
        if time.monotonic() > shown + 10:
            shown = time.monotonic()
            report(progress, goal)


def report(progress: Progress, goal: int) -> None:
    """Print the progress of a game."""
    print(
        f"{progress.game}: {progress.positions:,} of {goal:,} positions, "
        f"{progress.seconds:.0f} s of CPU time",
        flush=True,
    )
    if progress.mismatch:
        print(f"MISMATCH {progress.mismatch}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--game", default="all", choices=["all", *CHECKED])
    parser.add_argument("--positions", type=int, default=10_000, help="of each game")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tree", type=int, default=800, help="the largest tree, in positions")
    parser.add_argument("--state", type=Path, default=Path("runs/solver-crosscheck"))
    parser.add_argument("--fresh", action="store_true", help="discard earlier progress")
    args = parser.parse_args(arguments)
    good = True
    for name in CHECKED if args.game == "all" else [args.game]:
        file = args.state / f"{name}-{args.seed}.json"
        if args.fresh:
            file.unlink(missing_ok=True)
        progress = load(file, Progress(name, args.tree, args.seed * 10**6))
        try:
            run(progress, args.positions, file)
        except KeyboardInterrupt:
            print("interrupted; the same command resumes here")
            return 130
        report(progress, args.positions)
        good = good and not progress.mismatch
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
