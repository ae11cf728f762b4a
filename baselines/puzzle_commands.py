"""`azumaya puzzles`: make puzzles, say which advice they miss, draw one.

The puzzle package is imported by the commands that need it, so that `--help` stays quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from azumaya.envs.puzzles.criteria import Report
    from azumaya.envs.puzzles.formats import NumberedPuzzle

app = typer.Typer(help="Sudoku puzzles to start games from.", no_args_is_help=True)

BATCH = 25
"""Puzzles made between two writes: little is lost to Ctrl-C, and writing costs nothing."""

MISSES, UNREADABLE, INTERRUPTED = 1, 2, 130
"""Exit codes: a puzzle misses a criterion; bad input; stopped by Ctrl-C."""

OWNERS = {"L": "light", "D": "dark", ".": "neutral"}
"""By letter of a region's owner, the ground and the stones it is drawn with."""

Relax = Annotated[
    list[str] | None,
    typer.Option(
        help="A criterion that need not be met: unique, singles, givens, blocks, centre or lines. "
        "May be given several times."
    ),
]
MaxGivens = Annotated[int | None, typer.Option(help="The most givens; 36 where nothing is said.")]


@app.command()
def generate(
    count: Annotated[int, typer.Option(min=0, help="How many puzzles.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The same seed makes the same puzzles.")] = 0,
    relax: Relax = None,
    max_givens: MaxGivens = None,
    output: Annotated[
        Path | None,
        typer.Option(help="The file to write; if it is there already, it is gone on with."),
    ] = None,
) -> None:
    """Make puzzles that meet the rulebook's advice, one line of 81 characters each."""
    header = _header(seed, relax or [], max_givens)
    try:
        made = done = 0 if output is None else _resume(output, header)
        if done > count or done == count > 0:
            more = "" if done == count else f" and more than --count {count}: none was taken away"
            _say(f"{done} puzzles in {output}, all of them from before{more}; none was made")
            return
        for puzzles in _batches(count, seed, relax or [], max_givens, done):
            made += len(puzzles)
            _append(output, puzzles)
    except KeyboardInterrupt:
        _say(f"stopped after {made} of {count}; the same command with --output goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        if output is None:
            raise
        _not_there(output, error)
    if output is not None:
        before = f", {done} of them from before" if done else ""
        _say(f"{made} puzzles in {output}{before}")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A puzzle file: .txt, .sdm, .sdk, .ss or .csv.")],
    relax: Relax = None,
    max_givens: MaxGivens = None,
) -> None:
    """Say which puzzles of a file miss which criterion; exit code 1 if any does."""
    from azumaya.envs.puzzles.criteria import demanded  # noqa: PLC0415

    try:
        demanded(relax or [])
    except ValueError as error:
        _refuse(error)
    puzzles = _read(file)
    table, missed = Table("line", "criterion", "what is wrong"), 0
    for numbered in puzzles:
        rows = list(_misses(numbered, relax or [], max_givens))
        missed += bool(rows)
        for criterion, where in rows:
            table.add_row(str(numbered.line), criterion, escape(where))
    console = Console()
    if missed:
        console.print(table)
    console.print(f"{len(puzzles) - missed} of {len(puzzles)} puzzles meet every criterion")
    if missed:
        raise typer.Exit(MISSES)


@app.command()
def show(
    source: Annotated[
        str | None,
        typer.Argument(help="A puzzle of 81 characters, or a puzzle file; else the bank."),
    ] = None,
    number: Annotated[int, typer.Option(min=1, help="Which one of the file or bank.")] = 1,
    solution: Annotated[bool, typer.Option(help="Fill in the solution too.")] = False,
) -> None:
    """Draw a puzzle, its regions in their colours, and say what it is like."""
    from azumaya.envs.puzzles import PuzzleRuleError, load_bank  # noqa: PLC0415
    from azumaya.envs.puzzles.criteria import check as check_puzzle  # noqa: PLC0415
    from azumaya.envs.puzzles.grid import to_text  # noqa: PLC0415

    if source is None:
        puzzles = [to_text(cells) for cells in load_bank()]
    else:
        puzzles = [numbered.puzzle for numbered in _read(source)]
    if number > len(puzzles):
        _refuse(f"--number {number}: there are {len(puzzles)} puzzles")
    puzzle = puzzles[number - 1]
    try:
        report = check_puzzle(puzzle)
    except PuzzleRuleError as error:
        _refuse(error)
    solutions = report.facts.solutions
    board = _drawn(puzzle, solutions[0] if solution and solutions else puzzle)
    typer.echo(f"{board}\n{report}", color=True)  # colours, if any, are meant to be there


