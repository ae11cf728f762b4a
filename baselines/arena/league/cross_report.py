"""Cross-play as tables for the terminal and as a heat map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from azumaya.baselines.arena.league.cross import CrossPlay, Estimates
from azumaya.baselines.arena.league.tables import unmarked
from azumaya.baselines.arena.report import (
    RATE,
    counted,
    plain,
    result_table,
    save_picture,
)
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table

NUMBERS, CELL = 5, 5
"""The widths of the column of numbers and of one of shares in the terminal."""
FIRST = 0.55
"""Inches of the picture for each agent."""
MEASURES = ("rating", "Nash\nmixture", "Nash\naverage", "alpha-\nrank")


def mixture_table(found: CrossPlay) -> Table:
    """The agents, numbered, with ratings, parts of the Nash mixture, averages and alpha-rank."""
    table = result_table(
        f"{found.game}, {counted(int(found.pairs.sum()) // 2, 'pair')} of games",
        "Nash average: what the agent wins against the mixture. Intervals: 95 %.",
        "agent", MEASURES,
    )  # fmt: skip
    for place, (name, rating) in enumerate(zip(found.agents, found.ratings, strict=True)):
        elo = "" if rating is None else f"{rating.elo:+.0f}"
        shares = (_share(e, place) for e in (found.nash, found.nash_average, found.alpha))
        table.add_row(plain(f"{place + 1} {name}"), elo, *shares)
    return table


def _share(found: Estimates | None, place: int) -> str:
    if found is None:
        return ""
    value, low, high = (each[place] for each in (found.values, found.lows, found.highs))
    return f"{value:.0%}\n{low:.0%} - {high:.0%}"


def won_tables(found: CrossPlay, width: int) -> Iterator[Table | str]:
    """What rows win against columns, in as many tables as a terminal of `width` columns needs.

    Before them comes a line about them, which would not fit above a table of few agents.
    """
    yield "What row wins against column, % (in brackets: the 95 % interval contains 50)"
    size = len(found.agents)
    each = max(1, (width - NUMBERS) // CELL)
    for first in range(0, size, each):
        columns = range(first, min(first + each, size))
        table: Table = require("rich.table", "cli").Table(
            box=require("rich.box", "cli").SIMPLE_HEAD,
            padding=0,
        )
        for name in ("", *(str(place + 1) for place in columns)):
            table.add_column(name, justify="right", no_wrap=True)
        for row in range(size):
            table.add_row(str(row + 1), *(_cell(found.won, row, column) for column in columns))
        yield table


def _cell(won: Estimates, row: int, column: int) -> str:
    if np.isnan(won.values[row, column]):
        return ""
    text = f"{100 * won.values[row, column]:.0f}"
    even = won.lows[row, column] <= 0.5 <= won.highs[row, column]
    return f"({text})" if even else f"{text} "  # figures stand below each other


def notes(found: CrossPlay) -> Iterator[str]:
    """The cycles, and what is missing: lines."""
    for cycle in found.cycles:
        yield f"cycle: {_told(found, cycle)}"
    if not found.cycles:
        yield "No cycle: what the intervals leave certain can be put in one order."
    if strangers := found.strangers():
        yield (
            f"{' and '.join(strangers)} have not met in every game, so there is no Nash mixture; "
            "name agents that have"
        )


def _told(found: CrossPlay, cycle: tuple[int, ...]) -> str:
    """A cycle in words, with what each wins against the next."""
    words = found.agents[cycle[0]]
    for one, other in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        low, high = (100 * ends[one, other] for ends in (found.won.lows, found.won.highs))
        share = 100 * found.won.values[one, other]
        words += f" beats {found.agents[other]} ({share:.0f} %, {low:.0f} to {high:.0f} %)"
    return words


def draw(found: CrossPlay, path: Path) -> None:
    """Draw a heat map of what rows win against columns, with intervals, as SVG or PNG."""
    size = len(found.agents)
    side = 2.5 + FIRST * size
    figure = require("matplotlib.figure", "league").Figure((side + 1, side), layout="constrained")
    axes = figure.add_subplot()
    shown = 100 * np.ma.masked_invalid(found.won.values)
    image = axes.imshow(shown, cmap="PuOr", vmin=0, vmax=100)
    for row, column in np.argwhere(~np.isnan(found.won.values)):
        _write(axes, found.won, row, column)
    names = [unmarked(name) for name in found.agents]
    axes.set_xticks(range(size), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(size), names)
    axes.set(title=f"{found.game}: what row wins against column")
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label=f"% of {RATE}", shrink=0.7)
    save_picture(figure, path)


def _write(axes: Any, won: Estimates, row: int, column: int) -> None:
    """Write a share and its interval into its cell, light on dark."""
    value, low, high = (100 * x[row, column] for x in (won.values, won.lows, won.highs))
    colour = "black" if abs(value - 50) < 35 else "white"
    place = {"ha": "center", "color": colour}
    axes.text(column, row, f"{value:.0f}", va="bottom", fontsize=8, **place)
    axes.text(column, row + 0.08, f"{low:.0f}\u2013{high:.0f}", va="top", fontsize=5.5, **place)
