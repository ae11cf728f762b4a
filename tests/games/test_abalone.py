"""Abalone: cases worked out by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from azumaya.envs import abalone_v0
from azumaya.envs.errors import IllegalActionError, OptionError, PositionError
from azumaya.envs.games.abalone import game
from azumaya.envs.games.abalone import rules as abalone
from azumaya.envs.games.abalone.board import PLANES
from azumaya.envs.position import Position

LETTERS = "abcdefghi"
PAGE = Path(__file__).parents[2] / "docs/games/abalone.md"
ROW = re.compile(r"^\| `(\w+)` \| ((?:[a-i]\d ?)+) \| ((?:[a-i]\d ?)+) \|$", re.MULTILINE)
LAYOUTS = {name: (black, white) for name, black, white in ROW.findall(PAGE.read_text("utf-8"))}
"""The table of layouts, as the page has it."""


# ---- squares and texts, independent of the library ----


def square(x: int, y: int) -> str:
    return f"{LETTERS[y - 1]}{x}"


def on_board(x: int, y: int) -> bool:
    return 1 <= x <= 9 and 1 <= y <= 9 and abs(x - y) <= 4


def squares(words: str) -> set[str]:
    found = set()
    for word in words.split():
        first, _, last = word.partition("-")
        for number in range(int(first[1:]), int((last or first)[1:]) + 1):
            found.add(f"{first[0]}{number}")
    return found


def text(black: str, white: str, mover: str = "b", words: str = "out=0,0") -> str:
    marks = dict.fromkeys(squares(black), "b") | dict.fromkeys(squares(white), "w")
    rows = [
        "".join(marks.get(square(x, y), ".") for x in range(1, 10) if on_board(x, y))
        for y in range(9, 0, -1)
    ]
    return " ".join(["/".join(rows), mover, *words.split()])


def at(black: str, white: str, mover: str = "b", words: str = "out=0,0", **options) -> Position:
    return Position("abalone", position=text(black, white, mover, words), **options)


def board_of(position: Position) -> tuple[set[str], set[str]]:
    marks = str(position).split()[0].replace("/", "")
    cells = [square(x, y) for y in range(9, 0, -1) for x in range(1, 10) if on_board(x, y)]
    found = zip(cells, marks, strict=True)
    sides: tuple[set[str], set[str]] = (set(), set())
    for cell, mark in found:
        if mark != ".":
            sides["bw".index(mark)].add(cell)
    return sides


def out_of(position: Position) -> list[int]:
    return position.state["out"][0].tolist()


def board(black: str, white: str) -> tuple[set[str], set[str]]:
    return squares(black), squares(white)


# ---- layouts ----


def test_the_table_has_all_layouts() -> None:
    assert sorted(LAYOUTS) == sorted(game.LAYOUTS)
    assert len(LAYOUTS) == 8


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_equal_the_table(layout: str) -> None:
    position = Position("abalone", layout=layout)
    assert board_of(position) == board(*LAYOUTS[layout])
    assert [len(side) for side in board_of(position)] == [14, 14]
    assert position.to_move == 0
    assert out_of(position) == [0, 0]


# ---- in-line moves and pushes ----


CASES = {
    # name: black, white, move, the boards after it (None: illegal), white marbles out
    "one marble": ("e4", "a1", "e4e5", ("e5", "a1"), 0),
    "two marbles": ("e4 e5", "a1", "e4e5", ("e5 e6", "a1"), 0),
    "three marbles": ("e3-e5", "a1", "e3e4", ("e4-e6", "a1"), 0),
    "four marbles cannot move": ("e2-e5", "a1", "e2e3", None, 0),
    "three of four move, the line is split": ("e2-e5", "a1", "e3e4", ("e2 e4-e6", "a1"), 0),
    "two of five": ("e1-e5", "a1", "e4e5", ("e1-e3 e5 e6", "a1"), 0),
    "2-1": ("e3 e4", "e5", "e3e4", ("e4 e5", "e6"), 0),
    "3-1": ("e2-e4", "e5", "e2e3", ("e3-e5", "e6"), 0),
    "3-2": ("e2-e4", "e5 e6", "e2e3", ("e3-e5", "e6 e7"), 0),
    "3-3": ("e2-e4", "e5-e7", "e2e3", None, 0),
    "2-2": ("e3 e4", "e5 e6", "e3e4", None, 0),
    "1-1": ("e4", "e5", "e4e5", None, 0),
    "4-2": ("e1-e4", "e5 e6", "e1e2", None, 0),
    "3-2 out of four": ("e1-e4", "e5 e6", "e2e3", ("e1 e3-e5", "e6 e7"), 0),
    "2-1 with a white marble behind": ("e3 e4", "e5 e6", "e3e4", None, 0),
    "2-1 with a black marble behind": ("e3 e4 e6", "e5", "e3e4", None, 0),
    "3-2 with a black marble behind": ("e2-e4 e7", "e5 e6", "e2e3", None, 0),
    "3-1 and then a white marble after a gap": ("e2-e4", "e5 e7", "e2e3", ("e3-e5", "e6 e7"), 0),
    "a gap: no push": ("e2-e3", "e5", "e2e3", ("e3 e4", "e5"), 0),
    "black behind white behind black": ("e3 e4 e6 e7", "e5 e8", "e3e4", None, 0),
    "not in one line": ("e3 e4", "f6", "e3e4", ("e4 e5", "f6"), 0),
    "out, 2-1": ("e7 e8", "e9", "e7e8", ("e8 e9", ""), 1),
    "out, 3-1": ("e6-e8", "e9", "e6e7", ("e7-e9", ""), 1),
    "out, 3-2": ("e5-e7", "e8 e9", "e5e6", ("e6-e8", "e9"), 1),
    "not out, 2-2": ("e6 e7", "e8 e9", "e6e7", None, 0),
    "out to the west": ("e3 e4", "e1 e2", "e4e3", None, 0),
    "out to the west, 3-2": ("e3-e5", "e1 e2", "e5e4", ("e2-e4", "e1"), 1),
    "out to NE": ("d8 c7", "e9", "c7d8", ("d8 e9", ""), 1),
    "out to SE": ("b4 c4", "a4", "c4b4", ("a4 b4", ""), 1),
    "out to SW": ("b2 c3", "a1", "c3b2", ("a1 b2", ""), 1),
    "out to NW": ("g5 h5", "i5", "g5h5", ("h5 i5", ""), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_in_line(case: str) -> None:
    black, white, move, after, out = CASES[case]
    for swapped in (False, True):
        sides = (white, black) if swapped else (black, white)
        position = at(*sides, mover="w" if swapped else "b")
        assert (move in position.legal_moves()) == (after is not None)
        assert ("is legal" in position.explain(move)) == (after is not None)
        if after is None:
            with pytest.raises(IllegalActionError, match=move):
                position.play(move)
            continue
        position.play(move)
        found = board_of(position)
        assert (found[::-1] if swapped else found) == board(*after)
        assert out_of(position) == ([out, 0] if swapped else [0, out])


@pytest.mark.parametrize("line", ["e9", "e8 e9", "e7-e9"])
def test_own_marbles_never_leave_the_board(line: str) -> None:
    """No move takes an own marble off the board: alone, pushed by own marbles, or broadside."""
    position = at(line + " h4 i5", "a1")
    before = len(board_of(position)[0])
    for action in position.legal_actions():
        assert len(board_of(position.copy().play(action))[0]) == before
    trailing = sorted(squares(line))[0]
    if len(line) > 2:
        step = f"{trailing}e{int(trailing[1]) + 1}"
        assert "never leave" in position.explain(step)


SIDES = {
    "two": ("d3 d4", "a1", "d3d4e3", ("e3 e4", "a1")),
    "three": ("d3-d5", "a1", "d3d5e4", ("e4-e6", "a1")),
    "two of three": ("d3-d5", "a1", "d4d5e4", ("d3 e4 e5", "a1")),
    "one target taken by white": ("d3 d4", "e4", "d3d4e3", None),
    "one target taken by black": ("d3 d4 e3", "a1", "d3d4e3", None),
    "the middle target taken": ("d3-d5", "e5", "d3d5e4", None),
    "a marble missing": ("d3 d5", "a1", "d3d5e4", None),
    "the other's marbles": ("e9", "d3 d4", "d3d4e3", None),
    "along NE": ("c3 d4", "a1", "c3d4c4", ("c4 d5", "a1")),
    "along NW": ("c3 d3 e3", "a1", "c3e3c2", ("c2 d2 e2", "a1")),
    "beside white it does not push": ("d3 d4", "e4 e5", "d3d4e4", None),
}


@pytest.mark.parametrize("case", SIDES)
def test_broadside(case: str) -> None:
    black, white, move, after = SIDES[case]
    position = at(black, white)
    assert (move in position.legal_moves()) == (after is not None)
    assert ("is legal" in position.explain(move)) == (after is not None)
    if after is not None:
        assert board_of(position.play(move)) == board(*after)


@pytest.mark.parametrize(
    ("black", "white", "move", "reason"),
    [
        ("e4", "a1", "d4e4", "no marble of black on d4"),
        ("a1", "e4", "e4e5", "no marble of black on e4"),
        ("e1-e4", "a1", "e1e2", "more than three cannot (rule 1)"),
        ("e4", "e5", "e4e5", "1 marble cannot push 1"),
        ("e2-e4", "e5-e7", "e2e3", "3 marbles cannot push 3"),
        ("e3 e4 e6", "e5", "e3e4", "e6 is not free"),
        ("d3 d4", "e4", "d3d4e3", "e4 is not free"),
        ("d3", "e4", "d3d4e3", "no marble of black on d4"),
        ("e5-e7", "e8 e9", "e5e6", "the last one out"),
        ("e5-e7", "e8", "e5e6", "e9 behind is free"),
        ("e5-e7", "a1", "e5e6", "e8 is free"),
    ],
)
def test_explain_says_why(black: str, white: str, move: str, reason: str) -> None:
    sentence = at(black, white).explain(move)
    assert sentence.startswith(move)
    assert reason in sentence


# ---- how it ends ----


@pytest.mark.parametrize("winner", [0, 1])
def test_six_out_wins(winner: int) -> None:
    sides = ("e7 e8", "e9 a1") if winner == 0 else ("e9 a1", "e7 e8")
    out = ("0,5", "5,0")[winner]
    position = at(*sides, mover="bw"[winner], words=f"out={out}").play("e7e8")
    assert position.is_terminated
    assert position.returns() == ((1, -1), (-1, 1))[winner]
    assert position.to_move == winner
    assert position.legal_actions() == []
    assert str(position).endswith(f"ply=1 result={(1, -1)[winner]}")
    assert Position.from_text("abalone", str(position)) == position


@pytest.mark.parametrize("winner", [0, 1])
def test_a_player_without_a_legal_move_loses(winner: int) -> None:
    """The marble in the corner is enclosed, and there is no push."""
    sides = ("a2 b2 c1", "a1") if winner == 0 else ("a1", "a2 b2 c1")
    position = at(*sides, mover="bw"[winner]).play("c1b1")
    assert position.is_terminated
    assert position.returns() == ((1, -1), (-1, 1))[winner]
    assert position.to_move == winner
    assert out_of(position) == [0, 0]
    assert Position.from_text("abalone", str(position)) == position


@pytest.mark.parametrize(
    ("walls", "white", "only", "out"),
    [
        ("f8 d7 d6 e5 e6 f7 f9 e9 d8", "e7 e8", "e7e8", 1),
        ("f2 f3 d1 d2 e3", "e1 e2", "e1e2", 0),
    ],
)
def test_a_push_may_be_the_only_move(walls: str, white: str, only: str, out: int) -> None:
    """No cell beside the enclosed marbles is free, but a push is possible."""
    before = at(walls + " a1", white).play("a1a2")
    assert not before.is_over
    assert before.legal_moves() == [only]
    assert out_of(before.play(only)) == [out, 0]


def test_a_player_without_marbles_loses() -> None:
    position = at("e7 e8", "e9").play("e7e8")
    assert position.returns() == (1, -1)
    assert out_of(position) == [0, 1]
    assert Position.from_text("abalone", str(position)) == position


def test_truncation() -> None:
    position = at("e4", "a1", words="out=1,3 ply=8", max_plies=10)
    position.play("e4e5").play("a1a2")
    assert position.is_truncated
    assert not position.is_terminated
    assert position.returns() == (0, 0)
    assert position.to_move == 0
    assert position.legal_actions() == []
    assert Position.from_text("abalone", str(position), max_plies=10) == position


@pytest.mark.parametrize(
    ("out", "returns"), [("1,3", (1, -1)), ("3,1", (-1, 1)), ("2,2", (0, 0)), ("0,5", (1, -1))]
)
def test_truncation_with_tiebreak(out: str, returns: tuple[int, int]) -> None:
    options = {"max_plies": 10, "tiebreak": "marbles"}
    position = at("e4", "a1", words=f"out={out} ply=9", **options).play("e4e5")
    assert position.is_truncated
    assert position.returns() == returns
    assert position.to_move == 1
    assert Position.from_text("abalone", str(position), **options) == position


@pytest.mark.parametrize(
    ("black", "white", "move", "out"),
    [("e7 e8", "e9 a1", "e7e8", "5,5"), ("a2 b2 c1", "a1", "c1b1", "5,0")],
)
def test_an_end_by_the_rules_precedes_the_limit(
    black: str, white: str, move: str, out: str
) -> None:
    options = {"max_plies": 10, "tiebreak": "marbles"}
    position = at(black, white, words=f"out={out} ply=9", **options).play(move)
    assert position.is_terminated
    assert not position.is_truncated
    assert position.returns() == (1, -1)
    assert position.to_move == 0
    assert Position.from_text("abalone", str(position), **options) == position


def test_the_default_limit_is_400_and_0_is_none() -> None:
    def shuttle(position: Position, plies: int) -> Position:
        for i in range(plies):
            position.play(("e4e5", "a1a2", "e5e4", "a2a1")[i % 4])
        return position

    position = shuttle(at("e4", "a1"), 399)
    assert not position.is_over
    position.play("a2a1")
    assert position.is_truncated
    assert position.returns() == (0, 0)
    position = shuttle(at("e4", "a1", max_plies=0), 500)
    assert not position.is_over
    assert int(position.state["ply"][0]) == 500
    assert Position.from_text("abalone", str(position), max_plies=0) == position


# ---- options and texts ----


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("layout", 3),
        ("max_plies", 1.5),
        ("max_plies", "400"),
        ("max_plies", 128**3),
    ],
)
def test_wrong_options(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=f"{option}={value!r}"):
        Position("abalone", **{option: value})


def test_a_layout_may_be_a_position_text() -> None:
    start = text("e4 e5", "a1", "w", "out=2,3 ply=57")
    position = Position("abalone", layout=start)
    assert str(position) == start
    assert position == Position("abalone", position=start)
    env = abalone_v0.raw_env(layout=start)
    env.reset(options={"layout": "swiss_daisy"})
    assert board_of(env.position) == board(*LAYOUTS["swiss_daisy"])
    env.reset()
    assert str(env.position) == start


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        (text("e4", "a1", words="out=0,0 result=1"), "result=1"),
        (text("e4", "a1", words="out=0,0 ply=400"), "ply=400"),
        (text("a2 b1 b2", "a1", "w"), "no legal move"),
        ("...../......", "the side to move"),
        ("...../...... b", "2 rows"),
    ],
)
def test_a_layout_text_that_cannot_be_started_from(bad: str, where: str) -> None:
    with pytest.raises(PositionError, match="layout.*" + where):
        Position("abalone", layout=bad)


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        ("", "board and the side to move"),
        (text("e4", "a1").replace("/", "", 1), "8 rows"),
        (text("e4", "a1").replace(".", "", 1), "row 1 from the top"),
        (text("e4", "a1").replace("b", "x", 1), "row 5 from the top, column 4"),
        (text("e4", "a1", "l"), "the side to move is 'l'"),
        (text("e4", "a1", words="out=0"), "out=0"),
        (text("e4", "a1", words="out=0,6"), "out=6"),
        (text("e4", "a1", words="out=0,1,2"), "out=1,2"),
        (text("e4", "a1", words="out=-1,2"), "out=-1"),
        (text("e4", "a1", words="out=01,2"), "out=01"),
        (text("e4", "a1", words="out=0,0 ply=+5"), "ply=+5"),
        (text("e4", "a1").replace(" ", "\n", 1), "must be a single line"),
        (text("e4", "a1", words="out=0,0 out=0,0"), "twice"),
        (text("e4", "a1", words="out=0,0 turn=3"), "turn=3"),
        (text("e4", "a1", words=""), "1 black marbles are on the board and out= is not given"),
        (text("a1-a5 b1-b6 c1-c4", "i5-i9 h4-h9", words=""), "15 black"),
        (text("e4", "a1", words="out=0,0 ply=400"), "ply=400 must be below max_plies=400"),
        (text("e4", "a1", words="out=0,0 ply=-3"), "ply=-3"),
        (text("e4", "a1", words="out=0,0 ply=x"), "ply=x"),
        (text("a2 b1 b2", "a1", "w"), "no legal move"),
        (text("e4", "", "w"), "no legal move"),
        (text("e4", "a1", words="out=0,6 result=-1"), "result=-1"),
        (text("e4", "a1", "w", words="out=0,6 result=1"), "result=1"),
        (text("e4", "a1", words="out=0,6 result=0"), "result=0"),
        (text("e4", "a1", words="out=6,6 result=1"), "result=1"),
        (text("e4", "a1", words="out=0,5 result=1"), "result=1"),
        (text("e4", "a1", words="out=0,5 ply=400 result=1"), "result=1"),
        (text("e4", "a1", words="out=0,6 ply=401 result=1"), "result=1"),
        (text("e4", "a1", words="out=0,6 result=2"), "result=2"),
    ],
)
def test_texts_that_are_refused(bad: str, where: str) -> None:
    with pytest.raises(PositionError) as raised:
        Position.from_text("abalone", bad)
    assert where in str(raised.value)


def test_the_note_says_how_a_game_was_won() -> None:
    """By rule 3 or 4."""
    six_out, stuck = text("e4", "a1", words="out=0,6 result=1"), text("a2 b1 b2", "a1")
    for over in (six_out, f"{stuck} result=1"):
        position = Position.from_text("abalone", over)
        assert position.scene().notes[0] == "over: player_0 (black) wins by the rules"


def test_without_a_limit_every_position_has_a_text_that_can_be_read() -> None:
    position = at("e4", "a1", words="out=0,0 ply=999999999", max_plies=0)
    position.play(position.legal_moves()[0])
    read = Position.from_text("abalone", str(position), max_plies=0)
    assert str(read) == str(position)
    assert np.array_equal(read.observation(0), position.observation(0))
    assert np.array_equal(read.action_mask(), position.action_mask())


def test_out_defaults_to_the_marbles_missing_on_the_board() -> None:
    black, white = sorted(squares("a1-a5 b1-b6 c3-c5")), sorted(squares("i5-i9 h4-h9 g5-g7"))
    position = Position(
        "abalone", position=text(" ".join(black[:11]), " ".join(white[:9]), "w", "")
    )
    assert out_of(position) == [3, 5]
    assert str(position) == text(" ".join(black[:11]), " ".join(white[:9]), "w", "")


def test_out_need_not_agree_with_the_board() -> None:
    position = at("a1-a5 b1-b6 c1-c4 d1", "e9", words="out=5,0")
    assert out_of(position) == [5, 0]
    assert "out=5,0" in str(position)


# ---- invariants, observations, evaluation ----


def test_the_observation_is_sheared_into_the_array() -> None:
    position = at("a1 e5 i9", "a5 i5", words="out=2,4 ply=3", max_plies=300, tiebreak="marbles")
    seen = position.observation(0)
    names = [plane.name for plane in PLANES]
    own, opposing = seen[names.index("own")], seen[names.index("opposing")]
    assert [tuple(cell) for cell in np.argwhere(own).tolist()] == [(0, 8), (4, 4), (8, 0)]
    assert [tuple(cell) for cell in np.argwhere(opposing).tolist()] == [(0, 4), (8, 4)]
    cells = np.zeros((9, 9), np.int8)
    for y in range(1, 10):
        for x in range(1, 10):
            cells[9 - y, x - 1] = on_board(x, y)
    assert (seen[names.index("board")] == cells).all()
    numbers = dict(zip(names[3:], seen[3:, 0, 0].tolist(), strict=True))
    assert numbers == {
        "to move": 1,
        "over": 0,
        "own out": 2,
        "opposing out": 4,
        "plies left / 16384": 0,
        "plies left / 128": 2,
        "plies left": 297 - 256,
        "tiebreak": 1,
    }
    other = position.observation(1)
    assert (other[0] == opposing).all()
    assert (other[1] == own).all()
    assert other[3:7, 0, 0].tolist() == [0, 0, 4, 2]


def test_plies_left_fill_three_planes() -> None:
    left = (5 << 14) + (6 << 7) + 7
    position = at("e4", "a1", max_plies=left)
    assert position.observation(0)[7:10, 4, 4].tolist() == [5, 6, 7]
    assert at("e4", "a1", max_plies=0).observation(0)[7:10, 4, 4].tolist() == [0, 0, 0]


def test_evaluate_wants_marbles_out_first() -> None:
    position = at("e7 e8 c2 c3", "e9 d2 f5")
    value = {}
    for name in position.legal_moves():
        value[name] = int(abalone.evaluate(position.copy().play(name).state[0], 0))
    best = max(value, key=lambda name: value[name])
    assert best == "e7e8"
    assert abalone.evaluate(at("e5", "a1").state[0], 0) == 4


def test_the_scene_shows_the_marbles_pushed_out() -> None:
    scene = at("e4", "a1", words="out=2,3 ply=5").scene()
    assert scene.board == "hex61"
    assert len(scene.stones) == len(scene.grounds) == 61
    assert [stone.colour for stone in scene.stones if stone] == ["black", "white"]
    assert scene.stones[56].colour == "white"
    assert [(name, len(stones)) for name, stones in scene.trays] == [
        ("black out", 2),
        ("white out", 3),
    ]
    assert "black" in scene.notes[0]
    assert scene.notes[1] == "ply 5 of 400"
