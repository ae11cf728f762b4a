"""Score-Dominari: cases worked out by hand from `docs/games/score_dominari.md`."""

from __future__ import annotations

import functools

import pytest

from azumaya.envs import PositionError
from tests.games.dominari import after, at, board, cells, legal, words

GAME = "score_dominari"
EXAMPLE = "cdB5fb/fB21ed/Befbc1/215cdW/46WWa5/5234B6"
"""The final position of the rule text: 15 and 14 numbers, and the houses it lists."""
APART = "..dbae/..6e.3/b6c4.a/ace.26/5a2cf./3b.154"
"""Numbers fit only on e5 and a6, and nobody has a stone beside a6."""

start = functools.partial(at, GAME)


# ---- rules 1 and 2 ----


def test_actions_are_numbered_as_the_page_says() -> None:
    position = start()
    assert position.num_actions == 253
    assert position.parse_move("wf1") == 251
    assert position.parse_move("end") == 252
    assert after(position, "1a1").parse_move("bf1") == 251
    assert start(referee=False).parse_move("claim") == 253


def test_the_first_numbers_go_to_the_corners() -> None:
    position = start()
    assert legal(position) == {f"{n}a1" for n in "123456"}
    assert "white's first number goes to a1" in position.explain("1f6")
    position.play("3a1")
    assert legal(position) == {f"{n}f6" for n in "123456"}
    assert "black's first number goes to f6" in position.explain("1a2")


def test_later_numbers_go_beside_own_stones_also_diagonally() -> None:
    position = after(start(), "3a1 3f6")
    assert legal(position) == {f"{n}{cell}" for n in "12456" for cell in ("a2", "b1", "b2")}
    assert "no white stone lies beside e5, even diagonally" in position.explain("1e5")
    for square in ("a2", "b1", "b2"):
        assert "is legal" in position.explain(f"1{square}")
        assert "it lies beside the white stone on a1" in position.explain(f"1{square}")


def test_an_own_blank_counts_as_a_stone_to_lay_beside() -> None:
    text = ".....b/....../abcde./.....f/....../6..... w"
    position = after(start(text), "1b1")
    assert legal(position) == {"wf4", "end"}
    without = after(position, "end 3a5 end")
    assert cells(without) == {"a2", "b2", "c1", "c2"}
    with_blank = after(position, "wf4 3a5")
    assert cells(with_blank) == {"a2", "b2", "c1", "c2", "e5", "f5", "e3"}


# ---- rule 3 ----


def test_a_player_who_cannot_lay_is_skipped_and_may_then_lay_anywhere() -> None:
    """Every cell beside a white stone is occupied."""
    position = start(".....b/.b...a/afBebc/c4bafW/634215/251634 b")
    position.play("4e6")
    assert str(position) == "....db/.b...a/afBebc/c4bafW/634215/251634 b free=w"
    position.play("5e5")
    assert words(position) == ["w", "free=w"]
    assert cells(position) == {"a6", "b6", "c6", "d6", "a5", "c5", "d5"}
    assert "skipped and may place a number on any empty cell" in position.explain("3c6")


def test_the_right_takes_precedence_over_the_corner() -> None:
    """White has no stone and a1 is occupied, so white is skipped and may then begin anywhere."""
    position = after(start("....../....../....../....../....../a....b b"), "1e2")
    assert words(position) == ["b", "free=w"]
    assert start(str(position)) == position
    position = after(position, "3e1")
    assert words(position) == ["w", "free=w"]
    assert len(cells(position)) == 32
    assert "skipped and may place a number on any empty cell" in position.explain("4a6")
    assert words(after(position, "4a6")) == ["b"]


def test_the_right_is_used_up_by_the_next_number() -> None:
    position = after(start("....db/.b...a/afBebc/c4bafW/634215/251634 b free=w"), "5e5 3d6")
    assert board(position).startswith("...3db/.b..ea/")
    assert words(position) == ["b"]
    position.play("1b6")
    assert cells(position) == {"c5", "c6", "d5"}  # around d6; not a5 or a6, which are not dead


def test_both_may_have_the_right_at_once() -> None:
    """After white's 4 only a6 is left, and neither player has a stone beside it."""
    position = after(start(f"{APART} w"), "4e5 end")
    assert words(position) == ["b", "free=wb"]
    assert legal(position) == {"6a6"}
    position.play("6a6")
    assert words(position)[:1] == ["b"]
    assert "free=w" in words(position)


