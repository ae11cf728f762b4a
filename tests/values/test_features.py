"""Features see what they should, and equal positions alike."""

from __future__ import annotations

import numpy as np
import pytest

from azumaya.baselines.values.features import pattern_rows
from azumaya.baselines.values.house_features import (
    STOCK_ROWS,
)
from azumaya.baselines.values.network import features_of
from azumaya.envs.game import Game
from azumaya.wrappers import random_transform
from tests.cases import TESTED
from tests.values.networks import features_for, observation_row, positions_of

GAMES = list(TESTED.values())


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_symmetric_positions_have_the_same_features(game: Game) -> None:
    """Cells moved, numbers renamed, and players swapped: all by the game's own symmetries."""
    for key, position in enumerate(positions_of(game)):
        transform = random_transform(game, key, position)
        assert features_for(transform.position(position)) == features_for(position), transform


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_features_tell_positions_apart(game: Game) -> None:
    positions = positions_of(game)
    found = {frozenset(features_for(position).items()) for position in positions}
    assert len(found) > 0.6 * len(positions)
    assert any(features_for(p, 0) != features_for(p, 1) for p in positions)


# ---- houses ----


def test_numbers_and_stocks_have_rows_of_their_own() -> None:
    """One for each `number` plane that stands alone, and nine for the pairs of stocks."""
    game = TESTED["sudoku_horikomi"]
    single = [p for p in game.observation.planes if p.kind == "number" and p.index is None]
    for position in positions_of(game):
        rows = [row for row in features_for(position).elements() if row >= STOCK_ROWS]
        assert len(rows) == len(single) + 9


# ---- patterns ----


def test_pattern_rows_are_shared_by_symmetric_contents_only() -> None:
    """A line that a reflection reverses shares rows with itself, read backwards."""
    group = [(0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)]
    found = pattern_rows([(0, 1), (2, 3)], group, 4)
    assert found.rows.shape == (1, 16)
    assert found.orbits.tolist() == [0, 0]
    for first in range(4):
        for second in range(4):
            assert found.rows[0, first + 4 * second] == found.rows[0, second + 4 * first]
    assert found.count == len(np.unique(found.rows)) == 10


def test_patterns_of_one_orbit_are_read_in_the_same_order() -> None:
    """A half turn takes the first line to the second, read backwards."""
    found = pattern_rows(
        [(0, 1, 2), (3, 4, 5), (2, 3, 4)], [tuple(range(6)), (5, 4, 3, 2, 1, 0)], 3
    )
    assert found.cells.tolist() == [[0, 1, 2], [5, 4, 3], [2, 3, 4]]
    assert found.orbits.tolist() == [0, 0, 1]
    assert found.rows.tolist() == [list(range(27)), list(range(27, 54))]
    assert found.count == 54


def test_the_rows_are_as_many_as_the_features_say() -> None:
    """A network allocates just these; the number is part of what its files must fit."""
    sizes = {name: features_of(game).rows for name, game in TESTED.items()}
    assert sizes == {
        "abalone": 28_884,
        "connect_four": 10_371,
        "halma_dominari": 75_643,
        "revers_dominari": 125_844,
        "score_dominari": 181_120,
        "sudoku_horikomi": 1_904,
        "sudoku_moyo": 791,
        "sudoku_tiles": 654,
        "vierer_dominari": 5_034,
    }


def test_plain_features_are_the_bits_of_the_observation() -> None:
    for game in TESTED.values():
        features = features_of(game, plain=True)
        out = np.zeros(features.room, np.int32)
        for position in positions_of(game, seeds=1, every=9):
            row = observation_row(position, position.to_move)
            words = game.observation.packed_words
            packed = np.append(row[:words], np.uint64(7))
            count = features.write(packed, np.zeros(features.memo_words, np.uint64), 0, out)
            bits = [64 * w + b for w in range(words) for b in range(64) if row[w] >> b & 1]
            assert out[:count].tolist() == bits
