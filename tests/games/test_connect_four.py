"""Connect Four: rules and endings worked out by hand, and published numbers of positions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from azumaya.envs import IllegalActionError, Position, PositionError
from azumaya.wrappers import Transform
from tests.cases import YARDSTICK

EMPTY = "......./......./......./......./......./....... x"
NEARLY_FULL = "oooxxx./xxxooo./oooxxx./xxxooo./oooxxx./xxxooo. x"

POSITIONS = (1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275, 558186, 1662623)
"""Positions after n plies, counted once however they are reached: OEIS A212693 (J. Tromp; first
computed by S. Edelkamp and P. Kissmann)."""
SEQUENCES = (1, 7, 49, 343, 2401, 16807, 117649)
"""Sequences of n moves: no win is possible before move 7, and no column is full before move 6."""


def played(moves: str) -> Position:
    """The position after some moves from the empty board."""
    position = Position(YARDSTICK)
    for move in moves:
        position.play(move)
    return position


def test_x_begins_and_discs_fall() -> None:
    """Rules 1 and 2."""
    assert str(Position(YARDSTICK)) == EMPTY
    position = played("ddc")
    assert str(position) == "......./......./......./......./...o.../..xx... o"
    assert position.explain("c") == "c is legal: the disc falls to c2"
    assert position.to_move == 1


def test_full_columns_take_no_disc() -> None:
    """Rule 2: a move in a full column is refused and changes nothing."""
    position = played("dddddd")
    assert position.legal_moves() == list("abcefg")
    assert position.explain("d") == "d: column d is full (rule 2)"
    before = str(position)
    with pytest.raises(IllegalActionError, match="column d is full"):
        position.play("d")
    assert str(position) == before


@pytest.mark.parametrize(
    ("moves", "returns"),
    [
        ("abacada", (1, -1)),  # a column
        ("aabbccd", (1, -1)),  # a row, at its right end
        ("ddeeggf", (1, -1)),  # a row, filled in its middle
        ("gabacada", (-1, 1)),  # o has a column
        ("abbccdcddgd", (1, -1)),  # a rising diagonal
        ("gffeededdad", (1, -1)),  # a falling diagonal
        ("aabbccg", None),  # three in a row are not enough
    ],
)
def test_fours(moves: str, returns: tuple[int, int] | None) -> None:
    """Rule 3: only the last of these moves wins."""
    position = played(moves[:-1])
    assert not position.is_over
    position.play(moves[-1])
    assert position.is_over == (returns is not None)
    assert position.returns() == (returns or (0, 0))


def test_fours_do_not_wrap_around_the_edge() -> None:
    """The last cell of a row and the first of the next are adjacent only as bits."""
    text = "......./......./......./......./....xxx/x...ooo o"
    assert not Position(YARDSTICK, position=text).is_over


def test_a_full_board_is_a_draw() -> None:
    """Rule 4."""
    position = Position(YARDSTICK, position=NEARLY_FULL)
    assert position.legal_moves() == ["g"]
    for _ in range(6):
        position.play("g")
    assert position.is_terminated
    assert position.returns() == (0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("......./......./......./......./...x.../....... o", "d2 hangs in the air"),
        ("......./......./......./......./......./xx..... o", "x has 2 more discs"),
        ("......./......./......./......./......./o...... x", "x has -1 more discs"),
        ("......./......./......./......./......./x...... x", "by the discs it is the other"),
        ("......./......./......./......./oo...../xxxx.oo x", "x has won, so o cannot"),
    ],
)
def test_impossible_texts(text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message):
        Position(YARDSTICK, position=text)


def test_texts_of_games_that_ended_by_the_rules_have_no_result() -> None:
    """Neither of a win nor of a full board."""
    full = Position(YARDSTICK, position=NEARLY_FULL)
    for _ in range(6):
        full.play("g")
    for position in (played("abacada"), full):
        assert "result" not in str(position)
        assert position == Position.from_text(YARDSTICK, str(position))


def test_reflection() -> None:
    """Reflection swaps left and right, and the columns of moves."""
    reflection = YARDSTICK.symmetries.group[0][1]
    transform = Transform(YARDSTICK, reflection)
    assert transform.action_table.tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert str(transform.position(played("aab"))) == str(played("ggf"))


# ---- published counts ----


def after_each_ply(plies: int) -> list[dict[bytes, int]]:
    """For each ply the positions, with the number of move sequences that lead to each."""
    levels = [{YARDSTICK.options.starts({}).tobytes(): 1}]
    rules, states = YARDSTICK.rules, YARDSTICK.new_states(1)
    packed = np.zeros(1, np.uint64)
    for _ in range(plies):
        found: dict[bytes, int] = {}
        for start, ways in levels[-1].items():
            packed[0] = 0
            states.view(np.uint8)[:] = np.frombuffer(start, np.uint8)
            rules.write_legal(states[0], packed)
            for action in range(7):
                if int(packed[0]) >> action & 1:
                    states.view(np.uint8)[:] = np.frombuffer(start, np.uint8)
                    rules.play(states[0], action)
                    after = states.tobytes()
                    found[after] = found.get(after, 0) + ways
        levels.append(found)
    return levels


@pytest.mark.parametrize("plies", [6, pytest.param(10, marks=pytest.mark.slow)])
def test_published_counts(plies: int) -> None:
    """Numbers of distinct positions are as published, and numbers of sequences as calculated."""
    levels = after_each_ply(plies)
    assert tuple(map(len, levels)) == POSITIONS[: plies + 1]
    sequences = tuple(sum(level.values()) for level in levels)
    assert sequences[: len(SEQUENCES)] == SEQUENCES
    assert all(after <= 7 * before for before, after in pairwise(sequences))
    if plies > 6:
        assert sequences[7] == 7**7 - 7  # seven discs in one column
