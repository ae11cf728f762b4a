"""Helpers of the tests of the Dominari games."""

from __future__ import annotations

import random
from typing import Any

from azumaya.envs.position import Position
from azumaya.envs.registry import GAMES
from tests.oracles.dominari_board import numbers_round, read


def at(game: str, text: str | None = None, **options: Any) -> Position:
    """The position of a text, or the start of the game."""
    return Position(game, **options) if text is None else Position.from_text(game, text, **options)


def after(position: Position, moves: str) -> Position:
    """The position after some moves; the given one is not changed."""
    played = position.copy()
    for move in moves.split():
        played.play(move)
    return played


def board(position: Position) -> str:
    """The board of a position's text."""
    return str(position).split()[0]


def words(position: Position) -> list[str]:
    """The words after the board in a position text."""
    return str(position).split()[1:]


def legal(position: Position) -> set[str]:
    """The legal moves."""
    return set(position.legal_moves())


def cells(position: Position) -> set[str]:
    """The squares that numbers may go to."""
    return {move[1:] for move in position.legal_moves() if move[0].isdigit()}


def check_blanks(game: str, position: Position) -> None:
    """Check that every blank lies on a cell on which no number fits."""
    numbers = set("12345" if game == "vierer_dominari" else "123456")
    stones = read(board(position))
    for square, mark in stones.items():
        if mark in "WB":
            assert numbers_round(stones, square) == numbers, str(position)


def check_random_games(game: str, games: int, **options: Any) -> None:
    """Check the invariants of random games at every step, and that texts restore every state."""
    check_state = GAMES[game].words.check_state
    for seed in range(games):
        rng = random.Random(seed)
        position = Position(game, seed=seed, **options)
        ended = False
        while not ended:
            ended = position.is_over
            check_state(position.state[0])
            check_blanks(game, position)
            again = at(game, str(position), **options)
            assert again.state.tobytes() == position.state.tobytes(), str(position)
            if not ended:
                position.play(rng.choice(position.legal_moves()))
