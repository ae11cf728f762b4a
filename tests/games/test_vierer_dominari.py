"""Vierer-Dominari: cases worked out by hand from `docs/games/vierer_dominari.md`."""

from __future__ import annotations

import functools

import pytest

from azumaya.envs import PositionError, raw
from azumaya.envs.errors import IllegalActionError, MoveNameError, OptionError
from azumaya.envs.geometry.dominari36 import SQUARES
from tests.games.dominari import after, at, board, cells, legal, words

GAME = "vierer_dominari"
EMPTY = "....../....../....../....../....../......"
ONE = "....../....../..3.../....../....../......"
CORNER = ".1e.../..2c5a/....../....../....../...... w"
"""White's 4 on a6 makes the last two cells of its block dead."""

start = functools.partial(at, GAME)


# ---- actions ----


def test_actions_are_numbered_as_the_page_says() -> None:
    position = start()
    assert position.num_actions == 217
    assert position.move_name(0) == "1a6"
    assert position.parse_move("5f1") == 179
    assert position.parse_move("wa6") == 180
    assert position.parse_move("end") == 216
    assert start(referee=False).parse_move("claim") == 217
    assert start(referee=False).num_actions == 218


def test_a_blank_is_named_by_the_colour_of_the_mover() -> None:
    white, black = start(), after(start(), "3c4")
    assert white.move_name(180) == "wa6"
    assert black.move_name(180) == "ba6"
    assert black.parse_move("ba6") == 180
    with pytest.raises(MoveNameError, match="ba6"):
        black.parse_move("wa6")


@pytest.mark.parametrize("name", ["6a1", "claim", "we7", "ga1", "5a", "END", "0a1", "xa1"])
def test_invalid_move_names_are_refused(name: str) -> None:
    with pytest.raises(MoveNameError):
        start().parse_move(name)


# ---- rule 1 ----


def test_the_first_number_goes_anywhere() -> None:
    assert len(legal(start())) == 180


def test_later_numbers_go_beside_a_stone_but_not_diagonally() -> None:
    position = after(start(), "3c4")
    expected = {f"{n}{cell}" for n in "1245" for cell in ("b4", "d4", "c5", "c3")}
    assert legal(position) == expected
    assert "no stone lies beside b5" in position.explain("1b5")
    assert "row of d4 has a 3 on c4" in position.explain("3d4")
    assert "is legal" in position.explain("1d4")
    for square in ("b4", "d4", "c5", "c3"):
        assert "it lies beside the stone on c4" in position.explain(f"1{square}")
    assert "no stone lies beside e4" in position.explain("1e4")


def test_a_blank_counts_as_a_stone_to_lay_beside() -> None:
    position = after(start(CORNER), "4a6 wa5 end")
    assert "a4" in cells(position)
    assert "b4" not in cells(position)


# ---- dead cells and blanks ----


def test_the_dead_cell_of_the_rule_text() -> None:
    """2, 3, 5 in the middle block, 4 and 5 in the row, 1 and 3 in the column."""
    position = start("....../....../..2cea/..5.4./..4a../...... w")
    assert position.scene().dead == {position.parse_move("1d3")}
    filling = after(position, "3b3")
    assert legal(filling) == {"wd3", "end"}
    assert filling.to_move == 0
    assert "wd3 is legal: d3 is dead" in filling.explain("wd3")
    assert "f6 is not dead, since 2, 3, 4 and 5 may still be placed there" in filling.explain("wf6")
    assert after(filling, "wd3").returns() == (1, -1)  # b3, c3, d3, e3


def test_without_dead_cells_a_turn_ends_at_once() -> None:
    position = after(start(), "3c4")
    assert words(position) == ["b"]
    assert "turn begins with a number" in position.explain("end")
    assert "only after the number" in position.explain("ba6")


def test_blanks_are_laid_one_by_one_until_end() -> None:
    position = after(start(CORNER), "4a6")
    assert legal(position) == {"wa5", "wb5", "wd6", "end"}
    assert words(position) == ["w", "phase=blanks"]
    assert "only blanks" in position.explain("1a4")
    position.play("wd6")
    assert legal(position) == {"wa5", "wb5", "end"}
    assert "taken by a white blank" in position.explain("wd6")
    position.play("end")
    assert words(position) == ["b"]


def test_a_dead_cell_may_be_filled_by_the_opponent_later() -> None:
    position = after(start(CORNER), "4a6 end 4d4")
    assert {"ba5", "bb5", "bd6", "end"} <= legal(position)


