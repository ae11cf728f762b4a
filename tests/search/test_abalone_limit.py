"""What Abalone knows about the end of a game is true, even where players may have no move left."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from azumaya.baselines.search.hints import hints_of
from azumaya.envs import Position, PositionError
from azumaya.envs.geometry.hex61 import (
    CELLS,
    COORDINATES,
    DIRECTIONS,
    NEIGHBOUR,
    ROW_LENGTHS,
    distance,
)
from tests.search.minimax import Minimax, TooLarge

TIEBREAKS = (None, "marbles")
CORNER = next(cell for cell in range(CELLS) if distance(cell) == 4)


def text_of(colours: dict[int, str], mover: str, out: tuple[int, int], ply: int) -> str:
    """The text of a position with marbles on some cells."""
    rows, cell = [], 0
    for length in ROW_LENGTHS:
        rows.append("".join(colours.get(cell + i, ".") for i in range(length)))
        cell += length
    return f"{'/'.join(rows)} {mover} out={out[0]},{out[1]} ply={ply}"


def near(cell: int, count: int) -> list[int]:
    """The cells nearest to a cell, itself first."""
    found = [cell]
    for other in found:
        new = [n for d in range(DIRECTIONS) if (n := NEIGHBOUR[other][d]) is not None]
        found += [n for n in new if n not in found]
        if len(found) >= count:
            break
    return found[:count]


def line_from(cell: int, direction: int, most: int) -> list[int]:
    """A cell and those behind it in a direction, at most `most` of them and none off the board."""
    line = [cell]
    while len(line) < most and (beside := NEIGHBOUR[line[-1]][direction]) is not None:
        line.append(beside)
    return line


def crowded(seed: int) -> Position | None:
    """A few marbles in a corner, where pushes and blocked players are common."""
    rng = random.Random(seed)
    cells = rng.sample(near(CORNER, rng.randint(6, 12)), rng.randint(4, 6))
    colours = dict(zip(cells, rng.choices("bw", k=len(cells)), strict=True))
    out = rng.randint(3, 5), rng.randint(3, 5)
    text = text_of(colours, rng.choice("bw"), out, 10)
    limit = rng.choice((0, *(10 + left for left in range(1, 4))))
    try:
        return Position(
            "abalone", position=text, max_plies=limit or 13, tiebreak=rng.choice(TIEBREAKS)
        )
    except PositionError:
        return None


def scattered(seed: int) -> Position | None:
    """Marbles in lines towards the edge, with room to move: any push may decide."""
    rng = random.Random(seed)
    colours: dict[int, str] = {}
    for _ in range(rng.randint(4, 8)):
        line = line_from(rng.randrange(CELLS), rng.randrange(DIRECTIONS), 5)
        colours |= dict(zip(line, rng.choice(("bbbww", "wwwbb", "bbw", "wwb", "bb")), strict=False))
    out, ply = (rng.choice((3, 5, 5)), rng.choice((3, 5, 5))), 10
    text = text_of(colours, rng.choice("bw"), out, ply)
    options = {"max_plies": ply + rng.randint(1, 2), "tiebreak": rng.choice(TIEBREAKS)}
    try:
        return Position("abalone", position=text, **options)
    except PositionError:
        return None


def besieged(seed: int) -> Position | None:
    """One player has few marbles, ready to push; the other one has many, with room to move."""
    rng = random.Random(seed)
    colours: dict[int, str] = {}
    for _ in range(3):
        edge = rng.choice([cell for cell in range(CELLS) if distance(cell) == 4])
        line = line_from(edge, rng.randrange(DIRECTIONS), 3)
        colours |= dict(zip(line, "wbb", strict=False))
    every_other = [
        cell for cell in range(CELLS) if COORDINATES[cell][0] % 2 and cell not in colours
    ]
    colours |= dict.fromkeys(rng.sample(every_other, 10), "w")
    left, out, ply = rng.randint(2, 3), (rng.randint(0, 4), rng.randint(4, 5)), 10
    text = text_of(colours, "b" if left == 3 else "w", out, ply)
    options = {"max_plies": ply + left, "tiebreak": rng.choice(TIEBREAKS)}
    try:
        return Position("abalone", position=text, **options)
    except PositionError:
        return None


def bounds_of(position: Position) -> tuple[int, int]:
    """What Abalone says of a position."""
    low, high = hints_of(position.game).bounds(position.state[0])
    return int(low), int(high)


def running(make: Callable[[int], Position | None]) -> Iterator[Position]:
    """Running positions, without end."""
    for seed in itertools.count(1):
        position = make(seed)
        if position is not None and not position.is_over:
            yield position


def valued(make: Callable[[int], Position | None], count: int) -> Iterator[tuple[Position, int]]:
    """Positions and what the player to move gains."""
    found = 0
    for position in running(make):
        try:
            value = max(Minimax(6000).gains(position).values())
        except TooLarge:
            continue
        yield position, value
        found += 1
        if found == count:
            return


def test_bounds_hold_where_players_are_blocked() -> None:
    kinds: Counter[tuple[int, int]] = Counter()
    for position, value in valued(crowded, 100):
        low, high = bounds_of(position)
        assert low <= value <= high, str(position)
        kinds[low, high] += 1
    assert kinds[-1, 1] > 6  # not everything is known there
    assert kinds[1, 1] > 6


@pytest.mark.parametrize("make", [scattered, besieged])
def test_bounds_hold_where_any_push_may_decide(make: Callable[[int], Position | None]) -> None:
    settled = 0
    for position, value in valued(make, 40):
        low, high = bounds_of(position)
        assert low <= value <= high, str(position)
        settled += low == high
    assert settled > 2


@pytest.mark.slow
@pytest.mark.parametrize("make", [crowded, scattered, besieged])
def test_bounds_hold_in_many_positions(make: Callable[[int], Position | None]) -> None:
    for position, value in valued(make, 5000):
        low, high = bounds_of(position)
        assert low <= value <= high, str(position)


def test_two_pushes_may_still_win() -> None:
    """Black pushes out the fifth marble, white saves one of two more, and black takes the other."""
    text = "wbb../....../w.w.w../w.w.w.../wbb....../w.w.w.../......./....../wbb.. b out=0,4 ply=10"
    position = Position("abalone", position=text, max_plies=13)
    assert max(Minimax(200_000).gains(position).values()) == 1
    assert bounds_of(position)[1] == 1


def test_far_from_the_limit_only_the_sixth_marble_counts() -> None:
    direction = next(d for d in range(DIRECTIONS) if NEIGHBOUR[CORNER][d] is not None)
    colours = dict(zip(line_from(CORNER, direction, 3), "wbb", strict=True))
    for out, limit, known in (((0, 5), 0, (1, 1)), ((0, 4), 0, (-1, 1)), ((5, 4), 400, (-1, 1))):
        text = text_of(colours, "b", out, 0)
        assert bounds_of(Position("abalone", position=text, max_plies=limit)) == known
