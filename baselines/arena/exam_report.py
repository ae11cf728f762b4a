"""Results of exams as tables in the terminal and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azumaya.baselines.arena.exam_results import ExamResult, Interval
from azumaya.baselines.arena.report import COLOURS, plain, result_table, save_picture, shown_rate
from azumaya.envs import find_game
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from rich.table import Table

INTERVALS = "In brackets: 95 % confidence interval."
COLUMNS = 3
"""Games in a row of the picture."""
STYLES = ("o-", "s--", "^:", "D-.")
"""Markers and lines in the picture, which change where the colours begin again."""


def exam_table(results: Sequence[ExamResult]) -> Table:
    """The results, a row for each agent and game, with 95 % intervals beside the figures."""
    table = result_table(
        f"Exams, part {' and '.join(dict.fromkeys(result.part for result in results))}",
        INTERVALS,
        "game\nagent",
        ("won\ndrawn", "wins kept", "draws kept", "regret"),
    )
    for result in results:
        table.add_row(
            plain(f"{result.game}\n{result.agent}"),
            f"{len(result.wins)}\n{len(result.draws)}",
            shown_rate(result.kept_wins, result.kept_wins_interval, 0),
            shown_rate(result.kept_draws, result.kept_draws_interval, 0),
            "{:.3f} [{:.2f}, {:.2f}]".format(result.regret, *result.regret_interval),
        )
    return table


def distance_tables(results: Sequence[ExamResult]) -> Iterable[Table]:
    """For each game, the share of wins kept by distance from the end."""
    for game, group in _by_game(results).items():
        table = result_table(
            f"{game}: wins kept by plies left",
            INTERVALS,
            "agent",
            ("plies left", "won", "wins kept"),
        )
        for result in group:
            groups = result.by_distance()
            cells = (
                [f"{low}-{high}" for low, high in groups],
                [str(len(part.wins)) for part in groups.values()],
                [
                    shown_rate(part.kept_wins, part.kept_wins_interval, 0)
                    for part in groups.values()
                ],
            )
            table.add_row(plain(result.agent), *map("\n".join, cells))
        yield table


def _by_game(results: Iterable[ExamResult]) -> dict[str, list[ExamResult]]:
    """The results of each game, in the order in which games appear first."""
    found: dict[str, list[ExamResult]] = {}
    for result in results:
        found.setdefault(result.game, []).append(result)
    return found


def draw_exams(results: Sequence[ExamResult], path: Path) -> None:
    """Draw the share of wins kept over the distance from the end (needs `league`).

    Args:
        results: those of all agents and games, in any order.
        path: the picture, `.svg` or `.png`.
    """
    games = _by_game(results)
    rows = -(-len(games) // COLUMNS)
    columns = min(COLUMNS, len(games))
    places = {agent: i for i, agent in enumerate(dict.fromkeys(r.agent for r in results))}
    figure = require("matplotlib.figure", "league").Figure(
        figsize=(3.2 * columns + 0.8, 2.6 * rows + 0.6), layout="constrained"
    )
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).flat
    for panel, (game, group) in zip(panels, games.items(), strict=False):
        _draw_game(panel, game, group, places)
    for unused in list(panels):
        unused.set_visible(False)
    handles = {h.get_label(): h for a in figure.axes for h in a.get_legend_handles_labels()[0]}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4,
                  frameon=False)  # fmt: skip
    figure.supxlabel("plies left in the game", fontsize="medium")
    figure.supylabel("wins kept, with 95 % intervals", fontsize="medium")
    save_picture(figure, path)


def _draw_game(
    axes: Any, game: str, results: Sequence[ExamResult], places: Mapping[str, int]
) -> None:
    """Draw the results of a game; an agent looks the same in all games, by its place."""
    for result in results:
        number = places[result.agent]
        parts = {ends: part for ends, part in result.by_distance().items() if part.wins}
        middles = [(low + high) / 2 + 0.12 * number for low, high in parts]
        shares = [part.kept_wins for part in parts.values()]
        errors = [_errors(part) for part in parts.values()]
        again, colour = divmod(number, len(COLOURS))
        axes.errorbar(
            middles, shares, yerr=list(zip(*errors, strict=True)) or None, color=COLOURS[colour],
            fmt=STYLES[again % len(STYLES)], markersize=4, clip_on=False, linewidth=1.2,
            elinewidth=0.8, label=result.agent,
        )  # fmt: skip
    axes.set_title(find_game(game).title, fontsize="medium")
    axes.set_ylim(0, 1.02)
    axes.spines[["top", "right"]].set_visible(False)


def _errors(result: ExamResult) -> Interval:
    """How far the interval reaches below and above the share."""
    share, interval = result.kept_wins, result.kept_wins_interval
    assert share is not None
    assert interval is not None
    return share - interval[0], interval[1] - share
