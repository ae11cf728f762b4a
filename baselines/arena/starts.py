"""Balanced starts: positions from which equally strong players win about equally often."""

from __future__ import annotations

from azumaya.envs.registry import find_game


def balanced_starts(game: str) -> tuple[str, ...]:
    """The position texts of a game's book, usable as `Position(game, position=text)`.

    Args:
        game: the name of the game.

    Returns:
        The texts, in the order of the book; empty if the game has no book.

    Raises:
        OptionError: there is no such game.
    """
    find_game(game)
    return ()
