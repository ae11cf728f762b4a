"""The standing of a league as tables for the terminal, a page and a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azumaya.baselines.arena.league.cards import CLASSES, SLOWER
from azumaya.baselines.arena.league.ratings import ALL, ANCHOR, Rating
from azumaya.baselines.arena.league.results import League, Session
from azumaya.baselines.arena.league.standing import Standing
from azumaya.baselines.arena.report import COLOURS, counted, escaped, markdown, plain, save_picture
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table

NAME_WIDTH = 12
"""Characters of a name that are in one line also in a narrow terminal."""
GAME_WIDTH, MARGIN = 8, 3
"""The width of a column of ratings, as the longest word in a game's name, and of its margin."""
UNMEASURED = "0.7"
"""The colour of agents of whose moves none was timed, such as one that failed in every game."""
CAPTION = (
    f"Elo; {ANCHOR} has 0. The intervals are at 95 %, from a bootstrap over pairs of games. "
    "A draw counts half."
)


def rating_table(found: Sequence[Standing], title: str) -> Table:
    """The ratings over all games. Names are shown as they are, whatever markup they resemble."""
    table: Table = require("rich.table", "cli").Table(
        title=plain(title), caption=CAPTION, box=require("rich.box", "cli").SIMPLE_HEAD
    )
    table.add_column("agent", overflow="fold", min_width=NAME_WIDTH)
    for name in ("time\nper move", "class", "rating", "95 % interval", "score", "games"):
        table.add_column(name, justify="right", no_wrap=True)
    for standing in found:
        table.add_row(plain(standing.label), *_cells(standing))
    return table


