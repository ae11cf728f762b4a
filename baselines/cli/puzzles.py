"""`azumaya puzzles`: make puzzles, check them against the criteria, draw one.

The puzzle package is imported by the commands that need it, so that `--help` stays quick.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer
from rich.box import SIMPLE_HEAD
from rich.progress import TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from azumaya.baselines.arena.report import counted
from azumaya.baselines.cli.terminal import complaints, console, progress, say
from azumaya.baselines.system.commands import Commands
from azumaya.baselines.system.files import check_writable, is_special, shown
from azumaya.baselines.system.signals import FAILED, INTERRUPTED
from azumaya.envs import OptionError
from azumaya.envs.errors import naming

if TYPE_CHECKING:
    from azumaya.envs.puzzles.criteria import Report
    from azumaya.envs.puzzles.formats import NumberedPuzzle

app = Commands(
    help="Make, check and show Sudoku puzzles to start games from.", no_args_is_help=True
)

BATCH = 25
"""Puzzles per write: few, so that Ctrl-C loses little, yet enough that writing takes no time."""


LINE = 82
"""Bytes of a puzzle in a file: 81 cells and a newline."""

MADE = re.compile(rb"(?:[.1-9]{81}\n)*[.1-9]{0,81}")
"""Puzzles as this command writes them; the last may be cut off."""

OWNERS = {"L": "light", "D": "dark", ".": "neutral"}
"""The ground and stones of a region in drawings, by the letter of its owner."""

ROWS = 500
"""The most rows of one table; further rows go into another one, which bounds the memory used."""

Relax = Annotated[
    list[str] | None,
    typer.Option(
        help="Do not require this criterion: unique, singles, givens, blocks, centre or lines. "
        "Repeat for more criteria."
    ),
]
MaxGivens = Annotated[
    int | None,
    typer.Option(min=17, max=81, help="The most givens a puzzle may have. Default: 36."),
]


@app.command()
def generate(
    count: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="The number of puzzles to make.")
    ] = 10,
    seed: Annotated[
        int, typer.Option(min=0, max=2**64 - 1, help="The same seed gives the same puzzles.")
    ] = 0,
    relax: Relax = None,
    max_givens: MaxGivens = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="The file to write; that of a run that was stopped is continued. "
            "Default: standard output."
        ),
    ] = None,
) -> None:
    """Make puzzles that follow the rulebook's advice, one line of 81 characters each."""
    made = done = 0
    try:
        with complaints():
            header = _header(seed, relax or [], max_givens)
            if output is not None:
                check_writable(output, f"--output {shown(output)}")
            made = done = 0 if output is None else _resume(output, header)
            if done > count or done == count > 0:
                more = "" if done == count else f", more than --count {count}"
                say(f"{output} already has {counted(done, 'puzzle')}{more}; nothing was changed")
                return
            for puzzles in _batches(count, seed, relax or [], max_givens, done):
                _append(output, puzzles)
                made += len(puzzles)
    except KeyboardInterrupt:
        say(f"stopped after {made} of {count}; the same command with --output continues from here")
        raise typer.Exit(INTERRUPTED) from None
    if output is not None:
        before = f", {done} of them from an earlier run" if done else ""
        say(f"{counted(made, 'puzzle')} in {output}{before}")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A puzzle file: .txt, .sdm, .sdk, .ss or .csv.")],
    relax: Relax = None,
    max_givens: MaxGivens = None,
) -> None:
    """List the criteria that puzzles of a file do not meet; exit code 1 if there are any."""
    from azumaya.envs.puzzles.criteria import demanded  # noqa: PLC0415
    from azumaya.envs.puzzles.formats import iter_puzzles  # noqa: PLC0415

    table, checked, missed = _table(), 0, 0
    with complaints():
        demanded(relax or [])
        for numbered in iter_puzzles(file):
            rows = list(_misses(numbered, relax or [], max_givens))
            checked, missed = checked + 1, missed + bool(rows)
            for criterion, where in rows:
                table.add_row(str(numbered.line), criterion, Text(where))
            if table.row_count >= ROWS:
                console().print(table)
                table = _table()
    if table.row_count:
        console().print(table)
    console().print(f"{checked - missed} of {checked} puzzles meet every criterion")
    if missed:
        raise typer.Exit(FAILED)


def _table() -> Table:
    return Table("line", "criterion", "what is wrong", box=SIMPLE_HEAD)


