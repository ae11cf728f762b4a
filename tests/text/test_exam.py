"""Exams for language models: the same figures as for agents, and no answer is lost."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from azumaya.baselines import load_exam, take_exam
from azumaya.baselines.arena.exams import PARTS, ExamError, ExamPosition, has_exam, keeps
from azumaya.baselines.arena.matches import answer_exam
from azumaya.baselines.system.work import WorkFileError
from azumaya.baselines.text import TextExam, take_text_exam, text_exam
from azumaya.baselines.text.episode import Message
from azumaya.baselines.text.exam import scaled_score
from azumaya.envs import GAMES, OptionError
from tests.cases import COMPLETE
from tests.text.scripted import at_random, garbage, perfect

EXAMS = [name for name in GAMES if has_exam(name)]
GAME = "vierer_dominari"
SOME = 15


@pytest.fixture(scope="module")
def few() -> TextExam:
    return text_exam(GAME, positions=8, seed=3, tries=2)


@pytest.mark.parametrize("game", EXAMS)
def test_scripted_models_get_the_figures_they_deserve(game: str) -> None:
    exam = text_exam(game, positions=SOME, seed=5)
    best = take_text_exam(perfect(exam), exam, "perfect")
    assert best.regret == best.failed == 0
    assert {best.kept_wins, best.kept_draws} <= {1.0, None}
    chance = take_text_exam(at_random(exam, 7), exam, "random")
    agent = take_exam("random", game)
    assert chance.regret_interval[0] < agent.regret_interval[1]
    assert chance.regret_interval[1] > agent.regret_interval[0]
    useless = take_text_exam(garbage, exam, "garbage")
    lost = [max(q.values.values()) - min(q.values.values()) for q in asked(exam)]
    assert useless.failed == useless.unreadable == useless.positions == SOME
    assert useless.regret == pytest.approx(sum(lost) / SOME)
    assert {useless.kept_wins, useless.kept_draws} <= {0.0, None}
    assert best.regret < chance.regret < useless.regret


def asked(exam: TextExam) -> list[ExamPosition]:
    return [exam.exam.positions[number] for number in exam.numbers]


def test_a_game_without_an_exam_is_refused() -> None:
    without, *others = (name for name in GAMES if not has_exam(name))
    assert not set(others) & set(COMPLETE)
    with pytest.raises(ExamError, match="this game has no exam"):
        text_exam(without)


def test_the_figures_are_those_of_the_same_moves_by_an_agent() -> None:
    whole = load_exam(GAME)
    part = replace(whole, positions=whole.positions[:60])
    agent = answer_exam("greedy", part)
    exam = TextExam(part, tuple(range(60)))
    moves = {exam.messages(n)[1]["content"]: a.move for n, a in enumerate(agent.answers)}  # type: ignore[index]
    model = take_text_exam(lambda messages: moves[messages[1]["content"]], exam, "greedy")
    same = {name: value for name, value in model.as_object().items() if name in agent.as_object()}
    assert same == agent.as_object()
    assert len(model.by_distance()) > 2


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("game", EXAMS)
def test_the_worst_move_keeps_nothing(game: str, part: str) -> None:
    """So an answer without a legal move never counts as one that keeps a win or a draw."""
    for question in load_exam(game, "held-out" if part == "held-out" else "public").positions:
        worst = question.values[question.worst]
        assert not keeps(worst, question.value)
        assert worst == min(question.values.values())


def test_the_scaled_score_runs_from_the_worst_move_to_the_best() -> None:
    question = ExamPosition("p", 3, {"a": 3.0, "b": -1.0, "c": 1.0}, ("random", "random"), 1)
    assert [scaled_score(question, move) for move in ("a", "b", "c", None)] == [1.0, 0.0, 0.5, 0.0]
    equal = ExamPosition("p", 3, {"a": 1.0, "b": 1.0}, ("random", "random"), 1)
    assert [scaled_score(equal, move) for move in ("b", None)] == [1.0, 0.0]


# ---- tries ----


def test_after_a_bad_answer_the_model_is_told_why(few: TextExam) -> None:
    good, chats = perfect(few), []

    def second_try(messages: list[Message]) -> str:
        chats.append(messages)
        return good(messages) if len(messages) > 2 else "move: 6zz"

    result = take_text_exam(second_try, few)
    assert result.regret == 0
    assert (result.failed, result.unreadable, result.illegal) == (0, few.tries * 8 // 2, 0)
    assert [len(chat) for chat in chats] == [2, 4] * 8
    assert "No move could be read in '6zz'" in chats[1][3]["content"]
    assert [m["role"] for m in chats[1]] == ["system", "user", "assistant", "user"]
    assert {len(reply.texts) for reply in result.replies} == {2}
    once = text_exam(GAME, positions=8, seed=3)
    assert take_text_exam(second_try, once).failed == 8


def test_illegal_moves_are_counted(few: TextExam) -> None:
    result = take_text_exam(lambda messages: "move: 4a1", few)
    illegal = [n for n in few.numbers if "4a1" not in few.exam.positions[n].values]
    assert len(illegal) > 3
    assert result.failed == len(illegal)
    assert result.illegal == 2 * len(illegal)
    assert result.unreadable == 0


def test_an_empty_answer_does_not_end_the_exam(few: TextExam, tmp_path: Path) -> None:
    """A chat interface gives None for a refusal; it is kept, and not asked for again."""
    path, calls = tmp_path / "answers.jsonl", []

    def silent(messages: list[Message]) -> str | None:
        calls.append(messages)
        return None

    result = take_text_exam(silent, few, "m", path=path)
    assert (result.failed, result.unreadable) == (8, 8 * few.tries)
    assert take_text_exam(silent, few, "m", path=path) == result
    assert len(calls) == 8 * few.tries


# ---- which positions ----


def test_positions_are_drawn_by_the_seed_and_more_contain_fewer() -> None:
    few, more, other = (
        text_exam(GAME, positions=count, seed=seed).numbers
        for count, seed in ((10, 1), (30, 1), (10, 2))
    )
    assert more[:10] == few
    assert few != other
    assert len(set(more)) == 30
    assert sorted(text_exam(GAME).numbers) == list(range(len(load_exam(GAME).positions)))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("positions", 0),
        ("positions", len(load_exam(GAME).positions) + 1),
        ("tries", 0),
        ("seed", -1),
    ],
)
def test_wrong_arguments_are_named(argument: str, value: int) -> None:
    with pytest.raises(OptionError, match=f"{argument}={value}"):
        text_exam(GAME, **{argument: value})  # type: ignore[arg-type]


# ---- the file of answers ----


class StoppedError(Exception):
    """Raised by a model that fails."""


@pytest.mark.parametrize("error", [StoppedError, KeyboardInterrupt])
def test_a_stopped_exam_goes_on_with_what_is_missing(
    few: TextExam, tmp_path: Path, error: type[BaseException]
) -> None:
    path, good, calls = tmp_path / "answers.jsonl", perfect(few), []

    def weak(messages: list[Message]) -> str:
        calls.append(messages)
        if len(calls) == 6:
            raise error
        return "hm" if len(calls) % 2 else good(messages)

    with pytest.raises(error):
        take_text_exam(weak, few, "weak", path=path)
    kept = path.read_bytes()
    assert kept.count(b"\n") == 1 + 5
    told: list[int] = []
    result = take_text_exam(weak, few, "weak", path=path, progress=told.append)
    assert path.read_bytes().startswith(kept)
    assert told[0] == 5
    assert sum(told) == path.read_bytes().count(b"\n") - 1 == len(calls) - 1
    before = len(calls)
    assert take_text_exam(weak, few, "weak", path=path) == result
    assert len(calls) == before, "all positions were answered"


def test_more_positions_and_more_tries_continue_the_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    take_text_exam(garbage, text_exam(GAME, positions=3), path=path)
    exam = text_exam(GAME, positions=5, tries=2)
    told: list[int] = []
    result = take_text_exam(garbage, exam, path=path, progress=told.append)
    assert told == [3, *[1] * 7]
    assert result == take_text_exam(garbage, exam)


def test_answers_under_way_are_kept_when_another_call_fails(few: TextExam, tmp_path: Path) -> None:
    path, begun = tmp_path / "answers.jsonl", threading.Barrier(3)
    good = perfect(few)
    lock, calls = threading.Lock(), []

    def model(messages: list[Message]) -> str:
        with lock:
            calls.append(messages)
            number = len(calls)
        if number <= 3:
            begun.wait(10)
        if number == 2:
            raise StoppedError
        return good(messages)

    with pytest.raises(StoppedError):
        take_text_exam(model, few, "m", path=path, jobs=3)
    assert path.read_text().count('"answer"') == len(calls) - 1
    assert take_text_exam(model, few, "m", path=path, jobs=3).regret == 0
    assert len(calls) == len(few.numbers) + 1


def test_files_of_other_exams_are_refused(few: TextExam, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    take_text_exam(garbage, few, "one", path=path)
    with pytest.raises(WorkFileError, match="other settings"):
        take_text_exam(garbage, few, "two", path=path)
    with pytest.raises(WorkFileError, match="other settings"):
        take_text_exam(garbage, text_exam(GAME, "held-out", positions=1), "one", path=path)
    with path.open("a") as file:
        file.write(json.dumps({"number": 1, "text": "5a1"}) + "\n")
    with pytest.raises(WorkFileError, match="is no answer"):
        take_text_exam(garbage, few, "one", path=path)


def test_wrong_answers_and_jobs_are_named(few: TextExam) -> None:
    with pytest.raises(OptionError, match="the model answered 5: must be a text, or None"):
        take_text_exam(lambda messages: 5, few)  # type: ignore[arg-type, return-value]
    with pytest.raises(OptionError, match="jobs=0"):
        take_text_exam(garbage, few, jobs=0)