def game_tables(found: Sequence[Standing], games: Sequence[str], width: int) -> list[Table]:
    """The ratings for each game, in as many tables as a terminal of `width` columns needs."""
    longest = max((len(standing.label) for standing in found), default=0)
    names = max(NAME_WIDTH, min(longest, width // 3))
    most = max(1, (width - names - 1) // (GAME_WIDTH + MARGIN))
    tables = max(1, math.ceil(len(games) / most))
    each = max(1, math.ceil(len(games) / tables))
    return [_game_table(found, games[at : at + each]) for at in range(0, len(games), each)]


def _game_table(found: Sequence[Standing], games: Sequence[str]) -> Table:
    table: Table = require("rich.table", "cli").Table(
        title=plain("by game"), box=require("rich.box", "cli").SIMPLE_HEAD
    )
    table.add_column("agent", overflow="fold", min_width=NAME_WIDTH)
    for game in games:
        table.add_column(plain(game.replace("_", "\n")), justify="right", no_wrap=True)
    for standing in found:
        table.add_row(plain(standing.label), *(_rating(standing.ratings.get(g)) for g in games))
    return table


def games_of(found: Iterable[Standing]) -> list[str]:
    """The games in which any agent has a rating, in the order of their names."""
    return sorted({game for standing in found for game in standing.ratings} - {ALL})


def fault_lines(found: Iterable[Standing]) -> list[str]:
    """A line for each agent that lost games by a fault."""
    return [
        f"{s.label} lost {counted(s.faults, 'game')} by a fault, first: {s.fault}"
        for s in found
        if s.faults
    ]


def _cells(standing: Standing) -> tuple[str, ...]:
    rating, time = standing.ratings.get(ALL), standing.milliseconds
    shown = "" if time is None else f"{time:.3g} ms"
    if rating is None:
        return shown, standing.time_class, "", "", "", ""
    interval = f"{rating.low:+.0f} to {rating.high:+.0f}"
    score = f"{rating.score:.0%}"
    return shown, standing.time_class, f"{rating.elo:+.0f}", interval, score, str(rating.games)


def _rating(rating: Rating | None) -> str:
    return "" if rating is None else f"{rating.elo:+.0f}"


# ---- the page ----


def page(league: League, found: Sequence[Standing], picture: str, command: str) -> str:
    """The standing as a Markdown page.

    Args:
        league: the league.
        found: its standing.
        picture: the URL of the picture, relative to the page; empty for none.
        command: the command that makes the page.
    """
    games = games_of(found)
    booked = [game for game in games if league.settings.starts.get(game)]
    starts = f"balanced starts of {', '.join(booked)}" if booked else "plain starts"
    if booked and len(booked) < len(games):
        starts += ", plain starts of the other games"
    parts = [
        "# League",
        f"{len(found)} agents, {len(games)} games, {len(league.pairs):,} pairs of games, {starts}, "
        f"seed {league.settings.seed}. The two games of a pair have the same start and swapped "
        f"seats. {CAPTION} Over all games, each game has the same weight.",
        *_played(league.sessions),
        *([f"![Ratings over all games]({picture})"] if picture else []),
        markdown(
            ("agent", "time per move", "class", "rating", "95 % interval", "score", "games"),
            [(_code(s.label), *_cells(s)) for s in found],
        ),
        "## By game",
        markdown(
            ("agent", *games),
            [(_code(s.label), *(_interval(s.ratings.get(g)) for g in games)) for s in found],
        ),
        "## Agents",
        markdown(
            ("agent", "kind", "files", "training", "faults"),
            [_card_row(standing) for standing in found],
        ),
        *_exam_parts(found),
        f"This page was made by `{command}`.",
    ]
    return "\n\n".join(parts) + "\n"


def _played(sessions: Sequence[Session]) -> list[str]:
    """When and where the games were played, by which code: a sentence, or nothing if unknown."""
    places = dict.fromkeys(
        f"on {s.date} on {counted(s.cores, 'core')} of {s.cpu} by azumaya {s.azumaya} "
        f"(commit {s.commit})"
        for s in sessions
    )
    return [f"Played {escaped('; '.join(places))}."] if places else []


def _exam_parts(found: Sequence[Standing]) -> list[str]:
    rows = [
        (
            _code(s.label),
            exam["game"],
            f"{exam['part']}, version {exam['version']}",
            str(exam["positions"]),
            *(_number(exam[name]) for name in ("kept_wins", "kept_draws", "regret")),
        )
        for s in found
        for exam in s.exams
    ]
    header = ("agent", "game", "part", "positions", "wins kept", "draws kept", "mean regret")
    return ["## Exams", markdown(header, rows)] if rows else []


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.3f}"


def _interval(rating: Rating | None) -> str:
    return "" if rating is None else f"{rating.elo:+.0f} ({rating.low:+.0f} to {rating.high:+.0f})"


def _card_row(standing: Standing) -> tuple[str, ...]:
    card = standing.card
    training = ", ".join(f"{name} {value}" for name, value in card.training.items())
    faults = f"{standing.faults}: {standing.fault}" if standing.faults else "0"
    return _code(card.name), card.kind, card.digest, escaped(training), escaped(faults)


def _code(name: str) -> str:
    """A name as a code span, whatever it contains."""
    fence = "`"
    while fence in name:
        fence += "`"
    inner = name.replace("|", "\\|").replace("\n", " ")
    return f"{fence}{inner}{fence}" if len(fence) == 1 else f"{fence} {inner} {fence}"


# ---- the picture ----


def draw(found: Sequence[Standing], path: Path) -> None:
    """Draw the ratings over all games as bars with their intervals, as SVG or PNG.

    Colours are classes of time per move. The same ratings give the same file.
    """
    rated = [standing for standing in found if ALL in standing.ratings][::-1]
    figure = require("matplotlib.figure", "league").Figure(
        figsize=(7, 1.2 + 0.32 * len(rated)), layout="constrained"
    )
    axes = figure.add_subplot()
    classes = [*(f"{limit:g} ms" for limit in CLASSES), SLOWER, ""]
    for name, colour in zip(classes, (*COLOURS, UNMEASURED), strict=True):
        places = [i for i, standing in enumerate(rated) if standing.time_class == name]
        if places:
            ratings = [rated[i].ratings[ALL] for i in places]
            _bars(axes, ratings, places, colour, name or "not measured")
    axes.set_yticks(range(len(rated)), [unmarked(standing.label) for standing in rated])
    axes.set(xlabel=f"Elo, {ANCHOR} = 0", title="Ratings over all games")
    axes.spines[["top", "right"]].set_visible(False)
    if rated:
        axes.legend(title="time per move", frameon=False, loc="lower right")
    save_picture(figure, path)


def _bars(
    axes: Any, ratings: Sequence[Rating], places: Sequence[int], colour: str, name: str
) -> None:
    values = [rating.elo for rating in ratings]
    ends = [
        [max(rating.elo - rating.low, 0) for rating in ratings],
        [max(rating.high - rating.elo, 0) for rating in ratings],
    ]
    axes.barh(places, values, color=colour, label=name, height=0.65)
    axes.errorbar(values, places, xerr=ends, fmt="none", ecolor="0.2", capsize=2, linewidth=1)


def unmarked(name: str) -> str:
    """A name in which matplotlib sees no formula."""
    return name.replace("$", "\\$")
