"""What Score-Dominari tells a solver about the points still to come, counted square by square.

Whether it is true is tested in `tests/search/test_bounds.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from azumaya.baselines.search.hints import hints_of
from azumaya.envs import GAMES, Position
from tests.oracles import dominari_board as on
from tests.oracles.score_dominari import Oracle
from tests.search.positions import midgame

GAME = GAMES["score_dominari"]
MOST = len(on.SQUARES) + 3 * len(on.LINES) + 2 * len(on.BLOCKS)
"""A point for each number, three for each line, two for each block."""


def most_more(oracle: Oracle, player: int) -> int:
    """A point for each square to fill, and the houses in which the opponent has nothing."""
    fitting = set(on.empty(oracle.stones)) - oracle.dead()
    theirs = on.of(oracle.stones, 1 - player)
    total = len(fitting)
    for houses, worth in ((on.BLOCKS, 2), (on.LINES, 3)):
        for house in houses:
            complete = oracle.stones.keys() >= set(house)
            total += 0 if complete or theirs & set(house) else worth
    return total


def bounds_of(position: Position, oracle: Oracle) -> tuple[int, int]:
    """The bounds in points."""
    mover = position.to_move
    lead = on.points(oracle.stones, mover) - on.points(oracle.stones, 1 - mover)
    return lead - most_more(oracle, 1 - mover), lead + most_more(oracle, mover)


@pytest.mark.parametrize(
    "options",
    [{}, {"reward": "margin"}, {"referee": False}, {"referee": False, "reward": "margin"}],
    ids=str,
)
def test_bounds(options: dict[str, Any]) -> None:
    seen = set()
    for seed in range(30):
        for plies in (4, 20, 30, 34, 38, 42, 46, 50):
            position = midgame(GAME, options, seed, plies)
            low, high = bounds_of(position, Oracle(str(position), options))
            if "referee" in options:
                low, high = -MOST, MOST
            if "reward" not in options:
                low, high = int(np.sign(low)), int(np.sign(high))
            assert hints_of(GAME).bounds is not None
            assert hints_of(GAME).bounds(position.state[0]) == (low, high), str(position)
            seen.add((low, high))
    assert len(seen) >= (1 if "referee" in options else 5)
