"""Reading and writing puzzles as text: lines, grids and the usual puzzle files.

A text may mix all of these: a puzzle as one line of 81 cells; a grid of nine lines of nine cells,
with or without frames and bars; `#` comments and blank lines; the sections of `.sdk` files, of
which only `[Puzzle]` is read; tables with a header line that names a column `puzzle`. An empty
cell is `.` or `0`. So there is no need to say whether a file is .sdk, .sdm, .ss, .txt or .csv.
These functions check the form only; `grid.check_rule` checks the numbers.

Files are read line by line. `iter_puzzles` holds one puzzle in memory at a time; `read_cells` takes
81 bytes per puzzle and `read_puzzles` about 150. A line of more than `LONGEST_LINE` characters is
rejected before the rest of it is read. So is a file with more than `MOST_PUZZLES` puzzles, if all
of them would be kept.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azumaya.envs.geometry.sudoku81 import CELLS, SIZE
from azumaya.envs.puzzles.grid import Cells, PuzzleFormatError, PuzzleLike, to_text

LONGEST_LINE = 65_536
"""The most characters that a line of a puzzle file may have."""

MOST_PUZZLES = 10_000_000
"""The most puzzles that are kept in memory at once."""

_CELLS = ".0123456789"
_NUMBERS = bytes.maketrans(b".123456789", bytes(range(10)))
_GAPS = " \t|"
_FRAMES = frozenset("-+|=* \t")
_SECTION = re.compile(r"\[(\w+)\]")
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_WHOLE = re.compile(rf"[.0-9]{{{CELLS}}}")
_UNDECODED = re.compile("[\udc80-\udcff]")
_PUZZLE_COLUMNS = frozenset({"puzzle", "puzzles", "quiz", "quizzes"})
_SOLUTION_COLUMNS = frozenset({"solution", "solutions"})


class NumberedPuzzle(NamedTuple):
    """A puzzle, 81 characters, and the line it starts on, counted from 1."""

    puzzle: str
    line: int


def parse_puzzle(text: str) -> str:
    """The only puzzle in a text, in any of the forms above, as 81 characters.

    Raises:
        PuzzleFormatError: there is no puzzle, more than one, or something else; the error names the
            place.
    """
    puzzles = parse_puzzles(text)
    if len(puzzles) > 1:
        raise PuzzleFormatError("a second puzzle; there must be only one", line=puzzles[1].line)
    return puzzles[0].puzzle


def parse_puzzles(text: str, source: str = "puzzle") -> list[NumberedPuzzle]:
    """All puzzles in a text, at least one, with their lines.

    Args:
        text: the text.
        source: what error messages call the text.

    Raises:
        PuzzleFormatError: a line is not part of a puzzle, or there is no puzzle.
    """
    return list(_bounded(_puzzles_in(_lines_of(_checked_text(text)), source), source))


def iter_puzzles(path_or_text: str | os.PathLike[str]) -> Iterator[NumberedPuzzle]:
    """The puzzles in a file or text one by one, at least one, with their lines.

    A file of any size, or a pipe, takes the memory of one line.

    Args:
        path_or_text: a path, or a text that is not the path of a file.

    Raises:
        PuzzleFormatError: there is no puzzle, or something else; the error names line and column.
            Puzzles before the error are returned first.
        OSError: a path object whose file cannot be read.
    """
    return _puzzles_in(*_opened(path_or_text))


def read_puzzles(path_or_text: str | os.PathLike[str]) -> list[str]:
    """All puzzles in a file or text, at least one, 81 characters each.

    Args:
        path_or_text: a path, or a text that is not the path of a file.

    Raises:
        PuzzleFormatError: there is no puzzle, something else, or more than `MOST_PUZZLES`; the
            error names line and column.
        OSError: a path object whose file cannot be read.
    """
    return [numbered.puzzle for numbered in _all_of(path_or_text)]


def read_cells(path_or_text: str | os.PathLike[str]) -> Cells:
    """All puzzles in a file or text as numbers, `(n, 81)` uint8, 0 = empty; `n` is at least 1.

    Takes 81 bytes of memory per puzzle. Raises the errors of `read_puzzles`.
    """
    cells = bytearray()
    for numbered in _all_of(path_or_text):
        cells += numbered.puzzle.encode().translate(_NUMBERS)
    return np.frombuffer(cells, np.uint8).reshape(-1, CELLS)


def format_grid(puzzle: PuzzleLike) -> str:
    """A puzzle as nine lines of nine cells, with bars between the blocks and no final newline."""
    text = to_text(puzzle)
    rows = [text[i : i + SIZE] for i in range(0, CELLS, SIZE)]
    barred = [" | ".join(" ".join(row[i : i + 3]) for i in (0, 3, 6)) for row in rows]
    between = "------+-------+------"
    return "\n".join([*barred[:3], between, *barred[3:6], between, *barred[6:]])


def _checked_text(text: object) -> str:
    if not isinstance(text, str):
        raise PuzzleFormatError(f"must be a string, not {type(text).__name__}")
    return text


def _checked_path(path: object) -> Path:
    """Validate the path of a file; raises `PuzzleFormatError`."""
    if not isinstance(path, str | os.PathLike):
        raise PuzzleFormatError(f"must be a path or a string, not {type(path).__name__}")
    file = Path(os.fsdecode(path))
    if "\0" in str(file):
        raise PuzzleFormatError(f"{str(file)!r}: a file name cannot contain a null character")
    return file


def _names_a_file(text: str) -> bool:
    """Whether a text is the path of a file or of something else that can be read, like a pipe."""
    return os.path.exists(text) and not os.path.isdir(text)


def _opened(path_or_text: str | os.PathLike[str]) -> tuple[Iterator[str], str]:
    """The lines of a file or text, and what messages call them."""
    if isinstance(path_or_text, str) and not _names_a_file(path_or_text):
        if len(path_or_text) < CELLS and not {"\n", "\r"} & set(path_or_text):
            raise PuzzleFormatError(f"{path_or_text!r} is neither a puzzle of 81 cells nor a file")
        return _lines_of(path_or_text), "puzzle"
    path = _checked_path(path_or_text)
    return _lines_in(path), str(path)


def _all_of(path_or_text: str | os.PathLike[str]) -> Iterator[NumberedPuzzle]:
    lines, source = _opened(path_or_text)
    return _bounded(_puzzles_in(lines, source), source)


def _bounded(puzzles: Iterator[NumberedPuzzle], source: str) -> Iterator[NumberedPuzzle]:
    """The puzzles, unless there are too many to keep in memory; raises `PuzzleFormatError`."""
    yield from islice(puzzles, MOST_PUZZLES)
    for surplus in puzzles:
        problem = f"more than {MOST_PUZZLES:,} puzzles; split the file"
        raise PuzzleFormatError(problem, source, surplus.line)


def _lines_of(text: str) -> Iterator[str]:
    """The lines of a text without their line endings, which may be those of any system."""
    return (match[1] for match in _LINE.finditer(text))


def _lines_in(path: Path) -> Iterator[str]:
    """The lines of a file, each read only until it is known to be too long.

    Bytes that are not UTF-8 become lone surrogates, so that errors can name their place.
    """
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        while line := file.readline(LONGEST_LINE + 2):
            yield line.removesuffix("\n")


def _puzzles_in(lines: Iterable[str], source: str) -> Iterator[NumberedPuzzle]:
    """The puzzles in some lines, each as soon as its last line is read."""
    reader = _Reader(source)
    for number, line in enumerate(lines, 1):
        puzzle = reader.feed(number, line if number > 1 else line.removeprefix("\ufeff"))
        if puzzle is not None:
            yield puzzle
    reader.finish()


class _Reader:
    """Takes a text line by line and returns the puzzle that a line completes, if any."""

    def __init__(self, source: str):
        self.source = source
        self.some = False  # whether any puzzle has been found
        self.rows: list[str] = []  # the rows so far of a grid
        self.start = 0  # the line of its first row
        self.skipping = False  # inside a section that holds no puzzle
        self.header: list[str] = []  # the columns of a table

    def fail(self, problem: str, line: int, column: int = 0) -> PuzzleFormatError:
        return PuzzleFormatError(problem, self.source, line, column)

    def feed(self, number: int, line: str) -> NumberedPuzzle | None:
        content = line.strip()
        plain = not (self.rows or self.skipping or self.header)
        if plain and _WHOLE.fullmatch(content):  # most lines of large files
            return self.found(content.replace("0", "."), number)
        self.check_line(number, line)
        if not content or content.startswith("#"):
            return None
        if section := _SECTION.fullmatch(content):
            self.end_grid()
            self.skipping = section[1].lower() != "puzzle"
            return None
        if self.skipping:
            return None
        if self.header:
            return self.table_row(number, line)
        if self.is_header(line):
            return None
        return self.cells_line(number, line.split("#", 1)[0].rstrip())

    def check_line(self, number: int, line: str) -> None:
        if len(line) > LONGEST_LINE:
            raise self.fail(f"a line of more than {LONGEST_LINE:,} characters", number)
        if not line.isascii() and (wrong := _UNDECODED.search(line)):
            raise self.fail("not valid UTF-8", number, wrong.start() + 1)

    def finish(self) -> None:
        self.end_grid()
        if not self.some:
            raise self.fail("it contains no puzzle", 0)

    def end_grid(self) -> None:
        if self.rows:
            raise self.fail(f"a grid of only {len(self.rows)} rows, not 9", self.start)

    def is_header(self, line: str) -> bool:
        if "," not in line or self.some or self.rows:
            return False
        names = [name.strip().strip('"').lower() for name in line.split(",")]
        if not _PUZZLE_COLUMNS & set(names):
            return False
        self.header = names
        return True

    def found(self, marks: str, line: int) -> NumberedPuzzle:
        self.some = True
        return NumberedPuzzle(marks, line)

    def cells_line(self, number: int, line: str) -> NumberedPuzzle | None:
        if set(line) <= _FRAMES:
            return None
        marks, columns = self.marks(number, line)
        if len(marks) == CELLS:
            self.end_grid()
            return self.found(marks, number)
        if len(marks) == SIZE:
            return self.grid_row(number, marks)
        wanted = SIZE if len(marks) < CELLS else CELLS
        column = columns[wanted] if len(marks) > wanted else len(line) + 1
        problem = f"{len(marks)} cells: a row has 9, a whole puzzle 81"
        raise self.fail(problem, number, column)

    def grid_row(self, number: int, marks: str) -> NumberedPuzzle | None:
        if not self.rows:
            self.start = number
        self.rows.append(marks)
        if len(self.rows) < SIZE:
            return None
        whole, self.rows = "".join(self.rows), []
        return self.found(whole, self.start)

    def marks(self, number: int, text: str, first: int = 1) -> tuple[str, list[int]]:
        """The cells in a part of a line, with `0` as `.`, and the column of each."""
        cells, columns = [], []
        for column, mark in enumerate(text, first):
            if mark in _CELLS:
                cells.append("." if mark == "0" else mark)
                columns.append(column)
            elif mark not in _GAPS:
                problem = f"{mark!r} is not a cell: use 1 to 9, and '.' or '0' for an empty one"
                raise self.fail(problem, number, column)
        return "".join(cells), columns

    def table_row(self, number: int, line: str) -> NumberedPuzzle:
        fields = self.fields(number, line)
        found: dict[str, tuple[str, int]] = {}
        for kind, names in (("puzzle", _PUZZLE_COLUMNS), ("solution", _SOLUTION_COLUMNS)):
            place = next((i for i, name in enumerate(self.header) if name in names), len(fields))
            if place < len(fields) and (kind == "puzzle" or fields[place][0].strip()):
                found[kind] = self.field(number, *fields[place]), fields[place][1]
        if "puzzle" not in found:
            problem = f"{len(fields)} fields, but none for the puzzle"
            raise self.fail(problem, number, len(line) + 1)
        puzzle, solution = found["puzzle"][0], found.get("solution")
        if solution and any(a not in (".", b) for a, b in zip(puzzle, solution[0], strict=True)):
            raise self.fail("the solution does not fit the puzzle", number, solution[1])
        return self.found(puzzle, number)

    def field(self, number: int, text: str, column: int) -> str:
        marks, _ = self.marks(number, text, column)
        if len(marks) != CELLS:
            raise self.fail(f"{len(marks)} cells: a whole puzzle has 81", number, column)
        return marks

    def fields(self, number: int, line: str) -> list[tuple[str, int]]:
        """The fields of a line in a table, with the column where each starts."""
        try:
            texts = next(csv.reader([line]))
        except csv.Error as error:
            raise self.fail(f"not a line of a table: {error}", number) from None
        placed, position = [], 0
        for text in texts:
            position = max(position, line.find(text, position))
            placed.append((text, position + 1))
            position += len(text)
        return placed
