"""A submission's check and its exam."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.arena.exam_results import Answer
from azumaya.baselines.arena.exams import Exam, ExamError
from azumaya.baselines.arena.matches import answer_exam
from azumaya.baselines.classroom.process import SubmissionError
from azumaya.baselines.classroom.submissions import SubmissionAgent, concealed
from azumaya.envs import IllegalActionError, Position
from azumaya.envs.position import episode_key

CHECKED = 4
"""Positions of a game in which a submission is asked before anything else."""
APART = 3
"""Random plies between them."""
MOST_FAULTS = 5
"""Failures after which an exam ends; the answers that are missing count as wrong."""
AT_ONCE = 5
"""Positions between looks at the clock."""


@dataclass(frozen=True)
class Fault:
    """What went wrong in a position of the exam."""

    position: str
    what: str


@dataclass(frozen=True)
class Sitting:
    """What a submission did in an exam.

    Attributes:
        asked: the numbers of the positions that were asked, in order.
        faults: its failures.
        of: the positions of the whole exam.
        skipped: how many of the last ones were not asked, because it had failed too often.
        moves: its answers to those that were asked. A failure counts as the worst move.
    """

    asked: tuple[int, ...]
    faults: tuple[Fault, ...]
    of: int
    skipped: int
    moves: tuple[str, ...]

    def answers(self, exam: Exam) -> list[Answer]:
        """Its answers, with the questions of the exam."""
        pairs = zip(self.asked, self.moves, strict=True)
        return [Answer(exam.positions[number], move) for number, move in pairs]


def check(agent: SubmissionAgent, game: str, seed: int = 0) -> None:
    """See that a submission can be loaded and gives legal moves.

    Raises:
        SubmissionError: it cannot, or does not.
        StartingError: its process cannot be started.
    """
    seed = concealed(seed)  # these positions are not those of the games
    position, draws = Position(game, seed=seed), random.Random(seed)
    agent.begin()
    for number in range(CHECKED):
        seen = position.resample_hidden(seed)
        legal_move(agent, seen, int(episode_key(seed, 0, number)))
        for _ in range(APART):
            if not position.is_over:
                position.play(draws.choice(position.legal_actions()))
        if position.is_over:
            return


def legal_move(agent: SubmissionAgent, position: Position, key: int) -> int:
    """The move that a submission gives; raises `SubmissionError` if it is not legal."""
    action = agent.choose(position, key)
    try:
        position.copy().play(action)
    except IllegalActionError as error:
        raise SubmissionError(f"gave an illegal move in {position}: {error}") from None
    return action


class Examinee(Agent):
    """A submission in an exam: where it fails, the worst move is taken for its answer."""

    def __init__(self, agent: SubmissionAgent, exam: Exam) -> None:
        self._agent, self.name, self.faults = agent, agent.name, list[Fault]()
        self.skipped = 0
        self._worst = {question.position: question.worst for question in exam.positions}

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """A legal move for each position."""
        return [self._one(p, int(key)) for p, key in zip(positions, keys, strict=True)]

    def _one(self, position: Position, key: int) -> int:
        if len(self.faults) < MOST_FAULTS:
            try:
                return legal_move(self._agent, position, key)
            except SubmissionError as error:
                self.faults.append(Fault(str(position), str(error)))
        else:
            self.skipped += 1
        return position.parse_move(self._worst[str(position)])


def sit(agent: SubmissionAgent, exam: Exam, seed: int, seconds: float) -> Sitting:
    """Give a submission an exam, or as much of it as it can answer in some time.

    The order of the positions depends on the seed alone, so that all submissions are asked the
    same positions first.

    Args:
        agent: the submission.
        exam: the exam.
        seed: draws the order, and all that the submission draws.
        seconds: after this time no further positions are asked; some are in any case.

    Raises:
        StartingError: its process cannot be started.
    """
    order = random.Random(concealed(seed)).sample(range(len(exam.positions)), len(exam.positions))
    agent.begin()
    examinee, moves, began = Examinee(agent, exam), list[str](), time.monotonic()
    for first in range(0, len(order), AT_ONCE):
        some = tuple(exam.positions[number] for number in order[first : first + AT_ONCE])
        found = answer_exam(examinee, replace(exam, positions=some), seed)
        moves += (answer.move for answer in found.answers)
        # who has failed too often is not asked, so the rest costs no time
        if time.monotonic() - began > seconds and len(examinee.faults) < MOST_FAULTS:
            break
    asked, faults = tuple(order[: len(moves)]), tuple(examinee.faults)
    return Sitting(asked, faults, len(order), examinee.skipped, tuple(moves))


def check_exam(exam: Exam) -> None:
    """See that every position of an exam can be asked and tells good moves from others.

    Raises:
        ExamError: one cannot or does not; the message has its number.
    """
    for number, question in enumerate(exam.positions):
        position, values = exam.start(number), question.values
        if str(position) != question.position:
            wrong = f"must be written as {position}"
        elif set(values) != set(position.legal_moves()):
            wrong = f"the moves that have values are not the legal moves of {position}"
        elif len(question.kept) == len(values):
            wrong = f"every move keeps the result of {position}, so it tells nothing"
        else:
            continue
        raise ExamError(f"exam of {exam.game}: position {number}: {wrong}")


def chance(exam: Exam, asked: Sequence[int]) -> float:
    """The share of positions in which a random legal move keeps the result."""
    some = [exam.positions[number] for number in asked]
    return sum(len(q.kept) / len(q.values) for q in some) / len(some)