# ---- rule 5 ----


def test_the_scoring_example_of_the_rule_text() -> None:
    """White 15 + 2 + 1 = 18, black 14 + 2 + 1 + 2 = 19."""
    position = start(f"{EXAMPLE} b result=-1")
    assert position.scene().notes[1] == "points: white 18, black 19"
    assert position.returns() == (-1, 1)


def test_the_last_blank_decides() -> None:
    """The blank on e1 fills the fifth column for black."""
    before = start("cdB5fb/fB21ed/Befbc1/215c.W/46WWa5/5234.6 b")
    full = after(before, "4e3 be1")
    assert str(full) == f"{EXAMPLE} b result=-1"
    assert full.to_move == 1
    assert after(before, "4e3 end").returns() == (1, -1)


def test_the_margin_is_the_difference_of_the_points() -> None:
    """White 17 + 2 + 2 + 3, black 13 + 2 + 1 + 3."""
    text = ".2Bdaf/56B1bc/6W13e4/1d2fcB/253BdB/435bfa w"
    assert after(start(text, reward="margin"), "3a6").returns() == (5, -5)
    assert after(start(text), "3a6").returns() == (1, -1)


def test_equal_points_are_a_draw() -> None:
    """Both have 23: 16 + 2 + 2 + 3, and 14 + 2 + 1 + 1 + 3 + 2."""
    position = start(".2Bdaf/56B1bc/6W13ed/1d2fcB/253BdB/435bfa w")
    position.play("3a6")
    assert words(position) == ["w", "result=0"]
    assert position.scene().notes[1] == "points: white 23, black 23"


def test_the_game_goes_on_while_a_cell_is_not_dead() -> None:
    """Neither player can lay by rule 2, but a6 is not dead."""
    position = after(start(f"{APART} w"), "4e5 end")
    assert not position.is_over
    assert after(position, "6a6 end").is_terminated


# ---- without a referee ----


def test_the_mask_shows_wrong_numbers_without_a_referee() -> None:
    position = after(start(referee=False), "3a1 3f6")
    expected = {f"{n}{cell}" for n in "123456" for cell in ("a2", "b1", "b2")}
    assert legal(position) == expected | {"claim"}
    assert legal(start(referee=False)) == {f"{n}a1" for n in "123456"}


def test_a_claim_undoes_a_wrong_turn() -> None:
    position = after(start(referee=False), "3a1 3f6 3b2")
    corners = ".....c/....../....../....../....../3....."
    assert words(position) == ["b", "claim=1", f"undo={corners}", "turns=3"]
    assert str(after(position, "claim")) == f"{corners} b turns=3"
    assert after(position, "1e5 claim").is_terminated


def test_an_undo_restores_the_right_to_lay_anywhere() -> None:
    before = "daaaaa/edaeaa/44d4ae/541e5d/.44464/444..5"
    text = f"{before.replace('4..5', '4.f5')} w claim=1 undo={before} turns=45 undofree=b"
    position = after(start(text, referee=False), "claim")
    assert str(position) == f"{before} w turns=45 free=b"


def test_an_undo_removes_later_rights() -> None:
    """White's second 1 in the row leaves both without a move; the undo removes both rights."""
    before = "..e.ad/..4f5b/5a62d3/3fae2./acbd.6/6b31.e"
    position = after(start(f"{before} w", referee=False), "1d6 end")
    assert words(position) == ["b", "claim=1", f"undo={before}", "turns=1", "free=wb"]
    assert str(after(position, "claim")) == f"{before} b turns=1"


def test_a_claimant_who_cannot_lay_after_the_undo_is_skipped() -> None:
    """d6 is surrounded by white, so after the undo black cannot lay and gets the right."""
    before = "..5.1d/..465b/51f24c/36a52./1c2d.6/62ca.e"
    position = after(start(f"{before} w", referee=False), "1d6 end")
    assert words(position) == ["b", "claim=1", f"undo={before}", "turns=1", "free=wb"]
    assert str(after(position, "claim")) == f"{before} w turns=1 free=b"


LAST = ".1bbbb/2aabbb/2bbbaa/1ab221/b11121/111222"


