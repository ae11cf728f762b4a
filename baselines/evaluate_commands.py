"""`azumaya evaluate`: two agents against each other, the same starts in both seats."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from azumaya.baselines.arena.matches import check_starts, play_pairing
from azumaya.baselines.arena.report import score_table
from azumaya.baselines.entrants import described, find_entrant, first_position, settle
from azumaya.envs import GAMES

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the game, such as territory=corners; by default as a checkpoint was "
        "trained. May be given several times.",
    ),
]


def evaluate(
    first: Annotated[str, typer.Argument(help="random, greedy, or a checkpoint's path.")],
    second: Annotated[str, typer.Argument(help="Its opponent, likewise.")] = "greedy",
    game: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(GAMES)}; by default that of a checkpoint, else "
            f"{next(iter(GAMES))}."
        ),
    ] = None,
    option: Options = None,
    starts: Annotated[int, typer.Option(min=1, help="Starts, each played in both seats.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Draws the starts.")] = 0,
) -> None:
    """Let two agents play, and print the win rate with its 95 % interval."""
    try:
        entrants = [find_entrant(name, evaluated=True) for name in (first, second)]
        chosen, options = settle(entrants, game, option or ())
        seed = check_starts(starts, seed)
        first_position(entrants, chosen, options, seed)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    one, other = (entrant.agent for entrant in entrants)
    assert one is not None
    assert other is not None
    console, title = Console(), described(chosen, options)
    with Progress(console=console) as bar:
        task = bar.add_task("games", total=2 * starts)
        score = play_pairing(
            chosen.name, one, other, starts, seed, options, lambda n: bar.advance(task, n)
        )
    console.print(score_table([score], escape(f"{title}, {starts} starts in both seats")))
