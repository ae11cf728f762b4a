"""The exams as questions to language models, and the statistics of their answers.

A model answers the positions that `azumaya exam` asks, and gets the same figures. An answer without
a legal move counts as the worst legal move: it loses the most that can be lost there.
"""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from azumaya.baselines.arena.exam_results import Answer as ExamAnswer
from azumaya.baselines.arena.exam_results import ExamResult
from azumaya.baselines.arena.exams import Exam, ExamError, ExamPosition, Part, load_exam
from azumaya.baselines.text.answers import read_answer
from azumaya.baselines.text.episode import Message, Tally
from azumaya.baselines.text.prompts import position_prompt, rules_prompt
from azumaya.envs.game import Game
from azumaya.envs.position import check_seed
from azumaya.envs.whole import whole_number

Answers = Mapping[int, Sequence[str]]
"""The texts that a model wrote, by the number of the position; several if it tried again."""


@dataclass(frozen=True)
class Reply:
    """What a model answered to one position.

    Attributes:
        number: the number of the position in the exam.
        texts: its answers, the last one that counts last.
        move: the legal move that it named in the end; None if it named none.
        illegal: answers that named an illegal move.
        unreadable: answers from which no move could be read.
    """

    number: int
    texts: tuple[str, ...]
    move: str | None
    illegal: int
    unreadable: int


