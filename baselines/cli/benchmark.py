"""`azumaya benchmark`, `submit` and `verify`: the table to beat, and cards that can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.agents.names import is_code
from azumaya.baselines.arena.report import counted
from azumaya.baselines.cli.terminal import complaints, console, progress, say, wrote
from azumaya.baselines.protocol.cards import FORMAT, Card, check, read_card, verify, write_card
from azumaya.baselines.protocol.cells import STARTS, Cell
from azumaya.baselines.protocol.report import draw_profiles, overall_table, page
from azumaya.baselines.protocol.table import CellError, fill, read_table, setting
from azumaya.baselines.protocol.tracks import (
    CONTENDERS,
    GROUPS,
    TRACKS,
    algorithm_of,
    games_named,
    jobs_of,
    track_named,
)
from azumaya.baselines.system.command_line import copyable
from azumaya.baselines.system.files import check_picture, check_writable, shown, write_whole
from azumaya.baselines.system.signals import FAILED, Ended, ended_by_signals
from azumaya.envs import GAMES, OptionError
from azumaya.envs.extras import require

FOLDER = Path("runs/benchmark")
SEEDS = 5

Games = Annotated[
    list[str] | None,
    typer.Option(
        "--game",
        help=f"A game, or a group: {', '.join([*GAMES, *GROUPS])}. Repeat for more. Default: all.",
        autocompletion=lambda: [*GAMES, *GROUPS],
    ),
]
TrackName = Annotated[
    str,
    typer.Option(
        "--track",
        help=f"The training budget: {', '.join(TRACKS)}.",
        autocompletion=lambda: [(track.name, track.about) for track in TRACKS.values()],
    ),
]
Seeds = Annotated[int, typer.Option(min=1, help="How many seeds, from 1 on.")]
Starts = Annotated[
    int,
    typer.Option(
        min=1,
        help="Starts of the games against each opponent, in both seats; at most those of the book.",
    ),
]
Output = Annotated[
    Path, typer.Option(help="The folder of the table (table.jsonl) and of trained runs.")
]
Workers = Annotated[int, typer.Option(min=1, help="How many cells are made at a time.")]
Ray = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Make them on this Ray cluster (needs the extra ray)."),
]
AGENTS_HELP = (
    "The name of an agent, in which {game} and {seed} stand for those of a cell and {ppo} for what "
    "that algorithm trains within the budget"
)


def benchmark(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"{AGENTS_HELP}. Default: {', '.join(CONTENDERS)}.",
            autocompletion=lambda: [*CONTENDERS],
        ),
    ] = None,
    game: Games = None,
    track: TrackName = "1M",
    seeds: Seeds = SEEDS,
    starts: Starts = STARTS,
    output: Output = FOLDER,
    workers: Workers = 1,
    ray: Ray = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="Show the cells that are there, of all tracks, and make no more."
        ),
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the tables to this file as Markdown.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw performance profiles to this .svg or .png file.")
    ] = None,
) -> None:
    """Train agents within a budget, and measure them: exam, games, rating, with intervals.

    Each cell of the table is stored when it is there. After an interruption the same command goes
    on. If a cell cannot be made, the others are made all the same, and the exit code is 1.
    """
    with complaints():
        if picture is not None:
            check_picture(picture, f"--picture {shown(picture)}")
            require("matplotlib", "league")
        if markdown is not None:
            check_writable(markdown, f"--markdown {shown(markdown)}")
        require("choix", "league")
        file = output / "table.jsonl"
        if report:
            cells = _stored(file, agents or (), game or ())
        else:
            names = agents or CONTENDERS
            cells = _filled(names, game, track, seeds, starts, output, workers, ray)
    games = counted(len({cell.job.game for cell in cells}), "game")
    title = f"{games}, {counted(len(cells), 'cell')}"
    console().print(overall_table(cells, title))
    if not report:
        wrote(file, "the table")
    if markdown is not None:
        write_whole(markdown, page(cells).encode())
        wrote(markdown, "the tables as Markdown")
    if picture is not None:
        draw_profiles(cells, picture)
        wrote(picture, "performance profiles")


def _filled(
    names: Sequence[str], game: Sequence[str] | None, track: str, seeds: int, starts: int,
    output: Path, workers: int = 1, ray: str | None = None,
) -> list[Cell]:  # fmt: skip
    """The cells of some contenders, those that are missing made first."""
    chosen = track_named(track)
    jobs = jobs_of(names, games_named(game or ()), chosen, range(1, seeds + 1))
    if any(map(algorithm_of, names)):
        require("torch", "train")
    with ended_by_signals(), progress("cells") as bar:
        task = bar.add_task("", total=len(jobs))
        try:
            return fill(
                output / "table.jsonl", output, jobs, starts, workers, ray,
                lambda done, of_all: bar.update(task, completed=done, total=of_all),
                lambda failure: say(f"{failure.job}: {failure.reason}"),
            )  # fmt: skip
        except CellError:
            say("The others are kept: --report shows them; the same command tries these again.")
            raise typer.Exit(FAILED) from None
        except (KeyboardInterrupt, Ended):
            say("Stopped; what is done is kept, and the same command goes on.")
            raise


def _stored(file: Path, names: Sequence[str], games: Sequence[str]) -> list[Cell]:
    """The cells of a table that are there, of some agents and games if any are named."""
    wanted = games_named(games)
    cells = [
        cell
        for cell in read_table(file)[1]
        if cell.job.game in wanted and (not names or cell.job.contender in names)
    ]
    if not cells:
        raise OptionError(f"{shown(file)}: no such cell is there yet")
    return cells


def submit(
    agent: Annotated[str, typer.Argument(help=f"{AGENTS_HELP}.")],
    card: Annotated[Path, typer.Argument(help="The file to write, such as my-agent.json.")],
    authors: Annotated[str, typer.Option(help="Who sends it.")],
    code: Annotated[str, typer.Option(help="Where the code is, such as https://... at a commit.")],
    hardware: Annotated[
        str, typer.Option(help="What it was trained on. Default: this machine's processor.")
    ] = "",
    track: Annotated[
        str, typer.Option(help=f"The budget it was trained within: {', '.join(TRACKS)}.")
    ] = "",
    game: Games = None,
    seeds: Seeds = SEEDS,
    starts: Starts = STARTS,
    output: Output = FOLDER,
    workers: Workers = 1,
) -> None:
    """Measure an agent, and write a card that `azumaya verify` can check.

    Cells that are in the table already are taken from there.
    """
    with complaints():
        check_writable(card, f"card {shown(card)}")
        if track:
            track_named(track)
            if seeds > 1 and "{seed}" not in agent and not algorithm_of(agent):
                raise OptionError(
                    f"agent {agent}: with --track each seed is a training of its own; put {{seed}} "
                    "into the name, or say --seeds 1"
                )
        budget = track or next(iter(TRACKS))
        cells = _filled([agent], game, budget, seeds, starts, output, workers)
        made = Card(
            FORMAT, agent, track or (budget if algorithm_of(agent) else ""), authors, code,
            hardware or cells[0].cpu, setting(starts), tuple(cells),
        )  # fmt: skip
        check(made)
    write_card(made, card)
    console().print(overall_table(cells, agent))
    command = ["azumaya", "verify", card, *["--trusted"] * is_code(agent)]
    wrote(card, f"the card; to check it: {copyable(command)}")


def verify_command(
    card: Annotated[Path, typer.Argument(help="The card.")],
    cells: Annotated[int, typer.Option(min=1, help="How many cells to make again.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Which ones are drawn.")] = 0,
    output: Output = FOLDER,
    trusted: Annotated[
        bool,
        typer.Option(
            "--trusted", help="Run the card's agent even if it is code: a class, a program."
        ),
    ] = False,
) -> None:
    """Make some cells of a card again, and compare: exit code 1 if anything differs."""
    wrong = 0
    with complaints():
        found = read_card(card)
        count = min(cells, len(found.cells))
        for number, finding in enumerate(verify(found, output, cells, seed, trusted), start=1):
            job = finding.cell.job
            words = "; ".join(finding.differences)
            words = words or ("the same" if finding.same else "the same within the intervals")
            console().print(
                f"{number}/{count} {job.game}, seed {job.seed}: {words}", soft_wrap=True
            )
            wrong += bool(finding.differences)
    if wrong:
        made = found.cells[0]
        say(
            f"{wrong} of {count} cells differ; the card was made by azumaya {made.azumaya} "
            f"({made.commit or 'no commit'}) on {made.cpu}"
        )
        raise typer.Exit(FAILED)
    say(f"{count} of {len(found.cells)} cells were made again, and none differs")
