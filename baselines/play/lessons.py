"""Lessons: a first game in a few moves, of which each makes a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from azumaya.envs import Position
from azumaya.envs.game import Game
from azumaya.envs.lesson import Step


@dataclass(frozen=True)
class Tried:
    """What a move in a step of a lesson is worth.

    Attributes:
        right: whether it makes the point.
        line: the moves made: the right one and the opponent's answer, if any; none if it is wrong.
        words: what the move has done, or what is wrong with it.
    """

    right: bool
    line: tuple[str, ...]
    words: str


def begin_step(game: Game, made: Sequence[str]) -> Position:
    """The position in which a step of a lesson begins; after the last step, that to play on from.

    Args:
        game: a game with a lesson.
        made: the learner's moves in the steps before.

    Raises:
        ValueError: one of them was wrong, or there are more than steps.
    """
    steps = game.words.lesson
    if len(made) > len(steps):
        raise ValueError(f"the lesson has {len(steps)} steps")
    here = _start(game, steps[0])
    for step, move, after in zip(steps, made, [*steps[1:], None], strict=False):
        tried = try_move(here, step, move)
        if not tried.right:
            raise ValueError(f"step {steps.index(step) + 1}: {tried.words}")
        for each in tried.line:
            here.play(each)
        if after is not None and after.position:
            here = _start(game, after)
    return here


def try_move(here: Position, step: Step, move: str) -> Tried:
    """Whether a move makes the point of a step, and what follows.

    Args:
        here: the position in which the step begins; it stays the same.
        step: the step.
        move: the name of a legal move.

    Raises:
        ValueError: it is no legal move.
    """
    move = here.move_name(here.action(move))
    after = here.copy().play(move)
    if step.moves and move not in step.moves:
        return Tried(False, (), f"{move} {step.otherwise}")
    line = (move, step.answer) if step.answer and not after.is_over else (move,)
    return Tried(True, line, step.then)


def _start(game: Game, step: Step) -> Position:
    return Position(game, position=step.position)