BLANKS_11 = "WBW2ec/bBe1W4/1dbWBB/W2ce4./B34Bbe/41..3. b"
BLANKS_12 = "WBW2ec/bBe1W4/1dbWBB/W2ce4./B34Bbe/41W.3. b"


def test_both_players_share_the_twelve_blanks() -> None:
    """With eleven blanks on the board one more may be laid, which ends the turn."""
    position = after(start(BLANKS_11), "1f3")
    assert legal(position) == {"bc1", "bd1", "bf1", "end"}
    position.play("bc1")
    assert position.is_over
    assert position.returns() == (0, 0)


def test_without_blanks_left_there_is_no_blank_phase() -> None:
    """Three cells are dead, but the game ends at once, drawn: no number can be laid."""
    position = after(start(BLANKS_12), "1f3")
    assert words(position) == ["b", "result=0"]
    assert position.is_terminated


# ---- rules 3 and 4 ----


def test_white_wins_with_four_in_a_row() -> None:
    position = after(start(), "1a1 3a2 2b1 4b2 3c1 1c2")
    assert not position.is_over
    position.play("4d1")
    assert position.returns() == (1, -1)
    assert position.is_terminated
    assert position.to_move == 0


def test_black_wins_with_four_in_a_column() -> None:
    position = after(start(), "1c3 2d3 3c4 4d4 2c5 1d5 5e5 3d2")
    assert position.returns() == (-1, 1)
    assert position.to_move == 1


def test_four_numbers_that_fill_a_block_win() -> None:
    position = after(start("....../....../....../d...../12cd../3..... w"), "4b1")
    assert position.returns() == (1, -1)


def test_four_in_a_square_that_is_no_block_do_not_win() -> None:
    position = after(start("....../....../....../....../e12d../.3.e.. w"), "1c1")
    assert not position.is_over


def test_four_in_a_line_must_not_wrap_around_the_edge() -> None:
    """White is on e6, f6, a5 and b5, which have adjacent numbers but are not in a line."""
    position = start(".....1/24a3eb/....../....../....../...... w", referee=False)
    assert not after(position, "3e6").is_over


def test_blanks_on_dead_cells_fill_the_block_and_win() -> None:
    """The rule text's example: the 4 in the corner makes the block's last cells dead."""
    position = after(start(CORNER), "4a6 wa5")
    assert not position.is_over
    position.play("wb5")
    assert position.returns() == (1, -1)
    assert board(position) == "41e.../WW2c5a/....../....../....../......"
    assert words(position) == ["w", "result=1"]


def test_black_can_fill_the_block_the_same_way() -> None:
    text = ".a5.../..b3e1/....../....../....../...... b"
    position = after(start(text, referee=False), "4a6 ba5")
    assert not position.is_over
    assert after(position, "bb5").returns() == (-1, 1)


def test_the_game_is_drawn_if_no_number_can_be_laid() -> None:
    position = after(start(BLANKS_11), "1f3 end")
    assert position.is_terminated
    assert position.returns() == (0, 0)
    assert position.to_move == 1
    assert position.legal_moves() == []


# ---- without a referee ----


def test_the_mask_shows_wrong_numbers_without_a_referee() -> None:
    position = after(start(referee=False), "3c4")
    expected = {f"{n}{cell}" for n in "12345" for cell in ("b4", "d4", "c5", "c3")}
    assert legal(position) == expected | {"claim"}
    assert "only because there is no referee" in position.explain("3d4")
    assert "claim" not in legal(start(referee=False))


def test_a_claim_undoes_a_wrong_turn_and_the_claimant_continues() -> None:
    position = after(start(referee=False), "3c4 3b4")
    assert words(position) == ["w", "claim=1", f"undo={ONE}", "turns=2"]
    position.play("claim")
    assert str(position) == f"{ONE} w turns=2"
    assert "claim" not in legal(position)
    assert "claim" in legal(after(position, "1c5"))


def test_a_claim_against_a_correct_turn_is_used_up() -> None:
    position = after(start(referee=False), "3c4 claim")
    assert str(position) == f"{ONE} b turns=1"
    assert "claimed already" in position.explain("claim")
    assert "claim" in legal(after(position, "1c5"))


def test_an_earlier_mistake_of_either_player_makes_a_draw() -> None:
    for moves, claimant in (
        ("3c4 3b4 1c5", 1),  # black's own
        ("3c4 3b4 1c5 2d4", 0),
        ("3c4 1c5 3b4 2d4", 0),  # white's own
        ("3c4 1c5 3b4 2d4 4d5", 1),
    ):
        position = after(start(referee=False), moves + " claim")
        assert position.is_terminated
        assert position.returns() == (0, 0)
        assert position.to_move == claimant


