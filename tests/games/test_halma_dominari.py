"""Halma-Dominari: cases worked out by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest

from azumaya.envs.errors import IllegalActionError, MoveNameError, OptionError, PositionError
from azumaya.envs.games.halma_dominari import rules as halma
from azumaya.envs.games.halma_dominari.board import PLANES
from azumaya.envs.position import Position

WHITE_CELLS = ["a1", "b1", "c1", "a2", "b2", "a3"]
BLACK_CELLS = ["f6", "e6", "d6", "f5", "e5", "f4"]


# ---- squares and texts, independent of the library ----


def board_text(stones: dict[str, str]) -> str:
    rows = [
        "".join(stones.get(f"{file}{rank}", ".") for file in "abcdef") for rank in range(6, 0, -1)
    ]
    return "/".join(rows)


def at(stones: str, mover: str = "w", words: str = "") -> Position:
    """The position with stones like `3a1 db2`: marks and squares."""
    board = board_text({word[1:]: word[0] for word in stones.split()})
    return Position("halma_dominari", position=f"{board} {mover} {words}")


def turned(stones: str) -> str:
    """The stones after a half turn of the board with swapped colours."""
    swap = str.maketrans("123456abcdef", "abcdef123456")
    return " ".join(word[0].translate(swap) + half_turn(word[1:]) for word in stones.split())


def half_turn(square: str) -> str:
    return f"{'fedcba'['abcdef'.index(square[0])]}{7 - int(square[1])}"


def turned_move(name: str) -> str:
    return name if name.endswith("off") else name[0] + half_turn(name[1:])


def stones_of(position: Position) -> dict[str, str]:
    rows = str(position).split()[0].split("/")
    return {
        f"{file}{6 - r}": mark
        for r, row in enumerate(rows)
        for file, mark in zip("abcdef", row, strict=True)
        if mark != "."
    }


def moves_of(position: Position, number: int) -> set[str]:
    """Where a number may go: squares, or `off`."""
    return {name[1:] for name in position.legal_moves() if name[0] == str(number)}


def obeys(stones: dict[str, str]) -> bool:
    seen = set()
    for square, mark in stones.items():
        number = "123456abcdef".index(mark) % 6
        file, rank = "abcdef".index(square[0]), int(square[1]) - 1
        for house in (("file", file), ("rank", rank), ("block", file // 2, rank // 2)):
            if (house, number) in seen:
                return False
            seen.add((house, number))
    return True


# ---- steps and jumps ----


GOALS = {
    # name: stones (white to move), number, where it may go
    "a step in each way": ("1c3 af6", 1, {"c4", "d3", "d4"}),
    "at the upper edge only to the right": ("1c6 ad2", 1, set()),
    "at the upper edge": ("1c6 af2", 1, {"d6"}),
    "at the right edge": ("1f3 ac6", 1, {"f4"}),
    "taken cells": ("1c3 2c4 3d3 4d4 ae6 df5", 1, {"c5"}),
    "a jump over an own stone": ("1b2 2b3 af6", 1, {"b4", "c2", "c3"}),
    "a jump over an opposing stone": ("1b2 cb3 af6", 1, {"b4", "c2", "c3"}),
    "a jump to the right": ("1b2 2c2 af6", 1, {"b3", "d2", "c3"}),
    "a diagonal jump": ("1b2 2c3 af6", 1, {"b3", "c2", "d4"}),
    "not over two": ("1b2 2b3 3b4 af6", 1, {"c2", "c3"}),
    "not over a gap": ("1b2 2b4 af6", 1, {"b3", "c2", "c3"}),
    "not backwards": ("1c3 2b3 3c2 4b2 5d2 6b4 af6", 1, {"c4", "d3", "d4"}),
    "a chain of jumps": ("1a1 2a2 3b4 4d5 bf5 ae4", 1, {"a3", "b1", "b2", "c5"}),
    "a chain that could go on backwards": ("1a1 2a2 3b3 af6", 1, {"a3", "b1", "b2", "c3"}),
    "a step does not go on with a jump": ("1a1 2c3 af6", 1, {"a2", "b1", "b2"}),
    "a jump does not go on with a step": ("1a1 2b2 af6", 1, {"a2", "b1", "c3"}),
    "no jump over the edge": ("1e3 2f3 ac6", 1, {"e4", "f4"}),
    "no jump over the edge at the top": ("1b5 2b6 af3", 1, {"c5", "c6"}),
}


@pytest.mark.parametrize("case", GOALS)
def test_goals(case: str) -> None:
    """Each case also for black, after a half turn."""
    stones, number, goals = GOALS[case]
    filler = "" if goals else " 6a1"
    assert moves_of(at(stones + filler), number) == goals
    black = at(turned(stones + filler), "b")
    assert {turned_move(name) for name in black.legal_moves() if name[0] == str(number)} == {
        f"{number}{goal}" for goal in goals
    }


def test_jumped_stones_stay() -> None:
    position = at("1a1 2a2 cb4 af6").play("1c5")
    assert stones_of(position) == {"c5": "1", "a2": "2", "b4": "c", "f6": "a"}


# ---- the Sudoku rule ----


def test_the_forbidden_moves_of_the_rulebook() -> None:
    """The black 5 would be in a row or block with the white 5, whichever way it goes."""
    position = at("5a3 ed4 af6", "b")
    assert moves_of(position, 5) == {"c4"}
    assert "the row of d3 has a 5 on a3" in position.explain("5d3")
    assert "the row of c3 has a 5 on a3" in position.explain("5c3")
    position = at("5a3 ec5 af6", "b")
    assert moves_of(position, 5) == {"c4", "b5"}
    position = at("5a3 ec4 af6", "b")
    assert "the block of b4 has a 5 on a3" in position.explain("5b4")
    with pytest.raises(IllegalActionError, match="5b4"):
        position.play("5b4")


def test_the_forbidden_chain_of_the_rulebook() -> None:
    """Black jumps down and left, but not to the right over the 3."""
    position = at("ed5 1d4 3e3 6a4", "b")
    assert moves_of(position, 5) == {"d3", "c5", "c4"}
    assert "going down and left (rule 2)" in position.explain("5f3")


@pytest.mark.parametrize(
    ("stones", "square", "house"),
    [
        ("1b3 ac6", "c3", "column"),
        ("1c3 af4", "c4", "row"),
        ("1b3 af4", "b4", "row"),
        ("1b4 ad6", "c5", "block"),
        ("1b4 ad5", "c5", "row"),
        ("1b4 ad6", "c4", None),
    ],
)
def test_landing_by_rule_three(stones: str, square: str, house: str | None) -> None:
    position = at(stones)
    assert (square in moves_of(position, 1)) == (house is None)
    if house:
        assert f"the {house} of {square}" in position.explain(f"1{square}")


def test_only_equal_numbers_count_where_they_are_after_the_move() -> None:
    """The cell that a stone leaves does not count, and neither do other numbers."""
    assert moves_of(at("1c3 bc6 cf4 dd3 eb4"), 1) == {"c4", "d4", "e3"}


def test_the_rule_may_be_broken_between_jumps() -> None:
    """The 1 lands on a3, in the row of the black 1, and jumps on to a5 and c5."""
    position = at("1a1 2a2 3a4 4b5 af3")
    assert moves_of(position, 1) == {"a5", "b1", "b2", "c5"}
    assert "the row of a3 has a 1 on f3" in position.explain("1a3")
    assert stones_of(position.play("1c5"))["c5"] == "1"


# ---- bearing off ----


OFF = {
    # name: stones (white to move), number, whether it may leave
    "a step from the corner": ("1f6 2a1 aa3", 1, True),
    "not from beside the corner, free": ("1f5 2a1 aa3", 1, False),
    "not a step and out": ("1e6 2a1 aa3", 1, False),
    "a jump up over an own stone": ("1f5 2f6 aa3", 1, True),
    "a jump to the right over an own stone": ("1e6 2f6 aa3", 1, True),
    "a diagonal jump over an own stone": ("1e5 2f6 aa3", 1, True),
    "a jump over an opposing stone": ("1f5 bf6 aa3", 1, True),
    "the end of a chain": ("1f3 3f4 bf6 aa5", 1, True),
    "a chain that does not come near": ("1b2 3c2 4d3 5e4 2f6 aa6", 1, False),
    "a chain that is blocked": ("1b1 3c2 4d4 5d5 2f6 aa6", 1, False),
    "the end of a diagonal chain": ("1a1 3b2 4d4 2f6 ab5", 1, True),
    "the end of a chain round a corner": ("1c1 3d2 4e4 bf6 ab4", 1, True),
    "not over a stone elsewhere at the edge": ("1e5 2e6 aa3", 1, False),
    "not from too far": ("1f4 2f6 aa3", 1, False),
    "not over two stones": ("1d6 2e6 3f6 aa3", 1, False),
}


@pytest.mark.parametrize("case", OFF)
def test_leaving(case: str) -> None:
    stones, number, leaves = OFF[case]
    for position in (at(stones), at(turned(stones), "b")):
        name = f"{number}off"
        assert (name in position.legal_moves()) == leaves
        assert ("is legal" in position.explain(name)) == leaves
        if leaves:
            before = stones_of(position)
            after = stones_of(position.play(name))
            assert len(after) == len(before) - 1
            assert after.items() <= before.items()


def test_a_jump_that_lands_on_the_corner_stays_there() -> None:
    """It leaves the board only in a later turn."""
    position = at("1f4 2f5 3a1 aa3 bb6")
    assert moves_of(position, 1) == {"f6"}
    position.play("1f6")
    assert stones_of(position)["f6"] == "1"
    position.play("1a2")
    assert moves_of(position, 1) == {"off"}
    assert stones_of(position.play("1off")).get("f6") is None


def test_landing_on_the_corner_obeys_rule_three() -> None:
    position = at("1e6 2a1 af3")
    assert moves_of(position, 1) == set()
    position = at("1f6 2a1 ab3")
    assert moves_of(position, 1) == {"off"}


# ---- turns and ends ----


def test_a_player_who_cannot_move_is_skipped_until_they_can() -> None:
    """Black's 2 on b1 could only go to a1, which is forbidden while white's 2 is in column a."""
    position = at("2a3 1b3 3c5 bb1").play("3c6")
    assert position.to_move == 0
    position.play("2c3")
    assert position.to_move == 1
    assert position.legal_moves() == ["2a1"]


def test_a_draw_when_neither_can_move() -> None:
    """A position found by random play: every move would put equal numbers in a house."""
    board = "....../..d.../.4..../....../....../......"
    for mover in "wb":
        text = f"{board} {mover} result=0"
        position = Position.from_text("halma_dominari", text)
        assert position.is_terminated
        assert position.returns() == (0, 0)
        with pytest.raises(PositionError, match="cannot"):
            Position("halma_dominari", position=f"{board} {mover}")
    before = at("4b4 dc6", "b")
    assert before.play("4c5").is_terminated
    assert before.returns() == (0, 0)
    assert before.to_move == 1
    assert str(before) == f"{board} b result=0"


@pytest.mark.parametrize("winner", [0, 1])
def test_the_last_stone_off_wins(winner: int) -> None:
    stones = "1f6 aa5 ba3"
    position = at(stones) if winner == 0 else at(turned(stones), "b")
    position.play("1off")
    assert position.is_terminated
    assert position.returns() == ((1, -1), (-1, 1))[winner]
    assert position.to_move == winner
    assert position.legal_actions() == []
    assert str(position).endswith(f"result={(1, -1)[winner]}")
    assert Position.from_text("halma_dominari", str(position)) == position


# ---- setups ----


def test_setup_by_two_strings() -> None:
    position = Position("halma_dominari", setup=("123456", "654321"))
    expected = dict(zip(WHITE_CELLS, "123456", strict=True))
    expected |= dict(zip(BLACK_CELLS, "fedcba", strict=True))
    assert stones_of(position) == expected
    assert position.to_move == 0
    assert str(position) == "...def/....bc/.....a/6...../45..../123... w"


def test_setup_choose_takes_twelve_steps() -> None:
    position = Position("halma_dominari", setup="choose")
    assert str(position) == board_text({}) + " w stage=choose"
    for step in range(12):
        number, mover = step // 2 + 1, step % 2
        assert position.to_move == mover
        cells = (WHITE_CELLS, BLACK_CELLS)[mover]
        free = set(cells) - set(stones_of(position))
        assert set(position.legal_moves()) == {f"{number}{square}" for square in free}
        assert "start cells" in position.explain(f"{number}d3")
        other = number % 6 + 1
        assert f"the {number} is next" in position.explain(f"{other}{cells[0]}")
        assert f"the {number} is next" in position.explain(f"{number}off")
        assert Position.from_text("halma_dominari", str(position)) == position
        taken = set(cells) & set(stones_of(position))
        assert all("not free" in position.explain(f"{number}{square}") for square in taken)
        position.play(f"{number}{cells[number - 1]}")
    assert position == Position("halma_dominari", setup=("123456", "123456"))


@pytest.mark.parametrize(
    "value",
    [
        "chosen",
        "123456",
        3,
        ("123456",),
        ("123456", "12345"),
        ("123456", "123455"),
        ("123456", "123450"),
        ("123456", "1234567"),
        ("123456", "abcdef"),
        ("123456", 123456),
    ],
)
def test_wrong_setups(value: object) -> None:
    with pytest.raises(OptionError, match="setup="):
        Position("halma_dominari", setup=value)


# ---- names and texts ----


def test_action_numbers_and_names() -> None:
    position = Position("halma_dominari")
    assert position.num_actions == 222
    cells = [f"{file}{rank}" for rank in range(6, 0, -1) for file in "abcdef"]
    names = [f"{n}{square}" for n in range(1, 7) for square in cells]
    names += [f"{n}off" for n in range(1, 7)]
    assert [position.move_name(a) for a in range(222)] == names
    assert [position.parse_move(name) for name in names] == list(range(222))


@pytest.mark.parametrize("name", ["7a1", "0a1", "1g1", "1a7", "off", "7off", "1of", "a1", "11a1"])
def test_invalid_move_names_are_refused(name: str) -> None:
    with pytest.raises(MoveNameError, match=name):
        Position("halma_dominari").parse_move(name)


@pytest.mark.parametrize(
    ("stones", "mover", "words", "where"),
    [
        ("1a1 1b3 af6", "w", "", "1 (white's 1) lies on b3 and a1"),
        ("1a1 af6 ae3", "b", "", "a (black's 1) lies on f6 and e3"),
        ("1a1 aa5", "w", "", "the number 1 lies twice in one row, column or block, on a5 and a1"),
        ("1a1 ab2", "w", "", "on b2 and a1"),
        ("1a1", "w", "", "a player has no stones"),
        ("af6", "w", "", "a player has no stones"),
        ("4b4 dc5 1f5 ae3", "w", "result=0", "result=0"),
        ("1f6 ac3", "w", "result=1", "result=1"),
        ("ac3", "w", "result=-1", "result=-1"),
        ("ac3", "b", "result=1", "result=1"),
        ("ac3", "w", "result=0", "result=0"),
        ("", "w", "result=1", "result=1"),
        ("ac3", "w", "result=2", "result=2"),
        ("1a1 af6", "w", "stage=play", "stage=play"),
        ("1a1 af6", "b", "stage=choose", "stage=choose"),
        ("2a1", "b", "stage=choose", "stage=choose"),
        ("1a1", "w", "stage=choose", "stage=choose"),
        ("1a1 2b1", "b", "stage=choose", "stage=choose"),
        ("1c3", "b", "stage=choose", "white's 1 on c3"),
        ("1a1", "b", "stage=choose result=0", "stage=choose"),
        ("1a1 af6", "w", "turn=3", "turn=3"),
        ("1f4 2a2 ac6", "x", "", "the side to move is 'x'"),
        ("7a1", "w", "", "'7' in row 6 from the top, column 1"),
    ],
)
def test_texts_that_are_refused(stones: str, mover: str, words: str, where: str) -> None:
    board = board_text({word[1:]: word[0] for word in stones.split()})
    with pytest.raises(PositionError) as raised:
        Position.from_text("halma_dominari", f"{board} {mover} {words}")
    assert where in str(raised.value)


def test_a_complete_setup_is_not_a_setup_stage() -> None:
    text = str(Position("halma_dominari", setup=("123456", "123456"))) + " stage=choose"
    with pytest.raises(PositionError, match="stage=choose"):
        Position.from_text("halma_dominari", text)


# ---- observation, evaluation, scene ----


def test_observation() -> None:
    position = at("1a1 3c4 bf6 cd2", "b")
    names = [plane.name for plane in PLANES]
    white, black = (
        dict(zip(names, position.observation(player), strict=True)) for player in (0, 1)
    )

    def lit(plane: np.ndarray) -> set[str]:
        return {f"{'abcdef'[c]}{6 - r}" for r, c in np.argwhere(plane).tolist()}

    assert lit(white["own 1"]) == lit(black["opposing 1"]) == {"a1"}
    assert lit(white["own 3"]) == lit(black["opposing 3"]) == {"c4"}
    assert lit(white["opposing 2"]) == lit(black["own 2"]) == {"f6"}
    assert lit(white["own 2"]) == set()
    cells = {f"{file}{rank}" for file in "abcdef" for rank in range(1, 7)}
    free = cells - {"a1", "c4", "f6", "d2"}
    assert lit(white["room 1"]) == free
    assert lit(white["room 3"]) == {s for s in free if obeys({"d2": "c", s: "3"})}
    assert lit(black["room 3"]) == {s for s in free if obeys({"c4": "3", s: "c"})}
    assert [int(white[n][0, 0]) for n in ("to move", "over", "white", "laying")] == [0, 0, 1, 0]
    assert [int(black[n][0, 0]) for n in ("to move", "over", "white", "laying")] == [1, 0, 0, 0]
    laying = Position("halma_dominari", setup="choose").observation(0)
    assert laying[names.index("laying")].all()
    assert laying[names.index("to move")].all()


def test_evaluate_is_progress_and_symmetric() -> None:
    rng, position = random.Random(5), Position("halma_dominari", seed=5)
    assert halma.evaluate(position.state[0], 0) == 0
    while not position.is_over:
        before, mover = position.state[0], position.to_move
        value = halma.evaluate(before, mover)
        assert value == -halma.evaluate(before, 1 - mover)
        position.play(rng.choice(position.legal_actions()))
        assert halma.evaluate(position.state[0], mover) > value
    assert halma.evaluate(at("1f6 aa1").state[0], 0) == 0
    assert halma.evaluate(at("1f5 aa1").state[0], 0) == -1
    assert halma.evaluate(at("1c3 ba1").state[0], 0) == -6


def test_no_start_is_more_than_52_away() -> None:
    """The bound in the rules file: the six cells farthest from f6."""
    ways = sorted(5 - "abcdef".index(f) + 6 - r for f in "abcdef" for r in range(1, 7))
    assert sum(ways[-6:]) == 52
    assert halma.MAX_STEPS == 12 + (52 + 6) + (52 + 6 - 1)


def test_scene() -> None:
    scene = at("1a1 af6 2c3", "b").scene()
    assert scene.board == "dominari36"
    assert [(s.colour, s.label) for s in scene.stones if s] == [
        ("black", "1"),
        ("white", "2"),
        ("white", "1"),
    ]
    assert [(name, [s.label for s in stones]) for name, stones in scene.trays] == [
        ("white borne off", ["3", "4", "5", "6"]),
        ("black borne off", ["2", "3", "4", "5", "6"]),
    ]
    assert scene.notes == ("player_1 (black) to move",)
    laying = Position("halma_dominari", setup="choose").scene()
    assert [name for name, _ in laying.trays] == ["white to place", "black to place"]
