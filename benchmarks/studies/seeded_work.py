"""Long seeded work that can be interrupted: one line of a file for each seed, in order of seeds.

The file begins with the settings of the work. When the same work is started again, it continues
after the last complete line. The lines do not depend on the number of processes.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import TimeElapsedColumn

from azumaya.baselines.cli.terminal import progress
from azumaya.baselines.system.journal import Line
from azumaya.baselines.system.pool import ended_pool
from azumaya.baselines.system.work import open_work
from azumaya.envs import GAMES

MOST_SEEDS = 10**9

Seed = Annotated[int, typer.Option("--seed", min=0, help="The first seed.")]
GameName = Annotated[str, typer.Option("--game", help=f"The game: {', '.join(GAMES)}.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes.")]
Folder = Annotated[Path, typer.Option("--work", help="The folder of unfinished work.")]
Version = Annotated[int, typer.Option("--version", min=1, help="The version of the file made.")]
Finish = Annotated[bool, typer.Option("--finish", help="Use the work done so far; do no more.")]
Cut = Annotated[int, typer.Option("--cut", min=0, help="Cut rollouts after this many plies.")]
Least = Annotated[int, typer.Option("--least", min=0, help="The fewest random plies.")]
Plies = Annotated[int, typer.Option("--plies", min=0, help="The most random plies.")]


class WorkerEndedError(RuntimeError):
    """A process that worked has ended."""


def do_work(
    path: Path,
    settings: Mapping[str, Any],
    work: Callable[[int], Line],
    found: Callable[[Line], int],
    wanted: int,
    *,
    most: int = MOST_SEEDS,
    first_seed: int = 0,
    workers: int = 1,
) -> list[Line]:
    """Call `work(seed)` for one seed after the other until enough is found, with a progress bar.

    Args:
        path: the file; made if missing, continued if it was begun with the same settings.
        settings: everything that the results depend on, as JSON.
        work: returns the result for a seed, as JSON; must be picklable if `workers` is above 1.
        found: is given the results one after the other, each once, those of earlier runs first;
            returns the count so far of what is looked for, such as `each_line()`.
        wanted: the count at which the work ends.
        most: the number of seeds after which it ends in any case.
        first_seed: the first seed.
        workers: the number of processes.

    Returns:
        The results in order of seeds.

    Raises:
        WorkFileError: the file is damaged, was begun with other settings, or is in use.
        WorkerEndedError: one of several processes has ended, for instance for lack of memory.
    """
    with open_work(path, settings) as (lines, add):
        seeds = itertools.count(first_seed + len(lines))
        with (
            progress("{task.fields[tried]} tried, found", TimeElapsedColumn()) as bar,
            contextlib.closing(_results(work, seeds, workers)) as results,
        ):
            count = 0
            for line in lines:
                count = found(line)
            task = bar.add_task("", total=wanted, completed=count, tried=len(lines))
            while count < wanted and len(lines) < most:
                line = next(results)
                lines.append(line)
                add(line)
                count = found(line)
                bar.update(task, completed=count, tried=len(lines))
    return lines


def each_line() -> Callable[[Line], int]:
    """A count of the results themselves, for `do_work`."""
    numbers = itertools.count(1)
    return lambda line: next(numbers)


def _results(
    work: Callable[[int], Line], seeds: Iterator[int], workers: int
) -> Generator[Line, None, None]:
    """The results for endless seeds, in order."""
    if workers == 1:
        yield from map(work, seeds)
        return
    with ended_pool(workers) as pool:
        try:
            ahead = deque(pool.submit(work, seed) for seed in itertools.islice(seeds, 2 * workers))
            for seed in seeds:
                yield ahead.popleft().result()
                ahead.append(pool.submit(work, seed))
        except BrokenProcessPool as error:
            raise WorkerEndedError(
                "a process that worked has ended, perhaps because memory was short; start the same "
                "work again, and it goes on after its last line"
            ) from error
