"""Helpers of the tests of the Dominari games."""

from __future__ import annotations

from typing import Any

from azumaya.envs.position import Position


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
