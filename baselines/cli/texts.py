"""`azumaya texts`: exams for language models that are asked elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.arena.exam_report import distance_tables, exam_table
from azumaya.baselines.arena.exams import PARTS, has_exam
from azumaya.baselines.arena.game_options import game_named, named_games
from azumaya.baselines.arena.report import counted
from azumaya.baselines.cli.exam import PartName, part_named
from azumaya.baselines.cli.terminal import complaints, console, wrote
from azumaya.baselines.system.commands import Commands
from azumaya.baselines.text.exam import TextExamResult, text_exam
from azumaya.baselines.text.exam_files import score_answers, write_prompts
from azumaya.envs import GAMES

app = Commands(
    no_args_is_help=True,
    help="Exams for language models: write the questions, and score the answers.",
)


@app.command("write")
def write(
    output: Annotated[Path, typer.Argument(help="The file of the prompts, such as prompts.jsonl.")],
    game: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A game: {', '.join(GAMES)}. Default: all that have an exam. Repeat for more.",
            autocompletion=named_games,
        ),
    ] = None,
    part: PartName = PARTS[0],
    positions: Annotated[
        int | None, typer.Option(min=1, help="Positions of each exam. Default: all.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws the positions.")] = 0,
    legal_moves: Annotated[
        bool, typer.Option("--legal-moves", help="List the legal moves in the prompts.")
    ] = False,
    batch: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Write requests of a batch API for this model instead."),
    ] = None,
) -> None:
    """Write positions of exams as prompts, one line of JSON each."""
    with complaints():
        names = [game_named(name).name for name in dict.fromkeys(game or ())]
        chosen = part_named(part)
        exams = [
            text_exam(name, chosen, positions=positions, seed=seed, legal_moves=legal_moves)
            for name in names or filter(has_exam, GAMES)
        ]
        count = write_prompts(output, exams, batch)
    wrote(output, counted(count, "prompt"))


@app.command("score")
def score(
    prompts: Annotated[Path, typer.Argument(help="The file that `azumaya texts write` wrote.")],
    answers: Annotated[
        Path,
        typer.Argument(
            help='The answers, lines of JSON: {"id": ..., "answer": ...}, or the output of a batch '
            "API."
        ),
    ],
    name: Annotated[str, typer.Option(help="The name of the model.")] = "model",
    missing_as_worst: Annotated[
        bool,
        typer.Option(
            "--missing-as-worst", help="Count prompts without an answer as the worst move."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each game instead.")
    ] = False,
) -> None:
    """Measure the answers of a model as `azumaya exam` measures agents."""
    with complaints():
        results = score_answers(prompts, answers, name, missing_as_worst=missing_as_worst)
    if as_json:
        for result in results:
            typer.echo(json.dumps(result.as_object()))
        return
    console().print(exam_table(results), *distance_tables(results))
    for result in results:
        typer.echo(_failures(result))


def _failures(result: TextExamResult) -> str:
    return (
        f"{result.game}: no legal move in {result.failed} of {result.positions} positions "
        f"({result.illegal} illegal moves, {result.unreadable} unreadable answers)"
    )
