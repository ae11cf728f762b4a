"""`azumaya exam`: how well agents play positions in which the value of every move is known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.agents.asking import check_agent
from azumaya.baselines.agents.names import NAMES_HELP, example_agents
from azumaya.baselines.arena.entrants import Entrant, find_entrant, wrong_moves_fail
from azumaya.baselines.arena.exam_report import distance_tables, draw_exams, exam_table
from azumaya.baselines.arena.exam_results import ExamResult
from azumaya.baselines.arena.exams import PARTS, SUFFIX, Exam, Part, exams_at, has_exam, load_exam
from azumaya.baselines.arena.game_options import game_named, named_games
from azumaya.baselines.arena.matches import answer_exam
from azumaya.baselines.cli.terminal import (
    complaints,
    console,
    printing_aside,
    progress,
    say,
    wrote,
)
from azumaya.baselines.system.files import check_picture, shown
from azumaya.envs import GAMES, OptionError
from azumaya.envs.errors import did_you_mean
from azumaya.envs.extras import require
from azumaya.envs.position import check_seed

Sitting = tuple[Entrant, Exam]
PartName = Annotated[
    str,
    typer.Option(
        help=f"The part of the exams: {' or '.join(PARTS)}. Use the latter for reporting only.",
        autocompletion=lambda: [*PARTS],
    ),
]


def exam(
    agents: Annotated[
        list[str],
        typer.Argument(metavar="AGENT...", help=f"{NAMES_HELP}.", autocompletion=example_agents),
    ],
    game: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A game: {', '.join(GAMES)}. Default: all that the agent can play. Repeat for "
            "more games.",
            autocompletion=named_games,
        ),
    ] = None,
    part: PartName = PARTS[0],
    file: Annotated[
        list[Path] | None,
        typer.Option(
            help="An exam of your own instead of those that ship: a file, with or without "
            f"{SUFFIX}, or a folder of such files. Repeat for more."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each agent and game instead.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Draw the results to this .svg or .png file.")
    ] = None,
) -> None:
    """Measure how well agents keep won and drawn positions, and what their mistakes cost."""
    with complaints():
        check_seed(seed, "--seed")
        if output is not None:
            check_picture(output, f"--output {shown(output)}")
            require("matplotlib", "league")  # not after hours of answers
        with printing_aside():
            sittings = _sittings(agents, game or (), part, file or ())
    results: list[ExamResult] = []
    try:
        for result in _sit(sittings, seed):
            results.append(result)
            if as_json:
                typer.echo(json.dumps(result.as_object()))
    finally:  # another agent may fail after hours
        if results and not as_json:
            console().print(exam_table(results), *distance_tables(results))
    if output is not None:
        draw_exams(results, output)
        wrote(output, "wins kept by plies left", as_json)


def _sittings(
    names: Sequence[str], games: Sequence[str], part: str, files: Sequence[Path] = ()
) -> list[Sitting]:
    """Who takes which exam, game by game.

    Raises:
        ValueError: there is no such agent, game, part or file; or an agent cannot play a game that
            was asked for, or any.
    """
    chosen = part_named(part)
    entrants = [find_entrant(name, evaluated=True) for name in names]
    wanted = [game_named(name).name for name in dict.fromkeys(games)]
    exams = [exam for file in files for exam in exams_at(file, chosen)]
    if not files:
        exams = [load_exam(name, chosen) for name in wanted or filter(has_exam, GAMES)]
    elif wanted:
        exams = [exam for exam in exams if exam.name in wanted]
        if not exams:
            raise OptionError(f"--file: no exam of {', '.join(wanted)} is there")
    sittings = []
    for exam in exams:
        sittings += [(e, exam) for e in entrants if _fits(e, exam, asked=bool(wanted))]
    for entrant in entrants:
        if not any(entrant is other for other, _ in sittings):
            raise OptionError(f"agent {entrant.name}: it can play none of the exams")
    return sittings


def part_named(name: str) -> Part:
    """The part of exams with a name; raises `OptionError` if there is none."""
    for part in PARTS:
        if part == name:
            return part
    raise OptionError(f"--part {name}: must be {' or '.join(PARTS)}{did_you_mean(name, PARTS)}")


def _fits(entrant: Entrant, exam: Exam, asked: bool) -> bool:
    """Whether an agent can play an exam; if the exam was asked for, it must.

    Raises:
        ValueError: it cannot, although the exam was asked for.
    """
    try:
        check_agent(entrant.agent, exam.start(0), entrant.name)
    except ValueError as error:
        if asked:
            raise
        if entrant.game is None:  # that a checkpoint plays one game only needs no saying
            say(f"{entrant.name} leaves out {exam.game}: {error}")
        return False
    return True


def _sit(sittings: Sequence[Sitting], seed: int) -> Iterator[ExamResult]:
    """Each result as soon as it is there; agents are called what the user called them."""
    total, done = sum(len(exam.positions) for _, exam in sittings), 0
    for entrant, exam in sittings:
        assert entrant.agent is not None
        # the progress is not shown while a result is printed
        with progress("positions") as bar, printing_aside(), wrong_moves_fail():
            task = bar.add_task("", total=total, completed=done)
            result = answer_exam(entrant.agent, exam, seed, partial(bar.advance, task))
        done += len(exam.positions)
        yield replace(result, agent=entrant.name)
