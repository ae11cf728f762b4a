"""The solver compared with a naive one and with known answers."""

from __future__ import annotations

import naive_sudoku as naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azumaya.envs.errors import OptionError
from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.puzzles.grid import PuzzleFormatError, PuzzleRuleError
from azumaya.envs.puzzles.solver import (
    count_solutions,
    find_solutions,
    solve,
    solve_by_singles,
)

SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
HARDEST = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."
SEVENTEEN = "000000010400000000020000000000050407008000300001090000300400200050100000000806000"
IMPOSSIBLE = "82" + HARDEST[2:]  # the only solution has a 1 on b9

PUZZLES_TRIED = 5 if INTERPRETED else settings.default.max_examples


@st.composite
def puzzles(draw: st.DrawFn) -> str:
    """Some cells of a solved grid with renamed numbers, sometimes with one number wrong."""
    names = draw(st.permutations("123456789"))
    kept = draw(st.sets(st.integers(0, 80), min_size=24, max_size=60))
    cells = [names[int(d) - 1] if c in kept else "." for c, d in enumerate(SOLVED)]
    wrong = draw(st.none() | st.integers(0, 80))
    if wrong is not None:
        free = naive.DIGITS - {cells[p] for p in naive.PEERS[wrong]}
        cells[wrong] = draw(st.sampled_from(sorted(free) or ["."]))
    return "".join(cells)


@settings(max_examples=PUZZLES_TRIED, deadline=None)
@given(puzzles())
def test_solutions_are_those_of_the_naive_solver(puzzle: str) -> None:
    expected = naive.solutions(puzzle, 3)
    assert count_solutions(puzzle, 3) == len(expected)
    found = find_solutions(puzzle, 3)
    assert len(set(found)) == len(found) == len(expected)
    for grid in found:
        assert all({grid[c] for c in house} == naive.DIGITS for house in naive.HOUSES)
        assert all(mark in (".", digit) for mark, digit in zip(puzzle, grid, strict=True))
    if len(expected) < 3:
        assert set(found) == expected


@settings(max_examples=PUZZLES_TRIED, deadline=None)
@given(puzzles())
def test_singles_are_those_of_the_naive_solver(puzzle: str) -> None:
    solved, rounds, ways_in = naive.by_singles(puzzle)
    result = solve_by_singles(puzzle)
    assert (result.solved, result.rounds) == (solved, rounds)
    if rounds:
        assert result.ways_in == ways_in
    if solved:
        assert {result.grid} == naive.solutions(puzzle, 2)


@pytest.mark.parametrize(
    ("puzzle", "solutions", "by_singles"),
    [
        (EASY, 1, True),
        (HARDEST, 1, False),
        (SEVENTEEN, 1, True),
        (IMPOSSIBLE, 0, False),
        (SOLVED, 1, True),
        ("." * 81, 2, False),
    ],
)
def test_known_puzzles(puzzle: str, solutions: int, by_singles: bool) -> None:
    assert count_solutions(puzzle) == solutions
    assert solve_by_singles(puzzle).solved == by_singles


def test_solve_gives_the_solution() -> None:
    assert solve(EASY) == SOLVED
    assert solve(IMPOSSIBLE) is None


def test_two_exchangeable_numbers_give_two_solutions() -> None:
    rectangle = [3, 4, 30, 31]  # d9 e9 / d6 e6: 6 7 / 7 6, across one block border only
    puzzle = "".join("." if c in rectangle else d for c, d in enumerate(SOLVED))
    found = find_solutions(puzzle, 9)
    assert len(found) == 2
    assert set(found) == naive.solutions(puzzle, 9)


@pytest.mark.parametrize(
    "puzzle",
    [
        # No 1 fits into row 9, though every cell can take a number; i1 is a single.
        "......234" + ".1......." + "....1...." + "." * 45 + "23456789.",
        # Nothing fits on a9, though every house has a place for every number; i1 is a single.
        "......234.1.........9...............8........7..............6125.....4786.....59.",
    ],
)
def test_a_dead_end_ends_the_singles_at_once(puzzle: str) -> None:
    assert naive.by_singles(puzzle) == (False, 0, 0)
    assert solve_by_singles(puzzle) == (False, 0, 0, puzzle)
    assert count_solutions(puzzle) == 0


def test_counting_stops_at_the_limit() -> None:
    assert count_solutions("." * 81, limit=7) == 7
    for count in (count_solutions, find_solutions):
        for limit in (0, -1, 1.5, True, "2", None, 10**20):
            with pytest.raises(OptionError, match=r"limit=.*: a whole number from 1 to"):
                count(EASY, limit)


def test_a_puzzle_that_breaks_the_rule_is_refused() -> None:
    with pytest.raises(PuzzleRuleError) as caught:
        solve("5" + "." * 7 + "5" + "." * 72)
    assert caught.value.squares == ("a9", "i9")
    assert caught.value.house == "row 9"
    assert caught.value.number == 5


@pytest.mark.parametrize("puzzle", ["", "." * 80, "." * 82, "x" * 81, [0] * 80, [10] * 81])
def test_bad_puzzles_are_refused(puzzle: str) -> None:
    with pytest.raises(PuzzleFormatError):
        count_solutions(puzzle)
