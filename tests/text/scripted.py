"""Scripted models that take exams: they find the position by what they are asked."""

from __future__ import annotations

import random
from collections.abc import Mapping

from azumaya.baselines.arena.exams import ExamPosition
from azumaya.baselines.text import TextExam
from azumaya.baselines.text.episode import Message, TextPlayer


def questions_of(exam: TextExam) -> Mapping[str, ExamPosition]:
    """The positions of an exam by the prompt that asks for a move in them."""
    return {
        (exam.messages(number) or [])[1]["content"]: exam.exam.positions[number]
        for number in exam.numbers
    }


def perfect(exam: TextExam) -> TextPlayer:
    """A model that always names a best move."""
    questions = questions_of(exam)

    def model(messages: list[Message]) -> str:
        values = questions[messages[1]["content"]].values
        return f"The best move is clear.\nmove: {max(values, key=lambda move: values[move])}"

    return model


def at_random(exam: TextExam, seed: int) -> TextPlayer:
    """A model that names legal moves at random."""
    questions, rng = questions_of(exam), random.Random(seed)
    return lambda messages: f"move: {rng.choice([*questions[messages[1]['content']].values])}"


def garbage(messages: list[Message]) -> str:
    """A model that never names a move."""
    return "As a language model I would rather talk about the weather."
