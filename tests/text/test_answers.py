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
    check_that_the_first_is_read(form)


def check_that_the_first_is_read(form: str) -> None:
    """Of the two moves in a form, whichever of them stands for `{0}`."""
    position = Position("sudoku_moyo", seed=1)
    first, second = position.legal_moves()[:2]
    assert read_answer(position, form.format(first, second)).name == first
    assert read_answer(position, form.format(second, first)).name == second


BLOCKS = [
    ("<think>", "</think>"),
    ("<THINK>\n", "\n</THINK>"),
    ("```\n<think effort=high>", "</think>\n```"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reasoning_content>", "</reasoning_content>"),
    ("<thought_process>", "</thought_process>"),
    ("<thinking>", "</think>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<analysis>", "</analysis>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|channel>thought\n", "<channel|>"),
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>commentary<|message|>So {1}?"
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    ("analysisWe need a move. ", "assistantfinal"),
]
SENTENCES = [
    ("Here is my thought process:\n", "\nHere is my response:\n"),
    ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
]


@pytest.mark.parametrize(("begin", "end"), BLOCKS + SENTENCES)
def test_what_a_model_weighs_while_it_thinks_is_not_its_answer(begin: str, end: str) -> None:
    thought = "What about move: {1}? My move is {1}.\n<move>{1}</move>"
    for form in (
        begin + thought + end + "\n\n{0}",
        begin + thought + end + "move: {0}<|im_end|>",
        thought + end + "{0}",  # a chat template may have opened the block
        begin + "\n" + begin + thought + end + "\n{0}",
        begin + begin + thought + end + thought + end + "{0}",
        thought + end + "{0}\n" + begin + thought + end + "\n{0}",
        begin + 3000 * thought + end + "{0}",
    ):
        check_that_the_first_is_read(form)


@pytest.mark.parametrize(("begin", "end"), BLOCKS)
def test_reasoning_that_was_cut_off_has_no_answer(begin: str, end: str) -> None:
    position = Position("sudoku_moyo", seed=1)
    first, second = position.legal_moves()[:2]
    for thought in (f"move: {first}", f"<reflection>{second}</reflection>\nmove: {first}"):
        for words in (thought, 3000 * thought):
            answer = read_answer(position, begin + words)
            assert (answer.action, answer.name) == (None, "")
            assert "No move could be read" in answer.problem
    if not begin.startswith("analysis"):  # which is known only at the beginning
        check_that_the_first_is_read("move: {0}\n" + begin + "Or {1}?")


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "<|return|>", "<turn|>", "</s>", "<｜end▁of▁turn｜>"]
)
def test_special_tokens_after_a_move_make_no_difference(token: str) -> None:
    check_that_the_first_is_read("Not {1}.\nmove: {0}" + token)


AROSE = "....../....../..2cea/..5.4./..4a../...... w"
"""A start in which 3b3 leaves a dead cell, so white may lay a blank on d3 or end the turn."""


def before_end() -> Position:
    return Position("vierer_dominari", position=AROSE).play("3b3")


ENDS, TILES, MARBLES = before_end(), Position("sudoku_tiles", seed=1), Position("abalone")


@pytest.mark.parametrize(
    ("position", "text", "name"),
    [
        # a word is a move only after a mark or alone on a line
        (ENDS, "I think black will win in the end.", ""),
        (ENDS, "This move is the end of black.", ""),
        (ENDS, "I say we 4 win, and it will be d3.", ""),
        (ENDS, "end", "end"),
        (ENDS, "I stop here.\n\n**End.**\n\nGood luck!", "end"),
        (ENDS, "move: end", "end"),
        (ENDS, "My move is end.", "end"),
        (ENDS, "move: I end the turn", "end"),
        (ENDS, "move: **end**, as wd3 helps black", "end"),
        (ENDS, "move: wd3 wins the game in the end.", "wd3"),
        # articles are no squares
        (TILES, "The tile drawn is a 5.", ""),
        (TILES, "So I 5 lay there?", ""),
        (TILES, "move: e3 (a 5 there scores 3)", "e3"),
        (TILES, "move: lay a 5 on e3", "e3"),
        (TILES, "a 5", "a5"),
        (TILES, "move: a 5, because nothing else fits", "a5"),
        (TILES, "move: a 5 on e3", ""),
        (TILES, "I lay it on e 3 now.", "e3"),
        # spaces and hyphens inside a name are nothing; the longest name is read
        (MARBLES, "move: a1-b2", "a1b2"),
        (MARBLES, "move: A1 B2", "a1b2"),
        (MARBLES, "I play a1 - b2\n a1 b2", "a1b2"),
        (MARBLES, "move: d3 d4 e4, because", "d3d4e4"),
    ],
)
def test_a_name_is_read_where_it_is_meant_as_one(position: Position, text: str, name: str) -> None:
    assert read_answer(position, text).name == name


@pytest.mark.parametrize(
    "form",
    [
        "move: {0}, since {1} loses",
        "move: {0} (not {1})",
        "move: {0}—{1} loses",
        "<move>{0}, then {1}</move>",
        "My move is **{0}**, because a number on {1} would lose.",
        "move：{0}",
        "我想好了。\nMove：**{0}**。",
        "so I say that my move：{0}，not {1}",
    ],
)
def test_the_move_at_once_after_a_mark_counts_whatever_the_reason_names(form: str) -> None:
    check_that_the_first_is_read(form)


@pytest.mark.parametrize(
    "form",
    [
        "The best move is not {0}.",
        "The best move is certainly not {0}.",
        "The best move isn't {0}.",
        "The best move is **not** {0}.",
        "Perhaps {0}, perhaps {1}.",
        "move: {0} or {1}",
        "move: {0} **or** {1}, both win",
        "move: {0}/{1}",
        "move: {0} / {1}",
        "<move>{0} or maybe {1}</move>",
        "My move is {0} or {1}.",
        "move: {0}, {1}",
        "move: {0} and {1}",
        "\\boxed{{{0}, {1}}}",
        "My move is between {0} and {1}.",
    ],
)
def test_what_is_no_choice_of_one_move_is_not_guessed(form: str) -> None:
    position = Position("sudoku_moyo", seed=1)
    first, second = position.legal_moves()[:2]
    answer = read_answer(position, form.format(first, second))
    assert (answer.action, answer.name, answer.is_legal) == (None, "", False)
    if "{1}" in form:
        assert f"{first}, {second}" in answer.problem


def test_a_word_before_another_move_is_not_guessed() -> None:
    answer = read_answer(ENDS, "move: end the turn with wd3")
    assert (answer.action, answer.name) == (None, "")
    assert "several moves: end, wd3" in answer.problem


@pytest.mark.parametrize("game", ["vierer_dominari", "score_dominari"])
def test_a_blank_of_the_other_colour_is_an_illegal_move_with_its_reason(game: str) -> None:
    position = Position(game)
    answer = read_answer(position, "I think so.\nmove: be4")
    assert (answer.action, answer.name) == (None, "be4")
    assert "must be we4, the name of this move for player_0" in answer.problem
    first = position.legal_moves()[0]
    assert read_answer(position, f"Black wants be4, so I lay {first}.").name == first
    assert read_answer(position, "I lay we4 or so.").name == "we4"


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