def test_a_wrong_last_turn_is_undone_before_earlier_mistakes_count() -> None:
    position = after(start(referee=False), "3c4 3b4 3d4 claim")
    assert not position.is_over
    assert board(position) == "....../....../.c3.../....../....../......"
    assert position.to_move == 1
    assert after(position, "1c5 claim").is_terminated


def test_a_claim_is_the_first_step_of_a_turn_only() -> None:
    position = after(start(CORNER, referee=False), "4a6")
    assert "claim" not in legal(position)
    assert "first step" in position.explain("claim")


def test_a_claim_undoes_the_blanks_of_the_turn() -> None:
    before = ".....2/....55/.....c/....ad/.....5/......"
    text = f".....2/....55/.....c/....ad/....a5/.....B w claim=1 undo={before} turns=8"
    undone = after(start(text, referee=False), "claim")
    assert undone == start(f"{before} w turns=8", referee=False)
    assert str(undone) == f"{before} w turns=8"


BLACK_TOO = ".3..../33c.../....../....../....../......"
THREE = ".3..../33..../....../....../....../......"


def test_a_wrong_turn_cannot_win() -> None:
    """The 3 on a6 would fill the block, but it is undone at once, and black is to move."""
    position = after(start(f"{THREE} w turns=6", referee=False), "3a6")
    assert str(position) == f"{THREE} b turns=7"
    assert "claim" not in legal(position)


def test_a_correct_turn_on_a_wrong_board_may_win() -> None:
    position = after(start(f"{THREE} w turns=6", referee=False), "1a6")
    assert position.returns() == (1, -1)
    assert words(position) == ["w", "turns=7", "result=1"]


def test_a_blank_of_a_wrong_turn_cannot_win() -> None:
    """White's 1 on f4 was wrong; the blank on e3 would make four in the column."""
    before = "...d41/...12a/..aa3./..e.../....../......"
    position = start(f"{before} w turns=10", referee=False)
    position.play("1f4")
    assert words(position) == ["w", "phase=blanks", f"undo={before}", "turns=10"]
    assert str(after(position, "we3")) == f"{before} b turns=11"


def test_a_wrong_turn_cannot_make_a_draw() -> None:
    """After any number on f3 no other can be laid, but only the 1 is correct."""
    position = start(BLANKS_12, referee=False)
    undone = after(position, "2f3")
    assert board(undone) == board(position)
    assert words(undone) == ["w", "turns=1"]
    assert after(undone, "1f3").is_terminated


def test_after_200_turns_the_game_is_cut_off() -> None:
    position = after(start(f"{ONE} b turns=199", referee=False), "3b4")
    assert position.is_truncated
    assert not position.is_terminated
    assert position.returns() == (0, 0)
    assert position.to_move == 0
    assert words(position) == ["w", "turns=200", "result=limit"]


def test_an_undone_winning_turn_counts_towards_the_limit() -> None:
    position = after(start(f"{THREE} w turns=199", referee=False), "3a6")
    assert position.is_truncated
    assert str(position) == f"{THREE} b turns=200 result=limit"


def test_an_end_by_the_rules_comes_before_the_limit() -> None:
    position = after(start(f"{THREE} w turns=199", referee=False), "1a6")
    assert position.is_terminated
    assert position.returns() == (1, -1)


def test_claims_do_not_count_towards_the_limit() -> None:
    text = f"....../....../.c3.../....../....../...... w claim=1 undo={ONE} turns=199"
    position = after(start(text, referee=False), "claim")
    assert str(position) == f"{ONE} w turns=199"
    assert after(position, "1c5").is_truncated


def test_two_hundred_undone_turns_end_the_game() -> None:
    """Turns undone by claims count: the 200th ends the game."""
    position = after(start(referee=False), "3c4")
    for _ in range(198):
        position.play("3b4" if position.to_move else "3d4").play("claim")
    assert words(position)[-1] == "turns=199"
    assert after(position, "1b4").is_truncated


