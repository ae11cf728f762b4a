"""Readers of puzzles: every format can be read back, and errors say where the text is wrong."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from azumaya.envs.puzzles import formats
from azumaya.envs.puzzles.formats import (
    LONGEST_LINE,
    format_grid,
    iter_puzzles,
    parse_puzzle,
    parse_puzzles,
    read_cells,
    read_puzzles,
)
from azumaya.envs.puzzles.grid import (
    PuzzleFormatError,
    PuzzleRuleError,
    as_cells,
    check_rule,
    to_text,
)

EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
HARD = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."

puzzles = st.text(".123456789", min_size=81, max_size=81)
anything = st.text() | st.text('.0123456789|-+*=# \t\r\n[]Puzle,"\ufeff', max_size=400)


def rows(puzzle: str) -> list[str]:
    return [puzzle[i : i + 9] for i in range(0, 81, 9)]


def as_lines(puzzle: str) -> str:
    return "\n".join(rows(puzzle))


def as_sdk(puzzle: str) -> str:
    return f"#ARuud\n#DA puzzle\n[Puzzle]\n{as_lines(puzzle)}\n[State]\n{as_lines('1' * 81)}\n"


def as_ss(puzzle: str) -> str:
    barred = [f" |{r[:3]}|{r[3:6]}|{r[6:]}|" for r in rows(puzzle)]
    between = " |---+---+---|"
    frame = " *-----------*"
    return "\n".join([frame, *barred[:3], between, *barred[3:6], between, *barred[6:], frame])


def as_csv(puzzle: str) -> str:
    return f"id,puzzle,solution,difficulty\n1,{puzzle.replace('.', '0')},,2.2\n"


FORMS = {
    "line": str,
    "zeros": lambda puzzle: puzzle.replace(".", "0"),
    "comment": lambda puzzle: f"# one\r\n\r\n{puzzle}  # two\r\n",
    "lines": as_lines,
    "grid": format_grid,
    "sdk": as_sdk,
    "ss": as_ss,
    "csv": as_csv,
    "quoted": lambda puzzle: f'"puzzle","solution"\n"{puzzle}",""\n',
    "bom": lambda puzzle: "\ufeff" + as_lines(puzzle),
}


@pytest.mark.parametrize("form", FORMS)
@given(puzzle=puzzles)
def test_every_format_can_be_read_back(form: str, puzzle: str) -> None:
    assert parse_puzzle(FORMS[form](puzzle)) == puzzle


@given(st.lists(st.tuples(puzzles, st.sampled_from(["line", "zeros", "lines", "grid", "ss"]))))
def test_formats_can_be_mixed(parts: list[tuple[str, str]]) -> None:
    text = "".join(FORMS[form](puzzle) + "\n\n" for puzzle, form in parts)
    if not parts:
        with pytest.raises(PuzzleFormatError, match="no puzzle"):
            parse_puzzles(text)
        return
    assert [numbered.puzzle for numbered in parse_puzzles(text)] == [p for p, _ in parts]


@given(anything)
@example("[Puzzle]\n" + "1" * 9)
@example('puzzle,\n"')
@example("puzzle,solution\n" + "1" * 81 + ",2")
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    last = text.count("\n") + text.count("\r") + 1
    for read in (parse_puzzle, parse_puzzles, read_puzzles, as_cells):
        result = attempt(read, text)
        if isinstance(result, PuzzleFormatError):
            assert result.problem
            assert 0 <= result.line <= last
        else:
            assert len(result) > 0


def attempt(read, source):
    """The result of a reader, or the one error that it may raise."""
    try:
        return read(source)
    except PuzzleFormatError as error:
        return error


@given(anything, st.sampled_from(["a.sdm", "a.csv"]))
def test_any_file_is_read_or_refused(tmp_path_factory, text: str, name: str) -> None:
    file = tmp_path_factory.mktemp("puzzles") / name
    file.write_bytes(text.encode("utf-16" if text.startswith("1") else "utf-8", "surrogatepass"))
    result = attempt(read_puzzles, file)
    if isinstance(result, PuzzleFormatError):
        assert str(result).startswith(str(file))
    else:
        assert all(len(puzzle) == 81 for puzzle in result)


@given(puzzles)
def test_cells_and_text_can_be_converted_back(puzzle: str) -> None:
    cells = as_cells(puzzle)
    assert (cells.shape, cells.dtype) == ((81,), np.uint8)
    assert to_text(cells) == to_text(cells.tolist()) == puzzle


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 0, 0, "it contains no puzzle"),
        ("# nothing\n\n", 0, 0, "it contains no puzzle"),
        (f"{EASY}\n{EASY[:40]}x{EASY[41:]}", 2, 41, "'x' is not a cell"),
        (f"{EASY}\n{EASY[:-1]}", 2, 10, "80 cells: a row has 9, a whole puzzle 81"),
        (f"\n{EASY}5", 2, 82, "82 cells"),
        ("5..|.8.|..\n", 1, 11, "8 cells"),
        ("5.. | .8. | ...3", 1, 16, "10 cells"),
        (as_lines(EASY)[:-10], 1, 0, "a grid of only 8 rows"),
        (f"{as_lines(EASY)[:-10]}\n{EASY}", 1, 0, "a grid of only 8 rows"),
        (f"#A\n{as_lines(EASY)[:19]}\n[State]\n", 2, 0, "a grid of only 2 rows"),
        (f"{EASY},{EASY}", 1, 82, "',' is not a cell"),
        (f"puzzle,solution\n{EASY[:80]},", 2, 1, "80 cells: a whole puzzle has 81"),
        (f"id,puzzle\n1,{EASY}\n2\n", 3, 2, "1 fields, but none for the puzzle"),
        (f"id,puzzle\n1,{EASY[:9]}?{EASY[10:]}\n", 2, 12, "'?' is not a cell"),
        (
            f"puzzle,solution\n{EASY},{SOLVED}\n{HARD},{SOLVED}",
            3,
            83,
            "the solution does not fit the puzzle",
        ),
    ],
)
def test_errors_name_line_and_column(text: str, line: int, column: int, problem: str) -> None:
    with pytest.raises(PuzzleFormatError) as caught:
        parse_puzzles(text, "a.txt")
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert problem in error.problem
    place = "".join(f":{n}" for n in (line, column) if n)
    assert str(error).startswith(f"a.txt{place}: ")


def test_a_table_may_contain_solutions() -> None:
    assert parse_puzzle(f"quizzes,solutions\n{EASY},{SOLVED}\n") == EASY


def test_read_puzzle_takes_exactly_one_puzzle() -> None:
    with pytest.raises(PuzzleFormatError, match="puzzle:3: a second puzzle"):
        parse_puzzle(f"{EASY}\n\n{HARD}")


def test_line_numbers_are_where_puzzles_start() -> None:
    text = f"# both\n{EASY}\n\n{as_ss(HARD)}\n"
    assert list(iter_puzzles(text)) == [(EASY, 2), (HARD, 5)]


def test_files_are_read_by_path_or_name(tmp_path: Path) -> None:
    file = tmp_path / "two.sdm"
    file.write_text(f"{EASY}\n{HARD}\n")
    assert read_puzzles(file) == read_puzzles(str(file)) == [EASY, HARD]


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PuzzleFormatError, match=r"'two\.sdm' is neither a puzzle .* nor a file"):
        read_puzzles("two.sdm")
    with pytest.raises(FileNotFoundError):
        read_puzzles(tmp_path / "two.sdm")


def test_a_binary_file_is_refused_with_the_place(tmp_path: Path) -> None:
    file = tmp_path / "bytes.sdm"
    file.write_bytes(EASY.encode() + b"\n53\xff")
    with pytest.raises(PuzzleFormatError, match=r"bytes\.sdm:2:3: not valid UTF-8"):
        read_puzzles(file)


# ---- bounded reading ----


def peak_of(call: Callable[[], object]) -> int:
    """The peak memory of a call in bytes."""
    tracemalloc.start()
    try:
        call()
    except PuzzleFormatError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize("read", [parse_puzzles, read_puzzles, read_cells, parse_puzzle])
def test_a_long_line_is_refused_at_little_cost(read, tmp_path: Path) -> None:
    line = "# " + "1" * 5_000_000
    for source in (line, f"{EASY}\n{line}\n"):
        with pytest.raises(PuzzleFormatError, match="a line of more than 65,536 characters"):
            read(source)
        if read is read_cells:
            (tmp_path / "long.txt").write_text(source)
            assert peak_of(lambda: read(tmp_path / "long.txt")) < 2**20
        else:
            assert peak_of(lambda source=source: read(source)) < 6 * len(source)


def test_the_longest_line_is_read(tmp_path: Path) -> None:
    line = f"{EASY} #".ljust(LONGEST_LINE, "x")
    for end in ("\n", "\r\n", "\r", ""):
        (tmp_path / "a.txt").write_bytes(f"{line}{end}".encode())
        assert read_puzzles(tmp_path / "a.txt") == [EASY]
        (tmp_path / "a.txt").write_bytes(f"{HARD}{end or chr(10)}{line}x{end}".encode())
        with pytest.raises(PuzzleFormatError, match=r"a\.txt:2: a line of more than"):
            read_puzzles(tmp_path / "a.txt")


def test_puzzles_before_a_fault_are_returned() -> None:
    puzzles = iter_puzzles(f"{EASY}\n{HARD}\nx")
    assert [next(puzzles).puzzle, next(puzzles).puzzle] == [EASY, HARD]
    with pytest.raises(PuzzleFormatError, match="puzzle:3:1: 'x' is not a cell"):
        next(puzzles)


@pytest.mark.parametrize("form", [*FORMS])
def test_puzzles_can_be_selected_by_number_in_every_format(form: str) -> None:
    assert [to_text(cells) for cells in read_cells(FORMS[form](EASY))] == [EASY]


def test_more_puzzles_than_can_be_kept_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_PUZZLES", 2)
    text = f"{EASY}\n{EASY}\n\n"
    for read in (read_puzzles, read_cells, parse_puzzles):
        assert len(read(text)) == 2
        with pytest.raises(PuzzleFormatError, match=r"puzzle:4: more than 2 puzzles"):
            read(text + HARD)
    assert sum(1 for _ in iter_puzzles(text + HARD)) == 3


@pytest.mark.parametrize("source", [Path("x\0y"), None, 3, b"x", ["x"], Path("x\0y.csv")])
def test_other_sources_than_path_and_text_are_refused(source: object) -> None:
    for read in (read_puzzles, read_cells, iter_puzzles):
        with pytest.raises(PuzzleFormatError, match=r"null character|must be a path or a string"):
            read(source)
    if not isinstance(source, Path):
        for parse in (parse_puzzle, parse_puzzles):
            with pytest.raises(PuzzleFormatError, match="must be a string"):
                parse(source)


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ([True, 2, *[0] * 79], "whole numbers, not bool"),
        ([np.True_, 2, *[0] * 79], "whole numbers, not bool"),
        ([[1, 2], [3]], "not rows of different lengths"),
        (None, r"shape \(81,\), not \(\)"),
        ([2**70] * 81, "whole numbers, not object"),
        (np.zeros((9, 9), np.int8), r"shape \(81,\)"),
        (np.zeros(81), "whole numbers, not float64"),
        ([0] * 80 + [-1], "-1 on i1"),
        ([0, 10] + [0] * 79, "10 on b9"),
    ],
)
def test_bad_cells_are_refused(cells, problem: str) -> None:
    with pytest.raises(PuzzleFormatError, match=problem):
        as_cells(cells)


@pytest.mark.parametrize(
    ("cells", "squares", "house"),
    [
        ((0, 8), ("a9", "i9"), "row 9"),
        ((4, 76), ("e9", "e1"), "column e"),
        ((30, 50), ("d6", "f4"), "block d4-f6"),
        ((60, 80), ("g3", "i1"), "block g1-i3"),
    ],
)
def test_a_broken_rule_names_squares_and_house(cells, squares, house: str) -> None:
    puzzle = "".join("7" if c in cells else "." for c in range(81))
    with pytest.raises(PuzzleRuleError) as caught:
        check_rule(puzzle)
    error = caught.value
    assert (error.number, error.squares, error.house) == (7, squares, house)
    assert str(error) == f"puzzle: 7 lies on {squares[0]} and on {squares[1]}, in {house}"


def test_a_puzzle_within_the_rule_passes() -> None:
    assert [check_rule(puzzle) for puzzle in (EASY, SOLVED, "." * 81)] == [None, None, None]


def test_errors_can_be_pickled() -> None:
    """As pools of processes do, with their places."""
    with pytest.raises(PuzzleRuleError) as rule:
        check_rule("11" + "." * 79)
    with pytest.raises(PuzzleFormatError) as form:
        parse_puzzle("x" * 81)
    for error in (rule.value, form.value):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert (str(again), again.__dict__) == (str(error), error.__dict__)
    assert form.value.line == 1
