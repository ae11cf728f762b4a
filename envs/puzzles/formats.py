"""Reading and writing puzzles as text: lines, grids and the usual puzzle files.

Understood, and mixed freely in one text: a puzzle as one line of 81 cells; a grid of nine lines
of nine cells, with or without frames and bars; `#` comments and blank lines anywhere; the
sections of `.sdk` files, of which only `[Puzzle]` is read; tables with a header line that names
a column `puzzle`. An empty cell is `.` or `0`. So files ending in .sdk, .sdm, .ss, .txt and .csv
need no switch. These functions read the form only: `grid.check_rule` looks at the numbers.
"""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from typing import NamedTuple

from azumaya.envs.geometry.sudoku81 import CELLS, SIZE
from azumaya.envs.puzzles.grid import PuzzleFormatError, PuzzleLike, to_text

_CELLS = ".0123456789"
_GAPS = " \t|"
_FRAMES = frozenset("-+|=* \t")
_SECTION = re.compile(r"\[(\w+)\]")
_PUZZLE_COLUMNS = frozenset({"puzzle", "puzzles", "quiz", "quizzes"})
_SOLUTION_COLUMNS = frozenset({"solution", "solutions"})


class NumberedPuzzle(NamedTuple):
    """A puzzle, 81 characters, and the line it starts on, counted from 1."""

    puzzle: str
    line: int


def parse_puzzle(text: str) -> str:
    """The one puzzle of a text, in any of the forms above, as 81 characters.

    Raises:
        PuzzleFormatError: there is no puzzle, more than one, or something else; with the place.
    """
    puzzles = parse_puzzles(text)
    if len(puzzles) > 1:
        raise PuzzleFormatError("a second puzzle, where one is wanted", line=puzzles[1].line)
    return puzzles[0].puzzle


def parse_puzzles(text: str, source: str = "puzzle") -> list[NumberedPuzzle]:
    """All puzzles of a text, at least one, with their lines.

    Args:
        text: the text.
        source: what error messages call it.

    Raises:
        PuzzleFormatError: a line is no part of a puzzle, or there is no puzzle at all.
    """
    reader = _Reader(source)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        reader.feed(number, line)
    return reader.finish()


def read_numbered(path_or_text: str | os.PathLike[str]) -> list[NumberedPuzzle]:
    """All puzzles of a file or text, at least one, with their lines; see `read_puzzles`."""
    if isinstance(path_or_text, str) and not os.path.isfile(path_or_text):
        short = len(path_or_text) < CELLS and not {"\n", "\r"} & set(path_or_text)
        if short:
            raise PuzzleFormatError(f"{path_or_text!r} is neither a puzzle of 81 cells nor a file")
        return parse_puzzles(path_or_text)
    path = Path(path_or_text)
    return parse_puzzles(_decode(path.read_bytes(), str(path)), str(path))


def read_puzzles(path_or_text: str | os.PathLike[str]) -> list[str]:
    """All puzzles of a file or text, at least one, 81 characters each.

    Args:
        path_or_text: a path, or a text that names no file.

    Raises:
        PuzzleFormatError: it holds no puzzle or something else; with the line and the column.
        OSError: a path object whose file cannot be read.
    """
    return [puzzle for puzzle, _ in read_numbered(path_or_text)]


def format_grid(puzzle: PuzzleLike) -> str:
    """A puzzle as nine lines of nine cells, with bars between the blocks; no last newline."""
    text = to_text(puzzle)
    rows = [text[i : i + SIZE] for i in range(0, CELLS, SIZE)]
    barred = [" | ".join(" ".join(row[i : i + 3]) for i in (0, 3, 6)) for row in rows]
    between = "------+-------+------"
    return "\n".join([*barred[:3], between, *barred[3:6], between, *barred[6:]])


