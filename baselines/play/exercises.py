"""Exercises: find a move that wins, in positions where the exact value of every move is known.

The positions are those of the exams' part `public` that are won.
"""

from __future__ import annotations

import datetime
import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from azumaya.baselines.arena.exams import ExamPosition, has_exam, keeps, load_exam
from azumaya.baselines.play.words import capital, sides
from azumaya.baselines.search.analysis import analyse
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.registry import find_game
from azumaya.envs.whole import whole_number

LEVELS = ("easy", "medium", "hard")
NODES = 400_000
"""The budget of the search for the reply to a wrong move; the same reply on every machine."""


@dataclass(frozen=True)
class Exercise:
    """A position in which the player to move wins.

    Attributes:
        game: the name of the game.
        level: one of `LEVELS`.
        number: which exercise of this game and level, from 1.
        of: how many there are.
        index: the number of the position in the exam.
    """

    game: str
    level: str
    number: int
    of: int
    index: int

    @property
    def question(self) -> ExamPosition:
        """The position in the exam, with the value of every move."""
        return load_exam(self.game).positions[self.index]

    def start(self) -> Position:
        """The position, ready to be played."""
        return load_exam(self.game).start(self.index)

    @property
    def task(self) -> str:
        """What is to be done, in a sentence."""
        start = self.start()
        return f"{capital(sides(start)[start.to_move])} to move: find a move that wins"


@dataclass(frozen=True)
class Judgement:
    """What a move is worth.

    Attributes:
        move: the move.
        right: whether it wins.
        line: after a wrong move, the moves that refute it, up to the opponent's first one; empty
            if the game is over.
        words: all that, in a few sentences.
    """

    move: str
    right: bool
    line: tuple[str, ...]
    words: str


def exercise_games() -> list[str]:
    """The names of the games that have exercises."""
    return [name for name in GAMES if has_exam(name)]


def find_exercise(game: str, level: str = LEVELS[0], number: int = 1) -> Exercise:
    """An exercise of a game and level.

    Args:
        game: the name of the game.
        level: `easy`, `medium` or `hard`.
        number: which one, from 1. After the last one the first follows again.

    Raises:
        OptionError: there is no such game, level or number.
        ExamError: the game has no exam, so it has no exercises.
    """
    if level not in LEVELS:
        raise OptionError(f"level={level!r}: must be one of {', '.join(LEVELS)}")
    name = find_game(game).name
    all_of_it = _by_level(name)[LEVELS.index(level)]
    number = (whole_number(number, "number", 1) - 1) % len(all_of_it) + 1
    return Exercise(name, level, number, len(all_of_it), all_of_it[number - 1])


def daily_exercise(day: datetime.date | None = None) -> Exercise:
    """The exercise of a day, by default of today in UTC; the same for all."""
    day = day or datetime.datetime.now(datetime.UTC).date()
    games, count = exercise_games(), day.toordinal()
    level = LEVELS[count // len(games) % len(LEVELS)]
    return find_exercise(games[count % len(games)], level, 1 + count // len(games) // len(LEVELS))


@cache
def _by_level(game: str) -> list[Sequence[int]]:
    """The won positions of an exam, a third for each level, in an order that does not change.

    Several positions of an exam come from one game, which the order takes apart.
    """
    positions = load_exam(game).positions
    won = [n for n, each in enumerate(positions) if each.value > 0]
    won.sort(key=lambda n: _hardness(positions[n]))
    ends = [len(won) * n // len(LEVELS) for n in range(len(LEVELS) + 1)]
    rng = random.Random(0)
    return [rng.sample(won[low:high], high - low) for low, high in itertools.pairwise(ends)]


def _hardness(question: ExamPosition) -> float:
    """How hard it is to find a winning move: by the distance from the end, and by their share."""
    return question.plies_left * math.log2(len(question.values) / len(question.kept))


def judge(exercise: Exercise, move: str) -> Judgement:
    """Whether a move wins, and what refutes it if not.

    Raises:
        ValueError: it is no legal move.
    """
    start, question = exercise.start(), exercise.question
    here = start.copy().play(move)
    move = start.move_name(start.action(move))
    if keeps(question.values[move], question.value):
        others = sorted(question.kept - {move})
        also = f" Other moves that win: {_listed(others)}." if others else ""
        return Judgement(move, True, (), f"Right: {move} wins.{also}")
    does = "only draws" if question.values[move] == 0 else "loses"
    line = _refutation(here, start.to_move)
    then = f" {capital(sides(start)[1 - start.to_move])} answers {line[-1]}." if line else ""
    return Judgement(move, False, line, f"Not this one: {move} {does}.{then}")


def _listed(moves: Sequence[str]) -> str:
    shown = moves[:3]
    return ", ".join(shown) + (f" and {len(moves) - 3} more" if len(moves) > len(shown) else "")


def _refutation(position: Position, loser: int) -> tuple[str, ...]:
    """The best moves up to the first one of the opponent of `loser`; a turn may have several."""
    here, line = position.copy(), list[str]()
    while not here.is_over:
        mover = here.to_move
        line.append(analyse(here, nodes=NODES).best)
        here.play(line[-1])
        if mover != loser:
            return tuple(line)
    return ()
