"""Long seeded work that can be interrupted: one line of a file for each seed, in order of seeds.

The file begins with the settings of the work. When the same work is started again, it continues
after the last complete line. The lines do not depend on the number of processes.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from azumaya.baselines.terminal import progress
from azumaya.baselines.work_file import Line, WorkFileError, begin_work, line_text
from azumaya.envs.errors import OptionError

MOST_SEEDS = 10**9

Seed = Annotated[int, typer.Option("--seed", min=0, help="The first seed.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes.")]
Folder = Annotated[Path, typer.Option("--work", help="The folder of unfinished work.")]
Version = Annotated[int, typer.Option("--version", min=1, help="The version of the file made.")]
Finish = Annotated[bool, typer.Option("--finish", help="Use the work done so far; do no more.")]
Cut = Annotated[int, typer.Option("--cut", min=0, help="Cut rollouts after this many plies.")]
Least = Annotated[int, typer.Option("--least", min=0, help="The fewest random plies.")]
Plies = Annotated[int, typer.Option("--plies", min=0, help="The most random plies.")]


def do_work(
    path: Path,
    settings: Mapping[str, Any],
    work: Callable[[int], Line],
    found: Callable[[list[Line]], int],
    wanted: int,
    *,
    most: int = MOST_SEEDS,
    first_seed: int = 0,
    jobs: int = 1,
) -> list[Line]:
    """Call `work(seed)` for one seed after the other until enough is found, with a progress bar.

    Args:
        path: the file; made if missing, continued if it was begun with the same settings.
        settings: everything that the results depend on, as JSON.
        work: returns the result for a seed, as JSON; must be picklable if `jobs` is above 1.
        found: counts what the results so far contain.
        wanted: the count at which the work ends.
        most: the number of seeds after which it ends in any case.
        first_seed: the first seed.
        jobs: the number of processes.

    Returns:
        The results in order of seeds.

    Raises:
        OptionError: `jobs` is below 1.
        WorkFileError: the file is damaged, or was begun with other settings.
    """
    if jobs < 1:
        raise OptionError(f"jobs={jobs}: must be at least 1")
    lines = begin_work(path, settings)
    columns = (TextColumn("{task.fields[tried]} tried, found"), BarColumn(), MofNCompleteColumn())
    with progress(*columns, TimeElapsedColumn()) as bar, path.open("a", encoding="utf-8") as file:
        task = bar.add_task("", total=wanted, completed=found(lines), tried=len(lines))
        results = _results(work, itertools.count(first_seed + len(lines)), jobs)
        while found(lines) < wanted and len(lines) < most:
            lines.append(next(results))
            file.write(line_text(lines[-1]))
            file.flush()
            bar.update(task, completed=found(lines), tried=len(lines))
        results.close()
    return lines


def read_work(path: Path) -> tuple[Line, list[Line]]:
    """The settings and the results of a file of work.

    Raises:
        WorkFileError: the file is missing or damaged.
    """
    try:
        settings = json.loads(path.open(encoding="utf-8").readline())
        if not isinstance(settings, dict):
            raise WorkFileError("damaged: the first line is not a JSON object")
        return settings, begin_work(path, settings)
    except (OSError, ValueError) as error:
        raise WorkFileError(f"{path}: {error}") from error


def _results(
    work: Callable[[int], Line], seeds: Iterator[int], jobs: int
) -> Generator[Line, None, None]:
    """The results for endless seeds, in order."""
    if jobs == 1:
        yield from map(work, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        ahead = [pool.apply_async(work, (seed,)) for seed in itertools.islice(seeds, 2 * jobs)]
        for seed in seeds:
            yield ahead.pop(0).get()
            ahead.append(pool.apply_async(work, (seed,)))
