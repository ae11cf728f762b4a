"""`azumaya replay`: recorded games as a page to hand on, or as an animated picture."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from azumaya.baselines.files import shown, write_whole
from azumaya.baselines.replay import replay_gif, replay_page
from azumaya.baselines.terminal import progress
from azumaya.envs import OptionError
from azumaya.envs.notation import GameRecord, read_records

MOST_GAMES = 100
"""Games of one page, which all are in it as pictures."""
PAGE, ANIMATION = ".html", ".gif"


def replay_command(
    records: Annotated[Path, typer.Argument(help="A file of game records, one per line.")],
    output: Annotated[Path, typer.Option(help=f"The {PAGE} page or {ANIMATION} picture to write.")],
    line: Annotated[
        int | None,
        typer.Option(min=1, help=f"Only the game in this line. Default: up to {MOST_GAMES} games."),
    ] = None,
    values: Annotated[
        float | None,
        typer.Option(
            metavar="MILLISECONDS",
            help="Search each position for so long, and show the values as a graph.",
        ),
    ] = None,
    pause: Annotated[
        float, typer.Option(min=20, help="Milliseconds for each position of a .gif.")
    ] = 700,
) -> None:
    """Turn recorded games into one page that needs nothing else, or into an animated picture."""
    try:
        _check(output, values)
        games = _read(records, line)
        if output.suffix == ANIMATION:
            content = replay_gif(games[0], pause)
        else:
            content = _page(games, values).encode()
        write_whole(output, content)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    typer.echo(f"{shown(output)}: {len(games)} games, {len(content) / 1e6:.1f} MB")


def _check(output: Path, values: float | None) -> None:
    if output.suffix not in (PAGE, ANIMATION):
        raise OptionError(f"--output {shown(output)}: must end in {PAGE} or {ANIMATION}")
    if not output.parent.is_dir():
        raise OptionError(f"--output {shown(output)}: there is no folder {shown(output.parent)}")
    if values is not None and not 0 < values < float("inf"):
        raise OptionError(f"--values {values:g}: a number above 0 is needed")
    if values is not None and output.suffix == ANIMATION:
        raise OptionError(f"--values: only a {PAGE} page has a graph")


def _read(path: Path, line: int | None) -> list[GameRecord]:
    """The games of a file, or the one of a line."""
    try:
        first = 0 if line is None else line - 1
        last = MOST_GAMES if line is None else line
        found = list(itertools.islice(read_records(path), first, last))
    except OSError as error:
        raise OptionError(f"{shown(path)}: {error.strerror}") from None
    if not found:
        raise OptionError(f"{shown(path)}: it has no record" + (f" {line}" if line else ""))
    return found


def _page(games: list[GameRecord], values: float | None) -> str:
    if values is None:
        return replay_page(games)
    with progress(TextColumn("searching"), BarColumn(), MofNCompleteColumn()) as bar:
        task = bar.add_task("", total=sum(len(game.moves) + 1 for game in games))
        return replay_page(games, values, lambda done, all_of_it: bar.advance(task))
