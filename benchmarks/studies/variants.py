r"""Compare variants of a training run: several seeds of each, a table, and their learning curves.

    python -m azumaya.benchmarks.studies.variants --game sudoku_moyo --steps 1000000 \
        --variant "lambda 0: --decay 0" --variant "lambda 1: --decay 1"

The first variant, `default`, has the script's own options; every other one changes some of them.
Each run is a run of `value.py` (or of another algorithm, `--algorithm`) in a folder of its own, so
studies can be stopped and continued: finished runs are kept, an unfinished one is resumed.
"""

from __future__ import annotations

import io
import json
import shlex
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from azumaya.baselines.arena.game_options import game_named
from azumaya.baselines.arena.report import (
    COLOURS,
    SHARES,
    STEPS,
    plain,
    result_table,
    save_picture,
    shown_rate,
)
from azumaya.baselines.protocol.tracks import ALGORITHMS
from azumaya.baselines.system.command_line import read_options
from azumaya.baselines.system.files import write_whole
from azumaya.baselines.training.command import exit_code, run_script
from azumaya.baselines.training.config import Count, Numbers, check_values
from azumaya.baselines.training.finished import EXAM, trained
from azumaya.envs import OptionError, find_game
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table

DEFAULT = "default"
PROGRAM = "azumaya.benchmarks.studies.variants"
EARLIER = ("td_value", "expert_iteration", "ppo_selfplay")
"""Earlier names of algorithms, whose studies can be continued; they warn."""
MEASURES = ("greedy", EXAM)
"""What is shown: the rate against greedy, and the share of won positions of the exam kept."""
HEADINGS = ("games won against greedy", "exam: wins kept")


@dataclass(frozen=True)
class Config:
    """The options of a study."""

    game: str = "sudoku_moyo"
    """The game's name."""
    algorithm: str = ALGORITHMS[0]
    """What is run: value, ppo, alphazero or maskable_ppo."""
    variant: tuple[str, ...] = ()
    """A variant, as "NAME: OPTIONS OF THE SCRIPT". Repeat for more."""
    seeds: tuple[int, ...] = (1, 2, 3)
    """The seeds of each variant."""
    steps: Count = 1_000_000
    """Steps of every run."""
    measurements: Annotated[int, Numbers(1, 1000)] = 5
    """Points of each learning curve after the first one, which is at 0 steps."""
    measure_starts: Annotated[int, Numbers(1, 1_000_000)] = 200
    """Starts for each point, played in both seats against each baseline."""
    output: Path | None = None
    """The study's folder; the default is runs/study-ALGORITHM-GAME."""

    @property
    def folder(self) -> Path:
        """The study's folder."""
        return self.output or Path("runs") / f"study-{self.algorithm}-{self.game}"

    def variants(self) -> dict[str, list[str]]:
        """The words that each variant adds to a command.

        Raises:
            OptionError: a variant is malformed or its name is taken.
        """
        found: dict[str, list[str]] = {DEFAULT: []}
        for text in self.variant:
            name, colon, options = (part.strip() for part in text.partition(":"))
            taken = folder_name(name) in map(folder_name, found)
            if not colon or not name or "/" in name or taken:
                raise OptionError(
                    f'--variant {text!r}: must be "NAME: OPTIONS" with a new name without /'
                )
            try:
                found[name] = shlex.split(options)
            except ValueError as error:
                raise OptionError(f"--variant {text!r}: {error}") from error
        return found


@dataclass
class Results:
    """The curves of a variant, one for each seed.

    Attributes:
        name: the variant.
        curves: for each seed, a point for each measurement, with `steps` and the `MEASURES`.
    """

    name: str
    curves: list[list[dict[str, float]]] = field(default_factory=list)

    def last(self, measure: str) -> list[float]:
        """The last value of a measure in each run that has one."""
        return [curve[-1][measure] for curve in self.curves if measure in curve[-1]]


def run_study(config: Config) -> list[Results]:
    """Train all variants, print the table and draw the curves.

    Raises:
        OptionError: an option is invalid; nothing was changed.
        RunError: a folder holds another run.
        KeyboardInterrupt: on Ctrl-C; the same command resumes it.
    """
    check_values(config)
    game = game_named(config.game).name
    config = replace(config, game=game)  # also for the default folder
    if config.algorithm not in (*ALGORITHMS, *EARLIER):
        raise OptionError(f"--algorithm {config.algorithm}: must be one of {', '.join(ALGORITHMS)}")
    if not config.seeds or len(set(config.seeds)) < len(config.seeds):
        raise OptionError("--seeds: at least one seed is needed, and each only once")
    variants = config.variants()
    found = [Results(name) for name in variants]
    for seed in config.seeds:
        for results in found:
            run = config.folder / f"{folder_name(results.name)}-{seed}"
            words = words_of(config, game, seed, run, variants[results.name])
            results.curves.append(run_of(config.algorithm, run, words))
    _report(config, game, found)
    return found


