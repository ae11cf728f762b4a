"""`azumaya analyse`: the value of a position, its best moves, and whether they are proven."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from azumaya.baselines.arena.game_options import game_named, named_games, read_options
from azumaya.baselines.arena.report import counted, result_table
from azumaya.baselines.cli.evaluate import Options
from azumaya.baselines.cli.terminal import complaints, console, wrote
from azumaya.baselines.search.analysis import Analysis, MoveValue, analyse, shown_value, summary
from azumaya.baselines.system.commands import time_option
from azumaya.baselines.system.files import check_picture, shown
from azumaya.envs import GAMES, OptionError, Position, find_game
from azumaya.envs.errors import naming
from azumaya.envs.notation import GameRecord, read_record, read_records, replay
from azumaya.envs.position import check_seed
from azumaya.envs.render import ansi_of, save
from azumaya.envs.scene import Scene
from azumaya.envs.setup import POSITION

MILLISECONDS = 1000.0
"""The default budget."""


def analyse_command(
    game: Annotated[
        str | None,
        typer.Option(
            help=f"The game: {', '.join(GAMES)}. Not needed with --record.",
            autocompletion=named_games,
        ),
    ] = None,
    position: Annotated[
        str, typer.Option(help="The position, as text. Default: the start drawn by --seed.")
    ] = "",
    record: Annotated[
        str,
        typer.Option(
            metavar="FILE[:LINE]",
            help="Take the position from a record in this file: the one on LINE, or else the "
            "first.",
        ),
    ] = "",
    ply: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With --record: the position after this many moves. Default: the last one in "
            "which the game is not over.",
        ),
    ] = None,
    option: Options = None,
    time: Annotated[
        float | None,
        time_option("The time of the search.", "ms", MILLISECONDS),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(help="Search this many nodes instead: the same result on every machine."),
    ] = None,
    simulations: Annotated[
        int | None,
        typer.Option(help="Run this many simulations instead: the same result on every machine."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of the start position and of the search.")
    ] = 0,
    top: Annotated[int, typer.Option(min=1, help="How many moves to list.")] = 10,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with all moves instead.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Draw the position, with the best move marked, to this .svg or .png file."
        ),
    ] = None,
) -> None:
    """Search a position: its value, its best moves, and whether they are proven."""
    with complaints():
        budget = _budget(time, nodes, simulations)
        check_seed(seed, "--seed")
        if output is not None:
            check_picture(output, f"--output {shown(output)}")
        if record:
            here = _recorded(game, position, option or (), record, ply)
        else:
            here = _position(game, position, option or (), seed, ply)
        if here.is_over:
            raise OptionError("position: the game is over; there is nothing to analyse")
        found = analyse(here, key=seed, **budget)
    if as_json:
        typer.echo(json.dumps(as_object(here, found)))
    else:
        _print(here, found, top, board=output is None)
    if output is not None:  # last, so that a full disk does not cost the analysis
        with naming(output):
            save(_scene(here, found), output)
        wrote(output, "the position with the best move", as_json)


def _budget(time: float | None, nodes: int | None, simulations: int | None) -> dict[str, Any]:
    """The budget that was given, as an argument of `analyse`.

    Raises:
        OptionError: several were given, or it is not above 0.
    """
    all_three = {"time": time, "nodes": nodes, "simulations": simulations}
    given = {name: value for name, value in all_three.items() if value is not None}
    if len(given) > 1:
        said = " and ".join(f"--{name}" for name in given)
        raise OptionError(f"budget: {said} are given; give only one of them")
    for name, value in given.items():
        if value <= 0:
            raise OptionError(f"--{name} {value}: must be a number above 0")
    milliseconds = given.pop("time", None if given else MILLISECONDS)
    return given if milliseconds is None else {"milliseconds": milliseconds}


def _position(
    game: str | None, text: str, options: list[str] | tuple[()], seed: int, ply: int | None
) -> Position:
    """The position given as text, or the start drawn from a seed."""
    if ply is not None:
        raise OptionError(f"--ply {ply}: needs --record")
    if game is None:
        raise OptionError(f"--game: name one of {', '.join(GAMES)}")
    known = game_named(game)
    given = read_options(known, options)
    if text and POSITION in given:
        raise OptionError("position: given by --position and by --option; give it once")
    text = text or given.pop(POSITION, "")
    if text:
        return Position.from_text(known, text, **given)
    return Position(known, seed=seed, **given)


def _recorded(
    game: str | None, text: str, options: list[str] | tuple[()], where: str, ply: int | None
) -> Position:
    """A position of a recorded game.

    Raises:
        ValueError: there is no such record or ply, the record breaks the rules, or the position or
            an option is given as well.
    """
    if text or options:
        raise OptionError("--record: contains the position; leave out --position and --option")
    record = _read(where)
    if game is not None and game_named(game).name != find_game(record.environment).name:
        raise OptionError(f"game {game}: the record is of {record.environment}; leave --game out")
    positions = list(replay(record))
    if ply is None:
        return next((p for p in reversed(positions) if not p.is_over), positions[-1])
    if ply >= len(positions):
        raise OptionError(f"--ply {ply}: must be at most {len(positions) - 1}, the game's moves")
    return positions[ply]


def _read(where: str) -> GameRecord:
    """The record at `FILE` or `FILE:LINE`."""
    parts = re.fullmatch(r"(.+?)(?::([0-9]{1,9}))?", where, re.DOTALL)
    file, line = (where, None) if parts is None else parts.groups()
    try:
        found = next(read_records(file), None) if line is None else read_record(file, int(line))
    except OSError as error:
        raise OptionError(f"--record {shown(file)}: {error.strerror}") from None
    if found is None:
        raise OptionError(f"--record {shown(where)}: the file has no record")
    return found


def _scene(position: Position, found: Analysis) -> Scene:
    """A position with the best move marked, and the stone that it places where it will stand."""
    action = position.action(found.best)
    scene = position.scene()
    marked = frozenset(position.action_cells(action))
    after = position.copy().play(action).scene()
    cells = range(len(scene.stones))
    if any(scene.stones[cell] and not after.stones[cell] for cell in cells):
        return replace(scene, last=marked)  # a stone moves: it is shown where it is
    stones = [
        after.stones[cell] if cell in marked and not scene.stones[cell] else scene.stones[cell]
        for cell in cells
    ]
    return replace(scene, stones=tuple(stones), last=marked)


def as_object(position: Position, found: Analysis) -> dict[str, Any]:
    """An analysis as the object that `--json` prints."""
    return {
        "game": position.game.name,
        "position": str(position),
        "to_move": found.to_move,
        "value": _number(found.value, found.exact),
        "exact": found.exact,
        "best": found.best,
        "pv": list(found.pv),
        "moves": [
            {
                "move": move.move,
                "value": _number(move.value, move.exact),
                "exact": move.exact,
                "visits": move.visits,
            }
            for move in found.moves
        ],
        "nodes": found.nodes,
        "simulations": found.simulations,
    }


def _number(value: float | None, exact: bool) -> float | int | None:
    """A value for JSON; exact ones are whole numbers."""
    return int(value) if exact and value is not None else value


def _print(position: Position, found: Analysis, top: int, board: bool) -> None:
    if board:
        drawn = ansi_of(_scene(position, found))
        typer.echo(drawn.replace("> last move", "> best move"), color=True)
    typer.echo(f"player_{found.to_move} to move: {summary(found)}")
    typer.echo(f"line: {' '.join(found.pv)}")
    typer.echo(f"{found.nodes:,} nodes, {found.simulations:,} simulations")
    console().print(_table(found.moves[:top]))
    if len(found.moves) > top:
        typer.echo(f"and {counted(len(found.moves) - top, 'more move')} (--top, --json)")


def _table(moves: tuple[MoveValue, ...]) -> Table:
    table = result_table("", "", "move", ("value", "exact", "visits"), leading=0)
    for move in moves:
        exact = "yes" if move.exact else "no"
        table.add_row(move.move, shown_value(move.value, move.exact), exact, f"{move.visits:,}")
    return table