@dataclass(frozen=True)
class TextExamResult(ExamResult):
    """The figures of a model; `answers` has the worst move where no legal one was named.

    Attributes:
        replies: what the model wrote, in the order of `answers`.
        tries: the answers that it could give for each position.
        legal_moves: whether the prompts listed the legal moves.
        prompts: a digest of the prompts' wording; results with different ones differ in what was
            asked.
    """

    replies: tuple[Reply, ...]
    tries: int
    legal_moves: bool
    prompts: str

    @property
    def failed(self) -> int:
        """The number of positions in which the model named no legal move."""
        return sum(reply.move is None for reply in self.replies)

    @property
    def illegal(self) -> int:
        """The number of answers that named an illegal move."""
        return sum(reply.illegal for reply in self.replies)

    @property
    def unreadable(self) -> int:
        """The number of answers from which no move could be read."""
        return sum(reply.unreadable for reply in self.replies)

    def as_object(self) -> dict[str, Any]:
        """The result as JSON: that of `azumaya exam --json`, with the settings and the failures."""
        names = ("tries", "legal_moves", "prompts", "failed", "illegal", "unreadable")
        return {**super().as_object(), **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class TextExam:
    """Positions of an exam as questions to a language model; made by `text_exam`.

    Attributes:
        exam: the exam that the positions are from.
        numbers: the numbers of the positions that are asked, in order of the questions.
        seed: the seed that drew them; None if it is not known.
        tries: the answers that a model may give for each position.
        legal_moves: whether the prompts list the legal moves.
    """

    exam: Exam
    numbers: tuple[int, ...]
    seed: int | None = 0
    tries: int = 1
    legal_moves: bool = False

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.exam.name

    @functools.cached_property
    def prompts(self) -> str:
        """A digest of the prompts' wording, for this version of azumaya."""
        contents = [m["content"] for m in self.messages(0) or ()]
        return hashlib.sha256("\n".join(contents).encode()).hexdigest()[:12]

    def identity(self, number: int) -> str:
        """What names a prompt in files, such as `sudoku_moyo-v1-public-17`.

        It ends in `-listed` if the prompt lists the legal moves.
        """
        listed = "-listed" if self.legal_moves else ""
        return f"{self.game}-v{self.exam.version}-{self.exam.part}-{number}{listed}"

    def messages(self, number: int, texts: Sequence[str] = ()) -> list[Message] | None:
        """What the model is asked about a position.

        Args:
            number: the number of the position in the exam.
            texts: the answers that it has given so far.

        Returns:
            The chat up to the next question; None if no further answer is needed or allowed.
        """
        if not self.is_open(number, texts):
            return None
        position = self.exam.start(number)
        question = position_prompt(position, None, legal_moves=self.legal_moves)
        chat = [
            {"role": "system", "content": rules_prompt(position)},
            {"role": "user", "content": question},
        ]
        for text in texts:
            chat.append({"role": "assistant", "content": text})
            chat.append({"role": "user", "content": read_answer(position, text).problem})
        return chat

    def is_open(self, number: int, texts: Sequence[str]) -> bool:
        """Whether a position needs another answer, and may have one."""
        if not texts or len(texts) >= self.tries:
            return not texts
        position = self.exam.start(number)
        return not any(read_answer(position, text).is_legal for text in texts)

    def unanswered(self, answers: Answers) -> Iterator[int]:
        """The positions that need another answer, in order of the questions."""
        for number in self.numbers:
            if self.is_open(number, answers.get(number, ())):
                yield number

    def reply(self, number: int, texts: Sequence[str]) -> Reply:
        """Read the answers to a position, up to the first legal move."""
        position = self.exam.start(number)
        tally = Tally()
        for count, text in enumerate(texts[: self.tries], start=1):
            answer = read_answer(position, text)
            if answer.is_legal:
                read = tuple(texts[:count])
                return Reply(number, read, answer.name, tally.illegal, tally.unreadable)
            tally.refuse(answer)
        return Reply(number, tuple(texts[: self.tries]), None, tally.illegal, tally.unreadable)

    def result(self, answers: Answers, name: str = "model") -> TextExamResult:
        """The figures of a model that gave these answers.

        Positions without an answer count as the worst move, like those without a legal one.

        Args:
            answers: its answers by the number of the position.
            name: the model's name.

        Raises:
            ExamError: the exam has no value for a legal move.
        """
        replies = tuple(self.reply(n, answers.get(n, ())) for n in sorted(self.numbers))
        graded = tuple(_graded(self.exam.positions[reply.number], reply.move) for reply in replies)
        about = (name, self.game, self.exam.part, self.exam.version, self.seed, graded)
        return TextExamResult(*about, replies, self.tries, self.legal_moves, self.prompts)


def _graded(question: ExamPosition, move: str | None) -> ExamAnswer:
    if move is not None and move not in question.values:
        raise ExamError(f"position {question.position}: the exam has no value for the move {move}")
    return ExamAnswer(question, question.worst if move is None else move)


def scaled_score(question: ExamPosition, move: str | None) -> float:
    """How good a move is among all legal ones: 1 for a best move, 0 for a worst one or None.

    It is 1 - regret / (value of the best move - value of the worst), so it compares games with
    different gains.
    """
    spread = question.value - question.values[question.worst]
    if move is None or not spread:
        return float(move is not None)
    return 1.0 - _graded(question, move).regret / spread


def text_exam(
    game: Game | str,
    part: Part = "public",
    *,
    positions: int | None = None,
    seed: int = 0,
    tries: int = 1,
    legal_moves: bool = False,
) -> TextExam:
    """The exam of a game, or some of its positions, as questions to a language model.

    Args:
        game: the game or its name.
        part: `public`, or `held-out` to report results.
        positions: how many positions to ask; None for all. They are drawn at random, and a larger
            number adds positions to those of a smaller one.
        seed: the seed that draws them.
        tries: the answers that a model may give for each position. After an answer without a legal
            move it is told why and asked again.
        legal_moves: whether the prompts list the legal moves.

    Raises:
        OptionError: there is no such game or part, or an argument is out of range.
        ExamError: the game has no exam, or the exam is damaged.
    """
    exam = load_exam(game, part)
    whole_number(tries, "tries", 1)
    order = list(range(len(exam.positions)))
    random.Random(check_seed(seed)).shuffle(order)
    if positions is not None:
        order = order[: whole_number(positions, "positions", 1, len(order))]
    return TextExam(exam, tuple(order), int(seed), int(tries), bool(legal_moves))
