"""Features see what they should, and equal positions alike."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.search.hints import hints_of
from azumaya.baselines.values.board_features import CLOSED, OPEN, OPPOSING, OWN, rows_of
from azumaya.baselines.values.features import pattern_rows
from azumaya.baselines.values.house_features import (
    CANDIDATE_ROWS,
    CELL_ROWS,
    FIRST_CANDIDATE,
    FIRST_FULLNESS,
    FIRST_REGION,
    FULLNESS_ROWS,
    REGION_ROWS,
    ROWS,
    STOCK_ROWS,
)
from azumaya.baselines.values.network import features_of
from azumaya.envs import Position
from azumaya.envs.game import Game
from azumaya.wrappers import random_transform
from tests.cases import TESTED
from tests.games.test_reach import told
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
    who = who_lays(named)
    fits = [{n: set(np.flatnonzero(named[f"candidate {n}"])) & side for n in who} for side in sides]
    found: Counter[int] = Counter()
    for view, side in itertools.product(range(2), range(2)):
        classes: dict[Any, list[int]] = {}
        for n in who:
            seeing = fits[1 - side][n] | fits[side][n] if view else fits[1 - side][n]
            by_region: dict[int, list[int]] = {}
            for cell in fits[side][n]:
                seen = sum(sees(cell, other) for other in seeing)
                classes.setdefault(cell, [0, 0, 0])[min(seen, 2)] += 1
                by_region.setdefault(int(region[cell]), [0, 0])[min(seen, 1)] += 1
            for none, some in by_region.values():
                number = (2 * view + side) * REGION_ROWS + 4 * min(none, 3) + min(some, 3)
                found[FIRST_REGION + number] += 1
        if view:
            for counts in classes.values():
                none, one, more = (min(count, 3) for count in counts)
                found[side * CELL_ROWS + 16 * none + 4 * one + more] += 1
    sizes = Counter(cell for side in fits for cells in side.values() for cell in cells)
    for side, n in itertools.product(range(2), who):
        for cell in fits[side][n]:
            code = min(sizes[cell], 3) - 1
            for least in (9, 1):
                for of in (side, 1 - side):
                    near = (c for c in fits[of][n] if sees(cell, c) and sizes[c] <= least)
                    code = 3 * code + min(len(list(near)), 2)
            kind = [{"mine", "theirs"}, {"mine"}, {"theirs"}].index(who[n])
            found[FIRST_CANDIDATE + (2 * kind + side) * CANDIDATE_ROWS + code] += 1
    if "own stock 1" in named:
        regions = [set(np.flatnonzero(region == r)) for r in range(9)]
        laid = set(np.flatnonzero(sum(named[f"stone {n}"] for n in range(1, 10))))
        found.update(plain_fullness(regions, sides, set(sizes), laid))
    return found


def plain_fullness(
    regions: list[set[int]], sides: list[set[int]], live: set[int], laid: set[int]
) -> Iterator[int]:
    """The features of regions by whose they are and how full, from sets of cells."""
    for side, region in itertools.product(range(2), regions):
        cells = region & sides[side]
        if cells:
            full = 10 * len(cells & live) + len(cells & laid)
            yield FIRST_FULLNESS + side * FULLNESS_ROWS + full


def who_lays(named: dict[str, np.ndarray]) -> dict[int, set[str]]:
    """By number, whose stones are not used up; without stocks, nobody's are."""
    stocks = {"mine": "own stock", "theirs": "opposing stock"}
    left = {
        n: {who for who, stock in stocks.items() if named.get(f"{stock} {n}", np.ones(1)).any()}
        for n in range(1, 10)
    }
    return {n: who for n, who in left.items() if who}


@pytest.mark.parametrize("name", ["sudoku_moyo", "sudoku_horikomi"])
def test_house_features_equal_a_plain_count(name: str) -> None:
    """Of cells by how their candidates are seen, of regions, and of candidates."""
    rows = STOCK_ROWS if name == "sudoku_horikomi" else ROWS
    for position in positions_of(TESTED[name]):
        seen = features_for(position)
        near = Counter({row: n for row, n in seen.items() if row < rows})
        assert near == plain_house_features(position)


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