def folder_name(variant: str) -> str:
    """A variant's name in those of its folders."""
    return variant.replace(" ", "-")


def words_of(config: Config, game: str, seed: int, run: Path, more: Sequence[str]) -> list[str]:
    """The command of one run."""
    each = max(1, config.steps // config.measurements)
    given = {
        "game": game, "seed": seed, "output": run, "steps": config.steps, "measure-every": each,
        "measure-starts": config.measure_starts, "final-starts": 1, "ladder-starts": 0,
    }  # fmt: skip
    return [*(f"--{name}={value}" for name, value in given.items()), *more]


def run_of(algorithm: str, run: Path, words: Sequence[str]) -> list[dict[str, float]]:
    """The measurements of one run, which is trained unless it is complete; errors as `trained`."""
    command = [f"azumaya.baselines.training.{algorithm}", *words]
    return trained(algorithm, run, words, command)


# ---- showing ----


def _report(config: Config, game: str, found: Sequence[Results]) -> None:
    """Print the table, and write `study.json` and `study.png`."""
    title = f"{find_game(game).title}: {len(config.seeds)} seeds of {config.steps:,} steps"
    require("rich.console", "cli").Console().print(study_table(found, title))
    picture = io.BytesIO()
    draw_study(found, picture, title)
    curves = {results.name: results.curves for results in found}
    write_whole(config.folder / "study.json", (json.dumps(curves, indent=1) + "\n").encode())
    write_whole(config.folder / "study.png", picture.getvalue())


def study_table(found: Sequence[Results], title: str) -> Table:
    """The last measurements: the mean over the seeds, with the least and the most."""
    table = result_table(
        title,
        "The mean over the seeds; in brackets, the least and the most.",
        "variant",
        HEADINGS,
    )
    for results in found:
        shown = (spread(results.last(measure)) for measure in MEASURES)
        table.add_row(plain(results.name), *shown)
    return table


def spread(values: Sequence[float]) -> str:
    """A mean with the least and the most."""
    if not values:
        return "-"
    return shown_rate(statistics.fmean(values), (min(values), max(values)))


def draw_study(found: Sequence[Results], path: Path | io.BytesIO, title: str) -> None:
    """Draw the curves as a PNG: a line for each run, a thick one for each variant's mean."""
    figure = require("matplotlib.figure", "train").Figure(figsize=(10, 3.6), layout="constrained")
    for axes, measure, heading in zip(figure.subplots(1, 2), MEASURES, HEADINGS, strict=True):
        for number, results in enumerate(found):
            style = "-" if number < len(COLOURS) else "--"
            _draw_curves(axes, results, measure, COLOURS[number % len(COLOURS)], style)
        axes.set(title=heading, xlabel="steps", ylim=(0, 1))
        axes.xaxis.set_major_formatter(STEPS)
        axes.yaxis.set_major_formatter(SHARES)
        axes.spines[["top", "right"]].set_visible(False)
    lines = figure.axes[0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside right center", frameon=False, fontsize="small")
    figure.suptitle(title, fontsize="medium")
    save_picture(figure, path)


def _draw_curves(axes: Any, results: Results, measure: str, colour: str, style: str) -> None:
    lines = [[(p["steps"], p[measure]) for p in c if measure in p] for c in results.curves]
    for line in filter(None, lines):
        axes.plot(*zip(*line, strict=True), style, color=colour, linewidth=0.7, alpha=0.5)
    shortest = min(map(len, lines))
    at_once = [[line[place] for line in lines] for place in range(shortest)]
    means = [tuple(map(statistics.fmean, zip(*points, strict=True))) for points in at_once]
    if means:
        axes.plot(*zip(*means, strict=True), style, color=colour, linewidth=2, label=results.name)


def main() -> int:
    """Run a command line; returns an exit code as the training scripts do."""
    config = read_options(Config(), None, f"python -m {PROGRAM}", __doc__)
    return exit_code(lambda: run_study(config))


if __name__ == "__main__":
    run_script(main)
