"""What Connect Four tells a solver, compared with searches that are told nothing.

That bounds hold near the end of games is tested in `tests/search/test_bounds.py`, too.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.hints import Hints, hints_of
from azumaya.baselines.search.solver import Solving
from azumaya.envs import Position
from tests.cases import YARDSTICK

HINTS = hints_of(YARDSTICK)


def sensible(seed: int, plies: int) -> Position:
    """A position after random moves which, if possible, neither miss a win nor lose at once."""
    rng = random.Random(seed)
    position = Position(YARDSTICK)
    for _ in range(plies):
        after = [position.copy().play(action) for action in position.legal_actions()]
        running = [other for other in after if not other.is_over]
        if not running:
            break
        kept = [other for other in running if HINTS.bounds(other.state[0])[0] < 1]
        position = rng.choice(kept or running)
    return position


# ---- the same as searches that are told nothing ----


def plain_value(room: Room, position: Position, nodes: int) -> int | None:
    """The value of a position, from lines to the end of the game; None if it takes more nodes."""
    search = Solving(room, position)
    search.run(nodes)
    return search.value


def check_values(seeds: range, earliest: int, nodes: int) -> int:
    """Compare bounds with values found without them; returns how many positions were compared."""
    compared = 0
    kernels = kernels_of(Position(YARDSTICK))
    room = Room(replace(kernels, hints=Hints(rank=HINTS.rank)), 16)
    for seed in seeds:
        position = sensible(seed, earliest + seed % 8)
        low, high = HINTS.bounds(position.state[0])
        if (low, high) in ((-1, 0), (-1, -1)):
            value = plain_value(room, position, nodes)
            compared += value is not None
            assert value is None or low <= value <= high, str(position)
    return compared


def test_bounds_hold_in_the_middle_of_the_game() -> None:
    assert check_values(range(400), 22, 100_000) > 60


@pytest.mark.slow
def test_bounds_hold_early_in_the_game() -> None:
    assert check_values(range(3000), 14, 10**6) > 150


# ---- outlook ----


def row_of(position: Position) -> bytes:
    """The outlook of a position."""
    row = np.zeros(HINTS.outlook_words, np.uint64)
    assert HINTS.outlook is not None
    HINTS.outlook(position.state[0], row)
    return row.tobytes()


def test_a_reflection_has_the_same_outlook() -> None:
    position, reflection = Position(YARDSTICK), Position(YARDSTICK)
    for column in "1234432156677566":
        position.play(int(column) - 1)
        reflection.play(7 - int(column))
        assert row_of(position) == row_of(reflection)


# ---- rank ----


def rank_of(moves: str) -> int:
    """The rank of the position after some moves, for the player who moved last."""
    position = Position(YARDSTICK)
    for move in moves:
        position.play(move)
    assert HINTS.rank is not None
    return int(HINTS.rank(position.state[0], 1 - position.to_move))


def test_ranks() -> None:
    """Threats come first, then the middle."""
    ranks = [rank_of(first) for first in "abcdefg"]
    assert ranks == [0, 1, 2, 3, 2, 1, 0]
    assert rank_of("cbcbcb") == 64 + 3  # b4
    assert rank_of("bacadg") == 0 + 0
    assert rank_of("bgcgd") == 2 * 64 + 1 + 2 + 3  # a1 and e1