@app.command()
def show(
    source: Annotated[
        str | None,
        typer.Argument(
            help="A puzzle of 81 characters, or a puzzle file. Default: the bank that comes with "
            "the library."
        ),
    ] = None,
    number: Annotated[
        int, typer.Option(min=1, help="Which puzzle of the file or bank, counted from 1.")
    ] = 1,
    solution: Annotated[bool, typer.Option(help="Fill in the solution.")] = False,
) -> None:
    """Draw a puzzle with the regions of the game, and list the criteria it does not meet."""
    from azumaya.envs.puzzles import load_bank  # noqa: PLC0415
    from azumaya.envs.puzzles.criteria import check as check_puzzle  # noqa: PLC0415
    from azumaya.envs.puzzles.formats import iter_puzzles  # noqa: PLC0415
    from azumaya.envs.puzzles.grid import to_text  # noqa: PLC0415

    puzzle: str | None = None
    last = 0
    with complaints():
        puzzles: Iterator[str] = (
            map(to_text, load_bank())
            if source is None
            else (p.puzzle for p in iter_puzzles(source))
        )
        for last, puzzle in enumerate(puzzles, 1):  # noqa: B007 - a message below gives the count
            if last == number:
                break
        if puzzle is None or last != number:
            raise OptionError(f"--number {number}: must be at most {last}, the number of puzzles")
        report = check_puzzle(puzzle)
    solutions = report.facts.solutions
    board = _drawn(puzzle, solutions[0] if solution and solutions else puzzle)
    typer.echo(f"{board}\n{report}", color=True)  # `board` has colours only where they are wanted


def _header(seed: int, relax: list[str], max_givens: int | None) -> str:
    """The first line of a puzzle file: a comment with everything that determines its puzzles."""
    from azumaya.envs.puzzles import generator  # noqa: PLC0415

    generator.generate(0, seed, relax=relax, max_givens=max_givens)
    words = [f"--seed {seed}", *(f"--relax {name}" for name in sorted(set(relax)))]
    words += [] if max_givens is None else [f"--max-givens {max_givens}"]
    return f"# azumaya puzzles generate {' '.join(words)} (generator {generator.VERSION})\n"


def _resume(output: Path, header: str) -> int:
    """Create the file, or count its puzzles and remove an incomplete last line."""
    if not output.exists():
        with output.open("x", encoding="ascii", newline="\n") as file:
            file.write(header)
        return 0
    if is_special(output):
        raise OptionError(
            f"--output {shown(output)}: not a regular file; leave --output out to write to "
            "standard output"
        )
    with output.open("r+b") as file:
        if file.read(len(header)) != header.encode():
            raise OptionError(
                f"--output {shown(output)}: this file was not made with these options; name "
                "another file"
            )
        done = _count(output, file)
        file.truncate(len(header) + done * LINE)
    return done


def _count(output: Path, file: BinaryIO) -> int:
    """Count the complete puzzles in the rest of a file, reading it in pieces."""
    done = 0
    while piece := file.read(LINE * 10_000):
        if not MADE.fullmatch(piece):
            raise OptionError(
                f"--output {shown(output)}: this file has lines that this command did not write; "
                "name another file"
            )
        done += len(piece) // LINE
    return done


def _batches(
    count: int, seed: int, relax: list[str], max_givens: int | None, done: int
) -> Iterator[list[str]]:
    """Make the puzzles from number `done` on, with a progress bar on the error stream."""
    from azumaya.envs.puzzles import generator  # noqa: PLC0415

    with progress("", TextColumn("puzzles"), TimeRemainingColumn()) as bar:
        task = bar.add_task("puzzles", total=max(count, done), completed=done)
        for first in range(done, count, BATCH):
            size = min(BATCH, count - first)
            puzzles = generator.generate(
                size, seed, relax=relax, max_givens=max_givens, first=first
            )
            bar.update(task, advance=size)
            yield puzzles


def _append(output: Path | None, puzzles: list[str]) -> None:
    lines = "".join(f"{puzzle}\n" for puzzle in puzzles)
    if output is None:
        typer.echo(lines, nl=False)
        return
    with (
        naming(f"--output {shown(output)}"),
        output.open("a", encoding="ascii", newline="\n") as file,
    ):
        file.write(lines)


def _misses(
    numbered: NumberedPuzzle, relax: list[str], max_givens: int | None
) -> Iterator[tuple[str, str]]:
    """The criteria that a puzzle does not meet, with the place; `rule` is the Sudoku rule."""
    from azumaya.envs.puzzles import PuzzleRuleError, criteria  # noqa: PLC0415

    most = criteria.MAX_GIVENS if max_givens is None else max_givens
    try:
        report: Report = criteria.check(numbered.puzzle, relax, most)
    except PuzzleRuleError as error:
        yield "rule", str(error)
        return
    for miss in report.misses:
        yield miss.criterion.name, miss.where


def _drawn(puzzle: str, filled: str) -> str:
    """The board with blocks, regions and square names; givens are marked."""
    from azumaya.envs.games._shima.territory import NAMED  # noqa: PLC0415
    from azumaya.envs.geometry.sudoku81 import BLOCK_OF  # noqa: PLC0415
    from azumaya.envs.render import ansi_of  # noqa: PLC0415
    from azumaya.envs.scene import Scene, Stone  # noqa: PLC0415

    owners = NAMED["standard"].owners
    grounds = tuple(OWNERS[owners[block]] for block in BLOCK_OF)
    stones = tuple(
        None if mark == "." else Stone(ground, mark, given=puzzle[cell] != ".")
        for cell, (mark, ground) in enumerate(zip(filled, grounds, strict=True))
    )
    return ansi_of(Scene(board="sudoku81", grounds=grounds, stones=stones))
