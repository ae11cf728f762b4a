"""`azumaya evaluate`: two agents against each other, the same starts in both seats."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.arena.report import score_table
from azumaya.baselines.play_commands import agent_of
from azumaya.envs import GAMES


def evaluate(
    first: Annotated[str, typer.Argument(help="random, greedy, or a checkpoint's path.")],
    second: Annotated[str, typer.Argument(help="Its opponent, likewise.")] = "greedy",
    game: Annotated[str, typer.Option(help=f"One of {', '.join(GAMES)}.")] = "sudoku_moyo",
    starts: Annotated[int, typer.Option(min=1, help="Starts, each played in both seats.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Draws the starts.")] = 0,
) -> None:
    """Let two agents play, and print the win rate with its 95 % interval."""
    agents = (agent_of(first), agent_of(second))
    if agents[0] is None or agents[1] is None:
        raise typer.BadParameter("a person cannot be evaluated: random, greedy or a checkpoint")
    console = Console()
    with Progress(console=console) as bar:
        task = bar.add_task("games", total=2 * starts)
        score = play_pairing(
            game, agents[0], agents[1], starts, seed, progress=lambda n: bar.advance(task, n)
        )
    console.print(score_table([score], f"{game}, {starts} starts in both seats"))