def _header(seed: int, relax: list[str], max_givens: int | None) -> str:
    """The comment that a file of puzzles starts with: all that decides what they are."""
    from azumaya.envs.puzzles import generator  # noqa: PLC0415

    try:
        generator.generate(0, seed, relax=relax, max_givens=max_givens)
    except ValueError as error:
        _refuse(error)
    words = [f"--seed {seed}", *(f"--relax {name}" for name in sorted(set(relax)))]
    words += [] if max_givens is None else [f"--max-givens {max_givens}"]
    return f"# azumaya puzzles generate {' '.join(words)} (generator {generator.VERSION})\n"


def _resume(output: Path, header: str) -> int:
    """Start a file, or find out how many puzzles it has; a torn last line is cut off."""
    if not output.exists():
        with output.open("x", encoding="ascii", newline="\n") as file:
            file.write(header)
        return 0
    with output.open("ab"):
        pass  # a file that cannot be written is found out before puzzles are made
    data = output.read_bytes()
    if not data.startswith(header.encode()):
        _refuse(f"{output}: there already, but not made with these options; name another file")
    whole = data[: data.rindex(b"\n") + 1]
    if whole != data:
        output.write_bytes(whole)
    return whole.count(b"\n") - 1


def _batches(
    count: int, seed: int, relax: list[str], max_givens: int | None, done: int
) -> Iterator[list[str]]:
    """Make the puzzles from number `done` on, with a progress bar on the error stream."""
    from azumaya.envs.puzzles import generator  # noqa: PLC0415

    with _progress() as progress:
        task = progress.add_task("puzzles", total=max(count, done), completed=done)
        for first in range(done, count, BATCH):
            size = min(BATCH, count - first)
            try:
                puzzles = generator.generate(
                    size, seed, relax=relax, max_givens=max_givens, first=first
                )
            except generator.PuzzleGenerationError as error:
                _refuse(error)
            progress.update(task, advance=size)
            yield puzzles


def _progress() -> Progress:
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("puzzles"), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _append(output: Path | None, puzzles: list[str]) -> None:
    lines = "".join(f"{puzzle}\n" for puzzle in puzzles)
    if output is None:
        typer.echo(lines, nl=False)
        return
    with output.open("a", encoding="ascii", newline="\n") as file:
        file.write(lines)


def _read(source: str | Path) -> list[NumberedPuzzle]:
    from azumaya.envs.puzzles import PuzzleFormatError  # noqa: PLC0415
    from azumaya.envs.puzzles.formats import read_numbered  # noqa: PLC0415

    try:
        return read_numbered(source)
    except PuzzleFormatError as error:
        _refuse(error)
    except OSError as error:
        _refuse(f"{source}: {_why(error)}; a puzzle file is needed")


def _misses(
    numbered: NumberedPuzzle, relax: list[str], max_givens: int | None
) -> Iterator[tuple[str, str]]:
    """What a puzzle misses, as criterion and place; `rule` where it is no Sudoku at all."""
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
    """The board with blocks, regions and square names; givens are told from the others."""
    from azumaya.envs.games.shima.territory import NAMED  # noqa: PLC0415
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


def _why(error: OSError) -> str:
    """What is wrong with a file, in words."""
    if isinstance(error, IsADirectoryError):
        return "this is a folder"
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return "there is no such file"
    return error.strerror or str(error)


def _not_there(output: Path, error: OSError) -> NoReturn:
    """End the command over a file that cannot be written."""
    why = _why(error)
    if not output.parent.is_dir():
        why = f"there is no folder {output.parent}; make it first"
    _refuse(f"--output {output}: {why}; name a file that can be written")


def _say(message: str) -> None:
    Console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)


def _refuse(problem: object) -> NoReturn:
    """End the command over bad input."""
    _say(f"azumaya puzzles: {problem}")
    raise typer.Exit(UNREADABLE)
