"""Giving an agent an exam, and the statistics of its answers."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from azumaya.baselines.agents.asking import ask, check_agent, name_of
from azumaya.baselines.arena.exams import Exam, ExamError, ExamPosition, Part, keeps
from azumaya.baselines.arena.intervals import normal, wilson
from azumaya.baselines.arena.kernels import LOOKS
from azumaya.envs import IllegalActionError, OptionError, Position
from azumaya.envs.adapters.duel.opponents import Opponent
from azumaya.envs.errors import brief
from azumaya.envs.position import check_seed, episode_key

STREAM = 1 << 23
"""The keys of an agent's draws come from this environment number."""
BATCH = 64
"""Positions that an agent is given at a time."""
GROUPS = 5
"""Groups of distances from the end, at most."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class Answer:
    """An agent's answer to one position: the name of a move."""

    question: ExamPosition
    move: str

    @property
    def regret(self) -> float:
        """How much less the move gains than the best one."""
        return self.question.value - self.question.values[self.move]

    @property
    def kept(self) -> bool:
        """Whether the move keeps the win, or the draw where there is no win."""
        return keeps(self.question.values[self.move], self.question.value)


@dataclass(frozen=True)
class ExamResult:
    """The answers of an agent to an exam, or to some of its positions.

    Attributes:
        agent, game: their names.
        part, version: those of the exam.
        seed: the seed of the agent's draws; None if it is not known.
        answers: in the order of the exam.
    """

    agent: str
    game: str
    part: Part
    version: int
    seed: int | None
    answers: tuple[Answer, ...] = field(repr=False)

    @property
    def positions(self) -> int:
        """The number of positions."""
        return len(self.answers)

    @property
    def wins(self) -> list[Answer]:
        """The answers to positions in which the player to move wins with best play."""
        return [answer for answer in self.answers if answer.question.value > 0]

    @property
    def draws(self) -> list[Answer]:
        """The answers to positions that are drawn with best play."""
        return [answer for answer in self.answers if answer.question.value == 0]

    @property
    def kept_wins(self) -> float | None:
        """The share of won positions in which the move keeps the win; None if there are none."""
        return _share(self.wins)

    @property
    def kept_draws(self) -> float | None:
        """The share of drawn positions in which the move does not lose; None if there are none."""
        return _share(self.draws)

    @property
    def regret(self) -> float:
        """The mean of the best value less the value of the move, over all positions."""
        return statistics.fmean(answer.regret for answer in self.answers)

    @property
    def kept_wins_interval(self) -> Interval | None:
        """Wilson's 95 % interval for `kept_wins`."""
        return _share_interval(self.wins)

    @property
    def kept_draws_interval(self) -> Interval | None:
        """Wilson's 95 % interval for `kept_draws`."""
        return _share_interval(self.draws)

    @property
    def regret_interval(self) -> Interval:
        """The 95 % interval for `regret`, see `regret_interval`."""
        most = max(a.question.value - a.question.values[a.question.worst] for a in self.answers)
        return regret_interval([answer.regret for answer in self.answers], most)

    def by_distance(self) -> dict[Interval, ExamResult]:
        """The answers by the plies left in the game, in up to five groups of equal width.

        Returns:
            By the least and the most plies left, the answers at these distances. The groups depend
            on the exam alone.
        """
        lefts = [answer.question.plies_left for answer in self.answers]
        groups: dict[Interval, ExamResult] = {}
        for low, high in distance_groups(min(lefts), max(lefts)):
            there = tuple(a for a in self.answers if low <= a.question.plies_left <= high)
            if there:
                groups[low, high] = replace(self, answers=there)
        return groups

    def as_object(self) -> dict[str, Any]:
        """The result as the object that `azumaya exam --json` prints."""
        found = self._figures()
        groups = self.by_distance().items()
        distances = [{"plies_left": list(ends), **group._figures()} for ends, group in groups]
        about = {"agent": self.agent, "game": self.game, "part": self.part}
        return {
            **about, "version": self.version, "seed": self.seed, **found, "by_distance": distances
        }  # fmt: skip

    def _figures(self) -> dict[str, Any]:
        return {
            "positions": self.positions,
            "wins": len(self.wins),
            "kept_wins": self.kept_wins,
            "kept_wins_interval": self.kept_wins_interval,
            "draws": len(self.draws),
            "kept_draws": self.kept_draws,
            "kept_draws_interval": self.kept_draws_interval,
            "regret": self.regret,
            "regret_interval": self.regret_interval,
        }


