"""The commands of `azumaya`; each imports what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from azumaya.baselines import (
    analyse_commands,
    bench_commands,
    class_commands,
    doctor_commands,
    evaluate_commands,
    exam_commands,
    league_commands,
    play_commands,
    puzzle_commands,
    replay_commands,
    serve_commands,
    texts_commands,
)
from azumaya.baselines.version import version as installed

FIRST_STEPS = """First steps: `azumaya serve` opens a board in the browser. \
`azumaya play` plays a game in the terminal against a simple opponent. \
`azumaya play --help` lists the games and their opponents. \
`azumaya evaluate greedy random` lets two agents play each other. \
`azumaya analyse sudoku_moyo` searches a position for the best moves."""

app = typer.Typer(
    name="azumaya",
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog=FIRST_STEPS,
    pretty_exceptions_show_locals=False,
)
app.command("play")(play_commands.play)
app.command("evaluate")(evaluate_commands.evaluate)
app.command("analyse")(analyse_commands.analyse_command)
app.command("serve")(serve_commands.serve)
app.command("replay")(replay_commands.replay_command)
app.command("exam")(exam_commands.exam)
app.add_typer(texts_commands.app, name="texts")
app.add_typer(league_commands.app, name="league", help="A round robin between agents; ratings.")
app.add_typer(class_commands.app, name="class")
app.add_typer(puzzle_commands.app, name="puzzles")
app.command("doctor")(doctor_commands.doctor)
app.command("bench", context_settings=bench_commands.PASS_ON)(bench_commands.bench)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"azumaya {installed()}")
        raise typer.Exit


@app.callback()
def azumaya(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Two-player board games built on the Sudoku rule, for reinforcement learning."""
