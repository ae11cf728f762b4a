"""Revers-Dominari: cases worked out by hand from `docs/games/revers_dominari.md`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from azumaya.envs import OptionError, PositionError
from azumaya.envs.games.revers_dominari.rules import captured, capturing
from azumaya.envs.kernels.bits import U64, board_of, cells_of
from tests.games.dominari import after, at, board, legal, words

GAME = "revers_dominari"

start = functools.partial(at, GAME)


def rows(rank4: str, rank3: str, rank5: str = "......", rank2: str = "......") -> str:
    """A board from its middle rows."""
    return f"....../{rank5}/{rank4}/{rank3}/{rank2}/......"


START = rows("..a2..", "..3d..")
"""The start with centre 1234: c4 and d3 black, d4 and c3 white."""

# ---- start and actions ----


def test_actions_are_numbered_as_the_page_says() -> None:
    position = start()
    assert position.num_actions == 289
    assert position.parse_move("6f1") == 215
    assert position.parse_move("wa6") == 216
    assert position.parse_move("ba6") == 252
    assert position.move_name(287) == "bf1"
    assert position.parse_move("end") == 288
    assert start(referee=False).parse_move("claim") == 289


def test_the_centre_is_what_the_option_says() -> None:
    assert str(start(centre="1234")) == f"{START} w"
    assert board(start(centre="6135")) == rows("..f1..", "..3e..")


def test_the_seed_draws_four_different_numbers() -> None:
    boards = {board(start(seed=seed)) for seed in range(40)}
    assert len(boards) > 30
    for drawn in boards:
        c4, d4, c3, d3 = drawn[16:18] + drawn[23:25]
        numbers = {"abcdef".index(c4), "abcdef".index(d3), int(d4) - 1, int(c3) - 1}
        assert len(numbers) == 4


@pytest.mark.parametrize("wrong", ["123", "12345", "1123", "1237", "0123", "abcd", 1234, (1, 2)])
def test_a_wrong_centre_is_refused(wrong: Any) -> None:
    with pytest.raises(OptionError, match="centre"):
        start(centre=wrong)


def test_whites_first_moves() -> None:
    """Each black stone can be captured from two sides; the numbers follow from the Sudoku rule."""
    expected = {"b4": "3456", "c5": "2456", "e3": "1256", "d2": "1356"}
    position = start(centre="1234")
    assert legal(position) == {f"{n}{cell}" for cell, digits in expected.items() for n in digits}
    assert "would capture nothing" in position.explain("5b3")
    assert "captures c4" in position.explain("5b4")


# ---- captures ----

CAPTURES = {
    "a: a row": "....../....../*XXo../....../....../......",
    "a: a single stone": "....../....../..oX*./....../....../......",
    "a: a column": "..*.../..X.../..X.../..o.../....../......",
    "a: from edge to edge, up": "...o../...X../...X../...X../...X../...*..",
    "a: all four ways": "..o.../..X.../oX*Xo./..X.../..o.../......",
    "a: not over a gap": "*x.o../....../....../....../....../......",
    "a: not without an own end": "*xx.../....../....../....../....../......",
    "a: not up to the edge": "..*xxx/....../....../....../....../......",
    "a: not round the edge": "....*x/o...../....../....../....../......",
    "a: not diagonally": "*...../.x..../..o.../....../....../......",
    "b: one": "*X..../.o..../....../....../....../......",
    "b: one, upright": "....../....o./....X*/....../....../......",
    "b: both": "....../....../....../..oX../..X*../......",
    "b: three round corners": "....../....../....../.oXo../.X*X../......",
    "b: not from the stone's other side": "*x..../..o.../....../....../....../......",
    "b: not a diagonal stone": "....../.x..../*o..../....../....../......",
    "b: not round the edge": "....../.....o/*...../x...../....../......",
    "c: beside": "....../..XX../..o*../....../....../......",
    "c: upright": "....../....../*X..../oX..../....../......",
    "c: two pairs": "....../..XXX./..o*o./....../....../......",
    "c: not one stone beside": "....../...x../..o*../....../....../......",
    "c: not one stone diagonal": "....../..x.../..o*../....../....../......",
    "c: not three": "....../..xx../..x*../....../....../......",
    "a and a: row and column": "o...../X...../*XXo../....../....../......",
    "a and c: pair and row": "....../....../...Xo./.oXX*./....../......",
    "b and c: pair above, corner below": "....../..XX../..o*../..oX../....../......",
    "together, not in turn": "....../.xx.../oX*.../....../....../......",
}
"""`*` is the new stone, `o` are the mover's, `x` the opponent's, and `X` those captured."""


def board_with(picture: str, marks: str) -> np.uint64:
    found = [i for i, mark in enumerate(picture.replace("/", "")) if mark in marks]
    return board_of(found, 1)[0]


@pytest.mark.parametrize("picture", CAPTURES.values(), ids=CAPTURES.keys())
def test_captures(picture: str) -> None:
    own, other = board_with(picture, "o"), board_with(picture, "xX")
    here, caught = board_with(picture, "*"), board_with(picture, "X")
    assert captured(own, other, here) == caught
    assert bool(U64(capturing(own, other)) & here) == bool(caught)


def test_captured_stones_change_their_colour_and_nothing_else() -> None:
    row = after(start(rows(".ea2..", "..3d..") + " w"), "6a4")
    assert str(row) == rows("6512..", "..3d..") + " b"
    column = after(start(rows("..12..", "..34..", rank2="...e..") + " b"), "6d5")
    assert board(column) == rows("..1b..", "..3d..", rank5="...f..", rank2="...e..")
    corner = after(start(rows("..a2..", ".e3d..", rank2="..f...") + " w"), "1b2")
    assert board(corner) == rows("..a2..", ".53d..", rank2=".16...")
    pair = after(start(rows("..a2..", "..3db.", rank2="...5..") + " w"), "6e2")
    assert board(pair) == rows("..a2..", "..342.", rank2="...56.")


# ---- blanks ----

FILLING = rows("34abe.", "..5d..") + " w"
"""White's 6 on e3 takes d3 and makes f4 dead."""
PAIRED = rows("34ab5.", "..5d..") + " w"
"""The same, but e4 is white: the 6 takes d4 too."""


