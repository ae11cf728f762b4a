"""`azumaya class`: the submissions of a class, checked, examined, played and marked."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import TimeRemainingColumn

from azumaya.baselines.agents.names import example_agents, find_agent
from azumaya.baselines.arena.exams import PARTS
from azumaya.baselines.arena.game_options import game_named
from azumaya.baselines.arena.league.ratings import ANCHOR
from azumaya.baselines.arena.matches import MOST_STARTS, check_starts
from azumaya.baselines.arena.report import counted
from azumaya.baselines.classroom.confine import Isolation
from azumaya.baselines.classroom.grading import (
    OPPONENTS,
    OpponentFailedError,
    Plan,
    class_meetings,
    grade,
    hidden_from,
    isolation_of,
    missing_meetings,
    needed_in,
    room_for,
    run_alone,
    warm_up,
)
from azumaya.baselines.classroom.marks import (
    EXAM,
    GRADED,
    OTHER,
    WEIGHTS,
    Scheme,
    mark_class,
)
from azumaya.baselines.classroom.process import (
    IsolationError,
    Limits,
    Room,
    StartingError,
)
from azumaya.baselines.classroom.report import isolation_lines
from azumaya.baselines.classroom.sitting import check_exam
from azumaya.baselines.classroom.store import MARKS, NAME, REPORT, ClassFile, begun_seed
from azumaya.baselines.classroom.submissions import Submission, collect, read_submission
from azumaya.baselines.cli.class_files import GameName, handout_command, starter_command
from azumaya.baselines.cli.class_results import show_marks, write_results
from azumaya.baselines.cli.exam import part_named
from azumaya.baselines.cli.terminal import complaints, progress, say
from azumaya.baselines.system.commands import WORKERS, Commands, formerly, time_option, with_default
from azumaya.baselines.system.files import shown
from azumaya.baselines.system.signals import FAILED, INTERRUPTED
from azumaya.baselines.system.threads import StoppedError
from azumaya.envs import OptionError
from azumaya.envs.engine.workers import available_cores
from azumaya.envs.extras import require
from azumaya.envs.position import MAX_SEED

MOST_BYTES = 64

app = Commands(
    cls=with_default("grade"),
    name="class",
    help="Grade students' agents, each in its own sandbox.",
)

MoveLimit = Annotated[float, time_option("The time for a move.", "s", Limits.move, least=0.1)]
GameLimit = Annotated[
    float,
    time_option(
        "The time for all moves of a game; a submission that needs more loses.", "s", Limits.game,
        least=0.1,
    ),
]  # fmt: skip
SECONDS = {"--move-limit": "s", "--game-limit": "s"}
Megabytes = Annotated[
    int, typer.Option(min=512, max=1 << 24, help="Memory of a submission, in MiB.")
]
WithBaselines = Annotated[
    bool,
    typer.Option(
        "--allow-baselines",
        help="Let submissions use azumaya.baselines: its agents and its search, not its exams.",
    ),
]


@app.command(
    "grade",
    cls=formerly(WORKERS, SECONDS, game_first=True),
    epilog="`azumaya class starter FILE` writes a file to begin with; `azumaya class check FILE` "
    "is for students.",
)
def grade_command(
    game: GameName,
    folder: Annotated[Path, typer.Argument(help="The folder of submissions: Python files.")],
    output: Annotated[
        Path, typer.Option(help="The folder of marks and report; made if it does not exist.")
    ],
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            help=f"An agent that all play. Repeat for more. Default: {', '.join(OPPONENTS)}. "
            f"Ratings need {ANCHOR}.",
            autocompletion=example_agents,
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="What counts for the mark: exam, class, or an opponent. Repeat for more. Default: "
            f"{', '.join(f'{name}={value:g}' for name, value in WEIGHTS.items())}, and "
            f"{OTHER:g} for any other opponent.",
        ),
    ] = None,
    points: Annotated[float, typer.Option(help="The best mark.")] = Scheme.points,
    part: Annotated[
        str,
        typer.Option(
            help=f"The part of the exam: {' or '.join(PARTS)}.", autocompletion=lambda: [*PARTS]
        ),
    ] = PARTS[1],
    exam: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="An exam of your own instead, made as docs/guides/exams.md shows: the answers to "
            "both parts are in the package.",
        ),
    ] = None,
    pairs: Annotated[
        int, typer.Option(min=1, help="Pairs of games against each opponent, time permitting.")
    ] = Plan.pairs,
    classmates: Annotated[
        int,
        typer.Option(
            min=0,
            help="How many other submissions each one plays; 0 for none. If this number and that "
            "of the submissions are both odd, each plays one more.",
        ),
    ] = Plan.classmates,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Seed of all random choices. Default: drawn at random, and kept in the folder of "
            "marks. Whoever knows it knows the games, and a small number can be found by trying.",
        ),
    ] = None,
    move_limit: MoveLimit = Limits.move,
    game_limit: GameLimit = Limits.game,
    megabytes: Megabytes = Limits.megabytes,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Submissions at once. Default: one per core.")
    ] = None,
    require_isolation: Annotated[
        bool,
        typer.Option(
            "--require-isolation",
            help="Run nothing unless submissions are kept from files, network and processes.",
        ),
    ] = False,
    allow_baselines: WithBaselines = False,
) -> None:
    """Grade students' agents: check, exam, games, marks as CSV, and a report.

    Results are stored as they come. After an interruption the same command resumes.
    Submissions that have not changed are not run again.
    """
    _check_system()
    with complaints():
        opponents = tuple(dict.fromkeys(opponent)) if opponent else OPPONENTS
        for name in opponents:
            find_agent(name)
        seed = check_starts(pairs, _seed(seed, output))
        scheme = _scheme(opponents, weight, points)
        limits = Limits(
            move_limit, game_limit, megabytes=megabytes, baselines=allow_baselines,
            isolated=require_isolation,
        )  # fmt: skip
        plan = Plan(
            game_named(game).name, part_named(part), seed, opponents, pairs,
            classmates=classmates, limits=limits, own_exam=exam,
        )  # fmt: skip
        file, submissions = _begun(plan, scheme, folder, output)
    room = room_for(plan, hidden_from(folder, output, exam))
    try:
        isolation = _run(file, submissions, plan, room, workers)
        write_results(file, submissions, plan, scheme, isolation, output)
    finally:
        file.close()


@app.command("check", cls=formerly(units=SECONDS, game_first=True))
def check_command(
    game: GameName,
    file: Annotated[Path, typer.Argument(help="The file to hand in.")],
    move_limit: MoveLimit = Limits.move,
    game_limit: GameLimit = Limits.game,
    megabytes: Megabytes = Limits.megabytes,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games against each opponent.")] = 5,
    allow_baselines: WithBaselines = False,
) -> None:
    """Check one file as the class will: the same limits, the public exam, and some games."""
    _check_system()
    limits = Limits(move_limit, game_limit, megabytes=megabytes, baselines=allow_baselines)
    with complaints():
        name = game_named(game).name
        plan = Plan(name, PARTS[0], pairs=pairs, limits=limits)
        submission = read_submission(file)
        if submission.problem:
            raise OptionError(f"{shown(file)}: {submission.problem}")
    try:
        say(f"{submission.name}: check, public exam and games; this takes up to two minutes")
        warm_up(plan)
        run = run_alone(submission, plan, room_for(plan))
    except StartingError as error:
        raise _failed(error) from None
    found = mark_class([submission], {submission.id: run}, [], name, plan.exam, Scheme())
    show_marks(found, plan.opponents, "by the default weights, in the public exam")
    isolation = Isolation(dict(run.isolation), dict(run.missing))
    if not run.isolation:  # a file that cannot be loaded does not say what confined it
        isolation = isolation_of(plan, room_for(plan))
    for line in isolation_lines(isolation):
        say(line)
    if run.output:
        printed = counted(run.printed, "byte")
        say(f"It printed {printed}, beginning with: {run.output[:MOST_BYTES]!r}")
    if found[0].status != GRADED or found[0].failures:
        raise typer.Exit(FAILED)


app.command("starter", cls=formerly(game_first=True))(starter_command)
app.command("handout")(handout_command)


def _check_system() -> None:
    """Refuse systems that lack what running submissions needs."""
    if sys.platform == "win32":
        raise typer.BadParameter(
            "submissions run on Linux or macOS only; on Windows use its subsystem for Linux"
        )
    require("choix", "class")
    require("msgspec", "class")


def _scheme(opponents: Sequence[str], texts: Sequence[str] | None, points: float) -> Scheme:
    """How marks are computed; the default weights are those of the opponents that there are."""
    weights = {EXAM: WEIGHTS[EXAM], **{n: WEIGHTS.get(n, OTHER) for n in opponents}}
    if texts:
        weights = {}
        for text in texts:
            name, equals, number = text.rpartition("=")
            try:
                weights[name] = float(number)
            except ValueError:
                equals = ""
            if not equals:
                raise OptionError(f"--weight {shown(text)}: must be NAME=NUMBER, such as exam=60")
    scheme = Scheme(points, weights)
    scheme.check(opponents)
    return scheme


def _begun(
    plan: Plan, scheme: Scheme, folder: Path, output: Path
) -> tuple[ClassFile, list[Submission]]:
    """Check what is to be marked, then open the file of results; returns it and the submissions."""
    _check_folders(folder, output)
    submissions = collect(folder)
    if not submissions:
        raise OptionError(f"{shown(folder)}: there are no submissions, files such as name.py")
    settings, exam = plan.settings(), plan.exam  # before anything is made
    if exam is not None and plan.own_exam is not None:
        check_exam(exam)
    several = plan.classmates > 0 and sum(not s.problem for s in submissions) > 1
    scheme.check_use(plan.opponents, exam is not None, several)
    output.mkdir(parents=True, exist_ok=True)
    return ClassFile(output / NAME, settings), submissions


def _seed(given: int | None, output: Path) -> int:
    """The seed that was given, or with which the marking was begun, or one that nobody knows."""
    if given is not None:
        return given
    begun = begun_seed(output / NAME)
    # each start takes the next seed
    return secrets.randbelow(MAX_SEED - MOST_STARTS) if begun is None else begun


def _check_folders(folder: Path, output: Path) -> None:
    if not folder.is_dir():
        raise OptionError(f"{shown(folder)}: there is no such folder")
    if output.resolve().is_relative_to(folder.resolve()):
        raise OptionError(f"--output {shown(output)}: must not be in the folder of submissions")
    needed = needed_in(folder)
    if needed is not None:
        raise OptionError(
            f"{shown(folder)}: contains {shown(needed)}, which submissions must be able to read; "
            "put the submissions into a folder of their own"
        )
    for name in (MARKS, REPORT):
        if (output / name).exists() and not (output / NAME).exists():
            raise OptionError(
                f"--output {shown(output)}: has a {name} but no {NAME}, so it is not the folder of "
                "a class; name another one"
            )


def _run(
    file: ClassFile, submissions: Sequence[Submission], plan: Plan, room: Room,
    workers: int | None,
) -> Isolation:  # fmt: skip
    """Run what is missing, with a progress bar; returns what confines submissions here."""
    whole = [s for s in submissions if not s.problem]
    waiting = [s for s in whole if s.id not in file.runs]
    try:
        isolation = isolation_of(plan, room)
        for line in isolation_lines(isolation):
            say(line)
        warm_up(plan)
        with progress("{task.description}", TimeRemainingColumn()) as bar:
            task = bar.add_task("submissions", total=len(waiting))
            games = bar.add_task("games of the class", total=None)  # known once all are checked
            left = sum(s.id not in file.mistakes for s in whole)
            costly = bar.add_task("costliest moves", total=left)

            def told(kind: str, name: str) -> None:
                if kind in ("submission", "review"):
                    bar.advance(task if kind == "submission" else costly)
                else:
                    total = len(class_meetings(file, whole, plan))
                    left = len(missing_meetings(file, whole, plan))
                    bar.update(games, total=total, completed=total - left)

            grade(file, submissions, plan, room, workers or available_cores(), told)
    except IsolationError as error:
        raise _failed(f"{error}; no submission was run without isolation") from None
    except (StartingError, OpponentFailedError) as error:
        raise _failed(error) from None
    except (KeyboardInterrupt, StoppedError):
        say("Interrupted; the results so far are stored, and the same command resumes the marking.")
        raise typer.Exit(INTERRUPTED) from None
    return isolation


def _failed(error: object) -> typer.Exit:
    say(f"azumaya: {error}")
    return typer.Exit(FAILED)
