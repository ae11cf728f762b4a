"""`azumaya check-game`: whether a game keeps what every game must."""

from __future__ import annotations

import faulthandler
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from textwrap import indent
from typing import Annotated

import typer

from azumaya.baselines.cli.findings import COMPILED, Finding, check_game
from azumaya.baselines.cli.terminal import complaints, console
from azumaya.baselines.system.signals import FAILED
from azumaya.envs.errors import OptionError, told
from azumaya.envs.extras import import_own
from azumaya.envs.game import Game
from azumaya.envs.registry import GAMES, register_game

ENDLESS = 120.0
"""Seconds that checking a variant hardly takes, even if all of its kernels have to be compiled."""


def check_game_command(
    module: Annotated[
        str, typer.Argument(help="The module with the game, such as mygame or mygame.py.")
    ],
    games: Annotated[int, typer.Option(min=1, help="Random games for each law.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Draws the games.")] = 0,
    full: Annotated[
        bool,
        typer.Option("--full", help="If a kernel cannot be compiled, print all that numba says."),
    ] = False,
) -> None:
    """Check a game of your own: all of its variants, at every ply of random games.

    Masks against the rules' explanations, texts, observations, copies, seeds, bounds, a batch
    against single games, symmetries. What fails is explained; then the exit code is 1.
    """
    if sys.__stderr__ is not None:  # a kernel that reads outside an array may end the process
        faulthandler.enable(sys.__stderr__)
    with complaints():
        found = games_of(module)
    screen, broken = console(), 0
    for game in found:
        for options in game.options.variants or ({},):
            with _told_if_endless():
                findings = check_game(game, options, games, seed)
            wrong = [finding for finding in findings if finding.broken]
            if findings[0].law == COMPILED:
                _say_uncompiled(game, findings[0], full)
                broken += 1
                break  # it cannot with other options either
            held = f"{len(findings) - len(wrong)} of {len(findings)} laws hold"
            screen.print(f"{game.name} {dict(options)}: {held}", soft_wrap=True)
            for law, why, _ in wrong:
                screen.print(f"  ✗ {law}", style="bold red", soft_wrap=True)
                screen.print(indent(why, " " * 6), soft_wrap=True)
            broken += len(wrong)
    typer.echo("all laws hold" if not broken else f"laws broken: {broken}")
    if broken:
        raise typer.Exit(FAILED)


@contextmanager
def _told_if_endless() -> Iterator[None]:
    """Print where the process is if this takes too long: endless kernels hear no Ctrl-C."""
    if sys.__stderr__ is not None:
        faulthandler.dump_traceback_later(ENDLESS, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _say_uncompiled(game: Game, finding: Finding, full: bool) -> None:
    """Say why a kernel cannot be compiled."""
    screen = console()
    screen.print(f"{game.name}: nothing can be checked", soft_wrap=True)
    screen.print(f"  ✗ {finding.law}", style="bold red", soft_wrap=True)
    screen.print(indent(finding.broken, " " * 6), soft_wrap=True)
    if full:
        screen.print("".join(traceback.format_exception(finding.error)))
    else:
        screen.print("      --full prints all that numba says", style="dim")


def games_of(module: str) -> list[Game]:
    """The games that a module has as attributes; it may be in the current folder.

    Args:
        module: its name, or its path, like `mygame.py`, in the current folder or below it.

    Raises:
        OptionError: it cannot be imported, or has no game, or one that cannot be registered.
    """
    name = module
    if module.lower().endswith(".py"):
        path = PurePath(os.path.relpath(module)).with_suffix("")
        if os.pardir in path.parts:
            raise OptionError(f"module {module}: it is not below the current folder")
        name = ".".join(path.parts)
    try:
        found = vars(import_own(name)).values()
    except Exception as error:  # whatever the module does when it is imported
        raise OptionError(f"module {name}: it cannot be imported: {told(error)}") from error
    games = list({id(game): game for game in found if isinstance(game, Game)}.values())
    if not games:
        raise OptionError(f"module {name}: it has no Game; make the record an attribute, like GAME")
    for game in games:
        if game not in GAMES.values():
            register_game(game, name)  # its positions are pickled by its name
    return games
