"""`azumaya export`: games and exams as Parquet, for other programs to read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.agents.names import NAMES_HELP, example_agents
from azumaya.baselines.arena.entrants import (
    choose_game,
    find_entrant,
    first_position,
    wrong_moves_fail,
)
from azumaya.baselines.arena.exams import PARTS, load_exam
from azumaya.baselines.arena.game_options import game_named, named_games
from azumaya.baselines.arena.league.ratings import rate
from azumaya.baselines.arena.league.results import read_league
from azumaya.baselines.arena.matches import check_starts
from azumaya.baselines.arena.report import counted
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.cli.evaluate import GameOption, Options
from azumaya.baselines.cli.exam import PartName, part_named
from azumaya.baselines.cli.terminal import complaints, progress, wrote
from azumaya.baselines.export.exams import export_exam
from azumaya.baselines.export.games import GAMES as GAMES_TABLE
from azumaya.baselines.export.games import export_games, played
from azumaya.baselines.export.table import check_output
from azumaya.baselines.system.commands import Commands
from azumaya.baselines.system.files import shown
from azumaya.envs import GAMES, OptionError
from azumaya.envs.game import Game
from azumaya.envs.notation import GameRecord, check_options_fit, read_records

MOST_PAIRS = 1_000_000

app = Commands(
    no_args_is_help=True, help="Write games and exams as Parquet files with a Croissant card."
)

Output = Annotated[
    Path, typer.Option(help="The folder of the table and its card; it is made if there is none.")
]
Planes = Annotated[
    bool,
    typer.Option(
        "--planes", help="Write observations as planes and masks by action, not packed in words."
    ),
]


@app.command("games")
def games(
    output: Output,
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="AGENT...",
            help=f"Who plays, each against each; one alone against itself: {NAMES_HELP}.",
            autocompletion=example_agents,
        ),
    ] = None,
    game: GameOption = None,
    option: Options = None,
    records: Annotated[
        Path | None,
        typer.Option(help="Export the games of this file of records instead of playing any."),
    ] = None,
    pairs: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_PAIRS, help="Pairs of games (one start, both seats) of any two agents."
        ),
    ] = 100,
    plain_starts: Annotated[
        bool, typer.Option("--plain-starts", help="Use no balanced starts.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
    planes: Planes = False,
    league: Annotated[
        Path | None, typer.Option(help="Add the ratings that this file of a league gives.")
    ] = None,
) -> None:
    """Write games, a row for every move."""
    with complaints():
        if bool(agents) == (records is not None):
            raise OptionError("name agents that play, or a file of games by --records")
        if records is not None and (game or option):
            raise OptionError("--records: the games say themselves what is played; give no options")
        check_output(output, GAMES_TABLE)
        if records is None:
            source = _to_play(agents or [], game, option or (), pairs, seed, plain_starts)
        else:
            source = _from_file(records)
        ratings = {} if league is None else _ratings(league, source.game)
    with progress("games") as bar, complaints(), wrong_moves_fail():
        told = bar.track(source.records, source.total)
        count = export_games(told, output, planes=planes, ratings=ratings)
    wrote(output, counted(count, "move"))


@app.command("exams")
def exams(
    output: Output,
    game: Annotated[
        str, typer.Option(help=f"The game: {', '.join(GAMES)}.", autocompletion=named_games)
    ],
    part: PartName = PARTS[0],
    planes: Planes = False,
) -> None:
    """Write an exam, a row for every position, with the value of every move."""
    with complaints():
        exam = load_exam(game_named(game).name, part_named(part))
        count = export_exam(exam, output, planes=planes)
    wrote(output, counted(count, "position"))


@dataclass(frozen=True)
class _Source:
    """Where games come from; `total` is None if nobody knows how many there are."""

    game: Game
    records: Iterator[GameRecord]
    total: int | None = None


def _to_play(
    names: Sequence[str], game: str | None, option: Sequence[str], pairs: int, seed: int,
    plain_starts: bool,
) -> _Source:  # fmt: skip
    """Games of agents, after checking that they can play them; raises `ValueError`."""
    entrants = [find_entrant(name, evaluated=True) for name in names]
    chosen, options = choose_game(entrants, game, option)
    first_seed = check_starts(pairs, seed)
    start = first_position(entrants, chosen, options, first_seed)
    check_options_fit(chosen, start.setup)
    starts = start_set(chosen, options, first_seed, not plain_starts)
    agents = [(each.name, each.agent) for each in entrants if each.agent is not None]
    meetings = max(1, len(agents) * (len(agents) - 1) // 2)
    return _Source(chosen, played(starts, agents, pairs), 2 * pairs * meetings)


def _from_file(path: Path) -> _Source:
    """The games of a file; raises `ValueError`, and `OSError` if it cannot be read."""
    records = read_records(path)
    first = next(records, None)
    if first is None:
        raise OptionError(f"--records {shown(path)}: there is no game")
    return _Source(game_named(first.environment), itertools.chain([first], records))


def _ratings(path: Path, game: Game) -> dict[str, float]:
    """Ratings in a game by agents' names; of several with one name, the one that joined last."""
    league = read_league(path)
    rated = rate(league.in_order(), [*league.cards]).get(game.name, {})
    return {card.name: rated[key].elo for key, card in league.cards.items() if key in rated}
