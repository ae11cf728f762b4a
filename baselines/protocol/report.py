"""The table as the terminal and the documentation show it, and its picture."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from azumaya.baselines.arena.league.ratings import ALL
from azumaya.baselines.arena.report import (
    COLOURS,
    SHARES,
    markdown,
    plain,
    result_table,
    save_picture,
)
from azumaya.baselines.protocol.cells import COUNTED, Cell
from azumaya.baselines.protocol.scores import (
    MEASURES,
    Aggregate,
    Contenders,
    aggregate,
    by_contender,
    profile,
    ratings,
    scores_of,
)
from azumaya.envs import GAMES, find_game
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table

EXPLAINED = (
    f"Games won: the mean rate against {', '.join(COUNTED)} from balanced starts, draws as halves. "
    "Exam: won positions kept, held-out part."
)
OVERALL = ("games won", "exam", "rating", "games x seeds", "ms a move")
LEVELS = np.linspace(0, 1, 101)
"""The figures at which profiles are drawn."""


def overall(contenders: Contenders) -> list[tuple[str, ...]]:
    """A row for each contender over all its games, the highest share of games won first.

    Interquartile means over games and seeds with their 95 % intervals; the rating if the contender
    has played all games of the table.
    """
    rated, rows = ratings(contenders)[ALL], []
    for name, own in contenders.items():
        won, exam = (aggregate(scores_of(own, measure)) for measure in MEASURES)
        assert won is not None
        rating = rated.get(name)
        rows.append((
            won.value, name, shown(won), shown(exam),
            f"{rating.elo:.0f} ({rating.low:.0f} to {rating.high:.0f})" if rating else "",
            f"{won.games} x {won.runs / won.games:g}",
            f"{statistics.median(cell.milliseconds for cell in own):.2g}",
        ))  # fmt: skip
    return [row[1:] for row in sorted(rows, key=lambda row: (-row[0], row[1]))]


def shown(figure: Aggregate | None) -> str:
    """An aggregate with its interval, if it has one; empty if there is none."""
    if figure is None:
        return ""
    interval = f" ({figure.low:.1%} to {figure.high:.1%})" if figure.sure else ""
    return f"{figure.value:.1%}{interval}"


def of_games(cells: Sequence[Cell], measure: str) -> list[tuple[str, ...]]:
    """A row for each contender with the mean over the seeds in each game, and their spread."""
    games, rows = games_of(cells), []
    for name, own in by_contender(cells).items():
        scores = scores_of(own, measure)
        rows.append((name, *(spread(scores.get(game, ())) for game in games)))
    return rows


def games_of(cells: Sequence[Cell]) -> list[str]:
    """The games of some cells, in the library's order."""
    there = {cell.job.game for cell in cells}
    return [game for game in GAMES if game in there] + sorted(there - {*GAMES})


def spread(values: Sequence[float]) -> str:
    """The mean of the seeds, with the least and the most if there are several."""
    if not values:
        return ""
    mean = f"{statistics.fmean(values):.1%}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):.0%} to {max(values):.0%})"


def overall_table(cells: Sequence[Cell], title: str) -> Table:
    """The rows of `overall` for the terminal."""
    table = result_table(
        title, EXPLAINED, "agent", [each.replace(" ", "\n", 1) for each in OVERALL]
    )
    for name, *figures in overall(by_contender(cells)):
        table.add_row(plain(name), *map(_in_two_lines, figures))
    return table


def _in_two_lines(figure: str) -> str:
    """A figure above its interval, which is rounded, without a unit: names need the place."""
    value, _, interval = figure.removesuffix(")").partition(" (")
    ends = (f"{float(end.removesuffix('%')):.0f}" for end in interval.split(" to "))
    return f"{value}\n{' - '.join(ends)}" if interval else value


def page(cells: Sequence[Cell]) -> str:
    """The tables as Markdown: over all games, then game by game."""
    titles = [find_game(game).title for game in games_of(cells)]
    parts = [markdown(("agent", *OVERALL), overall(by_contender(cells))), EXPLAINED]
    for measure in MEASURES:
        parts += [
            f"**{measure.capitalize()}**, the mean of the seeds, with the least and the most:",
            markdown(("agent", *titles), of_games(cells, measure)),
        ]
    return "\n\n".join(parts) + "\n"


def draw_profiles(cells: Sequence[Cell], path: Path) -> None:
    """Draw the profile of every contender with its 95 % band (needs `league`)."""
    figure = require("matplotlib.figure", "league").Figure(figsize=(10, 4), layout="constrained")
    for axes, measure in zip(figure.subplots(1, 2, sharey=True), MEASURES, strict=True):
        for number, (name, own) in enumerate(by_contender(cells).items()):
            scores = scores_of(own, measure)
            if scores:
                _draw_profile(axes, scores, name, number)
        axes.set(xlabel=measure, xlim=(0, 1), ylim=(0, 1.02))
        axes.xaxis.set_major_formatter(SHARES)
        axes.yaxis.set_major_formatter(SHARES)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("runs that reach at least so much")
    lines = figure.axes[0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside right center", frameon=False, fontsize="small")
    save_picture(figure, path)


def _draw_profile(axes: Any, scores: Mapping[str, Sequence[float]], name: str, number: int) -> None:
    shares, (lows, highs) = profile(scores, LEVELS)
    colour = COLOURS[number % len(COLOURS)]
    style = ("-", "--", ":")[number // len(COLOURS) % 3]
    axes.plot(LEVELS, shares, style, color=colour, label=name, drawstyle="steps-pre")
    axes.fill_between(LEVELS, lows, highs, step="pre", color=colour, alpha=0.15, linewidth=0)
