"""Play millions of plies of random games in lockstep with the oracles.

    python -m tests.oracles.crosscheck --game all --plies 1000000 --seed 0 --jobs 2

Progress is kept in `--state` (default `runs/crosscheck`): after an interruption the same command
continues, unless the library or its tests have changed since. The check of a game stops at its
first disagreement, which is printed with all that is needed to replay it; the exit status is then
1.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tests.cases import TESTED
from tests.library import version_of_sources
from tests.oracles.lockstep import MismatchError, Table, episodes, tables_of

SPECIAL_SHARE = 0.2
"""The least share of plies from late, crowded or edge-heavy play."""
BATCH = 60
_TABLES: dict[str, list[Table]] = {}


@dataclass
class Progress:
    """The progress of the check of one game; `sources` is the version of what was checked."""

    game: str
    seed: int
    next_episode: int = 0
    plies: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    mismatch: str = ""
    sources: str = ""

    @property
    def total(self) -> int:
        """Plies compared so far."""
        return sum(self.plies.values())

    @property
    def special(self) -> float:
        """The share of plies from late, crowded or edge-heavy play."""
        return 1 - self.plies["plain"] / max(1, self.total)


def run_batch(game: str, seed: int, first: int, count: int) -> Progress:
    """Play some episodes of a game; the result reports a disagreement."""
    if game not in _TABLES:
        _TABLES[game] = tables_of(TESTED[game])
    done = Progress(game, seed, first)
    for episode in islice(episodes(_TABLES[game], seed, first), count):
        try:
            end = episode.run()
        except MismatchError as mismatch:
            done.mismatch = str(mismatch)
            break
        done.plies[episode.mode] += episode.plies
        done.ends[end] += 1
        done.happened.update(episode.happened)
        done.next_episode += 1
    return done


class Check:
    """The check of one game: hands out batches and keeps results on disk, both in order."""

    def __init__(self, game: str, seed: int, plies: int, folder: Path) -> None:
        self.file = folder / f"{game}-{seed}.json"
        self.goal = plies
        self.progress = self._load(game, seed)
        self.handed_out = self.progress.next_episode
        self._early: dict[int, Progress] = {}

    def _load(self, game: str, seed: int) -> Progress:
        fresh = Progress(game, seed, sources=version_of_sources())
        if not self.file.exists():
            return fresh
        kept = json.loads(self.file.read_text())
        if kept.get("sources") != fresh.sources:
            print(f"{game}: begins again, because the sources have changed", flush=True)
            return fresh
        counted = {key: Counter(v) for key, v in kept.items() if isinstance(v, dict)}
        return Progress(**{**kept, **counted})

    @property
    def is_done(self) -> bool:
        """Whether enough plies were compared, or a disagreement was found."""
        return self.progress.total >= self.goal or bool(self.progress.mismatch)

    def next_batch(self) -> tuple[str, int, int, int]:
        """The arguments of `run_batch`."""
        first, self.handed_out = self.handed_out, self.handed_out + BATCH
        return self.progress.game, self.progress.seed, first, BATCH

    def take(self, first: int, done: Progress) -> None:
        """Add a batch's result; results that arrive early wait for their turn."""
        self._early[first] = done
        while self.progress.next_episode in self._early and not self.progress.mismatch:
            batch = self._early.pop(self.progress.next_episode)
            self.progress.plies += batch.plies
            self.progress.ends += batch.ends
            self.progress.happened += batch.happened
            self.progress.mismatch = batch.mismatch
            self.progress.next_episode = batch.next_episode
        self._save()

    def _save(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        aside = self.file.with_suffix(".new")
        aside.write_text(json.dumps(vars(self.progress), indent=1))
        aside.replace(self.file)


def run(checks: list[Check], jobs: int) -> None:
    """Work on all checks with `jobs` processes until each is done."""
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))
    running: dict[Future[Progress], tuple[Check, int]] = {}
    try:
        while True:
            open_checks = [check for check in checks if not check.is_done]
            while open_checks and len(running) < 2 * jobs:
                check = open_checks[len(running) % len(open_checks)]
                batch = check.next_batch()
                running[pool.submit(run_batch, *batch)] = check, batch[2]
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                check, first = running.pop(future)
                check.take(first, future.result())
                report(check)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_SHOWN: dict[str, float] = {}


def report(check: Check) -> None:
    """Print progress, at most every five seconds per game, and at the end."""
    now, progress = time.monotonic(), check.progress
    if not check.is_done and now - _SHOWN.get(progress.game, 0) < 5:
        return
    _SHOWN[progress.game] = now
    ends = ", ".join(f"{end} {count}" for end, count in sorted(progress.ends.items()))
    print(
        f"{progress.game}: {progress.total:,} of {check.goal:,} plies, "
        f"{progress.special:.0%} special; {ends}",
        flush=True,
    )
    if progress.mismatch:
        print(f"MISMATCH {progress.mismatch}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="all", choices=["all", *TESTED])
    parser.add_argument("--plies", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--state", type=Path, default=Path("runs/crosscheck"))
    parser.add_argument("--fresh", action="store_true", help="discard earlier progress")
    args = parser.parse_args(arguments)
    names = list(TESTED) if args.game == "all" else [args.game]
    if args.fresh:
        for name in names:
            (args.state / f"{name}-{args.seed}.json").unlink(missing_ok=True)
    checks = [Check(name, args.seed, args.plies, args.state) for name in names]
    try:
        run(checks, args.jobs)
    except KeyboardInterrupt:
        print("interrupted; the same command resumes here")
        return 130
    for check in checks:
        report(check)
        for what, count in sorted(check.progress.happened.items()):
            print(f"  {count:>8,} games: {what}")
    good = all(not c.progress.mismatch and c.progress.special >= SPECIAL_SHARE for c in checks)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
