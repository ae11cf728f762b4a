"""What Connect Four tells a solver, compared with sets of cells, and with searches told nothing.

That bounds hold near the end of games is tested in `tests/search/test_bounds.py`, too.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.hints import Hints, hints_of
from azumaya.baselines.search.solver import Solving
from azumaya.envs import Position
from tests.cases import YARDSTICK
from tests.oracles.connect_four import COLUMNS, HEIGHT, WAYS, Oracle
from tests.search.positions import midgame

Cell = tuple[int, int]
"""Column and row, both from 1."""
Cells = set[Cell]
HINTS = hints_of(YARDSTICK)

CELLS = set(itertools.product(range(1, len(COLUMNS) + 1), range(1, HEIGHT + 1)))
LINES = [
    frozenset((column + n * right, row + n * up) for n in range(4))
    for (column, row), (right, up) in itertools.product(CELLS, WAYS)
]
FOURS = [line for line in LINES if line <= CELLS]


# ---- the same in sets ----


class Stand:
    """A position as sets of cells: discs by player, empty cells, and those where discs land."""

    def __init__(self, position: Position) -> None:
        columns = Oracle(str(position), {}).columns
        self.to_move = position.to_move
        self.discs: list[Cells] = [set(), set()]
        for number, name in enumerate(COLUMNS, start=1):
            for row, mark in enumerate(columns[name], start=1):
                self.discs["xo".index(mark)].add((number, row))
        self.empty = CELLS - self.discs[0] - self.discs[1]
        self.landing = {(c, r) for c, r in self.empty if (c, r - 1) not in self.empty}
        self.bases = {(c, r) for c, r in self.landing if r % 2 == 0}

    def threats(self, player: int) -> Cells:
        """The empty cells that would complete a four."""
        discs = self.discs[player]
        return {cell for four in FOURS for cell in four & self.empty if four - {cell} <= discs}

    def alive(self, player: int) -> Cells:
        """A player's discs in fours that the player can still complete."""
        theirs = self.discs[1 - player]
        return {cell for four in FOURS if not four & theirs for cell in four} & self.discs[player]


def pairings(bases: Cells) -> Iterator[list[set[Cell]]]:
    """The ways to join at most four bases in twos."""
    if not bases:
        yield []
    elif len(bases) <= 4:
        one = min(bases)
        for other in sorted(bases - {one}):
            for rest in pairings(bases - {one, other}):
                yield [{one, other}, *rest]


def is_stopped(free: Cells, bases: Cells) -> bool:
    """Whether every four of free cells holds two bases that are joined."""
    fours = [four for four in FOURS if four <= free]
    return any(
        all(any(pair <= four for pair in pairing) for four in fours) for pairing in pairings(bases)
    )


def told(stand: Stand) -> tuple[tuple[int, int], str]:
    """The bounds, and why they hold."""
    mover = stand.to_move
    feared = stand.threats(1 - mover)
    if stand.threats(mover) & stand.landing:
        return (1, 1), "wins at once"
    now = feared & stand.landing
    if not any(now <= {(c, r)} and (c, r + 1) not in feared for c, r in stand.landing):
        return (-1, -1), "cannot parry"
    return told_of_x(stand, feared) if mover == 0 else told_of_o(stand, feared)


def told_of_x(stand: Stand, feared: Cells) -> tuple[tuple[int, int], str]:
    """The bounds for x if o follows."""
    bases = stand.bases
    sure = {(c, r) for c, r in stand.empty - bases if r % 2 == 0}
    high = {(c, r) for c, r in stand.empty if any((c, low) in feared & sure for low in range(r))}
    if not is_stopped(CELLS - stand.discs[1] - sure - high, bases):
        return (-1, 1), "x may win"
    if any(four <= stand.discs[1] | sure for four in FOURS):
        return (-1, -1), f"o wins, bases {len(bases)}"
    return (-1, 0), f"o holds, bases {len(bases)}"


def told_of_o(stand: Stand, feared: Cells) -> tuple[tuple[int, int], str]:
    """The bounds for o if x follows and waits in one column."""
    for column, low in stand.bases:
        goals = [r for c, r in feared if c == column and r > low and r % 2]
        if goals:
            sure = {(c, r) for c, r in stand.empty - stand.bases if r % 2 == (c == column)}
            high = {
                (c, r)
                for c, r in stand.empty
                if any((c, below) in feared & sure for below in range(r))
            }
            others = stand.bases - {(column, low)}
            if is_stopped(CELLS - stand.discs[0] - sure - high, others):
                return (-1, -1), f"x wins, bases {len(others)}"
    return (-1, 1), "o may win"


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


def check_told(seeds: range) -> set[str]:
    """Compare the bounds with those by sets; returns the reasons that were met."""
    reasons = set()
    for seed in seeds:
        for plies in range(seed % 4, 41, 4):
            for position in (sensible(seed, plies), midgame(YARDSTICK, {}, seed, plies)):
                expected, why = told(Stand(position))
                assert HINTS.bounds(position.state[0]) == expected, (str(position), why)
                reasons.add(why)
    return reasons


def test_bounds_are_what_sets_tell() -> None:
    reasons = check_told(range(160))
    every = {f"{who}, bases {n}" for who in ("o holds", "o wins", "x wins") for n in (0, 2)}
    assert reasons > every | {"wins at once", "cannot parry", "x may win", "o may win"}


@pytest.mark.slow
def test_bounds_are_what_sets_tell_everywhere() -> None:
    reasons = check_told(range(160, 600))
    assert reasons >= {f"{who}, bases 4" for who in ("o holds", "o wins", "x wins")}


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
    room = Room(replace(kernels, hints=Hints(rank=YARDSTICK.rules.evaluate)), 16)
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


def outlook_in_sets(position: Position) -> frozenset[object]:
    """The empty cells and the discs alive, with the reflection."""
    stand = Stand(position)
    parts = (stand.empty, stand.alive(0), stand.alive(1))
    reflected = [{(8 - c, r) for c, r in part} for part in parts]
    return frozenset(tuple(map(frozenset, view)) for view in (parts, reflected))


def all_from(position: Position, found: dict[str, Position]) -> None:
    """Collect a position and all running ones after it."""
    if not position.is_over and str(position) not in found:
        found[str(position)] = position
        for action in position.legal_actions():
            all_from(position.copy().play(action), found)


def test_outlooks_are_equal_where_sets_are() -> None:
    found: dict[str, Position] = {}
    for seed in range(60):
        all_from(sensible(seed, 35), found)
    for moves in itertools.product("abcdefg", repeat=3):  # with reflections of each other
        position = Position(YARDSTICK)
        for move in moves:
            position.play(move)
        found[str(position)] = position
    pairs = {(row_of(position), outlook_in_sets(position)) for position in found.values()}
    assert len({row for row, _ in pairs}) == len({sets for _, sets in pairs}) == len(pairs)
    assert 1000 < len(pairs) < 0.8 * len(found)


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
