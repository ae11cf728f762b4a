"""What Sudoku Horikomi tells a solver, against sets (`tests/oracles/horikomi_filling.py`).

Whether it is true is tested in `tests/search/test_bounds.py`, too.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from azumaya.baselines.search.hints import sudoku_horikomi as filling
from azumaya.envs import GAMES, Position
from azumaya.envs.games._shima.board import PLAY
from azumaya.envs.games._shima.stones import neutral_room
from azumaya.envs.kernels.bits import U64
from azumaya.envs.kernels.compile import INTERPRETED
from tests.games.shima import as_sets, stones
from tests.oracles.horikomi_filling import Filling
from tests.oracles.regions import NUMBERS
from tests.search.positions import midgame

GAME = GAMES["sudoku_horikomi"]
TERRITORIES = ("standard", "corners", "rows", "columns")
SEEDS = range(1 if INTERPRETED else 5)
PLIES = (20, 26, 30, 34, 38, 42, 46)


def endgames(territory: str) -> list[Position]:
    """Running positions in which nothing fits in the neutral region any more."""
    starts = ({"territory": territory}, {"territory": territory, "puzzle": "." * 81})
    found = [midgame(GAME, given, seed, p) for given in starts for seed in SEEDS for p in PLIES]
    return [p for p in found if not p.is_over and not neutral_room(p.state[0])]


def seen_as_sets(position: Position, territory: str) -> Filling:
    """The position for the oracle."""
    fits, sides, groups = as_sets(position, territory)
    words = [int(word) for word in position.state["stock"][0]]
    stock = {n: sum(word >> 4 * i & 15 for word in words) for i, n in enumerate(NUMBERS)}
    return Filling(fits, stock, sides, groups)


def told(position: Position, player: int) -> tuple[int, int]:
    """The sure stones and the most stones of a player."""
    state = position.state[0]
    cells = np.array([filling.candidates_of(state, n) for n in range(9)], U64)
    sure = filling.sure_stones(state, cells, player, matters=True)
    assert filling.sure_stones(state, cells, player, matters=False) == 0
    return int(sure), int(filling.most_stones(state, cells, player))


@pytest.mark.parametrize("territory", TERRITORIES)
def test_stones_to_come(territory: str) -> None:
    seen = set()
    for position in endgames(territory):
        sets = seen_as_sets(position, territory)
        for player in range(2):
            expected = sets.sure_stones(player), sets.most_stones(player)
            assert told(position, player) == expected, f"{position} {player}"
            seen.add(expected)
    assert len(seen) > 5 * len(SEEDS)


@pytest.mark.parametrize("territory", TERRITORIES)
def test_random_games_keep_what_was_told(territory: str) -> None:
    rng = random.Random(0)
    for position in endgames(territory):
        sets = seen_as_sets(position, territory)
        before = stones(position, territory).number
        limits = [told(position, player) for player in range(2)]
        for _ in range(5):
            end = position.copy()
            while not end.is_over:
                end.play(rng.choice(end.legal_actions()))
            after = stones(end, territory).number
            for (sure, most), side in zip(limits, sets.sides, strict=True):
                assert sure <= len(side & (after.keys() - before.keys())) <= most, str(position)


@pytest.mark.parametrize("territory", TERRITORIES)
def test_bounds(territory: str) -> None:
    seen = set()
    for position in endgames(territory):
        sets, mover = seen_as_sets(position, territory), position.to_move
        laid = stones(position, territory).number.keys()
        ahead = len(laid & sets.sides[mover]) - len(laid & sets.sides[1 - mover])
        expected = sets.bounds(mover, ahead)
        assert filling.bounds(position.state[0]) == expected, str(position)
        seen.add(expected)
    assert INTERPRETED or len(seen) == 3


def outlook_of(position: Position) -> tuple[int, ...]:
    """The outlook of a position."""
    row = np.zeros(filling.OUTLOOK_WORDS, U64)
    filling.outlook(position.state[0], row)
    return tuple(row.tolist())


def rank_of(laid: int) -> int:
    """Stones count most, then full regions, then those with eight stones, and so on."""
    return int(laid * 8**10 + 8**laid)


@pytest.mark.parametrize("territory", TERRITORIES)
def test_outlooks_sum_up_closed_regions(territory: str) -> None:
    closed_regions = 0
    for position in endgames(territory):
        sets = seen_as_sets(position, territory)
        laid, fitting = stones(position, territory).number.keys(), set().union(*sets.fits.values())
        counts, settled = 0, 0
        for i, region in enumerate(sets.regions):
            if region & fitting:
                counts |= len(region & laid) << 4 * i
            elif region <= sets.sides[0] | sets.sides[1]:
                sign = 1 if region <= sets.sides[0] else -1
                settled += sign * rank_of(len(region & laid))
                closed_regions += 1
        row = outlook_of(position)
        assert row[13:15] == (counts, settled + 2**40), str(position)
    assert closed_regions > len(SEEDS)


def test_outlooks_forget_dead_numbers() -> None:
    forgotten = 0
    for position in endgames("standard"):
        before, dead = outlook_of(position), dead_numbers(position)
        for number, player in np.ndindex(9, 2):
            changed = position.copy()
            stock = changed._states["stock"][0]
            if stock[player] >> U64(4 * number) & U64(15):
                stock[player] -= U64(1) << U64(4 * number)
                is_dead = str(number + 1) in dead
                assert (outlook_of(changed) == before) == is_dead, str(position)
                forgotten += is_dead
    assert forgotten > 5 * len(SEEDS)


def dead_numbers(position: Position) -> set[str]:
    """The numbers that fit nowhere, or of which no stone is left."""
    return {n for n, squares in seen_as_sets(position, "standard").fits.items() if not squares}


def test_outlooks_tell_stages_apart() -> None:
    position, seen = midgame(GAME, {}, 3, 20), set()
    fields = ("to_move", 2), ("stage", 5), ("light", 2), ("starter", 2), ("handicap", 6)
    for values in np.ndindex(*(count for _, count in fields)):
        for (name, _), value in zip(fields, values, strict=True):
            position._states[name][0] = value
        seen.add(outlook_of(position))
    assert len(seen) == 2 * 5 * 2 * 2 * 6


def test_nothing_is_known_too_early() -> None:
    decided = [p for p in endgames("standard") if filling.bounds(p.state[0]) != (-1, 1)]
    for position in decided:
        for name, value in (("stage", PLAY - 1), ("over", 1)):
            changed = position.copy()
            changed._states[name][0] = value
            assert filling.bounds(changed.state[0]) == (-1, 1)
    assert decided
