"""Exams for models that are asked elsewhere: prompts as JSON lines, and their answers read back.

Two forms of lines are known. In the plain form a prompt is `{"id", "messages", ...}` and an answer
`{"id", "answer"}`. The batch form is the one of OpenAI's batch API, which other servers share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.exams import PARTS, Part
from azumaya.baselines.system.files import is_count, line_text, parse_json, shown, write_whole
from azumaya.baselines.text.exam import TextExam, TextExamResult, text_exam
from azumaya.envs import OptionError
from azumaya.envs.errors import brief

URL = "/v1/chat/completions"
_IDENTITY = re.compile(rf"(\w+)-v(\d+)-({'|'.join(PARTS)})-(\d{{1,6}})(-listed)?")


class AnswersError(ValueError):
    """A file of prompts or answers that cannot be used."""


@dataclass(frozen=True)
class _Prompt:
    """A prompt in a file.

    Attributes:
        where: the words that name its line.
        messages: what the model was asked.
        seed: the seed that drew the position; None if the line does not say.
    """

    where: str
    messages: Any
    seed: int | None


def write_prompts(path: str | Path, exams: Iterable[TextExam], model: str | None = None) -> int:
    """Write the questions of exams as JSON lines; an old file is replaced.

    A line has `id`, `game`, `part`, `version`, `seed`, `number`, `position` (as text),
    `plies_left`, `messages` and `values`, the value of every legal move. With `model`, it is a
    request of a batch API instead, with `custom_id`, `method`, `url` and `body`.

    Args:
        path: the file.
        exams: the questions, from `text_exam`, with one try each.
        model: the name of the model that the batch API is to ask; None for plain lines.

    Returns:
        The number of lines.

    Raises:
        OptionError: an exam allows several tries, which takes a model to answer in between.
        OSError: the file cannot be written.
    """
    lines = []
    for exam in exams:
        if exam.tries != 1:
            raise OptionError(f"tries={exam.tries}: prompts in a file allow one answer; must be 1")
        make = _plain if model is None else _request
        lines += [make(exam, number, model) for number in exam.numbers]
    write_whole(Path(path), "".join(map(line_text, lines)).encode())
    return len(lines)


def _plain(exam: TextExam, number: int, model: str | None) -> dict[str, Any]:
    question = exam.exam.positions[number]
    return {
        "id": exam.identity(number),
        "game": exam.game,
        "part": exam.exam.part,
        "version": exam.exam.version,
        "seed": exam.seed,
        "number": number,
        "position": question.position,
        "plies_left": question.plies_left,
        "messages": exam.messages(number),
        "values": question.values,
    }


def _request(exam: TextExam, number: int, model: str | None) -> dict[str, Any]:
    body = {"model": model, "messages": exam.messages(number)}
    return {"custom_id": exam.identity(number), "method": "POST", "url": URL, "body": body}


def score_answers(
    prompts: str | Path, answers: str | Path, name: str = "model", *, missing_as_worst: bool = False
) -> list[TextExamResult]:
    """The figures of a model that answered the prompts of `write_prompts`, a result for each exam.

    Args:
        prompts: the file of the prompts; it says what was asked. The seed of a result is None if
            its prompts are requests of a batch API, which have no seed.
        answers: a file with a line for each answer, in any order and either form: `id` and
            `answer`, or the output of a batch API. An `answer` of null is an empty one; a failed
            request of a batch is none.
        name: the model's name.
        missing_as_worst: whether prompts without an answer count as the worst move.

    Raises:
        AnswersError: a line is damaged, a prompt has no answer or two, or its messages are not
            those of this version of azumaya.
        ExamError: an exam is missing.
        OSError: a file cannot be read.
    """
    asked = _prompts(Path(prompts))
    texts: dict[str, str] = {}
    for line, where in _lines(Path(answers)):
        identity, text = _id_of(line, where), _text_of(line, where)
        if identity not in asked:
            raise AnswersError(f"{where}: {identity} is not among the prompts")
        if identity in texts:
            raise AnswersError(f"{where}: {identity} is answered twice")
        if text is not None:
            texts[identity] = text
    missing = [identity for identity in asked if identity not in texts]
    if missing and not missing_as_worst:
        raise AnswersError(
            f"{shown(answers)}: {len(missing)} of {len(asked)} prompts have no answer, such as "
            f"{missing[0]}; ask them again, or count them as the worst move"
        )
    return [_result(exam, texts, name) for exam in _exams(asked)]


def _prompts(path: Path) -> dict[str, _Prompt]:
    """The prompts in a file, by id."""
    asked: dict[str, _Prompt] = {}
    for line, where in _lines(path):
        identity = _id_of(line, where)
        if identity in asked:
            raise AnswersError(f"{where}: {identity} is there twice")
        seed = line.get("seed")
        if seed is not None and not is_count(seed):
            raise AnswersError(f"{where}: seed={brief(seed)}: must be a whole number from 0 on")
        request = line.get("body") if "custom_id" in line else line
        messages = request.get("messages") if isinstance(request, dict) else None
        asked[identity] = _Prompt(where, messages, seed)
    return asked


def _exams(asked: Mapping[str, _Prompt]) -> Iterator[TextExam]:
    """The exams that the prompts are from, with the positions asked."""
    found: dict[tuple[str, str, Part, bool], dict[str, int]] = {}
    for identity, prompt in asked.items():
        match = _IDENTITY.fullmatch(identity)
        if match is None:
            raise AnswersError(f"{prompt.where}: {identity!r:.60} is not the id of a prompt")
        game, version, part, number, listed = match.groups()
        key = game, version, _part(part), listed is not None
        found.setdefault(key, {})[identity] = int(number)
    for (game, version, part, listed), numbers in found.items():
        first = asked[next(iter(numbers))]
        try:
            exam = text_exam(game, part, legal_moves=listed)
        except OptionError as error:
            raise AnswersError(f"{first.where}: {error}") from None
        if str(exam.exam.version) != version:
            raise AnswersError(
                f"{first.where}: version {version} of the exam of {game}; this azumaya has version "
                f"{exam.exam.version}"
            )
        for identity, number in numbers.items():
            _check_prompt(exam, number, identity, asked[identity])
        seeds = {asked[identity].seed for identity in numbers}
        seed = first.seed if len(seeds) == 1 else None
        yield replace(exam, numbers=tuple(numbers.values()), seed=seed)


def _check_prompt(exam: TextExam, number: int, identity: str, prompt: _Prompt) -> None:
    """Refuse a prompt that `write_prompts` would not write for this position."""
    if number >= len(exam.exam.positions):
        raise AnswersError(f"{prompt.where}: {exam.game} has no position {number}")
    if exam.identity(number) != identity:
        raise AnswersError(
            f"{prompt.where}: {identity} is not the id of a prompt; must be {exam.identity(number)}"
        )
    if exam.messages(number) != prompt.messages:
        raise AnswersError(
            f"{prompt.where}: the messages of {identity} are not those of this azumaya; score the "
            "answers with the version that wrote the prompts"
        )


def _part(name: str) -> Part:
    return next(part for part in PARTS if part == name)


def _result(exam: TextExam, texts: dict[str, str], name: str) -> TextExamResult:
    given: dict[int, Sequence[str]] = {
        number: (texts[exam.identity(number)],)
        for number in exam.numbers
        if exam.identity(number) in texts
    }
    return exam.result(given, name)


def _lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects in a file of JSON lines, each with the words that name its line."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            where = f"{shown(path)}, line {number}"
            if not line.strip():
                continue
            try:
                found = parse_json(line)
            except ValueError as error:
                raise AnswersError(f"{where}: {error}") from error
            if not isinstance(found, dict):
                raise AnswersError(f"{where}: {brief(found)} is no object")
            yield found, where


def _id_of(line: dict[str, Any], where: str) -> str:
    identity = line.get("custom_id", line.get("id"))
    if not isinstance(identity, str):
        raise AnswersError(f"{where}: neither id nor custom_id is there as a text")
    return identity


def _text_of(line: dict[str, Any], where: str) -> str | None:
    """What was answered; None for a request that failed."""
    if "custom_id" not in line:
        if "answer" not in line:
            raise AnswersError(f"{where}: it has no answer; must be a text, or null for none")
        text = "" if line["answer"] is None else line["answer"]
    else:
        try:
            response = line.get("response") or {}
            if line.get("error") or response.get("status_code", 200) != 200:
                return None
            text = response["body"]["choices"][0]["message"].get("content") or ""
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise AnswersError(f"{where}: no answer of a chat in it") from error
    if not isinstance(text, str):
        raise AnswersError(f"{where}: the answer {brief(text)} is no text")
    return text
