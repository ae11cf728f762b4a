"""Prompts for language models: the rules once, then a position at a time."""

from __future__ import annotations

from collections.abc import Sequence

from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_position

ANSWER = "move: "
"""What the prompts ask a model to write before its move."""

_FORMAT = (
    "You may think first. End your answer with one line that names your move, in this form:\n"
    f"{ANSWER}NAME"
)


def rules_prompt(position: Position) -> str:
    """The rules of a position's game, its options and the form of an answer.

    It suits the system message of a chat. It is the same for both players and for the whole game.

    Raises:
        OptionError: `position` is not a position.
    """
    check_position(position)
    game = position.game
    parts = [
        f"You are playing {game.title}, a board game for two players, player_0 and player_1.",
        game.words.how_to_play,
    ]
    settings = _settings(position)
    if settings:
        parts.append(f"This game is played with options:\n{settings}")
    return "\n\n".join([*parts, _FORMAT])


def _settings(position: Position) -> str:
    """The options that differ from their defaults and matter after the start, a line each.

    The others are on the board, or are not for players: they may say which tiles will be drawn.
    """
    given = position.options
    lines = [
        f"{option.name}={given[option.name]!r}: {option.rules or option.meaning}"
        for option in position.game.options
        if option.name in given and not option.start_only
        if option.settle(given[option.name]) != option.settle(option.default)
    ]
    return "\n".join(lines)


def position_prompt(
    position: Position, moves: Sequence[str] | None = None, *, legal_moves: bool = False
) -> str:
    """A position as a question to the player to move: history, board, position text.

    Args:
        position: a running position.
        moves: the names of the moves since the game began, in this position if there are none;
            None to say nothing of them.
        legal_moves: whether to list the legal moves. With the list, a model that does not know the
            rules can play, too, so comparisons usually omit it.

    Raises:
        OptionError: `position` is not a position.
    """
    check_position(position)
    parts = []
    if moves is not None:
        told = f"Moves so far: {' '.join(moves)}" if moves else "The game begins in this position."
        parts = [told]
    parts.append(position.draw(colour=False).strip())
    parts.append(f"As text: {position}")
    if legal_moves:
        parts.append(f"Legal moves: {' '.join(position.legal_moves())}")
    parts.append(f"You are player_{position.to_move}. What is your move?")
    return "\n\n".join(parts)
