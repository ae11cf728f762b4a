"""Results as tables for the terminal and for pages, and a learning curve as a picture."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from azumaya.baselines.arena.rounds import Score
from azumaya.envs.errors import naming
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Colours that stay apart for colour-blind readers (Okabe and Ito)."""
RATE = "games won, draws counted half"
"""What the learning curve shows, as a share of the games."""
STEPS, SHARES = "{x:,.0f}", "{x:.0%}"
"""How matplotlib writes numbers of steps, and shares, at an axis."""


def counted(count: int, noun: str) -> str:
    """A count with its noun, such as `1 game` or `1,200 games`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, of which all columns but the first are aligned right."""
    rule = ["---", *["---:"] * (len(headings) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, rule, *rows))


def escaped(text: str) -> str:
    """Text in a page of Markdown as it is, on one line, whatever markup it resembles."""
    return re.sub(r"([\\`*_\[\]<>|{}$!&~])", r"\\\1", " ".join(text.split()))


def plain(text: str) -> Text:
    """Text that is shown as it is, whatever markup it resembles."""
    made: Text = require("rich.text", "cli").Text(text)
    return made


def result_table(
    title: str, caption: str, first: str, figures: Sequence[str], leading: int = 1
) -> Table:
    """An empty table: a first column that folds long names, and columns of figures."""
    table: Table = require("rich.table", "cli").Table(
        title=plain(title) if title else None,
        caption=caption or None,
        box=require("rich.box", "cli").SIMPLE_HEAD,
        leading=leading,
        pad_edge=False,
    )
    table.add_column(first, overflow="fold")
    for name in figures:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def shown_rate(rate: float | None, interval: tuple[float, float] | None, digits: int = 1) -> str:
    """A rate, or a difference of rates, with its interval in percent; `-` for none.

    Args:
        rate, interval: as shares.
        digits: the decimals of the interval.
    """
    if rate is None or interval is None:
        return "-"
    low, high = interval
    return f"{rate:z.1%} [{100 * low:z.{digits}f}, {100 * high:z.{digits}f}]"


def with_interval(rate: float, interval: tuple[float, float]) -> str:
    """A rate with its interval as pages show it."""
    low, high = interval
    return f"{rate:.1%} ({low:.1%} to {high:.1%})"


def score_table(scores: Sequence[Score], title: str) -> Table:
    """Pairings as a table of two lines each, so that it fits 60 columns where names are short.

    The agent stands above its opponent, and `by seat` is the rate as player_0 above that as
    player_1. Names are shown as they are, whatever markup they resemble.
    """
    table = result_table(
        title,
        "A draw counts half. By seat: player_0, then player_1.",
        "agent\nagainst",
        ("won", "drawn", "lost", "rate\n[95 % interval]", "by\nseat"),
    )
    for score in scores:
        rate = shown_rate(score.rate, score.interval())
        seats = "\n".join(f"{rate:.0%}" for rate in score.rate_by_seat)
        counts = map(str, (score.wins, score.draws, score.losses))
        table.add_row(plain(f"{score.first}\n{score.second}"), *counts, rate, seats)
    return table


def learning_curve(curve: Sequence[Mapping[str, float]], path: Path | BinaryIO, title: str) -> None:
    """Draw rates over steps, one line for each opponent, as a PNG (needs `train`).

    Args:
        curve: points with `steps` and a rate by opponent.
        path: the picture to write, or a file that is open.
        title: its heading.
    """
    figure = require("matplotlib.figure", "train").Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    # an opponent may be measured from later on, when a run goes on with another version
    names = [name for name in dict.fromkeys(n for point in curve for n in point) if name != "steps"]
    for name, colour in zip(names, COLOURS, strict=False):
        there = [point for point in curve if name in point]
        steps = [point["steps"] for point in there]
        rates = [point[name] for point in there]
        # points at 0 and 1 lie on the frame, and are to be seen whole
        axes.plot(steps, rates, "o-", color=colour, label=name, clip_on=False, zorder=3)
    axes.axhline(0.5, color="0.7", linewidth=1)
    axes.set(title=title, xlabel="steps", ylabel=RATE, ylim=(0, 1))
    axes.xaxis.set_major_formatter(STEPS)
    axes.yaxis.set_major_formatter(SHARES)
    axes.spines[["top", "right"]].set_visible(False)
    if names:
        axes.legend(title="against", frameon=False)
    save_picture(figure, path)


def save_picture(figure: Any, path: Path | BinaryIO, **more: Any) -> None:
    """Write a figure; equal figures give equal files.

    Args:
        figure: matplotlib's.
        path: the picture, `.svg` or `.png`, or a file that is open, which gets a PNG.
        more: further arguments of `savefig`.
    """
    kind = path.suffix[1:].lower() if isinstance(path, Path) else "png"
    undated = {"Date": None} if kind == "svg" else None
    named = naming(path) if isinstance(path, Path) else contextlib.nullcontext()
    with named, require("matplotlib", "league").rc_context({"svg.hashsalt": "azumaya"}):
        figure.savefig(path, dpi=150, format=kind, metadata=undated, **more)
