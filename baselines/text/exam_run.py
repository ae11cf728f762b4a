"""Asking a language model the questions of an exam, a few at a time, so that no answer is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from azumaya.baselines.system.work import WorkFileError, open_work
from azumaya.baselines.text.episode import TextPlayer, answer_of, model_name
from azumaya.baselines.text.exam import TextExam, TextExamResult
from azumaya.envs.errors import brief
from azumaya.envs.whole import whole_number

FORMAT = 1

Keep = Callable[[int, str], None]
"""Keeps an answer, given the number of the position and the text."""


def take_text_exam(
    model: TextPlayer,
    exam: TextExam,
    name: str | None = None,
    *,
    path: str | Path | None = None,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> TextExamResult:
    """Give a language model an exam.

    Every answer is a line of a file as soon as it is there. After an error, an interrupt or a kill,
    the same call goes on with what is missing; so does one with more positions or more tries.

    Args:
        model: a function from the messages of a chat to an answer, None if it is empty; with more
            than one job it is called in several threads at a time.
        exam: the questions, from `text_exam`.
        name: the model's name, for the result and the file. Default: its attribute `name` or
            `__name__`.
        path: the file of the answers; None keeps them in memory only.
        jobs: how many answers to wait for at the same time.
        progress: called with the number of answers since the last call, at first with those that
            are in the file.

    Raises:
        OptionError: `jobs` is below 1, or an answer is no text.
        WorkFileError: the file is damaged, was begun with another model, exam or prompt, or is in
            use.
        OSError: the file cannot be read or written.
    """
    whole_number(jobs, "jobs", 1)
    called = name or model_name(model)
    tell = progress or (lambda count: None)
    answers: dict[int, list[str]] = {}
    with _answers_file(path, exam, called, answers) as write:
        tell(sum(map(len, answers.values())))

        def keep(number: int, text: str) -> None:
            write(number, text)
            answers.setdefault(number, []).append(text)
            tell(1)

        _ask_all(model, exam, answers, keep, jobs)
    return exam.result(answers, called)


def _ask_all(
    model: TextPlayer, exam: TextExam, answers: dict[int, list[str]], keep: Keep, jobs: int
) -> None:
    """Ask until every position is answered; after an error, keep the answers under way."""
    waiting: dict[Future[str], int] = {}
    numbers = exam.unanswered(answers)
    with ThreadPoolExecutor(jobs) as pool:

        def ask(number: int) -> None:
            messages = exam.messages(number, answers.get(number, ()))
            if messages is not None:
                waiting[pool.submit(answer_of, model, messages, "the model")] = number

        try:
            for number in islice(numbers, jobs):
                ask(number)
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    text, number = future.result(), waiting.pop(future)
                    keep(number, text)
                    ask(number)
                while len(waiting) < jobs and (number := next(numbers, -1)) >= 0:
                    ask(number)
        finally:
            for future, number in waiting.items():
                if not future.cancel() and future.exception() is None:
                    keep(number, future.result())


@contextmanager
def _answers_file(
    path: str | Path | None, exam: TextExam, name: str, answers: dict[int, list[str]]
) -> Iterator[Keep]:
    """The answers of earlier runs, added to `answers`, and a function that adds one."""
    if path is None:
        yield lambda number, text: None
        return
    place = Path(path)
    with open_work(place, _settings(exam, name)) as (lines, add):
        for line in lines:
            number, text = line.get("number"), line.get("answer")
            if not isinstance(number, int) or not isinstance(text, str):
                raise WorkFileError(f"{place}: damaged: {brief(line)} is no answer")
            answers.setdefault(number, []).append(text)
        yield lambda number, text: add({"number": number, "answer": text})


def _settings(exam: TextExam, name: str) -> dict[str, Any]:
    """What the answers depend on; the first line of their file."""
    return {
        "record": "text-exam",
        "format": FORMAT,
        "model": name,
        "game": exam.game,
        "part": exam.exam.part,
        "version": exam.exam.version,
        "legal_moves": exam.legal_moves,
        "prompts": exam.prompts,
    }
