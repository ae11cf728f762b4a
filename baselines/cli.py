"""The command line: `azumaya COMMAND ...`; each command imports what it needs when it runs."""

from __future__ import annotations

from azumaya.envs.extras import require

require("typer", extra="cli")
require("rich", extra="cli")

import typer  # noqa: E402

from azumaya.baselines import (  # noqa: E402
    bench_commands,
    evaluate_commands,
    play_commands,
    puzzle_commands,
)

app = typer.Typer(
    name="azumaya",
    help="Two-player board games built on Sudoku's rule, for reinforcement learning.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
)
app.command("play")(play_commands.play)
app.command("evaluate")(evaluate_commands.evaluate)
app.add_typer(puzzle_commands.app, name="puzzles")
app.command("bench", context_settings=bench_commands.PASS_ON)(bench_commands.bench)


def main() -> None:
    """Run the command line."""
    app()
