"""Moves are read from answers, and nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azumaya.baselines.text import read_answer
from azumaya.envs import OptionError, Position
from tests.cases import TESTED

FORMS = (
    "{}",
    "move: {}",
    "Move: **{}**",
    "I would take it.\n\n**Move:** `{}`",
    "The answer is {}.",
    "<move>{}</move>",
    "so \\boxed{{{}}}",
    "<MOVE> {} </MOVE>\n",
    "Let me think about the middle.\n\n[{}]",
    "move: {}\n\nThis move is strong because it takes the corner.",
    "**Move: {}**\n\nMy answer is final.",
    "Final answer: {}\nI hope that this answer is right.",
    "My move is {}.\n\nThis move is strong.",
    "\\boxed{{\\text{{{}}}}}",
    "answer: \\boxed{{\\mathrm{{{}}}}}",
    "<move>move: {}</move>",
    "<move>\nmove: {}\n</move>",
    "<answer>{}</answer>",
)


@pytest.mark.parametrize("game", TESTED)
@pytest.mark.parametrize("form", FORMS)
def test_a_move_is_read_however_it_is_written(game: str, form: str) -> None:
    position = Position(game, seed=2)
    for action in position.legal_actions()[:3]:
        name = position.move_name(action)
        assert read_answer(position, form.format(name)).action == action
        assert read_answer(position, form.format(name.upper())).action == action


def test_the_last_mark_counts() -> None:
    position = Position("sudoku_moyo", seed=1)
    first, second = position.legal_moves()[:2]
    answer = read_answer(position, f"move: {first}\nNo, wait.\nmove: {second}")
    assert answer.name == second


@pytest.mark.parametrize(
    "form",
    [
        "move: {0}\n\nThis move is better than {1}.",
        "First I thought my answer is {1}, but no.\n\\boxed{{\\text{{{0}}}}}",
        "<move>{0}</move>\nMy second answer: {1}",
        "My answer is {0}.\n\nThis move is better than {1}.",
        "The best move is not {1}. I take {0}.",
    ],
)
def test_an_explicit_mark_counts_before_words_about_moves(form: str) -> None:
    position = Position("sudoku_moyo", seed=1)
    first, second = position.legal_moves()[:2]
    assert read_answer(position, form.format(first, second)).name == first
    assert read_answer(position, form.format(second, first)).name == second


@pytest.mark.parametrize("words", ["is not", "is certainly not", "isn't", "is **not**"])
def test_a_move_that_is_not_the_answer_is_none(words: str) -> None:
    position = Position("sudoku_moyo", seed=1)
    answer = read_answer(position, f"The best move {words} {position.legal_moves()[0]}.")
    assert (answer.action, answer.name) == (None, "")


def test_spaces_and_hyphens_inside_a_name_are_nothing() -> None:
    position = Position("abalone")
    assert read_answer(position, "move: a1-b2").name == "a1b2"
    assert read_answer(position, "move: A1 B2").name == "a1b2"
    assert read_answer(position, "I play a1 - b2\n a1 b2").name == "a1b2"


def test_several_moves_without_a_mark_are_not_guessed_between() -> None:
    position = Position("sudoku_moyo", seed=1)
    first, second = position.legal_moves()[:2]
    answer = read_answer(position, f"Perhaps {first}, perhaps {second}.")
    assert not answer.is_legal
    assert answer.name == ""
    assert first in answer.problem
    assert second in answer.problem


def test_an_illegal_move_is_explained() -> None:
    position = Position("sudoku_moyo", seed=1)
    answer = read_answer(position, "move: 2a8")
    assert answer.name == "2a8"
    assert answer.action is None
    assert position.explain("2a8") in answer.problem


@pytest.mark.parametrize(
    "text", ["", "   ", "I resign.", "move: zz9", "<move></move>", "\\boxed{}"]
)
def test_an_answer_without_a_move_says_how_to_answer(text: str) -> None:
    answer = read_answer(Position("sudoku_moyo", seed=1), text)
    assert not answer.is_legal
    assert "move: NAME" in answer.problem


@given(st.text(max_size=200))
def test_any_text_at_all_is_an_answer(text: str) -> None:
    position = Position("halma_dominari", seed=1)
    answer = read_answer(position, text)
    assert answer.is_legal == (not answer.problem)


def test_no_answer_is_an_answer_and_other_things_are_refused() -> None:
    """A chat interface may say None for an answer without text."""
    position = Position("vierer_dominari")
    assert read_answer(position, None) == read_answer(position, "")
    for wrong in (b"1a1", 5, ["1a1"]):
        with pytest.raises(OptionError, match=r"answer=.*: must be the text of an answer"):
            read_answer(position, wrong)  # type: ignore[arg-type]
