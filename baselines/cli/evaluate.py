"""`azumaya evaluate`: two agents against each other, the same starts in both seats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.agents.names import NAMES_HELP, example_agents
from azumaya.baselines.arena.entrants import (
    choose_game,
    described,
    find_entrant,
    first_position,
    wrong_moves_fail,
)
from azumaya.baselines.arena.game_options import named_games
from azumaya.baselines.arena.matches import check_starts, play_pairing
from azumaya.baselines.arena.report import counted, score_table
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.cli.terminal import complaints, console, printing_aside, progress, wrote
from azumaya.envs import GAMES
from azumaya.envs.notation import check_records_file

MOST_STARTS = 100_000
"""The most starts. All games are in memory at once: about 1 GB at this limit."""

GameOption = Annotated[
    str | None,
    typer.Option(
        help=f"The game: {', '.join(GAMES)}. Default: the game that a checkpoint was trained for, "
        f"otherwise {next(iter(GAMES))}.",
        autocompletion=named_games,
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="Set an option of the game, such as territory=corners. Default: the options that a "
        "checkpoint was trained with; NAME=none stands for the game's own. Repeat for more "
        "options.",
    ),
]


def evaluate(
    first: Annotated[
        str,
        typer.Argument(
            help=f"The agent whose wins are counted: {NAMES_HELP}.", autocompletion=example_agents
        ),
    ],
    second: Annotated[
        str, typer.Argument(help="Its opponent; same choices.", autocompletion=example_agents)
    ] = "greedy",
    game: GameOption = None,
    option: Options = None,
    starts: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_STARTS,
            help="The number of start positions; each is played twice, with seats exchanged.",
        ),
    ] = 200,
    plain_starts: Annotated[
        bool,
        typer.Option(
            "--plain-starts",
            help="Draw the starts by the game's own rules, not from its book of balanced starts. "
            "Options other than the defaults always have plain starts.",
        ),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            help="The seed of start positions and of random choices. Plain start n is drawn by "
            "seed + n: take seeds that are further apart than there are starts.",
        ),
    ] = 0,
    record: Annotated[
        Path | None,
        typer.Option(help="Append the games as records to this file, one JSON object per line."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of the table.")
    ] = False,
) -> None:
    """Let two agents play each other and print the win rate with its 95 % interval."""
    with complaints(), printing_aside():
        entrants = [find_entrant(name, evaluated=True) for name in (first, second)]
        chosen, options = choose_game(entrants, game, option or ())
        seed = check_starts(starts, seed)
        first_position(entrants, chosen, options, seed)
        if record is not None:
            check_records_file(record, "--record")
    starting = start_set(chosen, options, seed, not plain_starts)
    different = starting.different(starts)
    one, other = (entrant.agent for entrant in entrants)
    assert one is not None
    assert other is not None
    with progress("games") as bar, printing_aside(), wrong_moves_fail():
        task = bar.add_task("", total=2 * starts)
        score = play_pairing(
            chosen.name, one, other, starts, seed, options, lambda n: bar.advance(task, n),
            balanced=not plain_starts, record=record,
        )  # fmt: skip
    if as_json:
        about = {"game": chosen.name, "options": options, "seed": seed, "starts": starts}
        about |= {"balanced": starting.balanced, "different": different}
        typer.echo(json.dumps({**about, **score.as_object()}))
    else:
        kind = counted_starts(starts, starting.balanced, different)
        title = f"{described(chosen, options)}, {kind} in both seats"
        console().print(score_table([score], title))
    if record is not None:
        wrote(record, f"{counted(2 * starts, 'game')} added", as_json)


def counted_starts(starts: int, balanced: bool, different: int) -> str:
    """How many starts of which kind there are, and how many of them differ if not all do."""
    said = counted(starts, f"{'balanced ' * balanced}start")
    if different < starts:  # deterministic players repeat their games then
        said += f" ({counted(different, 'different one')})"
    return said