# ---- texts ----


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("6...../....../....../....../....../...... b", "'6' in row 1"),
        ("1a..../....../....../....../....../...... w", "twice .* a6 and b6"),
        ("....../....../....../d...../12cd../34.... b", "four in a line"),
        (f"{ONE} b phase=blanks", "no dead cell"),
        (f"{ONE} b phase=end", "must be blanks"),
        (f"{ONE} b claim=1", "referee=False"),
        (f"{ONE} b undo={EMPTY}", "referee=False"),
        (f"{ONE} b turns=3", "referee=False"),
        (f"{ONE} w result=1", "not how this game ends"),
        (f"{ONE} w result=0", "not how this game ends"),
        (f"{ONE} w result=limit", "referee=False"),
        (BLANKS_12.replace("./B34", "a/B34").replace(" b", " w"), "cannot place"),
        (BLANKS_12.replace("1W.3", "1WW3"), "13 blanks"),
    ],
)
def test_impossible_texts_are_refused(text: str, error: str) -> None:
    with pytest.raises(PositionError, match=error):
        start(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{EMPTY} b",
        "1...../....../....../....../....../...... w",
        "1b..../....../....../....../....../...... b",
        "1....b/....../....../....../....../...... w",
        "W1..../b...../....../....../....../...... w",
        BLANKS_12.replace(" b", " w"),
    ],
)
def test_study_positions_need_no_history(text: str) -> None:
    """These positions occur in no game, but can be played from, as for studies."""
    assert str(start(text)) == text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (f"{ONE} b turns=200", "from 0 to 199"),
        (f"{ONE} b turns=199 result=limit", "needs turns=200"),
        (f"{ONE} b claim=1", "needs turns="),
        (f"{ONE} b claim=0 turns=1", "from 1 to 1"),
        (f"{ONE} w claim=1 turns=1", "black has placed no number"),
        (f"{ONE} b turns=1 undo={EMPTY}", "needs claim=1"),
        (f"{ONE} b claim=1 turns=1 undo={EMPTY}", "broke no rule"),
        (f"{ONE} b claim=1 turns=1 undo={ONE}", "without one number"),
        (f"{ONE} b claim=1 turns=1 undo=3", "1 rows"),
        (
            f"{THREE} b claim=1 turns=9 undo=.3..../.3..../....../....../....../c.....",
            "without one",
        ),
        (
            f"{BLACK_TOO} w claim=1 turns=9 undo=.3..../.3c.../....../....../....../......",
            "be black",
        ),
        (
            f"{THREE} b claim=1 turns=9 undo=.c..../3...../....../....../....../......",
            "these colours: b6",
        ),
        (
            f"{THREE} b claim=1 turns=9 undo=.3..../3...../....../....../....../.....4",
            "without one",
        ),
        (
            f"{THREE[:-1]}B b claim=1 turns=9 undo=.3..../3...../....../....../....../......",
            "blanks placed in that turn must be white's: f1",
        ),
        (f"{THREE} b claim=1 phase=blanks turns=9", "a turn begins"),
        (f"{THREE} w phase=blanks turns=9", "no dead cell"),
        (f"{THREE} b turns=9 result=0 claim=1", "only while the game is running"),
    ],
)
def test_impossible_texts_are_refused_without_a_referee(text: str, error: str) -> None:
    with pytest.raises(PositionError, match=error):
        start(text, referee=False)


def test_blanks_of_a_wrong_turn_may_be_the_movers() -> None:
    text = f"{THREE[:-1]}W b claim=1 undo=.3..../3...../....../....../....../...... turns=9"
    assert str(start(text, referee=False)) == text


def test_a_stone_laid_again_after_an_undone_turn_is_not_given() -> None:
    """Given are the stones of the start that stay; the 3 on b5 could be undone, and was."""
    text = f"{THREE} b claim=1 turns=9 undo=.3..../3...../....../....../....../......"
    position = start(text, referee=False)

    def given() -> set[str]:
        stones = zip(SQUARES, position.scene().stones, strict=True)
        return {square for square, stone in stones if stone is not None and stone.given}

    assert given() == {"b6", "a5"}
    for move in ("claim", "1c6", "3b5"):
        position.play(move)
    assert given() == {"b6", "a5"}


def test_a_turn_undone_at_once_leaves_no_mark() -> None:
    """The cell that was touched is empty again."""
    position = start(f"{THREE} w", referee=False).play("3a6")
    assert board(position) == THREE
    assert position.scene(position.parse_move("3a6")).last == set()
    position.play("1c5")
    assert len(position.scene(position.parse_move("1c5")).last) == 1


def test_the_sudoku_rule_may_be_broken_without_a_referee_only() -> None:
    assert board(start(f"{THREE} w", referee=False)) == THREE
    with pytest.raises(PositionError, match="twice"):
        start(f"{THREE} w")


def test_the_referee_cannot_change_at_a_reset() -> None:
    env = raw(GAME)
    with pytest.raises(OptionError, match="number of actions"):
        env.reset(options={"referee": False})
    env.reset(seed=1, options={"referee": True})
    with pytest.raises(IllegalActionError, match="not an action"):
        env.step(217)


# ---- the evaluation used by greedy ----
