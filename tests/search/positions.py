"""Positions for the tests of search: late positions of every game with the gain of each move."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator

import pytest

from azumaya.envs import GAMES, Position
from azumaya.envs.game import Game
from tests.cases import nightly, random_line
from tests.search.minimax import late_positions

SHORT = {"max_plies": 12}
"""Options that shorten games."""
EACH = 16
"""Late positions from one start."""
Valued = tuple[Position, dict[int, int]]


def settings_of(game: Game) -> list[dict[str, object]]:
    """The default options, and options with payoffs above 1 if the game has any."""
    names = {option.name for option in game.options}
    usual = {name: value for name, value in SHORT.items() if name in names}
    more = [{**usual, name: value} for name, value in POINTS if name in names]
    known = [options for options in more if _takes(game, options)]
    return [usual, *known]


POINTS = (("scoring", "points"), ("reward", "margin"), ("reward", "points"))


def _takes(game: Game, options: dict[str, object]) -> bool:
    try:
        Position(game, **options)
    except ValueError:
        return False
    return True


CASES = [(game, options) for game in GAMES.values() for options in settings_of(game)]
SOLVED = [(game, options) for game, options in CASES if game.rules.resample is None]
"""Games without hidden information, whose positions have minimax values."""
QUICK = ("sudoku_moyo", "score_dominari", "sudoku_tiles")
"""A game that is proven by proof numbers, one with points and turns of several moves, and one with
hidden draws. Searches are compiled for each game, so those of other games are tested nightly."""


def label(value: object) -> str:
    """Names for test ids."""
    if isinstance(value, Game):
        return value.name
    if isinstance(value, dict):
        return ",".join(f"{k}={v}" for k, v in value.items())
    return value if isinstance(value, str) else ""


each_case = pytest.mark.parametrize(("game", "options"), nightly(CASES, QUICK), ids=label)
each_solved = pytest.mark.parametrize(("game", "options"), nightly(SOLVED, QUICK), ids=label)


def late(
    game: Game, options: dict[str, object], count: int, nodes: int = 800, seed: int = 1
) -> list[tuple[Position, dict[int, int]]]:
    """Some late positions with the gain of each move."""
    found, more = _series(game.name, tuple(sorted(options.items())), nodes, seed)
    found += itertools.islice(more, max(0, count - len(found)))
    return [(position.copy(), dict(gains)) for position, gains in found[:count]]


@functools.cache
def _series(
    name: str, options: tuple[tuple[str, object], ...], nodes: int, seed: int
) -> tuple[list[Valued], Iterator[Valued]]:
    """The positions found so far, for several tests, and those still to be found."""
    starts = (Position(name, seed=number, **dict(options)) for number in itertools.count(seed))
    found = (
        late_positions(start, number, EACH, nodes) for number, start in enumerate(starts, seed)
    )
    return [], itertools.chain.from_iterable(found)


def midgame(game: Game, options: dict[str, object], seed: int, plies: int) -> Position:
    """A running position after some random moves."""
    rng = random.Random(seed)
    position = Position(game, seed=seed, **options)
    for _ in range(plies):
        before = position.copy()
        position.play(rng.choice(position.legal_actions()))
        if position.is_over:
            return before
    return position


def before_the_end(game: Game, options: dict[str, object], seed: int, plies: int) -> Position:
    """The position `plies` plies before the end of a random game, or its start."""
    line = random_line(Position(game, seed=seed, **options), random.Random(seed))
    return line[max(-1 - plies, -len(line))]
