"""Prompts for language models: the rules once, then a position at a time."""

from __future__ import annotations

from collections.abc import Sequence

from azumaya.envs import Position

ANSWER = "move: "
"""What the prompts ask a model to write before its move."""

_FORMAT = (
    "You may think first. End your answer with one line that names your move, in this form:\n"
    f"{ANSWER}NAME"
)


def rules_prompt(position: Position) -> str:
    """The rules of a position's game, its options and the form of an answer.

    It suits the system message of a chat. It is the same for both players and for the whole game.
    """
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
    """The options that differ from their defaults, a line each; the start is on the board."""
    meanings = {option.name: option.meaning for option in position.game.options}
    lines = [
        f"{name}={value!r}: {meanings[name]}"
        for name, value in position.options.items()
        if name in meanings
    ]
    return "\n".join(lines)


def position_prompt(
    position: Position, moves: Sequence[str] | None = (), *, legal_moves: bool = False
) -> str:
    """A position as a question to the player to move: history, board, position text.

    Args:
        position: a running position.
        moves: the names of the moves so far; None if they are not known.
        legal_moves: whether to list the legal moves. With the list, a model that does not know the
            rules can play, too, so comparisons usually omit it.
    """
    parts = []
    if moves is not None:
        parts = [f"Moves so far: {' '.join(moves)}" if moves else "No move has been made yet."]
    parts.append(position.draw(colour=False).strip())
    parts.append(f"As text: {position}")
    if legal_moves:
        parts.append(f"Legal moves: {' '.join(position.legal_moves())}")
    parts.append(f"You are player_{position.to_move}. What is your move?")
    return "\n\n".join(parts)