def test_blanks_of_both_colours_may_be_laid() -> None:
    position = after(start(FILLING), "6e3")
    assert board(position) == rows("34abe.", "..546.")
    assert legal(position) == {"wf4", "bf4", "end"}
    assert words(position) == ["w", "phase=blanks"]


def test_a_blank_of_the_players_colour_captures_at_once() -> None:
    """The whole row turns white, which leaves black without stones and ends the game."""
    position = after(start(FILLING), "6e3 wf4")
    assert board(position) == rows("34125W", "..546.")
    assert words(position) == ["w", "result=1"]
    margin = after(start(FILLING, reward="margin"), "6e3 wf4")
    assert margin.returns() == (12, -12)  # eight numbers, a row with a blank, a block


def test_black_can_win_the_same_way() -> None:
    text = rows("cd125.", "..e4..") + " b"
    position = after(start(text), "6e3 bf4")
    assert position.returns() == (-1, 1)
    assert position.to_move == 1
    assert after(start(text, reward="margin"), "6e3 bf4").returns() == (-12, 12)


def test_a_blank_of_the_other_colour_never_captures() -> None:
    """Black's blank would enclose d4 and e4 with c4, had black laid it."""
    position = after(start(PAIRED), "6e3")
    assert board(position) == rows("34a25.", "..546.")
    assert str(after(position, "bf4")) == rows("34a25B", "..546.") + " b"
    for_white = after(start(FILLING), "6e3 bf4")
    assert board(for_white) == rows("34abeB", "..546.")  # nor does it capture for the mover


def test_a_blank_need_not_capture() -> None:
    assert board(after(start(PAIRED), "6e3 wf4")) == rows("34a25W", "..546.")
    assert str(after(start(PAIRED), "6e3 end")) == rows("34a25.", "..546.") + " b"


def test_blanks_are_captured_like_other_stones() -> None:
    """White's 1 on f3 captures the blank on f4, which is beside white's e4."""
    position = after(start(rows("34a25B", "..546.") + " w"), "1f3")
    assert board(position) == rows("34a25W", "..5461")


def test_blanks_capture_like_other_stones() -> None:
    """Black's 3 on f2 and the blank on f4 enclose f3."""
    position = after(start(rows("34a25B", "..5461") + " b"), "3f2")
    assert board(position) == rows("34a25B", "..546a", rank2=".....c")


# ---- skips and the end ----


def test_a_player_who_captures_nothing_is_skipped() -> None:
    """No empty cell is beside a black stone, so black moves again."""
    position = start("....../...21./264531/W4135./.2314./cef42W b")
    position.play("6a2")
    assert str(position) == "....../...21./264531/W4135./fb314./cef42W b"


def test_equal_points_are_a_draw() -> None:
    """Both have 21: 16 + 2 + 1 + 2, and 15 + 2 + 1 + 1 + 2."""
    position = start(".6W4ea/1W56Bb/62a53d/54cbaf/2341fe/W523dB b")
    position.play("3a6")
    assert str(position) == "cfBdea/1W56Bb/62a53d/54cbaf/2341fe/W523dB b result=0"
    assert position.is_terminated
    assert position.scene().notes[1] == "points: white 21, black 21"


# ---- without a referee ----


