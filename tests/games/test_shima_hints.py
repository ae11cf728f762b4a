"""What the games of Sudoku Shima tell a solver: positions are told apart, and nothing too early.

Whether it is true is tested in `tests/search/test_bounds.py`; `tests/golden` has all that is told.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from azumaya.baselines.search.hints import hints_of
from azumaya.baselines.search.hints import moyo_endgame as endgame
from azumaya.envs import GAMES, Position
from azumaya.envs.games._shima.board import PLAY
from tests.search.positions import midgame

SHIMA = ("sudoku_moyo", "sudoku_horikomi")
SINGLE = {"to_move": 2, "stage": 5, "light": 2, "starter": 2, "handicap": 6}
MOYO = {"streak": 3, "handicap_player": 2}


def outlook_of(position: Position) -> tuple[int, ...]:
    hints = hints_of(position.game)
    row = np.zeros(hints.outlook_words, np.uint64)
    assert hints.outlook is not None
    hints.outlook(position.state[0], row)
    return tuple(row.tolist())


@pytest.mark.parametrize("name", SHIMA)
def test_outlooks_tell_stages_apart(name: str) -> None:
    position, seen = midgame(GAMES[name], {}, 3, 20), set()
    fields = SINGLE | (MOYO if name == "sudoku_moyo" else {})
    combinations = list(itertools.product(*map(range, fields.values())))
    for values in combinations:
        for field, value in zip(fields, values, strict=True):
            position._states[field][0] = value
        seen.add(outlook_of(position))
    assert len(seen) == len(combinations)


@pytest.mark.parametrize("name", SHIMA)
def test_nothing_is_known_too_early_nor_after_the_end(name: str) -> None:
    bounds = hints_of(GAMES[name]).bounds
    assert bounds is not None
    late = [
        midgame(GAMES[name], {}, seed, plies) for seed in range(5) for plies in range(26, 47, 4)
    ]
    decided = [position for position in late if bounds(position.state[0]) != (-1, 1)]
    for position, (field, value) in itertools.product(decided, (("stage", PLAY - 1), ("over", 1))):
        changed = position.copy()
        changed._states[field][0] = value
        assert bounds(changed.state[0]) == (-1, 1)
    assert decided


def test_nothing_is_known_without_houses_for_regions() -> None:
    """Nor where points are counted."""
    position = midgame(GAMES["sudoku_moyo"], {}, 0, 38)
    assert endgame.is_graph(position.state[0])
    for b, word in itertools.product(range(4), range(2)):
        changed = position.copy()
        changed._states["regions"][0, b, word] ^= np.uint64(1)
        assert not endgame.is_graph(changed.state[0])
    position._states["points"][0] = 1
    assert not endgame.is_graph(position.state[0])


def test_moves_stay_where_the_end_is_no_graph() -> None:
    position = midgame(GAMES["sudoku_moyo"], {"scoring": "points"}, 1, 30)
    legal, packed = np.zeros(12, np.uint64), np.zeros(12, np.uint64)
    for row in (legal, packed):
        position.game.rules.write_legal(position.state[0], row)
    narrow = hints_of(position.game).narrow
    assert narrow is not None
    narrow(position.state[0], packed)
    assert (packed == legal).all()
