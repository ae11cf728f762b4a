"""Where the time of PPO goes: a table and a picture.

    python -m azumaya.benchmarks.studies.learning_profile --game sudoku_moyo --device cuda

After a warm-up some updates are timed, playing and learning apart, and as many are made under
torch's profiler: games, network, learning and logs. On a GPU the times are those of its kernels,
and what is left of the wall time is the time in which it waits. On a CPU they are those of torch's
operations, in one thread, and what is left is the time of the games, which torch does not see, and
of Python. The profiler itself takes most of the time there: compare shares of torch's operations
only.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from unittest.mock import patch

import torch
import typer
from torch.profiler import ProfilerActivity, profile

from azumaya.baselines.arena.report import markdown, save_picture
from azumaya.baselines.cli.terminal import complaints, guarded
from azumaya.baselines.system.files import check_picture, shown
from azumaya.baselines.training import ppo
from azumaya.baselines.training.state import State
from azumaya.benchmarks.learning import watch_training
from azumaya.envs.extras import require

WARM_UP = 5
"""Updates before: a GPU's graphs are captured in the second one."""
GROUPS: Mapping[str, re.Pattern[str]] = {
    group: re.compile(pattern, re.IGNORECASE)
    for group, pattern in {
        "games and observations": r"azumaya|numba",
        "matrix products": r"gemm|cutlass|nvjet|xmma|cudnn|conv|::(add|b)?mm\b|::addmv|::linear",
        "optimizer": r"adam|multi_tensor|foreach|clip_grad|_norm",
        "compiled for the network": r"triton",
        "sums over candidates": r"scatter|segment|index",
        "choosing, and the loss": r"softmax|searchsorted|cumsum|scan|gather|distribution|rand",
        "copies": r"memcpy|memset|copy|clone|::cat|::to\b",
    }.items()
}
"""Groups of kernels and operations: a name belongs to the first that fits."""
OTHERS = "other operations"
SHOWN, LONGEST = 12, 60
"""How many kernels are listed, and how much of their names."""
WAITING = {"cuda": "the GPU waits", "cpu": "games and Python"}


class Profile(NamedTuple):
    """Where the time of some updates went.

    Attributes:
        config: the options of the run.
        learning: learned steps a second of the time that learning alone takes, without a profiler.
        playing: the same of the rest, playing and logs.
        steps: steps learned from under the profiler.
        seconds: wall time of these updates.
        groups: seconds of each group.
        largest: the kernels or operations that took longest, with their groups and seconds.
    """

    config: ppo.Config
    learning: float
    playing: float
    steps: int
    seconds: float
    groups: dict[str, float]
    largest: list[tuple[str, str, float]]


def _nothing() -> None:
    """What there is to wait for on a CPU."""


def _timed(events: Any, on_gpu: bool) -> list[tuple[str, str, float]]:
    """All kernels or operations, with their groups and seconds, the longest first."""
    found = []
    for event in events:
        micros = event.self_device_time_total if on_gpu else event.self_cpu_time_total
        fits = (name for name, pattern in GROUPS.items() if pattern.search(event.key))
        found.append((event.key, next(fits, OTHERS), micros * 1e-6))
    return sorted(found, key=lambda each: -each[2])


def _apart(
    count: int, state: State, wait: Callable[[], None]
) -> Generator[None, None, tuple[float, float]]:
    """Make some updates; returns the steps learned per second of learning alone and of the rest."""
    learn, learning = ppo.Learner.improve, 0.0

    def timed(learner: ppo.Learner) -> tuple[int, dict[str, float]]:
        nonlocal learning
        wait()
        began = time.perf_counter()
        learned = learn(learner)
        wait()
        learning += time.perf_counter() - began
        return learned

    before, began = state.steps, time.perf_counter()
    with patch.object(ppo.Learner, "improve", timed):
        for _ in range(count):
            yield
    steps = state.steps - before
    return steps / learning, steps / (time.perf_counter() - began - learning)


def profiled(count: int, **given: Any) -> Profile:
    """Profile some updates of PPO with some of its options."""
    found: Profile

    def watch(config: ppo.Config, state: State, agent: object) -> Iterator[None]:
        nonlocal found
        for _ in range(WARM_UP):
            yield
        on_gpu = config.device == "cuda"
        kinds = [ProfilerActivity.CUDA] if on_gpu else [ProfilerActivity.CPU]
        wait = torch.cuda.synchronize if on_gpu else _nothing
        rates = yield from _apart(count, state, wait)
        before = state.steps
        with profile(activities=kinds) as measured:
            wait()
            began = time.perf_counter()
            for _ in range(count):
                yield
            wait()
            seconds = time.perf_counter() - began
        each = _timed(measured.key_averages(), on_gpu)
        groups = dict.fromkeys((*GROUPS, OTHERS), 0.0)
        for _, group, taken in each:
            groups[group] += taken
        groups[WAITING[config.device]] = max(0.0, seconds - sum(groups.values()))
        found = Profile(config, *rates, state.steps - before, seconds, groups, each[:SHOWN])

    watch_training(ppo, watch, **given)
    return found


def table(found: Profile) -> str:
    """The profile as a line and two Markdown tables."""

    def row(name: str, seconds: float) -> list[str]:
        return [name, f"{1e9 * seconds / found.steps:,.0f}", f"{seconds / found.seconds:.1%}"]

    headings = [f"{found.steps / found.seconds:,.0f} steps/s", "ns a step", "of the time"]
    groups = [row(name, seconds) for name, seconds in found.groups.items()]
    largest = [
        [*row(f"`{name[:LONGEST]}`", seconds), group] for name, group, seconds in found.largest
    ]
    alone = f"Playing alone {found.playing:,.0f}, learning alone {found.learning:,.0f} steps/s."
    each = markdown([*headings, "counted as"], largest)
    return f"{alone}\n\n{markdown(headings, groups)}\n\n{each}"


def draw(found: Profile, path: Path) -> None:
    """Draw the profile as one bar (needs matplotlib)."""
    figure = require("matplotlib.figure", "league").Figure(figsize=(9, 1.8))
    axes, left = figure.subplots(), 0.0
    for name, seconds in found.groups.items():
        share = seconds / found.seconds
        axes.barh([0], [share], left=left, label=f"{name} {share:.0%}", edgecolor="white")
        left += share
    config = found.config
    network = f"{config.network} {config.sizes['width']} x {config.sizes['depth']}"
    axes.set_title(f"{config.game}, {network}: {found.steps / found.seconds:,.0f} steps/s")
    axes.set(xlim=(0, left), yticks=[], xlabel="share of the time")
    axes.legend(fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.5))
    save_picture(figure, path, bbox_inches="tight")


def main(
    game: str = "sudoku_moyo",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    network: Annotated[str, typer.Option(help="As for ppo.py.")] = "",
    updates: Annotated[int, typer.Option(min=1, help="Updates to profile.")] = 10,
    output: Annotated[Path | None, typer.Option(help="An .svg or .png file.")] = None,
) -> None:
    """Print, and perhaps draw, where the time of PPO goes."""
    with complaints():
        if output is not None:
            check_picture(output, f"--output {shown(output)}")
        found = profiled(updates, game=game, device=device, network=network)
    typer.echo(table(found))
    if output is not None:
        draw(found, output)


if __name__ == "__main__":
    guarded("learning_profile", lambda: typer.run(main))