def test_the_mask_shows_wrong_numbers_without_a_referee() -> None:
    position = start(centre="1234", referee=False)
    expected = {f"{n}{cell}" for n in "123456" for cell in ("b4", "c5", "e3", "d2")}
    assert legal(position) == expected


def test_a_claim_turns_stones_back() -> None:
    position = after(start(centre="1234", referee=False), "1b4")
    assert board(position) == rows(".112..", "..3d..")
    assert words(position) == ["b", "claim=1", f"undo={START}", "turns=1"]
    position.play("claim")
    assert str(position) == f"{START} b turns=1"
    assert position.explain("claim").startswith("claim: no turn")


def test_a_claimant_who_cannot_lay_after_the_undo_is_skipped() -> None:
    """After the undo black's only stone is surrounded by white."""
    before = "....../....../.565../.3c2../.232../.26..."
    text = f"....../..c.../.5f5../.3c2../.232../.26... w claim=1 undo={before} turns=12"
    position = after(start(text, referee=False), "claim")
    assert str(position) == f"{before} b turns=12"


def test_a_wrong_number_cannot_end_the_game() -> None:
    """Black captures white's last stone, but with a second 2 in the column."""
    before = rows("..a2..", "..fd..", rank2="..d...")
    position = start(f"{before} b turns=3", referee=False)
    assert str(after(position, "2d5")) == f"{before} w turns=4"
    assert after(position, "5d5").returns() == (-1, 1)
    assert words(after(position, "5d5")) == ["b", "turns=4", "result=-1"]


def test_a_blank_of_a_wrong_turn_cannot_end_the_game() -> None:
    """There is already a 6 on b3; the blank would capture black's last stones."""
    before = rows("34abe.", ".65d..")
    position = after(start(f"{before} w", referee=False), "6e3")
    assert words(position) == ["w", "phase=blanks", f"undo={before}"]
    assert str(after(position, "wf4")) == f"{before} b turns=1"


def test_an_earlier_mistake_makes_a_draw() -> None:
    position = after(start(centre="1234", referee=False), "1b4 5b3 claim")
    assert position.is_terminated
    assert position.returns() == (0, 0)
    assert position.to_move == 0


def test_after_200_turns_the_game_is_cut_off() -> None:
    position = after(start(f"{START} w turns=199", referee=False, reward="margin"), "5b4")
    assert position.is_truncated
    assert position.returns() == (0, 0)
    assert words(position) == ["b", "turns=200", "result=limit"]
    wrong = rows("..a2..", "..fd..", rank2="..d...")
    undone = after(start(f"{wrong} b turns=199", referee=False), "2d5")
    assert str(undone) == f"{wrong} w turns=200 result=limit"
    ended = after(start(f"{wrong} b turns=199", referee=False), "5d5")
    assert ended.is_terminated


# ---- texts ----


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (rows("..a2..", "..1d..") + " w", "twice"),
        (rows("..12..", "..34..") + " w", "cannot place"),
        (f"{START} w phase=blanks", "no dead cell"),
        (rows("..12..", "..34..") + " w result=0", "not how this game ends"),
        (f"{START} w result=1", "not how this game ends"),
        (f"{START} w undofree=w", "unknown field"),
    ],
)
def test_impossible_texts_are_refused(text: str, error: str) -> None:
    with pytest.raises(PositionError, match=error):
        start(text)


@pytest.mark.parametrize(
    "text",
    [
        rows("..a...", "..3d..") + " w",
        rows("..aW..", "..3d..") + " w",
        rows("..a2..", "..3d..", rank2="5.....") + " w",
        rows("..a2..", "..3d..").replace(".3d", "B3d") + " w",
    ],
)
def test_study_positions_need_no_history(text: str) -> None:
    """These positions occur in no game, but can be played from, as for studies."""
    assert str(start(text)) == text


def test_the_result_must_fit_the_reward() -> None:
    ended = rows("..12..", "..34..")
    assert start(f"{ended} w result=1").returns() == (1, -1)
    assert start(f"{ended} w result=6", reward="margin").returns() == (6, -6)
    with pytest.raises(PositionError, match="not how this game ends"):
        start(f"{ended} w result=6")


@pytest.mark.parametrize(
    ("undo", "error"),
    [
        (START.replace("..a2", "..12"), "white could not place a number on b4"),
        (rows("..ab..", "..3d.."), "no turn changes these colours: d4"),
    ],
)
def test_impossible_undos_are_refused(undo: str, error: str) -> None:
    """White has just laid a wrong 1 on b4, which captured c4."""
    text = rows(".112..", "..3d..") + f" b claim=1 turns=1 undo={undo}"
    with pytest.raises(PositionError, match=error):
        start(text, referee=False)


def test_dead_cells_are_shown() -> None:
    dead = after(start(PAIRED), "6e3").scene().dead
    assert dead == frozenset(cells_of(board_of([17], 1)))