def states_of(position: Position, player: int) -> tuple[list[int], list[int], list[int]]:
    """The state, the fitting numbers and the mark of each cell, from planes and told boards."""
    game, hints = position.game, hints_of(position.game)
    planes = position.observation(player)
    kinds = [plane.group or plane.name for plane in game.observation.planes]
    states, fitting, marks = [], [], []
    told_of = {
        (what, side): told(game, what, position, player ^ side)
        for what in ("reach", "takes")
        for side in (0, 1)
        if getattr(hints, what) is not None
    }
    for cell in range(game.observation.cells):
        place = divmod(cell, game.observation.shape[1])
        there = Counter(kind for i, kind in enumerate(kinds) if planes[i][place])
        fits = sum(there[kind] for kind in ("candidate", "room", "board", "fits"))
        state = OWN if there["own"] else OPPOSING if there["opposing"] else OPEN if fits else CLOSED
        mark = sum(side + 1 for side in (0, 1) if place in told_of.get(("reach", side), ()))
        mark += any(place in told_of.get(("takes", side), ()) for side in (0, 1))
        fitting.append(fits)
        marks.append(mark)
        states.append(state)
    return states, fitting, marks


BOARDS = [game for game in GAMES if features_of(game).kind.startswith("board")]


@pytest.mark.parametrize("game", BOARDS, ids=lambda game: game.name)
def test_board_features_equal_a_plain_count(game: Game) -> None:
    """Of cells, patterns and pairs, from the planes cell by cell."""
    rows = rows_of(game)
    phases = [plane.name for plane in game.observation.planes]
    for position in positions_of(game, seeds=2):
        player = int(position.to_move)
        states, fitting, marks = states_of(position, player)
        turn = rows.turned.tolist() if player else list(range(rows.cells))
        expected: Counter[int] = Counter()
        shown = {}
        for cell, (state, fits, mark) in enumerate(zip(states, fitting, marks, strict=True)):
            content = fits if state == OPEN else rows.contents - 4 + state
            expected[int(rows.of_cells[turn[cell]]) + 4 * content + mark] += 1
            stone = state in (OWN, OPPOSING)
            shown[turn[cell]] = state
            if mark and stone:
                shown[turn[cell]] = state + rows.states - 3
            elif mark and hints_of(game).reach is not None:
                shown[turn[cell]] = CLOSED + mark
        for cells, orbit in zip(rows.patterns.cells, rows.patterns.orbits, strict=True):
            code = sum(shown[cell] * rows.states**i for i, cell in enumerate(cells.tolist()))
            expected[int(rows.patterns.rows[orbit, code])] += 1
        second = "phase" in phases and bool(
            position.observation(player)[phases.index("phase")].any()
        )
        shift = rows.end * second
        first_number = int(rows.of_numbers[0])
        first_pair = first_number - (len(np.unique(rows.of_pairs)) if rows.pairs else 0)
        near = Counter(
            {
                row - shift: count
                for row, count in features_for(position).items()
                if row - shift < first_pair
            }
        )
        assert near == expected, str(position)


def test_pairs_say_where_both_stones_of_a_number_are() -> None:
    """A row for every two squares; a reflection in the long diagonal shares it."""
    game = TESTED["halma_dominari"]
    rows = rows_of(game)
    for text in (
        ".....f/....../....a./....../....4./12.3.. w",
        "..c.ba/.d..../....../.1..../....../6..... w",
    ):
        position = Position(game, position=text)
        board = text.split()[0].replace("/", "")
        expected = Counter(
            int(rows.of_pairs[tuple(board.find(mark) % 37 for mark in marks)])
            for marks in zip("123456", "abcdef", strict=True)
        )
        pairs = range(int(rows.of_pairs.min()), int(rows.of_pairs.max()) + 1)
        found = Counter({r: n for r, n in features_for(position).items() if r in pairs})
        assert found == expected
    assert rows.of_pairs[0, 8] == rows.of_pairs[35, 22] != rows.of_pairs[8, 0]
    assert rows.of_pairs[36, 0] == rows.of_pairs[36, 35] != rows.of_pairs[36, 36]


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
