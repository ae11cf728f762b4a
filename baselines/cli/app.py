"""The program `azumaya`: its commands, and what it says when none is given."""

from __future__ import annotations

from typing import Annotated

import typer

from azumaya.baselines.cli import (
    analyse,
    benchmark,
    check_game,
    classroom,
    doctor,
    evaluate,
    exam,
    exercise,
    exploit,
    export,
    league,
    passed_on,
    play,
    puzzles,
    replay,
    serve,
    texts,
)
from azumaya.baselines.system.commands import Commands, formerly
from azumaya.baselines.system.machine import version as installed

FIRST_STEPS = """First steps: `azumaya serve` opens a board in the browser. \
`azumaya play` plays a game in the terminal against a simple opponent. \
`azumaya play --help` lists the games and their opponents. \
`azumaya evaluate greedy random` lets two agents play each other. \
`azumaya analyse --game sudoku_moyo` searches a position for the best moves."""

app = Commands(
    name="azumaya",
    no_args_is_help=True,
    epilog=FIRST_STEPS,
    pretty_exceptions_show_locals=False,
)
app.command("play", cls=formerly(game_first=True))(play.play)
app.command("exercise")(exercise.exercise_command)
app.command("evaluate")(evaluate.evaluate)
app.command(
    "analyse",
    cls=formerly({"--milliseconds": "--time"}, {"--milliseconds": "ms"}, game_first=True),
)(analyse.analyse_command)
app.command("serve", cls=formerly(units={"--longest-search": "ms", "--move-limit": "s"}))(
    serve.serve
)
app.command("replay", cls=formerly(units={"--values": "ms", "--pause": "ms"}))(
    replay.replay_command
)
app.command("exam")(exam.exam)
app.command("benchmark")(benchmark.benchmark)
app.command("submit")(benchmark.submit)
app.command("verify")(benchmark.verify_command)
app.command("exploit", cls=formerly({"--minutes": "--time"}, {"--minutes": "min"}))(
    exploit.exploit_command
)
app.add_typer(texts.app, name="texts")
app.add_typer(export.app, name="export")
app.add_typer(league.app, name="league", help="A round robin between agents; ratings.")
app.add_typer(classroom.app, name="class")
app.add_typer(puzzles.app, name="puzzles")
app.command("check-game")(check_game.check_game_command)
app.command("doctor")(doctor.doctor)
app.command("train", context_settings=passed_on.PASS_ON)(passed_on.train)
app.command("bench", context_settings=passed_on.PASS_ON)(passed_on.bench)


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
    """Two-player board games for reinforcement learning, most of them built on the Sudoku rule."""
