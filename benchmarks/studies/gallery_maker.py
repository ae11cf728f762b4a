"""Plays games for the gallery: `python -m azumaya.benchmarks.studies.gallery_maker`.

The agents search as many nodes or simulations as their names say, so that the games do not depend
on the speed of the machine. Agents with a time per move can be named, too.

Of several games of each pairing it keeps the one whose lead changes most often, since that is the
one to learn from. The file is written after each game that is kept, so a run that is stopped loses
only the pairing it was playing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.agents.asking import move_of
from azumaya.baselines.arena.entrants import choose_game, find_entrant, first_position
from azumaya.baselines.cli.terminal import complaints, console, guarded, progress
from azumaya.baselines.play.gallery import PACKAGED, Exhibit, gallery_line, turns
from azumaya.baselines.play.review import review_of
from azumaya.baselines.play.table import Table
from azumaya.baselines.system.files import shown, write_whole
from azumaya.envs import GAMES, OptionError
from azumaya.envs.notation import GameRecord

PAIRINGS = ("champion:10000 uct:1000", "champion:10000 champion:10000")
MOST_PLIES = 300
"""A longer game is no candidate."""


def table_of(game: str, pairing: str, seed: int) -> Table:
    """A game before its first move.

    Args:
        game: the game's name.
        pairing: the names of two agents, separated by a space.
        seed: draws the start and the agents' random choices.

    Raises:
        OptionError: the pairing is not two names, or there is no such game or agent.
        ValueError: a checkpoint cannot be used, or cannot play this game.
    """
    names = pairing.split()
    if len(names) != 2:
        raise OptionError(
            f"pairing {shown(pairing)!r}: must be the names of two agents, separated by a space, "
            f"such as {PAIRINGS[0]!r}"
        )
    players = find_entrant(names[0], evaluated=True), find_entrant(names[1], evaluated=True)
    chosen, options = choose_game(players, game)
    return Table(players, seed, [first_position(players, chosen, options, seed)])


def play(game: str, pairing: str, seed: int) -> GameRecord:
    """One game between two agents, as in `table_of`; stopped after `MOST_PLIES` plies."""
    table = table_of(game, pairing, seed)
    while not table.here.is_over and len(table.moves) < MOST_PLIES:
        agent = table.agent
        assert agent is not None
        table.play(move_of(agent, table.here, table.key, agent.name))
    return table.record()


def best_of(game: str, pairing: str, seeds: list[int], simulations: int) -> Exhibit | None:
    """The finished game whose lead changes most often; None if no game finished."""
    records = [play(game, pairing, seed) for seed in seeds]
    played = [
        Exhibit(record, tuple(s["value"] for s in review_of(record, simulations=simulations)))
        for record in records
        if record.finished
    ]
    return max(played, key=lambda each: len(turns(each.values)), default=None)


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
    pairings, wanted = pairing or PAIRINGS, game or list(GAMES)
    place = output or PACKAGED
    if not place.parent.is_dir():
        raise typer.BadParameter(f"--output {shown(place)}: there is no such folder")
    plans = [
        (name, names, seed + number * candidates)
        for name in wanted
        for number, names in enumerate(pairings)
    ]
    with complaints():  # before any game is played
        for plan in plans:
            table_of(*plan)
    kept = _made(place, plans, candidates, values)
    for each in kept:
        console().print(f"{each.title}: {each.players}. {each.story}", soft_wrap=True)
    if not kept:
        raise typer.Exit(1)


def _made(
    place: Path, plans: list[tuple[str, str, int]], candidates: int, simulations: int
) -> list[Exhibit]:
    """Play all pairings; returns the games kept, after writing the file anew for each."""
    kept = list[Exhibit]()
    with progress("playing") as bar:
        task = bar.add_task("", total=len(plans))
        for name, names, first in plans:
            best = best_of(name, names, list(range(first, first + candidates)), simulations)
            if best is None:
                said = f"{name}, {names}: no game finished within {MOST_PLIES} plies; skipped"
                bar.console.print(said, soft_wrap=True)
            else:
                kept.append(best)
                write_whole(place, "".join(f"{gallery_line(each)}\n" for each in kept).encode())
            bar.advance(task)
    return kept


if __name__ == "__main__":
    guarded("gallery_maker", lambda: typer.run(main))
