"""The table as the terminal and the documentation show it, and its picture."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from azumaya.baselines.arena.league.ratings import ALL, Rating
from azumaya.baselines.arena.report import (
    COLOURS,
    SHARES,
    markdown,
    plain,
    result_table,
    save_picture,
    with_interval,
)
from azumaya.baselines.protocol.cells import COUNTED, Cell
from azumaya.baselines.protocol.scores import (
    MEASURES,
    Aggregate,
    Contenders,
    aggregate,
    are_enough,
    by_contender,
    complete,
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
    "Exam: won positions kept, held-out part. Agents that have not played every game come last."
)
OVERALL = ("games won", "exam", "rating", "games x seeds", "ms a move")
LEVELS = np.linspace(0, 1, 101)
"""The figures at which profiles are drawn."""


@dataclass(frozen=True)
class Row:
    """What is said of a contender over all its games.

    Attributes:
        name: what it is called.
        won, exam: interquartile means over games and seeds; no exam in games without one.
        rating: over all games of the table; None if it has not played all of them.
        milliseconds: the median time of a move.
    """

    name: str
    won: Aggregate
    exam: Aggregate | None
    rating: Rating | None
    milliseconds: float

    def written(self, share: Callable[[Aggregate], str], rating: str) -> tuple[str, ...]:
        """The figures below `OVERALL`.

        Args:
            share: writes a share, with its interval if it has one.
            rating: how to write a rating, a format of `elo`, `low` and `high`.
        """
        fewest, most = self.won.seeds
        seeds = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        return (
            share(self.won),
            share(self.exam) if self.exam else "",
            rating.format(**vars(self.rating)) if self.rating else "",
            f"{self.won.games} x {seeds}",
            f"{self.milliseconds:.2g}",
        )

    @property
    def on_a_page(self) -> tuple[str, ...]:
        """The figures with their intervals in brackets."""
        return self.written(shown, "{elo:.0f} ({low:.0f} to {high:.0f})")


def overall(contenders: Contenders) -> list[Row]:
    """A row for each contender over its games, the highest share of games won first.

    Contenders that have not played all games come after the others, as their games may be easier.
    """
    rated, rows = ratings(contenders)[ALL], []
    whole = complete(contenders)
    for name, own in contenders.items():
        won, exam = (aggregate(scores_of(own, measure)) for measure in MEASURES)
        assert won is not None
        time = statistics.median(cell.milliseconds for cell in own)
        rows.append(Row(name, won, exam, rated.get(name), time))
    return sorted(rows, key=lambda row: (row.name not in whole, -row.won.value, row.name))


def shown(share: Aggregate) -> str:
    """A share with its interval, if it has one, as pages show it."""
    if not share.sure:
        return f"{share.value:.1%}"
    return with_interval(share.value, (share.low, share.high))


def _in_two_lines(share: Aggregate) -> str:
    """A share above its interval, which is rounded, without a unit: names need the place."""
    interval = f"\n{100 * share.low:.0f} - {100 * share.high:.0f}" if share.sure else ""
    return f"{share.value:.1%}{interval}"


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
    for row in overall(by_contender(cells)):
        figures = row.written(_in_two_lines, "{elo:.0f}\n{low:.0f} - {high:.0f}")
        table.add_row(plain(row.name), *figures)
    return table


def summary(cells: Sequence[Cell]) -> str:
    """The table over all games as Markdown."""
    rows = [(row.name, *row.on_a_page) for row in overall(by_contender(cells))]
    return markdown(("agent", *OVERALL), rows) + f"\n\n{EXPLAINED}\n"


def page(cells: Sequence[Cell]) -> str:
    """The tables as Markdown: over all games, then game by game."""
    titles = [find_game(game).title for game in games_of(cells)]
    parts = [summary(cells).rstrip()]
    for measure in MEASURES:
        parts += [
            f"**{measure.capitalize()}**, the mean of the seeds, with the least and the most:",
            markdown(("agent", *titles), of_games(cells, measure)),
        ]
    return "\n\n".join(parts) + "\n"


def draw_profiles(cells: Sequence[Cell], path: Path) -> None:
    """Draw the profile of every contender, with its 95 % band if seeds are enough (needs `league`).

    If some have played all games, only theirs are drawn.
    """
    contenders = by_contender(cells)
    drawn = complete(contenders) or contenders
    figure = require("matplotlib.figure", "league").Figure(figsize=(10, 4), layout="constrained")
    for axes, measure in zip(figure.subplots(1, 2, sharey=True), MEASURES, strict=True):
        for number, (name, own) in enumerate(drawn.items()):
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
    if are_enough(scores):
        axes.fill_between(LEVELS, lows, highs, step="pre", color=colour, alpha=0.15, linewidth=0)
