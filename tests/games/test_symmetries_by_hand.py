"""Symmetries of single games worked out by hand; `tests/property` tests them for all games."""

from __future__ import annotations

import random

import pytest

from azumaya.envs import sudoku_moyo_v0
from azumaya.envs.geometry.symmetry import Symmetry, members_of, square
from azumaya.envs.position import Position
from azumaya.envs.registry import GAMES, find_game
from azumaya.wrappers import AugmentedAEC, Match, Transform, random_transform
from tests.property.test_symmetries import play_both

SIZES = {
    "sudoku_moyo": (3_359_232, 9),
    "sudoku_horikomi": (3_359_232, 9),
    "sudoku_tiles": (3_359_232, 9),
    "halma_dominari": (4, 6),
    "vierer_dominari": (8, 5),
    "revers_dominari": (16, 6),
    "score_dominari": (4, 6),
    "abalone": (12, 0),
}


def test_sizes() -> None:
    """The number of board symmetries and of renamable numbers of each game."""
    found = {name: (g.symmetries.size, g.symmetries.numbers) for name, g in GAMES.items()}
    assert found == SIZES


def named(game: str, name: str) -> Symmetry:
    """A symmetry of a game by its name."""
    return next(s for s in members_of(find_game(game).symmetries.group) if s.name == name)


def shown(transform: Transform, position: Position, move: str) -> str:
    """The name of a move in the transformed position."""
    image = transform.position(position)
    return image.move_name(transform.action(position.parse_move(move)))


@pytest.mark.parametrize(
    ("game", "symmetry", "renaming", "move", "wanted"),
    [
        ("halma_dominari", "reflection in the rising diagonal", None, "5e4", "5d5"),
        ("halma_dominari", "half turn with players swapped", None, "5e4", "5b3"),
        ("halma_dominari", "identity", (1, 2, 3, 4, 5, 0), "6off", "1off"),
        ("score_dominari", "half turn with players swapped", None, "1a1", "1f6"),
        ("score_dominari", "half turn with players swapped", None, "wb3", "be4"),
        ("vierer_dominari", "quarter turn", (4, 3, 2, 1, 0), "1a1", "5a6"),
        ("vierer_dominari", "left-right reflection", None, "wb1", "we1"),
        ("revers_dominari", "identity with players swapped", None, "wb1", "bb1"),
        ("revers_dominari", "top-bottom reflection", None, "ba2", "ba5"),
        ("abalone", "60 degree turn", None, "a1b2", "a5b5"),
        ("abalone", "reflection in a1-i9", None, "a1b1", "a1a2"),
        ("abalone", "reflection in a1-i9", None, "a1a2b1", "a1b1a2"),
        ("abalone", "180 degree turn", None, "c3c5d3", "g5g7f5"),
    ],
)
def test_moves(
    game: str, symmetry: str, renaming: tuple[int, ...] | None, move: str, wanted: str
) -> None:
    transform = Transform(game, named(game, symmetry), renaming)
    assert shown(transform, Position(game, seed=1), move) == wanted


def test_regions_of_a_draft_stay_in_reading_order() -> None:
    """A quarter turn moves block 1 to the place of block 3, which is then region 3."""
    position = Position("sudoku_moyo", seed=1, territory="draft")
    settings = position.setup.settings
    transform = Transform("sudoku_moyo", square(9)["quarter turn"], None, settings)
    assert shown(transform, position, "r1") == "r3"
    assert shown(transform, position, "5a9") == "5i9"
    image = transform.position(position)
    assert (image.state["regions"] == position.state["regions"]).all()
    position.play("r1")
    assert transform.position(position) == image.play("r3")


def test_a_match_in_the_mirror() -> None:
    """The fields and planes of the match follow, through the second game to its end."""
    rng = random.Random(5)
    for options in ({}, {"territory": "draft", "handicap": (1, 2)}, {"setup": "choose"}):
        env = AugmentedAEC(Match(sudoku_moyo_v0.raw_env(**options)))
        env.reset(seed=3)
        position = env.unwrapped.position
        while not position.is_over:
            transform = random_transform(position.game, rng.randrange(2**64), position)
            play_both(transform, position, rng, 25)
        assert position.state["game"][0] == 1
