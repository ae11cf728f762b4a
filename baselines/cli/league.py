"""`azumaya league`: a round robin, and the ratings that follow from the results."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.progress import TimeRemainingColumn

from azumaya.baselines.agents.names import NAMES_HELP, example_agents
from azumaya.baselines.arena.game_options import game_named, named_games
from azumaya.baselines.arena.league.cards import CHANGED
from azumaya.baselines.arena.league.choosing import Chooser
from azumaya.baselines.arena.league.crew import Crew, LeagueError, ray_crew
from azumaya.baselines.arena.league.cross import CrossPlay, cross_play
from azumaya.baselines.arena.league.cross_report import draw as draw_heat_map
from azumaya.baselines.arena.league.cross_report import mixture_table, notes, won_tables
from azumaya.baselines.arena.league.league import (
    Fixtures,
    admit,
    cards_of,
    extend,
    local_crew,
)
from azumaya.baselines.arena.league.results import League, LeagueFile, PairResult, read_league
from azumaya.baselines.arena.league.schedule import LIMIT, MOST, PAIRS, Plan, remarks
from azumaya.baselines.arena.league.standing import (
    Standing,
    as_json,
    exams_by_card,
    read_exams,
    standings,
)
from azumaya.baselines.arena.league.tables import (
    draw,
    fault_lines,
    game_tables,
    games_of,
    page,
    rating_table,
)
from azumaya.baselines.arena.matches import check_starts
from azumaya.baselines.arena.report import plain
from azumaya.baselines.cli.terminal import complaints, console, progress, say, wrote
from azumaya.baselines.system.command_line import copyable
from azumaya.baselines.system.commands import (
    WORKERS,
    Commands,
    formerly,
    shown_time,
    time_option,
    with_default,
)
from azumaya.baselines.system.files import check_picture, check_writable, shown, write_whole
from azumaya.baselines.system.journal import read_head
from azumaya.baselines.system.signals import FAILED, INTERRUPTED
from azumaya.envs import GAMES
from azumaya.envs.extras import require

RESULTS = Path("league.jsonl")
MOST_PAIRS = 10_000
"""The most pairs of games between two agents; all that are to be played are in memory at once."""
MINUTES_TO_ADD = 2.5
"""How long games of a newcomer are begun by default."""


app = Commands(cls=with_default("play"), name="league")

Results = Annotated[Path, typer.Option(help="The file of results.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Output = Annotated[
    Path | None,
    typer.Option(help="Draw the ratings to this file, .svg or .png."),
]
Exams = Annotated[
    Path | None, typer.Option(help="Results of exams for the agent cards: azumaya exam --json.")
]


@app.command(
    "play",
    cls=formerly({**WORKERS, "--minutes": "--time"}, {"--minutes": "min", "--move-limit": "s"}),
    epilog="`azumaya league report` shows a stored league without playing.",
)
def play(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Agents that join: {NAMES_HELP}. Everyone in the file plays, and so does the "
            "random agent, whose rating is 0.",
            autocompletion=example_agents,
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            help="Play only the games of this agent, against all that are in the file, for "
            f"{shown_time(MINUTES_TO_ADD, 'min')} unless --time says otherwise. Repeat for more.",
            autocompletion=example_agents,
        ),
    ] = None,
    results: Results = RESULTS,
    game: Annotated[
        list[str] | None,
        typer.Option(
            help=f"A game: {', '.join(GAMES)}. Repeat for more. Default: those of the file; "
            "all for a new one. If you name no agent, those in the file also play it.",
            autocompletion=named_games,
        ),
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_PAIRS,
            help="Pairs of games (one start, both seats) between any two agents, per game. "
            f"Default: {PAIRS}; with --interval at most {MOST}.",
            show_default=False,
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="Choose the most informative pairs, until half the width of every interval of "
            "the ratings over all games is at most this many points.",
        ),
    ] = None,
    time: Annotated[
        float | None, time_option("Start no new games after this time.", "min", least=0)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of all random choices. Default: 0.")
    ] = None,
    plain_starts: Annotated[
        bool, typer.Option("--plain-starts", help="Use no balanced starts.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="How many games at once on this machine. Default: one per core."),
    ] = None,
    move_limit: Annotated[
        float,
        time_option("The time for a move; who takes longer loses the game.", "s", LIMIT, least=0.1),
    ] = LIMIT,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Play on this Ray cluster (needs the extra ray)."),
    ] = None,
    exams: Exams = None,
    json: Json = False,
    output: Output = None,
) -> None:
    """Play a round robin between agents, and rate them.

    Results are stored as they come. After an interruption the same command resumes.
    """
    _check_output(output)
    answered = _answered(exams)
    if ray is not None and workers is not None:
        raise typer.BadParameter(
            f"--workers {workers}: has no effect with --ray, which uses all processors of the "
            "cluster; leave it out"
        )
    require("choix", "league")  # not after hours of games
    games = _games(game or (), results)
    names = [*(agents or ()), *(add or ())]
    if not names and not results.exists():
        raise typer.BadParameter(
            f"--results {shown(results)}: does not exist; name agents to begin"
        )
    if interval is not None and not math.isfinite(interval):
        raise typer.BadParameter(f"--interval {interval:g}: must be a finite number")
    pairs = pairs or (PAIRS if interval is None else MOST)
    _checked(check_starts, pairs, seed or 0)
    minutes = MINUTES_TO_ADD if time is None and add else time
    with _stopped():
        cards = _checked(cards_of, names, games)
        only = frozenset(card.id for card in cards if card.name in (add or ()))
        plan = _checked(Plan, games, pairs, move_limit, minutes, only, interval)
        crew = local_crew(workers) if ray is None else ray_crew(ray)
        file = _checked(LeagueFile, results, seed, False if plain_starts else None)
        with contextlib.closing(file):
            admit(file, cards, games)
            if game and not names:
                for agent, why in extend(file, games).items():
                    say(f"{shown(agent)} does not join: {why}")
            _play(file, plan, crew)
    wrote(results, f"{len(file.league.pairs):,} pairs of games", json)
    _show(file.league, exams, answered, json, output)


@app.command("report")
def report(
    results: Results = RESULTS,
    exams: Exams = None,
    json: Json = False,
    output: Output = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write a page with tables and agent cards to this file.")
    ] = None,
) -> None:
    """Rate the agents of a stored league and show the result."""
    _check_output(output)
    if markdown is not None:
        _checked(check_writable, markdown, f"--markdown {shown(markdown)}")
    answered = _answered(exams)
    league = _checked(read_league, results)
    found = _show(league, exams, answered, json, output)
    if markdown is not None:
        picture = ""
        if output is not None:
            picture = quote(Path(os.path.relpath(output, markdown.parent)).as_posix())
        words = ["azumaya", "league", "report", "--results", results]
        words += ["--exams", exams] if exams is not None else []
        words += ["--output", output] if output is not None else []
        command = copyable([*words, "--markdown", markdown])
        write_whole(markdown, page(league, found, picture, command).encode())
        wrote(markdown, "the tables and the agent cards", json)


@app.command("cross-play")
def cross_play_command(
    agents: Annotated[
        list[str] | None,
        typer.Argument(help="Agents of the file. Default: all that play the games."),
    ] = None,
    results: Results = RESULTS,
    game: Annotated[
        str,
        typer.Option(
            help="A game. Default: all games of the file, each with the same weight.",
            autocompletion=named_games,
        ),
    ] = "",
    json: Json = False,
    output: Annotated[
        Path | None, typer.Option(help="Draw a heat map to this file, .svg or .png.")
    ] = None,
) -> None:
    """Show what the agents of a stored league have won against each other.

    Beside the ratings stand the Nash mixture, Nash averages and alpha-rank, and cycles are named:
    one agent beats a second, this a third, and this the first.
    """
    _check_output(output)
    league = _checked(read_league, results)
    named = game and _checked(game_named, game).name
    found: CrossPlay = _checked(cross_play, league, named, agents or ())
    if json:
        print(dumps(found.as_object(), indent=2))
    else:
        out = console()
        out.print(mixture_table(found), *won_tables(found, out.width))
        for line in notes(found):
            out.print(plain(line))
    if output is not None:
        draw_heat_map(found, output)
        wrote(output, "the heat map", json)


def _checked(function: Any, *arguments: Any) -> Any:
    """The result of a function; its complaints about what the user gave end the command."""
    with complaints():
        return function(*arguments)


@contextlib.contextmanager
def _stopped() -> Iterator[None]:
    """End the command with a message when games cannot be played, or the user interrupts them."""
    try:
        yield
    except LeagueError as error:
        say(f"azumaya: {error}")
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        say("Interrupted; the results so far are stored, and the same command resumes the league.")
        raise typer.Exit(INTERRUPTED) from None


def _check_output(output: Path | None) -> None:
    """Complain of a picture that cannot be drawn before games are played."""
    if output is not None:
        _checked(check_picture, output, f"--output {shown(output)}")


def _answered(exams: Path | None) -> list[dict[str, Any]]:
    """The results of exams, read before games are played, and once: the file may be a pipe."""
    return [] if exams is None else _checked(read_exams, exams)


def _games(named: Sequence[str], results: Path) -> tuple[str, ...]:
    """The games that are played: those named, otherwise those of the file, for a new one all.

    The file is read before it is opened for writing: what the user gave is checked first.
    """
    if not named and _checked(read_head, results) is not None:
        cards = _checked(read_league, results).cards.values()
        named = list(dict.fromkeys(name for card in cards for name in card.games))
    return tuple(dict.fromkeys(_checked(game_named, name).name for name in named or GAMES))


def _play(file: LeagueFile, plan: Plan, crew: Crew) -> None:
    """Play what is missing, with a progress bar; faults and who sits out are told at once."""
    fixtures, before = _checked(Fixtures, file, plan), len(file.league.pairs)
    jobs = fixtures.jobs
    for line in remarks(file.league, plan):
        say(line)
    total = None if isinstance(jobs, Chooser) else len(jobs)
    with progress("pairs{task.description}", TimeRemainingColumn()) as bar:
        task = bar.add_task("", total=total)

        def tell(result: PairResult) -> None:
            bar.advance(task)
            if isinstance(jobs, Chooser) and jobs.reached < math.inf:
                needed = len(file.league.pairs) * jobs.left() - before
                text = f", widest interval \N{PLUS-MINUS SIGN}{jobs.reached:.0f}"
                bar.update(task, total=round(needed), description=text)
            for fault in filter(None, result.faults):
                loser = (result.key.first, result.key.second)[fault[0]]
                say(f"{result.key.game}, start {result.key.number}: {loser} lost: {fault[1]}")

        def sits_out(agent: str, why: str) -> None:
            say(f"{shown(agent)} sits out: {why}{_hint(file.league, fixtures, agent, why)}")

        fixtures.play(crew, tell, sits_out)
    if isinstance(jobs, Chooser) and jobs.unrated:
        say(
            "Only the first round was played: nobody whose games were to be chosen plays all of "
            f"{', '.join(plan.games)}, as a rating over all games needs; name games with --game"
        )


def _hint(league: League, fixtures: Fixtures, agent: str, why: str) -> str:
    """What to do so that an agent plays that has changed, unless another one of its name does."""
    name = league.cards[agent].name
    others = (card for card in league.cards.values() if card.name == name)
    joined = why != CHANGED or any(card.id not in fixtures.absent for card in others)
    return "" if joined else "; name it to let it join as it is now"


def _show(
    league: League,
    exams: Path | None,
    answered: Sequence[Mapping[str, Any]],
    json: bool,
    output: Path | None,
) -> Sequence[Standing]:
    strangers = exams_by_card(league, answered).get(None, [])
    if names := sorted({exam["agent"] for exam in strangers}):
        say(f"--exams {shown(exams)}: no agent of the league is named {', '.join(names)}; left out")
    found = standings(league, answered)
    out = console()
    if json:
        print(as_json(league, found))
    else:
        out.print(rating_table(found, f"{len(league.pairs):,} pairs of games"))
        for table in game_tables(found, games_of(found), out.width):
            out.print(table)
        for line in fault_lines(found):
            out.print(line)
    if output is not None:
        draw(found, output)
        wrote(output, "the ratings", json)
    return found
