"""Long seeded work that can be interrupted: one line of a file for each seed, in order of seeds.

The file begins with the settings of the work. When the same work is started again, it continues
after the last complete line. The lines do not depend on the number of processes.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from azumaya.envs.errors import OptionError

Line = dict[str, Any]


class WorkFileError(ValueError):
    """A file of work that cannot be continued."""


def do_work(
    path: Path,
    settings: Mapping[str, Any],
    work: Callable[[int], Line],
    enough: Callable[[list[Line]], bool],
    *,
    first_seed: int = 0,
    jobs: int = 1,
    progress: Callable[[list[Line]], None] = lambda lines: None,
) -> list[Line]:
    """Call `work(seed)` for one seed after the other until there is enough.

    Args:
        path: the file; made if missing, continued if it was begun with the same settings.
        settings: everything that the results depend on, as JSON.
        work: returns the result for a seed, as JSON; must be picklable if `jobs` is above 1.
        enough: whether the results so far suffice.
        first_seed: the first seed.
        jobs: the number of processes.
        progress: called with all results so far, after each.

    Returns:
        The results in order of seeds.

    Raises:
        WorkFileError: the file is damaged, or was begun with other settings.
    """
    lines = _begin(path, settings)
    if enough(lines):
        return lines
    seeds = itertools.count(first_seed + len(lines))
    with path.open("a", encoding="utf-8") as file:
        for line in _results(work, seeds, jobs):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            file.flush()
            lines.append(line)
            progress(lines)
            if enough(lines):
                break
    return lines


def _begin(path: Path, settings: Mapping[str, Any]) -> list[Line]:
    """The lines of earlier runs; a torn last line is removed from the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = json.dumps(settings)
    if not path.exists() or not path.read_bytes():
        path.write_text(head + "\n", encoding="utf-8")
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    begun, *lines = whole.decode().splitlines() or [""]
    if begun != head:
        raise WorkFileError(
            f"{path}: it was begun with other settings; use the same ones or another file"
        )
    if len(whole) < len(content):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    try:
        return [json.loads(line) for line in lines]
    except ValueError as error:
        raise WorkFileError(f"{path}: damaged: {error}") from error


def read_work(path: Path) -> tuple[Line, list[Line]]:
    """The settings and the results of a file of work.

    Raises:
        WorkFileError: the file is missing or damaged.
    """
    try:
        settings = json.loads(path.open(encoding="utf-8").readline())
        return settings, _begin(path, settings)
    except (OSError, ValueError) as error:
        raise WorkFileError(f"{path}: {error}") from error


def _results(work: Callable[[int], Line], seeds: Iterator[int], jobs: int) -> Iterator[Line]:
    """The results for endless seeds, in order."""
    if jobs < 1:
        raise OptionError(f"jobs={jobs}: must be at least 1")
    if jobs == 1:
        yield from map(work, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        ahead = [pool.apply_async(work, (seed,)) for seed in itertools.islice(seeds, 2 * jobs)]
        for seed in seeds:
            yield ahead.pop(0).get()
            ahead.append(pool.apply_async(work, (seed,)))
