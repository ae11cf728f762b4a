"""Exercises: how they are chosen and judged, in the terminal and on the board of a notebook."""

from __future__ import annotations

import datetime
import itertools
from typing import Any

import pytest

from azumaya.baselines.arena.exams import ExamError, load_exam
from azumaya.baselines.play.exercises import (
    LEVELS,
    Exercise,
    daily_exercise,
    exercise_games,
    find_exercise,
    judge,
)
from azumaya.baselines.play.notebook import ExerciseBoard
from azumaya.envs import GAMES, OptionError
from azumaya.envs.errors import IllegalActionError
from tests.cases import nightly
from tests.commands import azumaya, refused
from tests.search.positions import QUICK

GAME, NUMBER = "score_dominari", 70


def all_of(game: str, level: str) -> list[Exercise]:
    count = find_exercise(game, level).of
    return [find_exercise(game, level, number) for number in range(1, count + 1)]


@pytest.mark.parametrize("game", exercise_games())
def test_each_won_position_of_the_public_part_is_one_exercise(game: str) -> None:
    """Harder levels are further from the end or have fewer moves that win, or both."""
    positions = load_exam(game).positions
    won = {n for n, each in enumerate(positions) if each.value > 0}
    levels = [all_of(game, level) for level in LEVELS]
    assert sorted(each.index for level in levels for each in level) == sorted(won)
    for easier, harder in itertools.pairwise(levels):
        assert mean(easier) < mean(harder)


def mean(exercises: list[Exercise]) -> float:
    far = [e.question.plies_left * len(e.question.values) / len(e.question.kept) for e in exercises]
    return sum(far) / len(far)


def test_exercises_are_the_same_each_time_and_begin_again_after_the_last() -> None:
    first = find_exercise(GAME, "hard", NUMBER)
    assert first == find_exercise(f"azumaya/{GAME}-v0", "hard", NUMBER + first.of)
    assert str(first.start()) == first.question.position
    assert first.task == "Black to move: find a move that wins"


def test_one_exercise_a_day_for_all() -> None:
    """All games in turn, then the next level, then other positions."""
    begin = datetime.date(2026, 11, 27)
    days = [begin + datetime.timedelta(n) for n in range(3 * len(LEVELS) * len(exercise_games()))]
    found = [daily_exercise(day) for day in days]
    assert found == [daily_exercise(day) for day in days]
    assert len(set(found)) == len(found)
    assert {each.game for each in found[: len(exercise_games())]} == set(exercise_games())
    assert {each.level for each in found} == set(LEVELS)
    today = datetime.datetime.now(datetime.UTC).date()
    assert daily_exercise() in (
        daily_exercise(today),
        daily_exercise(today + datetime.timedelta(1)),
    )


def test_what_is_no_exercise() -> None:
    with pytest.raises(OptionError, match="level='harder': must be one of easy, medium, hard"):
        find_exercise(GAME, "harder")
    with pytest.raises(OptionError, match="number=0"):
        find_exercise(GAME, "easy", 0)
    with pytest.raises(OptionError, match=r"number=1\.5"):
        find_exercise(GAME, "easy", 1.5)  # type: ignore[arg-type]
    (without,) = set(GAMES) - set(exercise_games()) - {"sudoku_moyo_match"}
    with pytest.raises(ExamError, match="no exam"):
        find_exercise(without)


@pytest.mark.parametrize("game", nightly(exercise_games(), QUICK))
def test_moves_are_judged_by_their_exact_values(game: str) -> None:
    """After a wrong move comes the opponent's best answer: it keeps what the move gave away."""
    for level in LEVELS:
        exercise = find_exercise(game, level, 2)
        question, start = exercise.question, exercise.start()
        right = judge(exercise, sorted(question.kept)[0])
        assert (right.right, right.line) == (True, ())
        assert right.words.startswith(f"Right: {right.move} wins.")
        wrong = judge(exercise, question.worst)
        assert wrong == judge(exercise, question.worst)
        assert not wrong.right
        assert ("draws" if question.values[question.worst] == 0 else "loses") in wrong.words
        here = start.copy().play(question.worst)
        for move in wrong.line:
            mover = here.to_move
            here.play(move)
        assert wrong.line == () or mover != start.to_move
        assert wrong.line == () or f"answers {wrong.line[-1]}" in wrong.words
        with pytest.raises(ValueError, match="must be"):
            judge(exercise, "nonsense")


@pytest.mark.parametrize(
    ("level", "number", "more"), [("hard", 16, ""), ("medium", 2, " and 1 more")]
)
def test_other_moves_that_win_are_told(level: str, number: int, more: str) -> None:
    exercise = find_exercise("vierer_dominari", level, number)
    first, *others = sorted(exercise.question.kept)
    told = f"Other moves that win: {', '.join(others[:3])}{more}."
    assert judge(exercise, first).words == f"Right: {first} wins. {told}"


# ---- in the terminal ----


def test_an_exercise_in_the_terminal() -> None:
    words = ("exercise", "--game", GAME, "--level", "hard", "--number", NUMBER)
    said = azumaya(*words, say="nonsense\nmoves\n4f3\nquit\n")
    assert said.exit_code == 0
    assert "Black to move: find a move that wins." in said.output
    assert "'nonsense' is not a move" in said.output
    assert "2e6 4f3 5d6 6d5" in said.output
    assert "Right: 4f3 wins.\n1 in a row" in said.output
    assert "hard, 71 of 119" in said.output


def test_the_exercise_of_the_day_is_not_chosen() -> None:
    """A level or a number that would be passed over is refused."""
    for words in (("--level", "hard"), ("--number", 5)):
        refused(azumaya("exercise", *words), "the exercise of the day has its own")
    assert azumaya("exercise", say="quit\n").exit_code == 0


def test_a_wrong_answer_in_the_terminal_is_refuted_and_asked_again() -> None:
    words = ("exercise", "--game", GAME, "--level", "hard", "--number", NUMBER)
    said = azumaya(*words, say="2e6\n4f3\nnext\n").output
    assert "Not this one: 2e6 loses. White answers 4a3." in said
    assert "Right: 4f3 wins." in said
    assert "in a row" not in said
    assert "hard, 72 of 119" in said


def test_which_exercises_the_terminal_has() -> None:
    title = daily_exercise().start().game.title
    assert title in azumaya("exercise", say="quit\n").output
    refused(azumaya("exercise", "--game", GAME, "--level", "harder"), "level='harder'")
    refused(azumaya("exercise", "--game", "chess"), "chess")
    refused(azumaya("exercise", "--game", "sudoku_tiles"), "has no exam")


# ---- in a notebook ----


def test_an_exercise_on_the_board_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(ExerciseBoard, "send", lambda self, content: told.append(content["text"]))
    exercise = find_exercise(GAME, "hard", NUMBER)
    board = ExerciseBoard(exercise)
    assert str(board.position) == exercise.question.position
    board.play("2e6")
    assert board.moves == ("2e6", "4a3")
    assert told == [board.judgement.words]
    with pytest.raises(IllegalActionError, match="undo to try again"):
        board.play("4f3")
    board.undo()
    assert board.moves == ()
    board.play("4f3")
    assert board.judgement.right
    assert board.moves == ("4f3",)
