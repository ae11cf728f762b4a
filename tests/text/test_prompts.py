"""What a language model is told."""

from __future__ import annotations

import pytest

from azumaya.baselines.text import position_prompt, rules_prompt
from azumaya.envs import Position
from tests.cases import TESTED

MOST_WORDS = 350


@pytest.mark.parametrize("game", TESTED)
def test_rules_are_short_and_name_only_real_moves(game: str) -> None:
    text = TESTED[game].words.how_to_play
    assert 30 < len(text.split()) < MOST_WORDS
    assert text == text.strip()
    assert max(map(len, text.split("\n"))) <= 110
    named = text.rpartition("ove")[2]
    words = [word.strip(".,;:()") for word in named.split()]
    position = Position(game)
    assert any(_is_name(position, word) for word in words), f"no move's name in {named!r}"


def _is_name(position: Position, word: str) -> bool:
    try:
        position.parse_move(word)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("game", TESTED)
def test_a_prompt_shows_the_board_and_no_legal_moves_unless_asked(game: str) -> None:
    position = Position(game, seed=3)
    plain = position_prompt(position)
    listed = position_prompt(position, legal_moves=True)
    assert str(position) in plain
    assert f"player_{position.to_move}" in plain
    assert "Legal moves" not in plain
    assert f"Legal moves: {' '.join(position.legal_moves())}" in listed
    assert "\x1b" not in plain, "colours are for terminals"


def test_moves_so_far_are_told() -> None:
    position = Position("sudoku_moyo", seed=1)
    moves = [position.legal_moves()[0]]
    position.play(moves[0])
    assert f"Moves so far: {moves[0]}" in position_prompt(position, moves)


def test_options_are_told_and_defaults_are_not() -> None:
    assert "options" not in rules_prompt(Position("sudoku_moyo", seed=1))
    told = rules_prompt(Position("sudoku_moyo", seed=1, scoring="points"))
    assert "scoring='points'" in told
    assert "move: NAME" in told
