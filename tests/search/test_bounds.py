"""What games tell about the rest of a game (`bounds`, `simplify`, `outlook`): it is always true."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.budget import Budget, spend
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.hints import Hints, hints_of
from azumaya.baselines.search.hints.sudoku_horikomi import cannot_run_out
from azumaya.baselines.search.solver import Solution, Solving, solve
from azumaya.envs import GAMES, Position
from azumaya.envs.game import Game
from tests.cases import CASES, YARDSTICK, Case
from tests.search.minimax import Minimax, TooLarge, late_positions
from tests.search.positions import label, midgame

TOLD = [
    case
    for case in CASES
    if hints_of(case.game).bounds is not None and case.options.get("max_plies") != 0
]
"""Without a limit of plies a game of Abalone has no positions whose tree ends."""


def valued(case: Case, count: int, nodes: int) -> Iterator[tuple[Position, Mapping[int, int]]]:
    """Late positions of a case and what each of their moves gains."""
    for seed in range(3):
        yield from late_positions(case.position(seed), seed, count // 3, nodes)


def check_bounds(position: Position, value: int) -> bool:
    """Check that the bounds hold, and return whether they settle the value."""
    low, high = hints_of(position.game).bounds(position.state[0])
    assert low <= value <= high, str(position)
    return bool(low == high)


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.label)
def test_bounds_hold(case: Case) -> None:
    for position, gains in valued(case, 12, 150):
        check_bounds(position, max(gains.values()))


@pytest.fixture
def deep() -> Iterator[None]:
    """Room for minimax in long lines: without a referee a game of few choices has 200 turns."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.slow
@pytest.mark.usefixtures("deep")
@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.label)
def test_bounds_hold_further_from_the_end(case: Case) -> None:
    for position, gains in valued(case, 300, 5000):
        check_bounds(position, max(gains.values()))


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.label)
def test_simplified_positions_have_the_same_value(case: Case) -> None:
    if hints_of(case.game).simplify is None:
        pytest.skip("the game simplifies nothing")
    for position, gains in valued(case, 9, 150):
        simple = position.copy()
        hints_of(case.game).simplify(simple._states[0])
        assert set(simple.legal_actions()) <= set(gains)
        try:
            assert max(Minimax(4000).gains(simple).values()) == max(gains.values())
        except TooLarge:
            continue
        check_bounds(simple, max(gains.values()))


@pytest.mark.parametrize(("name", "share"), [("sudoku_moyo", 0.9), ("sudoku_horikomi", 0.7)])
def test_games_are_settled_before_their_end(name: str, share: float) -> None:
    settled = [
        check_bounds(position, max(gains.values()))
        for seed in range(4)
        for position, gains in late_positions(Position(name, seed=seed), seed, 16, 800)
    ]
    assert sum(settled) > share * len(settled)


def test_outlooks_tell_players_apart_and_forget_waiting_moves() -> None:
    position = late_moyo(2)
    assert row_of(position).tolist() != row_of(late_moyo(3)).tolist()
    other = position.copy()
    other._states["to_move"] = 1 - other._states["to_move"]
    assert row_of(position).tolist() != row_of(other).tolist()


@pytest.mark.parametrize("name", ["sudoku_moyo", "sudoku_horikomi"])
def test_outlooks_say_whose_regions_are_whose(name: str) -> None:
    """Different picks of a draft change nothing else."""
    rows = set()
    for picks in (("r1", "r2", "r3"), ("r2", "r1", "r3"), ("r3", "r1", "r2")):
        position = Position(name, territory="draft", seed=0)
        for pick in picks:
            position.play(pick)
        rows.add(row_of(position).tobytes())
    assert len(rows) == 3


FULL = "".join(str((3 * (row % 3) + row // 3 + column) % 9 + 1) for row, column in
               itertools.product(range(9), range(9)))  # fmt: skip


@pytest.mark.parametrize("seed", [2, 14, 18])
def test_outlooks_tell_drafts_apart(seed: int) -> None:
    """The last picks of a draft decide the game. Two orders of picks lead to different regions."""
    rng = random.Random(seed)
    holes = rng.sample(range(81), 9)
    puzzle = "".join("." if cell in holes else number for cell, number in enumerate(FULL))
    position = Position("sudoku_moyo", territory="draft", puzzle=puzzle)
    for _ in range(5):
        position.play(rng.choice(position.legal_actions()))
    gains = Minimax(20_000).gains(position)
    assert solve(position, nodes=100_000, megabytes=16).value == max(gains.values())


def late_moyo(seed: int) -> Position:
    """A position of Sudoku Moyo after 25 random moves."""
    return midgame(GAMES["sudoku_moyo"], {}, seed, 25)


def row_of(position: Position) -> np.ndarray:
    """The outlook of a position."""
    row = np.zeros(hints_of(position.game).outlook_words, np.uint64)
    hints_of(position.game).outlook(position.state[0], row)
    return row


@pytest.mark.parametrize(
    ("game", "seeds", "plies"),
    [
        (YARDSTICK, (42, 43), 20),
        pytest.param(GAMES["sudoku_moyo"], (40, 41), 29, marks=pytest.mark.slow),
    ],
    ids=label,
)
def test_search_with_and_without_agrees_and_saves_work(
    game: Game, seeds: tuple[int, ...], plies: int
) -> None:
    spared = 0
    for seed in seeds:
        position = midgame(game, {}, seed, plies)
        told = solve(position, nodes=100_000, megabytes=16)
        plain = solve_plainly(position, 100_000)
        assert plain.value in (None, told.value)
        assert told.nodes <= plain.nodes
        spared += plain.nodes - told.nodes
    assert spared > 20_000


def solve_plainly(position: Position, nodes: int) -> Solution:
    """Solve a position without what its game tells."""
    kernels = kernels_of(position)
    plain = replace(kernels, hints=Hints(rank=kernels.hints.rank))
    search = Solving(Room(plain, 16), position)
    spend(search, Budget(nodes))
    return search.solution()


def test_the_match_is_told_nothing() -> None:
    from azumaya.envs.games.sudoku_moyo_match.game import MATCH  # noqa: PLC0415 - no game of the registry

    hints = hints_of(MATCH)
    assert hints.bounds is None
    assert hints.simplify is None
    assert hints.outlook is None


def test_a_number_runs_out_where_regions_need_more_stones_than_are_left() -> None:
    """In Sudoku Horikomi; games at random hardly ever come to that."""
    state = Position("sudoku_horikomi", puzzle="." * 81).state
    state["stock"] = [0, 2 << 4 * 3]  # two stones of the number 4, none of any other
    corner, row, opposite = 1, 0b111, 1 << 80 - 64  # of the board, on 81 cells in two words
    for cells, runs_out in (
        ((row, 0), False),  # three cells, one region
        ((row, opposite), False),  # two regions
        ((corner | 1 << 3, opposite), True),  # three
    ):
        assert cannot_run_out(state[0], 3, *map(np.uint64, cells)) != runs_out
    assert not cannot_run_out(state[0], 4, np.uint64(corner), np.uint64(0))
