"""The generator: the same puzzles from the same seed, meeting the criteria asked for."""

from __future__ import annotations

import naive_sudoku as naive
import numpy as np
import pytest

from azumaya.envs.errors import OptionError
from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.puzzles import generator
from azumaya.envs.puzzles.criteria import CRITERIA, MAX_GIVENS, check
from azumaya.envs.puzzles.generator import PuzzleGenerationError, generate
from azumaya.envs.puzzles.solver import solve

FEW = 2 if INTERPRETED else 40
NAMES = [criterion.name for criterion in CRITERIA]


def givens(puzzle: str) -> int:
    return 81 - puzzle.count(".")


def test_a_seed_decides_the_puzzles() -> None:
    puzzles = generate(FEW, 5)
    assert puzzles == generate(FEW, 5)
    assert not set(puzzles) & set(generate(FEW, 6))
    assert len(set(puzzles)) == FEW


def test_puzzles_do_not_depend_on_earlier_ones() -> None:
    assert generate(1, 5, first=FEW - 1) == generate(FEW, 5)[-1:]
    assert generate(0, 5) == []


def test_the_largest_seed_works() -> None:
    (puzzle,) = generate(1, 2**64 - 1, first=2**63 - 1)
    assert check(puzzle).ok


@pytest.mark.parametrize("count", [10, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [None, *NAMES])
def test_puzzles_meet_the_criteria(name: str | None, count: int) -> None:
    relax = [name] if name else []
    for puzzle in generate(min(count, FEW), 21, relax=relax):
        assert naive.misses(puzzle, MAX_GIVENS) <= set(relax)


@pytest.mark.skipif(INTERPRETED, reason="needs many puzzles, which plain Python generates slowly")
@pytest.mark.parametrize("name", ["singles", "givens", "blocks", "centre", "lines"])
def test_a_relaxed_criterion_is_sometimes_missed(name: str) -> None:
    reports = [check(puzzle) for puzzle in generate(150, 21, relax=[name])]
    assert any(name in {miss.criterion.name for miss in report.misses} for report in reports)


def test_with_all_criteria_relaxed_puzzles_have_a_solution() -> None:
    puzzles = generate(FEW, 3, relax=NAMES)
    assert all(solve(puzzle) for puzzle in puzzles)


@pytest.mark.skipif(INTERPRETED, reason="needs many puzzles, which plain Python generates slowly")
def test_puzzles_of_every_density_are_generated() -> None:
    counts = {givens(puzzle) for puzzle in generate(600, 8)}
    assert counts >= set(range(24, MAX_GIVENS + 1))
    assert max(counts) == MAX_GIVENS


def test_max_givens_is_respected() -> None:
    assert all(givens(puzzle) <= 26 for puzzle in generate(FEW, 4, max_givens=26))


def test_criteria_that_cannot_be_met_raise_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "ATTEMPTS", 1)
    with pytest.raises(PuzzleGenerationError, match="puzzle 7 of seed 4: none with at most 17"):
        generate(3, 4, max_givens=17, first=7)


def test_progress_is_reported_after_each_puzzle() -> None:
    told: list[int] = []
    generate(2, 9, progress=told.append)
    assert told == [1, 2]


@pytest.mark.parametrize("name", ["count", "seed", "max_givens", "first"])
@pytest.mark.parametrize("value", [-1, 2**64, 10**30, 1.5, 2.0, True, np.True_, "20", [20]])
def test_arguments_out_of_range_are_named(name: str, value: object) -> None:
    arguments = {"count": 1, "seed": 1, name: value}
    with pytest.raises(OptionError, match=f"^{name}=.*: a whole number from [01]7? to .* is need"):
        generate(**arguments)


def test_numpy_integers_are_accepted() -> None:
    assert generate(np.int8(2), np.uint64(5), first=np.int64(1)) == generate(3, 5)[1:]


def test_the_order_of_digging_opens_every_line_first() -> None:
    order = np.zeros(81, np.int64)
    generator.plan(order, np.uint64(3), True)
    assert sorted(order) == list(range(81))
    first = set(order[:27].tolist())
    for house in naive.HOUSES[:18]:
        for block in naive.HOUSES[18:]:
            line = set(house) & set(block)
            assert not line or len(line & first) == 1
