"""Abalone as others have it: PlayStrategy's counts of legal moves, its FENs, and its moves."""

from __future__ import annotations

import random

import pytest

from azumaya.envs import OptionError, Position
from azumaya.envs.errors import IllegalActionError, MoveNameError, PositionError
from azumaya.envs.games.abalone.game import ABALONE, LAYOUTS
from azumaya.envs.playstrategy import read_fen, read_move, write_fen, write_move

DAISY = "SS1ss/SSSsss/1SS1ss1/8/9/8/1ss1SS1/sssSSS/ss1SS 0 0 b 0 1"
COUNTS = {
    "5/6/7/8/4SSSs1/4s3/7/6/5 0 0 b 0 0": 11 + 7 + 4,
    DAISY: 20 + 28 + 4,
    "SSSSS/S5/S6/S1sssss1/1S5s1/1SSSSS1s/6s/5s/sssss 0 0 b 0 0": 40 + 35 + 23,
    "S1S1S/1SssS1/1SsSsS1/3SS3/9/3ss3/1sSsSs1/1sSSs1/s1s1s 0 0 b 0 0": 28 + 20,
    "5/s4S/ss3SS/ssss1SSS/3S1S3/SSS1ssss/SS3ss/S4s/5 0 0 b 0 0": 28 + 34 + 18,
    "2s1s/3Ss1/7/8/4SSS2/ssSS2S1/3s2S/2sSss/1s3 5 5 b 0 0": 32 + 20 + 6,
    "2s1s/3Ss1/7/8/4SSS2/ssSS2S1/3s2S/2sSss/1s3 5 5 w 0 0": 31 + 11 + 2,
    "SSS2/2sSSS/1SSssss/3S4/3S5/2S5/1s5/ssss2/SSSSs 5 5 b 0 0": 27 + 19 + 7,
}
"""Legal moves of one, two and three marbles, as Mind-Sports-Games/strategygames counts them in
`AbaloneVariantTest.scala` (commit 24444d4)."""
GAME = (
    "a1d4 e9e6 b1d3 e1e4 c2e4 d8d6 b3e3 g3f4 i9f6 e8e5 a2c2 f2c2 h9f7 e2b2 a2b3 e7e4 i8g6 e6e3 "
    "b3e3 d7e6 h8h6 g4d4"
)
"""The game of `AbaloneReplayTest.scala` there, from the Belgian daisy."""


@pytest.mark.parametrize("fen", COUNTS)
def test_as_many_moves_are_legal_as_elsewhere(fen: str) -> None:
    assert len(read_fen(fen, max_plies=0).legal_actions()) == COUNTS[fen]


def test_a_game_from_elsewhere_is_played() -> None:
    position = read_fen(DAISY)
    assert str(position) == str(Position(ABALONE, layout="belgian_daisy"))
    for name in GAME.split():
        action = read_move(position, name)
        assert write_move(position, action) == name
        position.play(action)
    assert position.state["ply"] == 22


@pytest.mark.parametrize("layout", LAYOUTS)
def test_positions_and_moves_are_written_and_read_again(layout: str) -> None:
    """All legal moves have names of their own, in random games to their ends."""
    rng, position = random.Random(layout), Position(ABALONE, layout=layout, max_plies=60)
    while not position.is_over:
        again = read_fen(write_fen(position), max_plies=60)
        assert str(again) == str(position)
        names = {write_move(position, action): action for action in position.legal_actions()}
        assert len(names) == len(position.legal_actions())
        some = rng.choice(sorted(names))
        assert read_move(again, some) == names[some]
        position.play(names[some])


def test_a_game_that_is_over_has_the_loser_to_move() -> None:
    fen = "5/6/s6/2SS4/3s1sSS1/4ssSS/4SSS/2sss1/5 6 5 w 0 58"
    position = read_fen(fen)
    assert position.is_terminated
    assert position.returns() == (1, -1)
    assert write_fen(position) == fen


def test_what_cannot_be_read_is_refused() -> None:
    for fen, told in (
        ("", "must be nine rows"),
        (DAISY.replace("9", "8"), "row 5"),
        ("5/6/7/7S/7SS/6SS/5SS/SSSSSS/SSSSS 5 5 w 0 42", "no legal move"),
        ("5/6/7/8/9/8/7/6/5 " + "1" * 5000 + " 0 b", "must be nine rows"),
        (None, "must be nine rows"),
    ):
        with pytest.raises(PositionError, match=told):
            read_fen(fen)  # type: ignore[arg-type]
    position = read_fen(DAISY)
    with pytest.raises(MoveNameError, match=r"'a1a1': is no legal move there; .* such as"):
        read_move(position, "a1a1")
    with pytest.raises(IllegalActionError):
        write_move(position, "e5e6")
    with pytest.raises(OptionError, match="must be a position of Abalone"):
        write_fen(Position("sudoku_moyo"))
