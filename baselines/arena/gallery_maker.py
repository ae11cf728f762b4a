"""Plays games for the gallery: `python -m azumaya.baselines.arena.gallery_maker`.

The agents search as many nodes or simulations as their names say, so that the games do not depend
on the speed of the machine. Agents with a time per move can be named, too.

Of several games of each pairing it keeps the one whose lead changes most often, since that is the
one to learn from.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from azumaya.baselines.arena.gallery import FILE, Exhibit, gallery_line, turns
from azumaya.baselines.entrants import find_entrant
from azumaya.baselines.files import write_whole
from azumaya.baselines.replay import values_of
from azumaya.baselines.table import Table, agent_move
from azumaya.baselines.terminal import console, progress
from azumaya.envs import GAMES, Position
from azumaya.envs.notation import GameRecord

PAIRINGS = ("champion:10000 uct:1000", "champion:10000 champion:10000")
MOST_PLIES = 300
"""A longer game is no candidate."""


def play(game: str, pairing: str, seed: int) -> GameRecord:
    """One game between two agents, whose names are separated by a space."""
    first, second = (find_entrant(name, evaluated=True) for name in pairing.split())
    table = Table((first, second), seed, [Position(game, seed=seed)])
    while not table.here.is_over and len(table.moves) < MOST_PLIES:
        agent = table.agent
        assert agent is not None
        table.play(agent_move(agent, table.here, table.key))
    return table.record()


def best_of(game: str, pairing: str, seeds: list[int], simulations: int) -> Exhibit:
    """The finished game whose lead changes most often."""
    records = [play(game, pairing, seed) for seed in seeds]
    played = [
        Exhibit(record, tuple(values_of(record, simulations=simulations)))
        for record in records
        if record.finished
    ]
    return max(played, key=lambda each: len(turns(each.values)))


def main(
    output: Annotated[Path | None, typer.Option(help="Default: the file of the package.")] = None,
    pairing: Annotated[
        list[str] | None, typer.Option(help="Two agents, with a space between. Repeat for more.")
    ] = None,
    game: Annotated[
        list[str] | None, typer.Option(help="A game. Repeat for more. Default: all of them.")
    ] = None,
    candidates: Annotated[int, typer.Option(min=1, help="Games of which one is kept.")] = 3,
    values: Annotated[
        int, typer.Option(min=1, help="Simulations of the search for a position's value.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the first game.")] = 0,
) -> None:
    """Play games between agents, and keep those with the most changes of the lead."""
    pairings, wanted, kept = pairing or PAIRINGS, game or list(GAMES), list[Exhibit]()
    place = output or Path(str(files("azumaya.baselines.arena").joinpath("data", FILE)))
    with progress(TextColumn("playing"), BarColumn(), MofNCompleteColumn()) as bar:
        task = bar.add_task("", total=len(wanted) * len(pairings))
        for name in wanted:
            for number, names in enumerate(pairings):
                first = seed + number * candidates
                kept.append(best_of(name, names, list(range(first, first + candidates)), values))
                bar.advance(task)
    write_whole(place, "".join(f"{gallery_line(each)}\n" for each in kept).encode())
    for each in kept:
        console().print(f"{each.title}: {each.players}. {each.story}", soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)
