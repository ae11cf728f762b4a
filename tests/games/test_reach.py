"""What games tell learners about the next move (`reach`, `takes`), against the oracles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.search.hints import hints_of
from azumaya.envs import GAMES, Position
from azumaya.envs.game import Game
from tests.oracles import (
    abalone,
    dominari_board,
    halma_dominari,
    revers_dominari,
    score_dominari,
)
from tests.search.positions import midgame

Cells = set[tuple[int, int]]
"""Rows and columns of a plane."""
SQUARES = {square: divmod(number, 6) for number, square in enumerate(dominari_board.SQUARES)}
HEXES = {
    letter + str(number): ("ihgfedcba".index(letter), number - 1)
    for letter, numbers in abalone.NUMBERS.items()
    for number in map(int, numbers)
}
"""By name, the row and column of a cell in a plane."""


def halma_reach(position: Position, player: int, options: dict[str, Any]) -> set[str]:
    """Where any of a player's stones may go, or the free start squares while stones are laid."""
    oracle = halma_dominari.Oracle(str(position), options)
    if oracle.choosing:
        return set(halma_dominari.STARTS[player]) - set(oracle.at.values())
    return {name[1:] for name in oracle.moves_of(player)} - {halma_dominari.OUT}


def dominari_reach(oracle: Any, player: int) -> set[str]:
    """Where a player's number may go."""
    places: set[str] = oracle.places(player)
    return {square for square in places if not oracle.referee or oracle.fitting(square)}


def revers_reach(position: Position, player: int, options: dict[str, Any]) -> set[str]:
    """Where a number captures."""
    return dominari_reach(revers_dominari.Oracle(str(position), options), player)


def revers_takes(position: Position, player: int, options: dict[str, Any]) -> set[str]:
    """All that such a number could capture."""
    oracle = revers_dominari.Oracle(str(position), options)
    squares = dominari_reach(oracle, player)
    return set().union(*(oracle.captured(square, player) for square in squares))


def score_reach(position: Position, player: int, options: dict[str, Any]) -> set[str]:
    """Beside an own stone, or anywhere."""
    return dominari_reach(score_dominari.Oracle(str(position), options), player)


def abalone_takes(position: Position, player: int, options: dict[str, Any]) -> set[str]:
    """The marbles that a push would take off the board."""
    oracle, own = abalone.Oracle(str(position), options), "bw"[player]
    return {
        moving[0]
        for name, moving in oracle.moves_of(own).items()
        if oracle.marbles[moving[0]] != own and not oracle.behind(name, moving[0])
    }


CASES: list[tuple[str, str, Callable[..., set[str]], dict[str, Any], int]] = [
    ("halma_dominari", "reach", halma_reach, {}, 40),
    ("halma_dominari", "reach", halma_reach, {"setup": "choose"}, 14),
    ("revers_dominari", "reach", revers_reach, {}, 26),
    ("revers_dominari", "reach", revers_reach, {"referee": False}, 40),
    ("revers_dominari", "takes", revers_takes, {}, 26),
    ("revers_dominari", "takes", revers_takes, {"referee": False}, 40),
    ("score_dominari", "reach", score_reach, {}, 40),
    ("score_dominari", "reach", score_reach, {"referee": False}, 40),
    ("abalone", "takes", abalone_takes, {}, 200),
]
"""The game, what it tells, what is true, options, and the most plies from the start."""


def told(game: Game, what: str, position: Position, player: int) -> Cells:
    """What a game tells about a position, as rows and columns."""
    cells, columns = game.observation.cells, game.observation.shape[1]
    board = np.zeros(-(-cells // 64), np.uint64)
    getattr(hints_of(game), what)(position.state[0], player, board)
    bits = sum(int(word) << 64 * i for i, word in enumerate(board))
    assert bits < 1 << cells
    return {divmod(cell, columns) for cell in range(cells) if bits >> cell & 1}


@pytest.mark.parametrize(("name", "what", "expected", "options", "most"), CASES)
def test_games_tell_what_the_next_move_can_do(
    name: str, what: str, expected: Callable[..., set[str]], options: dict[str, Any], most: int
) -> None:
    """For both players, whoever is to move, and in the middle of turns."""
    game, sizes = GAMES[name], set()
    for seed in range(40):
        position = midgame(game, options, seed, 1 + seed * most // 40)
        for player in (0, 1):
            squares = expected(position, player, options)
            right = {(HEXES if name == "abalone" else SQUARES)[square] for square in squares}
            assert told(game, what, position, player) == right, f"{position}, player_{player}"
            sizes.add(len(right))
    assert len(sizes) > 1


@pytest.mark.parametrize("own", [1, 2, 3, 4])
@pytest.mark.parametrize("theirs", [1, 2, 3])
def test_pushes_off_every_edge(own: int, theirs: int) -> None:
    """Lines of marbles up to each cell of the edge, in each direction, by both colours."""
    found = 0
    for (edge, way), beyond in abalone.BESIDE.items():
        up, right = abalone.WAYS[way]
        back = next(name for name, steps in abalone.WAYS.items() if steps == (-up, -right))
        line = [edge]
        while line[-1] and len(line) < own + theirs:
            line.append(abalone.BESIDE[line[-1], back])
        if beyond or not all(line):
            continue
        for player, colours in enumerate(("bw", "wb")):
            marks = theirs * colours[1] + own * colours[0]
            marbles = dict(zip(line, marks, strict=True))
            board = "/".join(
                "".join(marbles.get(f"{letter}{n}", ".") for n in abalone.NUMBERS[letter])
                for letter in reversed(abalone.LETTERS)
            )
            position = Position("abalone", position=f"{board} b out=0,0")
            squares = abalone_takes(position, player, {})
            right = {HEXES[square] for square in squares}
            assert told(GAMES["abalone"], "takes", position, player) == right, str(position)
            found += len(squares)
    assert (found > 0) == (theirs < 3 and own > theirs)
