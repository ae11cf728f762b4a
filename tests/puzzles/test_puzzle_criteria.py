"""The criteria: each missed alone, and all compared with a naive implementation."""

from __future__ import annotations

import naive_sudoku as naive
import pytest

from azumaya.envs.errors import OptionError
from azumaya.envs.geometry.sudoku81 import BLOCK_BOARDS
from azumaya.envs.kernels.bits import board_of
from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.puzzles.criteria import (
    CRITERIA,
    CRITERION,
    LINE_BOARDS,
    LINES,
    MAX_GIVENS,
    check,
    demanded,
    with_givens,
)
from azumaya.envs.puzzles.generator import generate
from azumaya.envs.puzzles.grid import PuzzleFormatError, PuzzleRuleError

SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
GOOD = ".8.56...2.74..8...9.21....82.875.39..6......743..29.168.....7.3.953..4..3...74..."
HARDEST = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."
NAMES = [criterion.name for criterion in CRITERIA]


def missed(puzzle: str, max_givens: int = MAX_GIVENS) -> set[str]:
    return {miss.criterion.name for miss in check(puzzle, max_givens=max_givens).misses}


def without(puzzle: str, cells: list[int]) -> str:
    return "".join("." if c in cells else d for c, d in enumerate(puzzle))


def test_the_rulebook_gives_six_pieces_of_advice() -> None:
    assert NAMES == ["unique", "singles", "givens", "blocks", "centre", "lines"]
    assert [c.bit for c in CRITERIA] == [1, 2, 4, 8, 16, 32]
    assert all(c.demand and c.why for c in CRITERIA)


def test_lines_are_the_rows_and_columns_of_the_blocks() -> None:
    expected = {
        tuple(sorted(set(block) & set(line)))
        for block in naive.HOUSES[18:]
        for line in naive.HOUSES[:18]
        if len(set(block) & set(line)) == 3
    }
    assert set(LINES) == expected
    assert len(LINES) == 54


def test_each_full_line_and_empty_block_is_found() -> None:
    for i, line in enumerate(LINES):
        assert with_givens(board_of(line, 2), LINE_BOARDS, 3) == 1 << i
    for i, block in enumerate(naive.HOUSES[18:]):
        others = board_of(set(range(81)) - set(block), 2)
        assert with_givens(others, BLOCK_BOARDS, 0) == 1 << i


def test_a_good_puzzle_misses_nothing() -> None:
    report = check(GOOD)
    assert report.ok
    assert report.facts.givens == 35
    assert "35 givens" in str(report)
    assert "meets every criterion" in str(report)


@pytest.mark.parametrize(
    ("puzzle", "name", "where"),
    [
        (HARDEST, "singles", "singles leave 60 cells open"),
        ("." * 81, "unique", "two solutions differ on a2"),
        ("82" + HARDEST[2:], "unique", "no solution"),
        (SOLVED, "givens", "81 givens, at most 36"),
        (without(SOLVED, naive.HOUSES[18]), "blocks", "block a7-c9"),
        (without(SOLVED, naive.HOUSES[22] + naive.HOUSES[20]), "blocks", "g7-i9, block d4-f6"),
        (without(SOLVED, naive.HOUSES[22]), "centre", "0 givens in the centre"),
        (without(SOLVED, naive.HOUSES[22][5:]), "centre", "5 givens in the centre: d6 e6 f6 d5 e5"),
        (SOLVED, "lines", "a9 b9 c9, a8 b8 c8"),
        (without(SOLVED, [c for c in range(81) if c not in (2, 11, 20)]), "lines", ": c9 c8 c7"),
    ],
)
def test_a_report_says_which_criterion_is_missed_where(puzzle: str, name: str, where: str) -> None:
    report = check(puzzle)
    by_name = {miss.criterion.name: miss.where for miss in report.misses}
    assert where in by_name[name]
    assert not report.ok
    assert name in str(report)
    assert where in str(report)
    assert name not in {m.criterion.name for m in check(puzzle, relax=[name]).misses}


@pytest.mark.parametrize("name", NAMES)
def test_criteria_agree_with_a_naive_implementation(name: str) -> None:
    puzzles = generate(3 if INTERPRETED else 12, 11, relax=[name, "singles"])
    for puzzle in puzzles:
        assert missed(puzzle) == naive.misses(puzzle, MAX_GIVENS)
        assert missed(puzzle, 27) == naive.misses(puzzle, 27)


def test_a_report_names_no_other_limit_than_the_one_given() -> None:
    report = str(check(GOOD, max_givens=30))
    assert "35 givens, at most 30 allowed" in report
    assert str(MAX_GIVENS) not in report


def test_relaxing() -> None:
    assert demanded() == CRITERIA
    assert CRITERION["lines"] not in demanded("lines")
    assert demanded(NAMES) == ()
    with pytest.raises(ValueError, match=r"relax: unknown criteria \['edges'\].*unique.*lines"):
        demanded(["lines", "edges"])


@pytest.mark.parametrize("most", [-5, 16, 82, 10**20, 30.0, True, None, "30"])
def test_a_bad_number_of_givens_is_refused(most: object) -> None:
    with pytest.raises(OptionError, match=r"max_givens=.*: a whole number from 17 to 81 is needed"):
        check(GOOD, max_givens=most)


@pytest.mark.parametrize("relax", [None, 3, [["lines"]]])
def test_bad_lists_of_criteria_are_refused(relax: object) -> None:
    for ask in (
        demanded,
        lambda names: check(GOOD, names),
        lambda names: generate(0, 1, relax=names),
    ):
        with pytest.raises(OptionError, match=r"relax=.*: must be names of criteria"):
            ask(relax)
    with pytest.raises(OptionError, match="relax: unknown criteria"):
        demanded([3, "edges"])


def test_bad_puzzles_are_refused() -> None:
    with pytest.raises(PuzzleRuleError, match="7 lies on e9 and on e1, in column e"):
        check("....7" + "." * 71 + "7" + "." * 4)
    with pytest.raises(PuzzleRuleError, match="in block g1-i3"):
        check("." * 60 + "4" + "." * 19 + "4")
    with pytest.raises(PuzzleFormatError):
        check("7")