def _decode(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise PuzzleFormatError("this is no text in UTF-8", source, line, column) from None


class _Reader:
    """Takes a text line by line; collects the puzzles in it."""

    def __init__(self, source: str):
        self.source = source
        self.puzzles: list[NumberedPuzzle] = []
        self.rows: list[str] = []  # of a grid not yet complete
        self.start = 0  # the line of its first row
        self.skipping = False  # inside a section that holds no puzzle
        self.header: list[str] = []  # the columns of a table

    def fail(self, problem: str, line: int, column: int = 0) -> PuzzleFormatError:
        return PuzzleFormatError(problem, self.source, line, column)

    def feed(self, number: int, line: str) -> None:
        content = line.strip()
        if not content or content.startswith("#"):
            return
        if section := _SECTION.fullmatch(content):
            self.end_grid()
            self.skipping = section[1].lower() != "puzzle"
        elif self.skipping:
            return
        elif self.header:
            self.table_row(number, line)
        elif not self.is_header(line):
            self.cells_line(number, line.split("#", 1)[0].rstrip())

    def finish(self) -> list[NumberedPuzzle]:
        self.end_grid()
        if not self.puzzles:
            raise self.fail("no puzzle in here", 0)
        return self.puzzles

    def end_grid(self) -> None:
        if self.rows:
            raise self.fail(f"a grid of {len(self.rows)} rows only, not 9", self.start)

    def is_header(self, line: str) -> bool:
        names = [name.strip().strip('"').lower() for name in line.split(",")]
        if "," not in line or self.puzzles or self.rows or not _PUZZLE_COLUMNS & set(names):
            return False
        self.header = names
        return True

    def cells_line(self, number: int, line: str) -> None:
        if set(line) <= _FRAMES:
            return
        marks, columns = self.marks(number, line)
        if len(marks) == CELLS:
            self.end_grid()
            self.puzzles.append(NumberedPuzzle(marks, number))
        elif len(marks) == SIZE:
            self.grid_row(number, marks)
        else:
            wanted = SIZE if len(marks) < CELLS else CELLS
            column = columns[wanted] if len(marks) > wanted else len(line) + 1
            problem = f"{len(marks)} cells: a row has 9, a whole puzzle 81"
            raise self.fail(problem, number, column)

    def grid_row(self, number: int, marks: str) -> None:
        if not self.rows:
            self.start = number
        self.rows.append(marks)
        if len(self.rows) == SIZE:
            self.puzzles.append(NumberedPuzzle("".join(self.rows), self.start))
            self.rows = []

    def marks(self, number: int, text: str, first: int = 1) -> tuple[str, list[int]]:
        """The cells of a piece of a line, `0` as `.`, and the column of each."""
        cells, columns = [], []
        for column, mark in enumerate(text, first):
            if mark in _CELLS:
                cells.append("." if mark == "0" else mark)
                columns.append(column)
            elif mark not in _GAPS:
                problem = f"{mark!r} is no cell: use 1 to 9, and '.' or '0' for an empty one"
                raise self.fail(problem, number, column)
        return "".join(cells), columns

    def table_row(self, number: int, line: str) -> None:
        fields = self.fields(number, line)
        found: dict[str, tuple[str, int]] = {}
        for kind, names in (("puzzle", _PUZZLE_COLUMNS), ("solution", _SOLUTION_COLUMNS)):
            place = next((i for i, name in enumerate(self.header) if name in names), len(fields))
            if place < len(fields) and (kind == "puzzle" or fields[place][0].strip()):
                found[kind] = self.field(number, *fields[place]), fields[place][1]
        if "puzzle" not in found:
            raise self.fail(f"{len(fields)} fields, none for the puzzle", number, len(line) + 1)
        puzzle, solution = found["puzzle"][0], found.get("solution")
        if solution and any(a not in (".", b) for a, b in zip(puzzle, solution[0], strict=True)):
            raise self.fail("this solution does not fit its puzzle", number, solution[1])
        self.puzzles.append(NumberedPuzzle(puzzle, number))

    def field(self, number: int, text: str, column: int) -> str:
        marks, _ = self.marks(number, text, column)
        if len(marks) != CELLS:
            raise self.fail(f"{len(marks)} cells: a whole puzzle has 81", number, column)
        return marks

    def fields(self, number: int, line: str) -> list[tuple[str, int]]:
        """The fields of a line of a table, with the column where each starts."""
        try:
            texts = next(csv.reader([line]))
        except csv.Error as error:
            raise self.fail(f"no line of a table: {error}", number) from None
        placed, position = [], 0
        for text in texts:
            position = max(position, line.find(text, position))
            placed.append((text, position + 1))
            position += len(text)
        return placed
