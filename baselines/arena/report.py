"""Results as a table in the terminal and a learning curve as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from azumaya.baselines.arena.matches import Score
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Colours that stay apart for colour-blind readers (Okabe and Ito)."""


def score_table(scores: Sequence[Score], title: str) -> Table:
    """Pairings as a table; `by seat` is the share of games won as player_0 and as player_1."""
    table: Table = require("rich.table", "cli").Table(title=title)
    table.add_column("agent")
    table.add_column("against")
    for name in ("won", "drawn", "lost", "rate (95 % interval)", "by seat"):
        table.add_column(name, justify="right")
    for score in scores:
        low, high = score.interval()
        rate = f"{score.rate:.1%} ({low:.1%} - {high:.1%})"
        seats = " ".join(f"{2 * wins / score.games:.0%}" for wins in score.by_seat)
        counts = map(str, (score.wins, score.draws, score.losses))
        table.add_row(score.first, score.second, *counts, rate, seats)
    return table


def learning_curve(curve: Sequence[Mapping[str, float]], path: Path, title: str) -> None:
    """Draw win rates over steps, one line for each opponent, as a PNG (needs `train`).

    Args:
        curve: points with `steps` and a rate by opponent.
        path: the picture to write.
        title: its heading.
    """
    figure = require("matplotlib.figure", "train").Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    names = [name for name in (curve[0] if curve else {}) if name != "steps"]
    for name, colour in zip(names, COLOURS, strict=False):
        steps = [point["steps"] for point in curve]
        axes.plot(steps, [point[name] for point in curve], "o-", color=colour, label=name)
    axes.axhline(0.5, color="0.7", linewidth=1)
    axes.set(title=title, xlabel="actions of the learner", ylabel="win rate", ylim=(0, 1))
    axes.spines[["top", "right"]].set_visible(False)
    if names:
        axes.legend(title="against", frameon=False)
    figure.savefig(path, dpi=150)