def test_both_players_see_the_rights_that_an_undo_would_restore() -> None:
    position = start(f"{LAST[:-6]}.11222 b turns=37 free=b", referee=False)
    position.play("1a6")
    assert words(position)[-1] == "undofree=b"
    for player, seen in ((0, (0, 0, 0, 1)), (1, (0, 0, 1, 0))):
        planes = position.game.observation.planes
        values = {plane.name: int(position.observation(player)[i].max())
                  for i, plane in enumerate(planes)}  # fmt: skip
        names = ("own right", "opposing right", "prior own right", "prior opposing right")
        assert tuple(values[name] for name in names) == seen
        assert (values["turns"], values["late turns"]) == (38, 0)


def test_a_wrong_turn_cannot_end_the_game() -> None:
    position = start(f"{LAST} b turns=37", referee=False)
    assert str(after(position, "2a6")) == f"{LAST} w turns=38"
    ended = after(position, "3a6")
    assert ended.is_terminated
    assert words(ended)[:2] == ["b", "turns=38"]


def test_undoing_a_wrong_last_turn_restores_the_right() -> None:
    position = start(f"{LAST} b turns=37 free=b", referee=False)
    assert str(after(position, "2a6")) == f"{LAST} w turns=38 free=b"


def test_after_200_turns_the_game_is_cut_off() -> None:
    text = ".....c/....../....../....../....../3..... w turns=199"
    position = after(start(text, referee=False), "3b2")
    assert position.is_truncated
    assert position.returns() == (0, 0)
    assert words(position) == ["b", "turns=200", "result=limit"]
    assert str(after(start(f"{LAST} b turns=199", referee=False), "2a6")).endswith("result=limit")
    assert after(start(f"{LAST} b turns=199", referee=False), "3a6").is_terminated


# ---- texts ----

NO_WHITE = str.maketrans("123456", "......")
CORNERS = ".....c/....../....../....../....../3....."


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (f"{CORNERS[:-6]}33.... w", "twice"),
        (f"{CORNERS} w free=x", "must be w, b or wb"),
        ("....../....../....../....../....../...... w free=w", "the first number on a1"),
        ("....../....../....../....../....../3..... b free=b", "the first number on f6"),
        (f"{CORNERS} w undofree=w", "only with undo="),
        (f"{CORNERS} w result=0", "not how this game ends"),
        (f"{EXAMPLE} b result=1", "not how this game ends"),
        (f"{EXAMPLE} b", "cannot place"),
        (".....c/....../....../....../....../W..... w", "white has blanks but no number"),
        (".....B/....../....../....../....../3..... w", "black has blanks but no number"),
        (f"{EXAMPLE.translate(NO_WHITE)} b result=-1", "white has blanks but no number"),
    ],
)
def test_impossible_texts_are_refused(text: str, error: str) -> None:
    with pytest.raises(PositionError, match=error):
        start(text)


@pytest.mark.parametrize(
    "text",
    [
        "....../....../....../....../....../...... b",
        ".....c/....../....../....../....../...... w",
        "....../....../....../....../....../31.... b",
        "1....c/....../....../....../....../W..... w",
        ".....c/....../....../....../....../.3.... w",
    ],
)
def test_study_positions_need_no_history(text: str) -> None:
    """These positions occur in no game, but can be played from, as for studies."""
    assert str(start(text)) == text


@pytest.mark.parametrize(
    ("tail", "error"),
    [
        (f"b claim=1 turns=3 undo={CORNERS} free=w", "no turn leads from the rights"),
        (f"b claim=1 turns=3 undo={CORNERS} free=b", "no turn leads from the rights"),
        (f"b claim=1 turns=3 undo={CORNERS} undofree=b", "no turn leads from the rights"),
        ("b claim=1 turns=3 undofree=w", "only with undo="),
        (f"b claim=1 turns=3 undo={CORNERS[:-6]}......", "one number"),
    ],
)
def test_impossible_rights_are_refused(tail: str, error: str) -> None:
    """White has just laid a wrong 3 on b2."""
    wrong = ".....c/....../....../....../.3..../3....."
    with pytest.raises(PositionError, match=error):
        start(f"{wrong} {tail}", referee=False)


def test_an_undo_cannot_lead_to_blanks_without_a_number() -> None:
    """White's 3 on b1 is wrong because of black's on c1, but before it white had only a blank."""
    empty = "....../" * 5
    text = f"{empty}W3c... b claim=1 undo={empty}W.c... turns=3"
    with pytest.raises(PositionError, match="undo=: white has blanks but no number"):
        start(text, referee=False)
    numbered = text.replace("....../", "..1.../", 1).replace("undo=....../", "undo=..1.../")
    assert str(start(numbered, referee=False)) == numbered
