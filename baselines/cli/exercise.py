"""`azumaya exercise`: find the winning move, in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from azumaya.baselines.arena.entrants import HUMAN, find_entrant
from azumaya.baselines.arena.game_options import game_named
from azumaya.baselines.cli.play import HELP, LeaveError, ask, draw, obey, tell
from azumaya.baselines.cli.terminal import complaints, waiting
from azumaya.baselines.play.exercises import (
    LEVELS,
    Exercise,
    daily_exercise,
    exercise_games,
    find_exercise,
    judge,
)
from azumaya.baselines.play.table import Table
from azumaya.baselines.system.signals import DONE, INTERRUPTED
from azumaya.envs import OptionError

NEXT = "next"


def exercise_command(
    game: Annotated[
        str | None,
        typer.Option(
            help=f"The game: {', '.join(exercise_games())}. Default: the exercise of the day.",
            autocompletion=exercise_games,
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help=f"The level of --game: {', '.join(LEVELS)}. Default: {LEVELS[0]}.",
            autocompletion=lambda: [*LEVELS],
        ),
    ] = None,
    number: Annotated[
        int | None, typer.Option(min=1, help="The exercise of --game to begin with. Default: 1.")
    ] = None,
) -> None:
    """Find winning moves in positions where every move's value is known."""
    with complaints():
        if game is not None:
            exercise = find_exercise(game_named(game).name, level or LEVELS[0], number or 1)
        elif level is None and number is None:
            exercise = daily_exercise()
        else:
            raise OptionError(
                "--level, --number: the exercise of the day has its own; name a game with --game"
            )
    tell(f"Type {HELP}, {NEXT}")
    streak = 0
    try:
        while True:
            streak = streak + 1 if _solve(exercise) else 0
            if streak:
                tell(f"{streak} in a row at the first try.")
            exercise = find_exercise(exercise.game, exercise.level, exercise.number + 1)
    except (LeaveError, EOFError, KeyboardInterrupt) as end:
        if not isinstance(end, LeaveError):
            typer.echo()
        raise typer.Exit(INTERRUPTED if isinstance(end, KeyboardInterrupt) else DONE) from None


def _solve(exercise: Exercise) -> bool:
    """Ask until the exercise is solved or skipped; whether the first answer was right."""
    person, is_first = find_entrant(HUMAN), True
    start = exercise.start()
    table = Table((person, person), 0, [start])
    tell(f"{start.game.title}, {exercise.level}, {exercise.number} of {exercise.of}")
    draw(table)
    while True:
        tell(f"{exercise.task}.")
        line = ask("your move: ")
        if line == NEXT:
            return False
        move = obey(line, table)
        if move is None:
            continue
        with waiting("looking for an answer"):
            found = judge(exercise, move)
        for made in (found.move, *found.line):
            table.play(made)
        draw(table)
        tell(found.words)
        if found.right:
            return is_first
        is_first = False
        table = Table((person, person), 0, [start])
