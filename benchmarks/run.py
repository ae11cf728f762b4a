"""Runs the jobs of a plan and saves each row as soon as it is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import TimeElapsedColumn

from azumaya.baselines.arena.report import counted
from azumaya.baselines.cli.terminal import progress
from azumaya.benchmarks import machine
from azumaya.benchmarks.plan import Budget, Job, jobs
from azumaya.benchmarks.results import Results
from azumaya.envs.game import Game


def run(
    budget: Budget,
    games: Iterable[Game],
    folder: Path,
    console: Console,
    planned: Callable[[Budget, Iterable[Game]], Iterable[Job]] | None = None,
    about: Mapping[str, Any] | None = None,
) -> bool:
    """Measure what has not been measured yet; returns whether the run is complete.

    Ctrl-C ends it early, and the same call with this folder continues from there. `planned` makes
    the jobs (by default `plan.jobs`), and `about` has further facts about the machine.

    Raises:
        ResultsError: the folder has rows of another run.
    """
    results = Results(folder, budget.name, about or {})
    todo = [job for job in (planned or jobs)(budget, games) if job.key not in results]
    if before := results.measured():
        kept = counted(before, "row")
        console.print(f"{folder}: keeps {kept} measured before; {len(todo):,} to be measured")
    finished = True
    try:
        _run_all(todo, results, console)
    except KeyboardInterrupt:
        finished = False
    return finished


def _run_all(todo: list[Job], results: Results, console: Console) -> None:
    with progress("{task.description}", TimeElapsedColumn(), on=console) as bar:
        task = bar.add_task("", total=len(todo))
        for job in todo:
            bar.update(task, description=f"{job.key:<44}")
            begin = time.perf_counter()
            row = {"key": job.key, **job.fields, **job.measure(), "load": machine.load()}
            row["took"] = round(time.perf_counter() - begin, 2)
            results.add(row)
            bar.advance(task)
