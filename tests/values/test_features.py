"""Features see what they should, and equal positions alike."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.values.feature_sets import features_of
from azumaya.baselines.values.house_features import CELL_ROWS, FIRST_REGION, REGION_ROWS, ROWS
from azumaya.baselines.values.orbits import pattern_rows
from azumaya.envs import Position
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
    """And the two players' views of one."""
    positions = positions_of(game)
    found = {frozenset(features_for(position).items()) for position in positions}
    assert len(found) > 0.6 * len(positions)
    assert any(features_for(p, 0) != features_for(p, 1) for p in positions)


# ---- houses ----


def sees(cell: int, other: int) -> bool:
    """Whether two cells of the 9x9 board share a row, a column or a block."""
    (a, b), (c, d) = divmod(cell, 9), divmod(other, 9)
    return cell != other and (a == c or b == d or (a // 3, b // 3) == (c // 3, d // 3))


def plain_house_features(position: Position) -> Counter[int]:
    """The features of cells and regions from the planes, by sets and coordinates."""
    game, mover = position.game, int(position.to_move)
    planes = position.observation(mover)
    named = {p.name: planes[i].ravel() for i, p in enumerate(game.observation.planes)}
    region = sum(named[f"region bit {b}"].astype(int) << b for b in range(4))
    sides = [set(np.flatnonzero(named[name])) for name in ("own", "opposing")]
    fits = [
        {n: set(np.flatnonzero(named[f"candidate {n}"])) & side for n in range(1, 10)}
        for side in sides
    ]
    found: Counter[int] = Counter()
    for view, side in itertools.product(range(2), range(2)):
        number = 2 * view + side
        classes: dict[Any, list[int]] = {}
        for n in range(1, 10):
            seeing = fits[1 - side][n] | fits[side][n] if view else fits[1 - side][n]
            by_region: dict[int, list[int]] = {}
            for cell in fits[side][n]:
                seen = sum(sees(cell, other) for other in seeing)
                classes.setdefault(cell, [0, 0, 0])[min(seen, 2)] += 1
                by_region.setdefault(int(region[cell]), [0, 0])[min(seen, 1)] += 1
            for none, some in by_region.values():
                row = FIRST_REGION + number * REGION_ROWS + 4 * min(none, 3) + min(some, 3)
                found[row] += 1
        for counts in classes.values():
            none, one, more = (min(count, 3) for count in counts)
            found[number * CELL_ROWS + 16 * none + 4 * one + more] += 1
    return found


@pytest.mark.parametrize("name", ["sudoku_moyo", "sudoku_horikomi"])
def test_house_features_equal_a_plain_count(name: str) -> None:
    """Of cells by how their candidates are seen, and of regions by number."""
    for position in positions_of(TESTED[name]):
        seen = features_for(position)
        near = Counter({row: n for row, n in seen.items() if row < ROWS})
        assert near == plain_house_features(position)


def test_numbers_and_stocks_have_rows_of_their_own() -> None:
    """One for each `number` plane that stands alone, and nine for the pairs of stocks."""
    game = TESTED["sudoku_horikomi"]
    single = [p for p in game.observation.planes if p.kind == "number" and p.index is None]
    for position in positions_of(game):
        rows = [row for row in features_for(position).elements() if row >= ROWS]
        assert len(rows) == len(single) + 9


# ---- patterns ----


def test_pattern_rows_are_shared_by_symmetric_contents_only() -> None:
    """A line that a reflection reverses shares rows with itself, read backwards."""
    rows, count = pattern_rows([(0, 1), (2, 3)], [(0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1)])
    assert rows.shape == (2, 16)
    assert (rows[0] == rows[1]).all()
    for first in range(4):
        for second in range(4):
            assert rows[0, first + 4 * second] == rows[0, second + 4 * first]
    assert count == len(np.unique(rows)) == 10


def test_the_rows_are_as_many_as_the_features_say() -> None:
    """A network allocates just these; the number is part of what its files must fit."""
    sizes = {name: features_of(game).rows for name, game in TESTED.items()}
    assert all(100 < rows < 50_000 for rows in sizes.values()), sizes


def test_plain_features_are_the_bits_of_the_observation() -> None:
    for game in TESTED.values():
        features = features_of(game, plain=True)
        out = np.zeros(features.room, np.int32)
        for position in positions_of(game, seeds=1, every=9):
            row = observation_row(position, position.to_move)
            packed = np.append(row[: game.observation.packed_words], np.uint64(7))
            count = features.write(packed, np.zeros(features.memo_words, np.uint64), 0, out)
            bits = [64 * w + b for w in range(len(row) - 1) for b in range(64) if row[w] >> b & 1]
            assert out[:count].tolist() == bits
