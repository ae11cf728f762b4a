"""What a language model is told."""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from azumaya.baselines.text import position_prompt, rules_prompt
from azumaya.benchmarks.yardstick import connect_four
from azumaya.envs import GAMES, Position
from tests.cases import TESTED

MOST_WORDS = 350
CITED = {
    "abalone": {1: "side by side in one line", 2: "two marbles push one"},
    "connect_four": {2: "a column that is not full"},
    "halma_dominari": {
        1: "White starts in the corner",
        2: "jumps over one",
        3: "no number may stand twice",
        4: "step off the board",
    },
    "revers_dominari": {2: "must capture"},
    "score_dominari": {1: "first number goes to a1", 2: "stone of your own colour"},
    "sudoku_horikomi": {
        2: "must place one there", 4: "No number may stand twice", 5: "four stones of each number",
    },
    "sudoku_moyo": {
        2: "must place one there", 3: "light places numbers only in light",
        4: "No number may stand twice",
    },
    "sudoku_tiles": {2: "No number may stand twice"},
    "vierer_dominari": {1: "beside a stone of either colour"},
}  # fmt: skip
"""By game and number, words of the rules that `explain` cites where a move is illegal."""
SETTINGS: dict[str, dict[str, Any]] = {
    "abalone": {"max_plies": 40},
    "halma_dominari": {"setup": "choose"},  # the stones are laid first
}
"""Options of games in which these illegal moves occur."""


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


def rules_of(game: str) -> str | None:
    """What the module of a game's rules says of them."""
    place = f"azumaya.envs.games.{game}.rules" if game in GAMES else connect_four.__name__
    return importlib.import_module(place).__doc__


def numbered(text: str | None) -> dict[int, str]:
    """The rules of a text by number, each on one line."""
    _, *more = re.split(r"\n(?=\d+\. )", f"\n{text}")
    last = len(more) - 1
    rules = {}
    for place, rule in enumerate(more):
        own = re.split(r"\n\n|\n(?=Moves?\b|A move)", rule)[0] if place == last else rule
        number, _, words = own.partition(". ")
        rules[int(number)] = " ".join(words.split())
    return rules


def alike(rule: str, other: str) -> float:
    """The share of the words of two rules that are in both."""
    one, two = (set(re.findall(r"[a-z\d]{2,}", text.lower())) for text in (rule, other))
    return len(one & two) / len(one | two)


@pytest.mark.parametrize("game", TESTED)
def test_the_rules_of_a_prompt_have_the_numbers_of_the_game(game: str) -> None:
    """Explanations of illegal moves cite these numbers."""
    own, prompt = numbered(rules_of(game)), numbered(TESTED[game].words.how_to_play)
    assert list(own) == list(prompt) == list(range(1, len(own) + 1))
    for number, rule in prompt.items():
        assert max(own, key=lambda n: alike(rule, own[n])) == number, f"{number}. {rule}"


@pytest.mark.parametrize("game", TESTED)
def test_the_rules_that_explanations_cite_are_in_the_prompt(game: str) -> None:
    prompt = numbered(TESTED[game].words.how_to_play)
    cited = set(cited_in(game))
    assert cited == set(CITED[game]), "each citation must be compared with the prompt"
    for number, words in CITED[game].items():
        assert words in prompt[number]


def cited_in(game: str) -> Iterator[int]:
    """The numbers of rules in the explanations of all actions of a few games."""
    options = SETTINGS.get(game, {})
    for seed in range(3):
        position, draws = Position(game, seed=seed, **options), random.Random(seed)
        while not position.is_over:
            legal = set(position.legal_actions())
            for action in range(len(position.action_mask())):
                if action not in legal:
                    yield from map(int, re.findall(r"\(rule (\d+)\)", position.explain(action)))
            for _ in range(4):
                if not position.is_over:
                    position.play(draws.choice(position.legal_actions()))


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
    assert position_prompt(position, ()).startswith("The game begins in this position.\n")
    assert position_prompt(position).startswith(position.draw(colour=False).strip())
    moves = [position.legal_moves()[0]]
    position.play(moves[0])
    assert f"Moves so far: {moves[0]}" in position_prompt(position, moves)


def test_options_are_told_and_defaults_are_not() -> None:
    assert "options" not in rules_prompt(Position("sudoku_moyo", seed=1))
    told = rules_prompt(Position("sudoku_moyo", seed=1, scoring="points"))
    assert "scoring='points'" in told
    assert "move: NAME" in told
    given = Position("abalone", max_plies=400, tiebreak=None)
    assert rules_prompt(given) == rules_prompt(Position("abalone"))


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("sudoku_tiles", {"draws": "51234", "start": "one_each"}),
        ("sudoku_moyo", {"puzzle": ["." * 81]}),
        ("revers_dominari", {"centre": "1234"}),
        ("abalone", {"layout": "belgian_daisy"}),
        ("halma_dominari", {"setup": ("123456", "654321")}),
    ],
)
def test_options_that_only_say_where_a_game_begins_are_not_told(
    game: str, options: dict[str, Any]
) -> None:
    """Tiles that are still to be drawn are hidden from both players."""
    position = Position(game, **options)
    assert rules_prompt(position) == rules_prompt(Position(game))


@pytest.mark.parametrize("game", ["vierer_dominari", "revers_dominari", "score_dominari"])
def test_without_a_referee_the_prompt_has_the_rules_of_claims(game: str) -> None:
    told = " ".join(rules_prompt(Position(game, referee=False)).split())
    assert "`claim`, is legal as the first step of a turn" in told
    assert "If that turn was wrong, it is undone" in told
    assert "a mistaken claim costs nothing" in told
    assert "A wrong turn cannot end the game" in told
    assert "After 200 turns" in told
    assert "`claim`" not in rules_prompt(Position(game, referee=True))


def test_what_happens_at_the_limit_of_abalone_is_told() -> None:
    told = " ".join(rules_prompt(Position("abalone")).split())
    assert "nobody has won after 400 moves, those of both players together, the game is a" in told
    told = rules_prompt(Position("abalone", max_plies=40, tiebreak="marbles"))
    assert "max_plies=40: After this many steps the game is truncated, a draw unless" in told
    assert "pushed out more marbles wins; equal numbers draw" in told


def test_how_the_stones_of_halma_are_laid_is_told() -> None:
    assert "they are placed first, in turns" in rules_prompt(Position("halma_dominari"))
