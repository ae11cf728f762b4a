"""What a run measures, and in which order: jobs for all games, and references between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from azumaya.benchmarks import games, networks, reference, search
from azumaya.benchmarks.results import Row
from azumaya.benchmarks.startup import measure_start
from azumaya.envs.engine.workers import available_cores
from azumaya.envs.extras import MissingExtraError, how_to_install
from azumaya.envs.game import Game

FORMS = ("planes", "packed", "none")
LARGE = 65536
"""Batches of at least this size are made only if they fit into memory."""
GIB = 2**30


@dataclass(frozen=True)
class Budget:
    """How much a run measures.

    Attributes:
        name: the name of the budget; rows of different budgets are not mixed.
        seconds, repeats: the length and number of the repeats of each rate.
        sizes: batch sizes with one thread.
        forms: forms of observations.
        shared: batch sizes that are also measured with two threads.
        copies: the batch size at which copies are compared with zero-copy buffers.
        starts: the number of games whose start-up is measured; None means all.
        start_repeats: the number of warm starts of each.
        learners: the number of games in which training scripts and networks are measured; None
            means all.
    """

    name: str
    seconds: float
    repeats: int
    sizes: tuple[int, ...]
    forms: tuple[str, ...] = FORMS
    shared: tuple[int, ...] = ()
    copies: int = 1024
    starts: int | None = None
    start_repeats: int = 3
    learners: int | None = None


BUDGETS = {
    budget.name: budget
    for budget in (
        Budget("quick", 0.04, 3, (64, 256, 4096), ("planes", "packed"), (4096,), 256, 1, 2, 1),
        Budget(
            "default", 0.08, 3, (1, 64, 256, 1024, 8192, 65536), FORMS, (8192, 65536), 1024, None, 2
        ),
        Budget(
            "full", 0.25, 5, tuple(4**k for k in range(11)), FORMS,
            (1024, 4096, 16384, 65536, 262144, 1048576), 1024, None, 5,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One row to measure: its key, its fields, and the function that measures it."""

    key: str
    fields: Mapping[str, Any]
    measure: Callable[[], Row]


def jobs(budget: Budget, chosen: Iterable[Game]) -> Iterator[Job]:
    """All jobs of a run; references are measured before, between and after the games."""
    chosen = list(chosen)
    yield from _references(budget, 0)
    learners = len(chosen) if budget.learners is None else budget.learners
    for number, game in enumerate(chosen, 1):
        yield from _of_game(budget, game)
        if number <= learners:
            yield from _of_learners(budget, game)
        yield from _references(budget, number)
    for game in chosen[: budget.starts]:
        for form in ("aec", "batch"):
            measure = partial(measure_start, game, form, budget.start_repeats)
            yield _job("start", game, form, measure)


def _references(budget: Budget, number: int) -> Iterator[Job]:
    seconds, repeats = 2 * budget.seconds, budget.repeats
    fields = {"kind": "reference", "number": number}
    yield Job(
        f"reference/CartPole-v1/{number}",
        {**fields, "name": "CartPole-v1"},
        partial(reference.cartpole, seconds, repeats),
    )
    for form in ("raw_env", "env"):
        yield Job(
            f"reference/connect_four_v3 {form}/{number}",
            {**fields, "name": f"connect_four_v3 {form}"},
            partial(reference.connect_four, form, seconds, repeats),
        )


def _job(kind: str, game: Game, form: str, measure: Callable[[], Row], **more: Any) -> Job:
    key = "/".join(str(part) for part in (kind, game.name, form, *more.values()))
    return Job(key, {"kind": kind, "game": game.name, "form": form, **more}, measure)


def _of_game(budget: Budget, game: Game) -> Iterator[Job]:
    seconds, repeats = budget.seconds, budget.repeats
    yield _job("bare", game, "rollout", partial(games.bare, game, 2 * seconds, repeats))
    yield _job("match", game, "greedy-random", partial(games.matches, game, seconds, repeats))
    for form in ("raw_env", "env"):
        yield _job("aec", game, form, partial(games.aec, game, form, 2 * seconds, repeats))
    for form, cut in (("uct", 0), (f"uct, cut {search.CUT}", search.CUT)):
        yield _job("search", game, form, partial(search.uct, game, cut, 2 * seconds, repeats))
    yield _job("search", game, "puct", partial(search.puct, game, 2 * seconds, repeats))
    if game.rules.resample is None:
        work = partial(search.alphabeta, game, 2 * seconds, repeats)
        yield _job("search", game, "alphabeta", work)
    for form in budget.forms:
        yield _job("memory", game, form, partial(games.memory, game, form))
    for form in budget.forms:
        for size, threads, copies in _sizes(budget):
            if copies and form != budget.forms[0]:
                continue
            yield _batch_job(budget, game, form, size, threads, copies)


EVALUATED, PASSED = (1, 256), (64, 512)
"""Positions in a call of a network, and in a forward and backward pass."""


def _of_learners(budget: Budget, game: Game) -> Iterator[Job]:
    """Training scripts, their networks, and self-play with search."""
    times = budget.seconds, budget.repeats
    for name in networks.LEARNERS:
        yield _job("learner", game, name, partial(_with_torch, "learned", game, name, *times))
    for size in EVALUATED:
        work = partial(networks.evaluations, game, size, *times)
        yield _job("evaluation", game, "value", work, size=size)
        work = partial(_with_torch, "evaluations", game, size, *times)
        yield _job("evaluation", game, "policy", work, size=size)
    for form in ("value", "policy"):
        for size in PASSED:
            work = partial(_with_torch, "passes", game, form, size, *times)
            yield _job("pass", game, form, work, size=size)
    for form in ("alphabeta", "puct"):
        if form == "alphabeta" and game.rules.resample is not None:
            continue
        yield _job("self-play", game, form, partial(networks.self_play, game, form, *times))
    yield _job("self-play", game, "puct, torch", partial(_with_torch, "self_play", game, *times))


def _with_torch(name: str, *given: Any) -> Row:
    """A row of a function in `learning`; skipped without the packages that it needs."""
    try:
        from azumaya.benchmarks import learning  # noqa: PLC0415 - torch is optional

        row: Row = getattr(learning, name)(*given)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("azumaya"):
            raise
        return {"skipped": f"needs the package {error.name!r}: {how_to_install('train')}"}
    except MissingExtraError as error:
        return {"skipped": str(error)}
    return row


def _sizes(budget: Budget) -> Iterator[tuple[int, int, bool]]:
    yield from ((size, 1, False) for size in budget.sizes)
    if available_cores() > 1:
        yield from ((size, 2, False) for size in budget.shared)
    yield budget.copies, 1, True


def _batch_job(budget: Budget, game: Game, form: str, size: int, threads: int, copies: bool) -> Job:
    def run() -> Row:
        missing = _missing_memory(game, form, size)
        if missing:
            return {"skipped": missing}
        return games.batch(game, form, size, threads, budget.seconds, budget.repeats, copies)

    return _job("batch", game, form, run, size=size, threads=threads, copies=copies)


def _missing_memory(game: Game, form: str, size: int) -> str:
    """Why a batch is too large for this machine, or an empty text."""
    there = available_memory()
    if size < LARGE or there is None:
        return ""
    need = size * games.memory(game, form)["value"]
    return f"{need / GIB:.1f} GiB of {there / GIB:.1f} GiB" if need > there / 2 else ""


def available_memory() -> int | None:
    """The bytes of memory still available; None where the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
