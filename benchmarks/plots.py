"""The pictures of a run: each game compared with CartPole and memset, and rates by batch size."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.report import save_picture
from azumaya.benchmarks.results import Row
from azumaya.benchmarks.tables import CARTPOLE, Table, memset
from azumaya.envs.extras import require

BARS, CURVES, ON_GPU = "games.svg", "batch-sizes.svg", "gpu-batch-sizes.svg"
FORMS = {"none": "masks only"}
"""The names of forms of observations in the pictures, where they differ."""


def draw(header: Row, rows: Sequence[Row], folder: Path) -> list[str]:
    """Write the pictures that a run has rows for; returns their names.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    table = Table(header, rows)
    drawn = []
    if table.reference(CARTPOLE) and table.games:
        save_picture(_bars(table), folder / BARS, bbox_inches="tight")
        drawn.append(BARS)
    for name, place, batches in (
        (CURVES, "on one core", table.pick("batch", threads=1, copies=False)),
        (ON_GPU, "on a GPU", table.pick("cuda batch")),
    ):
        if batches:
            figure = _curves(table.games, batches, place)
            save_picture(figure, folder / name, bbox_inches="tight")
            drawn.append(name)
    return drawn


def _bars(table: Table) -> Any:
    """Bars per game in units of CartPole's loop, with a mark at the rate of a memset."""
    unit = table.reference(CARTPOLE) or 1.0
    planes: dict[str, Any] = {"form": "planes", "threads": 1, "copies": False}
    series: list[tuple[str, str, dict[str, Any]]] = [
        ("bare rules", "bare", {}),
        ("packed", "batch", {**planes, "form": "packed"}),
        ("planes", "batch", planes),
        ("AEC raw_env", "aec", {"form": "raw_env"}),
    ]
    figure = require("matplotlib.figure", "league").Figure(figsize=(2 + len(table.games), 4.5))
    axes = figure.subplots()
    width = 0.8 / len(series)
    for place, (label, kind, wanted) in enumerate(series):
        best = [table.best(kind, game=game, **wanted) for game in table.games]
        heights = [row["value"] / unit if row else 0.0 for row in best]
        at = [number + place * width for number in range(len(best))]
        axes.bar(at, heights, width, label=label)
        if label == "planes":
            limits = [(memset(row) or nan) / unit for row in best]
            axes.plot(at, limits, "k_", markersize=14, label="memset of the planes")
    axes.set(yscale="log", ylim=(0.1, None))
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.set_ylabel("steps/s on one core, in CartPole-v1 loops")
    axes.set_xticks([n + 0.3 for n in range(len(table.games))], table.games, rotation=20)
    columns = 1 + len(table.games) // 2
    axes.legend(fontsize="small", ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _curves(games: Sequence[str], rows: Sequence[Row], place: str) -> Any:
    """Steps/s over batch sizes, one picture for each form of observation."""
    forms = list(dict.fromkeys(row["form"] for row in rows))
    figure = require("matplotlib.figure", "league").Figure(figsize=(3.2 * len(forms), 3.8))
    frames = figure.subplots(1, len(forms), sharey=True, squeeze=False)
    for axes, form in zip(frames[0], forms, strict=True):
        for game in games:
            mine = sorted(
                (row["size"], row["value"], memset(row) or nan)
                for row in rows
                if row["game"] == game and row["form"] == form
            )
            if mine:
                sizes, values, limits = zip(*mine, strict=True)
                (line,) = axes.plot(sizes, values, marker="o", markersize=3, label=game)
                axes.plot(sizes, limits, ":", color=line.get_color(), linewidth=0.8)
        axes.set(
            xscale="log", yscale="log", title=FORMS.get(form, form), xlabel="games in the batch"
        )
    frames[0][0].set_ylabel(f"steps/s {place} (dotted: memset)")
    figure.legend(
        *frames[0][0].get_legend_handles_labels(),
        fontsize="small", ncols=4, loc="lower center", bbox_to_anchor=(0.5, 0.97),
    )  # fmt: skip
    return figure
