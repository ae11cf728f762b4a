"""Measurements on a CUDA device by its own clock: bare rules, batched steps, and a memset.

`azumaya bench --device cuda` runs this. It also runs in numba's simulator, by the wall clock and
with meaningless figures, so that the tests can check every row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from azumaya.baselines.system.machine import installed
from azumaya.benchmarks import signature
from azumaya.benchmarks.games import BARE, SEED, STEP
from azumaya.benchmarks.plan import GIB, Budget, Job
from azumaya.benchmarks.results import Row
from azumaya.benchmarks.timing import Rates
from azumaya.envs.adapters.batch.outputs import CONTENT
from azumaya.envs.adapters.devices import vector_env
from azumaya.envs.extras import require
from azumaya.envs.game import Game

FORMS = ("planes", "packed")
SETTINGS = "cuda"
"""What the names of all budgets begin with."""
_SIZES = (1024, 16384, 65536, 262144, 1048576)
BUDGETS = {
    budget.name: budget
    for budget in (
        Budget(f"{SETTINGS} quick", 0.05, 3, _SIZES, FORMS),
        Budget(f"{SETTINGS} default", 0.2, 5, (*_SIZES, 4194304), FORMS),
        Budget(f"{SETTINGS} full", 0.5, 7, tuple(4**k for k in range(12)), FORMS),
    )
}
"""What a run measures; sizes go up to 2^22 games."""
PLIES = 100
"""The number of moves of one rollout."""
MOST = 10_000
"""The most steps of one repeat."""
COUNTED = 256
"""The steps in which moves are counted, where counting is not to cost time."""


class Clock:
    """Times work on the device by CUDA events, in the simulator by the wall clock."""

    def __init__(self, env: Any) -> None:
        self._torch, self._device = require("torch", "cuda"), env.games.device
        self._real = self._device.place.type == "cuda"

    def mark(self) -> Any:
        """A time stamp after everything launched so far."""
        if not self._real:
            return time.perf_counter()
        event = self._torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, first: Any, last: Any) -> float:
        """Seconds between two time stamps that the device has passed."""
        return first.elapsed_time(last) / 1000 if self._real else last - first

    def wait(self) -> None:
        """Wait until the device has finished."""
        if self._real:
            self._torch.cuda.synchronize()


def about() -> dict[str, Any]:
    """The device and the versions of its software, for the header of a run.

    Raises:
        DeviceError: there is no CUDA device.
        MissingExtraError: the extra `cuda` is not installed.
    """
    torch = require("torch", "cuda")
    from azumaya.envs.adapters.cuda.device import Device  # noqa: PLC0415 - loads numba.cuda

    if Device().place.type == "cpu":
        return {"gpu": "none, numba's simulator", "torch": torch.__version__}
    found = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        "gpu": found.name,
        "gpu memory": f"{found.total_memory / GIB:.0f} GiB",
        "capability": f"{found.major}.{found.minor}",
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "numba-cuda": installed("numba-cuda") or "part of numba",
    }


def jobs(budget: Budget, chosen: Iterable[Game]) -> Iterator[Job]:
    """All jobs of a run: for each game the bare rules and the batches."""
    for game in chosen:
        fields = {"game": game.name}
        size = max(budget.sizes)
        yield Job(
            f"cuda bare/{game.name}",
            {"kind": "cuda bare", **fields, "size": size},
            partial(sparing, bare, game, size, budget.seconds, budget.repeats),
        )
        for form in budget.forms:
            for size in budget.sizes:
                yield Job(
                    f"cuda batch/{game.name}/{form}/{size}",
                    {"kind": "cuda batch", **fields, "form": form, "size": size},
                    partial(sparing, batch, game, form, size, budget.seconds, budget.repeats),
                )
        for size in budget.sizes:
            yield Job(
                f"cuda graph/{game.name}/{size}",
                {"kind": "cuda graph", **fields, "form": "packed", "size": size},
                partial(sparing, replayed, game, "packed", size, budget.seconds, budget.repeats),
            )


def sparing(measure: Callable[..., Row], *arguments: Any) -> Row:
    """Measure a row; where the device has too little memory for the games, the row says so."""
    torch = require("torch", "cuda")
    try:
        return measure(*arguments)
    except torch.OutOfMemoryError as error:
        return {"skipped": str(error).splitlines()[0]}


def _new(game: Game, size: int, form: str) -> Any:
    env = vector_env(game, size, device="cuda", observation=form, copy=False)
    env.reset(seed=SEED)
    return env


def rates(clock: Clock, work: Callable[[], int], seconds: float, repeats: int) -> Rates:
    """Units per second by the device's clock; `work` returns how many units it launched."""
    work()  # compiles, warms up
    found = Rates()
    for _ in range(repeats):
        done, launched, begin = 0, 0, clock.mark()
        wall = time.perf_counter()
        while not launched or (launched < MOST and time.perf_counter() - wall < seconds):
            done += work()
            launched += 1
        end = clock.mark()
        clock.wait()
        found.cpu.append(done / max(clock.between(begin, end), 1e-9))
        found.wall.append(done / max(time.perf_counter() - wall, 1e-9))
    return found