def distance_groups(least: int, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of equal width that cover the distances from `least` to `most`."""
    width = -(-(most - least + 1) // GROUPS)
    for low in range(least, most + 1, width):
        yield low, min(low + width - 1, most)


def regret_interval(regrets: Sequence[float], most: float) -> Interval:
    """The 95 % interval for the mean of regrets, which is never below 0.

    It is the normal one, or wider: that is too narrow where mistakes are few, and has no width
    where there are none. The upper end is at least that of Wilson's interval for the share of
    mistakes, times the mean cost of the mistakes and one more that costs the most; the lower end is
    at most that for the share, times the mean cost of the mistakes.

    Args:
        regrets: what each move gives away, at least one.
        most: the most that a move of these positions can give away.
    """
    mistakes = [regret for regret in regrets if regret]
    fewest, highest = wilson(len(mistakes) / len(regrets), len(regrets))
    low, high = normal(regrets)
    least = min(low, fewest * statistics.fmean(mistakes)) if mistakes else 0.0
    return max(0.0, least), max(high, highest * statistics.fmean([*mistakes, most]))


def _share(answers: Sequence[Answer]) -> float | None:
    return statistics.fmean(answer.kept for answer in answers) if answers else None


def _share_interval(answers: Sequence[Answer]) -> Interval | None:
    share = _share(answers)
    return None if share is None else wilson(share, len(answers))


def answers_of(
    agent: Opponent, exam: Exam, seed: int = 0, progress: Callable[[int], None] | None = None
) -> ExamResult:
    """The answers of an agent to an exam; arguments and errors as for `answer_exam`."""
    if not isinstance(exam, Exam):
        raise OptionError(f"exam={brief(exam)}: an Exam is needed, such as load_exam(game)")
    if not exam.positions:
        raise ExamError(f"exam of {exam.game}: it has no positions, and an exam needs at least one")
    name, seed = name_of(agent), check_seed(seed)
    answers: list[Answer] = []
    for first in range(0, len(exam.positions), BATCH):
        numbers = range(first, min(first + BATCH, len(exam.positions)))
        answers += _answers(agent, name, exam, numbers, seed)
        if progress is not None:
            progress(len(numbers))
    return ExamResult(name, exam.name, exam.part, exam.version, seed, tuple(answers))


def _answers(
    agent: Opponent, name: str, exam: Exam, numbers: Sequence[int], seed: int
) -> list[Answer]:
    positions = [exam.start(number) for number in numbers]
    if not numbers[0]:
        check_agent(agent, positions[0], name)
    keys = [int(episode_key(seed, STREAM, number)) for number in numbers]
    views = [p.resample_hidden(key ^ LOOKS) for p, key in zip(positions, keys, strict=True)]
    actions = ask(agent, views, keys, name)
    return [
        _answer(exam.positions[number], position, action, name)
        for number, position, action in zip(numbers, positions, actions, strict=True)
    ]


def _answer(question: ExamPosition, position: Position, action: Any, name: str) -> Answer:
    if set(question.values) != set(position.legal_moves()):
        raise ExamError(f"position {question.position}: its values are not those of its moves")
    try:
        number = position.action(action)
        position.copy().play(number)
    except ValueError as error:
        raise IllegalActionError(f"{name}'s {error}") from error
    return Answer(question, position.move_name(number))
