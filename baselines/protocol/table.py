"""The table in its file: a line with what all cells have in common, then a line for each cell."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path

from azumaya.baselines.agents.names import is_code
from azumaya.baselines.arena.exams import has_exam, load_exam
from azumaya.baselines.arena.league.results import settings_for
from azumaya.baselines.protocol.cells import (
    FIELD,
    LOG,
    PART,
    STARTS,
    Cell,
    Failure,
    digest_now,
    digests_now,
    work,
)
from azumaya.baselines.protocol.tracks import Job, agent_name, algorithm_of
from azumaya.baselines.system.cluster import Cluster
from azumaya.baselines.system.files import shown
from azumaya.baselines.system.journal import Line, typed
from azumaya.baselines.system.pool import ended_pool
from azumaya.baselines.system.work import WorkFileError, open_work, read_work
from azumaya.envs import GAMES, OptionError

PROTOCOL = 1
"""Increases whenever cells of the same agents may come out different."""


class CellError(RuntimeError):
    """Cells of a table could not be made, because of their contenders."""


@dataclass(frozen=True)
class Setting:
    """What all cells of a table have in common.

    Attributes:
        protocol: the version of the protocol.
        part: the part of the exams.
        exams: the version of each game's exam.
        books: by game, a digest of its book of balanced starts; empty where there is none.
        field: the opponents.
        starts: of the games against each of them, at most as many as the book has.
    """

    protocol: int
    part: str
    exams: Mapping[str, int]
    books: Mapping[str, str]
    field: Sequence[str]
    starts: int


def setting(starts: int = STARTS) -> Setting:
    """The setting of tables that this version makes."""
    exams = {game: load_exam(game, PART).version for game in GAMES if has_exam(game)}
    return Setting(PROTOCOL, PART, exams, settings_for(0, True).starts, list(FIELD), starts)


def fill(
    file: Path,
    folder: Path,
    jobs: Sequence[Job],
    starts: int = STARTS,
    workers: int = 1,
    ray: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    failed: Callable[[Failure], None] | None = None,
) -> list[Cell]:
    """Make the cells of a table that are missing, and add them to its file as they come.

    Args:
        file: the table; made if it is missing. The same call continues one that was broken off.
        folder: where trained runs are kept.
        jobs: the cells.
        starts: of the games against each opponent.
        workers: how many cells are made at a time, each in a process.
        ray: the address of a Ray cluster, which makes them instead.
        progress: called with the number of cells that are there, and that of all.
        failed: called with each cell that cannot be made; the others are made all the same.

    Returns:
        The cells of these jobs, in their order. Those of agents whose files have changed since are
        made again.

    Raises:
        WorkFileError: the file is no table, is in use, or was made with other exams or starts.
        OptionError: a contender cannot be made, as its first job shows.
        CellError: some cells could not be made, which is tried again by the next call.
        CrewError: workers of Ray keep dying.
    """
    failures: list[Failure] = []
    digests = _digests(jobs, folder)
    for job in {job.contender: job for job in reversed(jobs)}.values():
        if isinstance(first := digests.get(job), Failure):
            raise OptionError(first.reason)
    with open_work(file, asdict(setting(starts))) as (lines, add):
        cells = {cell.job: cell for cell in cells_in(file, lines)}
        left = [
            job
            for job in dict.fromkeys(jobs)
            if job not in cells or cells[job].agent != digests.get(job, cells[job].agent)
        ]
        count = len(jobs) - len(left)
        if progress is not None:
            progress(count, len(jobs))
        made = _on_ray(left, folder, starts, ray) if ray else _here(left, folder, starts, workers)
        with contextlib.closing(made):
            for cell in made:
                if isinstance(cell, Failure):
                    failures.append(cell)
                    if failed is not None:
                        failed(cell)
                    continue
                cells[cell.job] = cell
                add(asdict(cell))
                count += 1
                if progress is not None:
                    progress(count, len(jobs))
    if failures:
        first = f"{failures[0].job}: {failures[0].reason}"
        raise CellError(f"{len(failures)} of {len(jobs)} cells were not made, such as {first}")
    return [cells[job] for job in jobs]


def _digests(jobs: Sequence[Job], folder: Path) -> dict[Job, str | Failure]:
    """The digests of agents' files as they are now, of jobs whose agents are not trained here.

    Code of the user's runs in another process. If it ends that, making its cells says so.
    """
    own = [job for job in dict.fromkeys(jobs) if not algorithm_of(job.contender)]
    code = [job for job in own if is_code(agent_name(job, Path()))]
    found = {job: digest_now(job) for job in own if job not in code}
    if code:
        with ended_pool(1) as pool, contextlib.suppress(BrokenProcessPool):
            found |= zip(code, pool.submit(digests_now, code, folder).result(), strict=True)
    return found


def cells_in(file: Path, lines: Iterable[Line]) -> Iterator[Cell]:
    """The cells in the lines of a table's file; raises `WorkFileError` for other lines."""
    for number, line in enumerate(lines, start=2):
        try:
            yield typed(line, Cell)
        except ValueError as error:
            raise WorkFileError(
                f"{shown(file)}: line {number} is no cell of a table: {error}"
            ) from None


def read_table(file: Path) -> tuple[Setting, list[Cell]]:
    """The setting and the cells of a table, which another process may be filling.

    Raises:
        WorkFileError: the file is missing, damaged, or no table.
    """
    head, lines = read_work(file)
    try:
        found = typed(head, Setting)
    except ValueError as error:
        raise WorkFileError(f"{shown(file)}: {error}") from None
    return found, [*{cell.job: cell for cell in cells_in(file, lines)}.values()]


def _here(
    jobs: Sequence[Job], folder: Path, starts: int, workers: int
) -> Generator[Cell | Failure, None, None]:
    """The cells, as they come, from processes of this machine.

    Each has a pool of its own, so that it is known which cell has ended its process.
    """
    left = iter(jobs)
    with contextlib.ExitStack() as pools:
        running: dict[Future[Cell | Failure], tuple[Job, ProcessPoolExecutor]] = {}

        def begin(pool: ProcessPoolExecutor) -> None:
            for job in itertools.islice(left, 1):
                running[pool.submit(work, job, folder, starts)] = job, pool

        for _ in range(min(workers, len(jobs))):
            begin(pools.enter_context(ended_pool(1, told=True)))
        while running:
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                job, pool = running.pop(done)
                try:
                    found = done.result()
                except BrokenProcessPool:
                    found = Failure(job, f"its process has ended, see {folder / LOG}")
                    pool = pools.enter_context(ended_pool(1, told=True))
                begin(pool)
                yield found


def _on_ray(
    jobs: Sequence[Job], folder: Path, starts: int, address: str
) -> Generator[Cell | Failure, None, None]:
    """The cells, as they come, from a Ray cluster whose machines share the folder."""
    cluster = Cluster(address)
    try:
        remote = cluster.remote(work)
        waiting = [remote.remote(job, folder.absolute(), starts) for job in jobs]
        while waiting:
            done, waiting = cluster.ray.wait(waiting)
            yield from cluster.results(done)
    finally:
        cluster.leave()