def bare(game: Game, size: int, seconds: float, repeats: int) -> Row:
    """Random play in one kernel, without observations."""
    env = _new(game, size, "none")

    def work() -> int:
        env.games.rollout(PLIES)
        return size * PLIES

    row = rates(Clock(env), work, seconds, repeats).fields()
    return {**row, "includes": BARE, "signature": signature.of_rollout(game, "cuda")}


def batch(game: Game, form: str, size: int, seconds: float, repeats: int) -> Row:
    """Steps with masks and autoreset, and a memset; `loop_` includes the choice of actions."""
    torch = require("torch", "cuda")
    env = _new(game, size, form)
    clock, steps, moments = Clock(env), Rates(), []
    over = torch.zeros(1, dtype=torch.int64, device=env.games.device.place)

    def work() -> int:
        actions = env.random_actions()
        begin = clock.mark()
        _, _, terminated, truncated, _ = env.step(actions)
        moments.append((begin, clock.mark()))
        over.add_((terminated | truncated).sum())
        return size

    loops = Rates()
    work()
    for _ in range(repeats):
        moments.clear()
        over.zero_()
        loop = rates(clock, work, seconds, 1)
        idle = int(over.item())  # where a game has ended, the next step only begins a new one
        counted = len(moments) * size
        moves = max(0.0, 1 - idle / counted)
        spent = sum(clock.between(*pair) for pair in moments)
        steps.cpu.append(counted * moves / max(spent, 1e-9))
        loops.cpu.append(loop.cpu[0] * moves)
        loops.wall.append(loop.wall[0] * moves)
    env.check()
    buffers = outputs(env)
    written = sum(tensor.numel() * tensor.element_size() for tensor in buffers)

    def fill() -> int:
        for tensor in buffers:
            tensor.zero_()
        return size

    row = {**steps.fields(), **loops.fields("loop_"), "includes": STEP, "bytes": written}
    row["bytes_per_step"] = round(written / size, 1)
    row["memset"] = rates(clock, fill, seconds / 4, repeats).fields()["value"]
    row["signature"] = signature.of_batch(game, form, min(size, signature.WATCHED), device="cuda")
    return row


def replayed(game: Game, form: str, size: int, seconds: float, repeats: int) -> Row:
    """A random choice and a step as one CUDA graph, beside the same launched one by one."""
    from azumaya.baselines.training.policy import Graph  # noqa: PLC0415 - loads torch

    torch = require("torch", "cuda")
    env = _new(game, size, form)
    clock, over = Clock(env), torch.zeros(1, dtype=torch.int64, device=env.games.device.place)

    def turn() -> None:
        env.step(env.random_actions())

    graph = Graph(turn, env.games.device.place)
    for _ in range(3):  # compiled, then captured
        graph()

    def timed(call: Callable[[], None]) -> Callable[[], int]:
        def work() -> int:
            call()
            return size

        return work

    row = rates(clock, timed(graph), seconds, repeats)
    alone = rates(clock, timed(turn), seconds, repeats)
    more = {"microseconds": float(f"{1e6 * size / row.median:.4g}"), "launched": alone.median}
    for _ in range(COUNTED):
        _, _, terminated, truncated, _ = env.step(env.random_actions())
        over.add_((terminated | truncated).sum())
    env.check()
    moves = 1 - int(over.item()) / (COUNTED * size)  # after an end a step only begins a new game
    row.cpu = [rate * moves for rate in row.cpu]
    row.wall = [rate * moves for rate in row.wall]
    watched = signature.of_batch(game, form, min(size, signature.WATCHED), device="cuda")
    return {**row.fields(), **more, "includes": STEP, "signature": watched}


def outputs(env: Any) -> list[Any]:
    """The buffers that a step writes, padding included."""
    return [getattr(env._outputs, name) for name in CONTENT]
