"""`azumaya replay`: recorded games as a page to hand on, as an animated picture, or as a video."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.arena.report import counted
from azumaya.baselines.cli.terminal import complaints, progress, wrote
from azumaya.baselines.play.replay import replay_gif, replay_mp4, replay_page
from azumaya.baselines.system.commands import time_option
from azumaya.baselines.system.files import check_writable, shown, write_whole
from azumaya.envs import OptionError
from azumaya.envs.notation import GameRecord, read_record, read_records

MOST_GAMES = 100
"""Games of one page, which all are in it as pictures."""
PAUSE = 700.0
"""Milliseconds for each position."""
PAGE = ".html"
MOVING: Mapping[str, Callable[[GameRecord, float], bytes]] = {
    ".gif": replay_gif,
    ".mp4": replay_mp4,
}
"""What else can be made of a game, by the ending of the file's name."""


def replay_command(
    records: Annotated[Path, typer.Argument(help="A file of game records, one per line.")],
    output: Annotated[
        Path, typer.Option(help="The file to write: a .html page, a .gif picture or a .mp4 video.")
    ],
    line: Annotated[
        int | None,
        typer.Option(min=1, help=f"Only the game on this line. Default: the first {MOST_GAMES}."),
    ] = None,
    values: Annotated[
        float | None,
        time_option("Search each position for so long, and show the values as a graph.", "ms"),
    ] = None,
    pause: Annotated[
        float,
        time_option(
            "The time for each position of a .gif or .mp4.", "ms", PAUSE, least=20, most=60_000
        ),
    ] = PAUSE,
) -> None:
    """Turn recorded games into one page that needs nothing else, or one game into a video."""
    with complaints():
        make = _maker(output, values)
        games, more = _read(records, line, MOST_GAMES if make is None else 1)
        content = _page(games, values).encode() if make is None else make(games[0], pause)
    write_whole(output, content)
    count = counted(len(games), "game")
    wrote(output, f"{count}, {len(content) / 1e6:.1f} MB")
    if more:
        said = "there are more games in the file, which were left out; --line N shows another one"
        typer.echo(f"{shown(records)}: {said}")


def _maker(output: Path, values: float | None) -> Callable[[GameRecord, float], bytes] | None:
    """What makes the file from a game; None for a page."""
    kind = output.suffix.lower()
    if kind not in (PAGE, *MOVING):
        known = f"{PAGE}, {' or '.join(MOVING)}"
        raise OptionError(f"--output {shown(output)}: must end in {known}")
    if values is not None and kind in MOVING:
        raise OptionError(f"--values: only a {PAGE} page has a graph")
    check_writable(output, f"--output {shown(output)}")  # a search of hours may come before
    return MOVING.get(kind)


def _read(path: Path, line: int | None, most: int) -> tuple[list[GameRecord], bool]:
    """The first games of a file and whether there are more, or the one of a line."""
    if line is not None:
        return [read_record(path, line)], False
    found = list(itertools.islice(read_records(path), most + 1))
    if not found:
        raise OptionError(f"{shown(path)}: it has no record")
    return found[:most], len(found) > most


def _page(games: list[GameRecord], values: float | None) -> str:
    if values is None:
        return replay_page(games)
    with progress("searching") as bar:
        task = bar.add_task("", total=sum(len(game.moves) + 1 for game in games))
        return replay_page(games, values, lambda done, all_of_it: bar.advance(task))
