"""Results of `evaluate`, worked out by hand; `tests/golden` has those of random games."""

from __future__ import annotations

import pytest

from azumaya.envs import Position, find_game


def evaluation(game: str, text: str) -> list[int]:
    """The evaluation of a position for player_0 and for player_1."""
    position = Position.from_text(game, text)
    evaluate = find_game(game).rules.evaluate
    return [int(evaluate(position.state[0], player)) for player in (0, 1)]


def test_moyo_on_the_empty_board() -> None:
    """Each side has 36 cells with nine candidates each."""
    board = "/".join(["........."] * 9)
    assert evaluation("sudoku_moyo", f"{board} l") == [0, 0]


def test_moyo_after_one_stone() -> None:
    """A 1 on a9, in a light corner.

    Light loses the eight other numbers on a9 and the 1 on all nine cells of the block. In row 9
    three dark cells (d to f) and three light ones (g to i) lose the 1, and in column a three light
    ones (rows 6 to 4) and three dark ones (rows 3 to 1).
    """
    board = "/".join(["1........", *["........."] * 8])
    light = -(8 + 9) - 3 - 3
    dark = -3 - 3
    assert evaluation("sudoku_moyo", f"{board} d") == [light - dark, dark - light]


POINTS = {
    "as many stones": ("....../....../..ba../..12../....../......", 0),
    "one white stone more": ("....../....../..ba../..12../..3.../......", 1),
    "a full white block": ("12..../34..../..ba../..12../....../......", 4 + 2),
    "the same with a blank": ("12..../3W..../..ba../..12../....../......", 4 - 1 + 1),
    "a full black row": ("abcdef/....../..ba../..12../....../......", -(6 + 3)),
    "a full black column with a blank": ("a...../b...../c.ba../d.12../e...../B.....", -(5 + 2)),
    "row, column and block in one": ("123456/4...../6.ba../5.12../3...../2.....", 11 + 3 + 3),
    "and the block": ("123456/45..../6.ba../5.12../3...../2.....", 12 + 3 + 3 + 2),
}
"""Boards with white's lead in points. Only colours and blanks count."""


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("game", ["revers_dominari", "score_dominari"])
def test_points(game: str, name: str) -> None:
    """A number counts 1, a full block 2, a full row or column 3, and one less with a blank."""
    board, lead = POINTS[name]
    marks = board.replace("/", "")
    states = find_game(game).new_states(1)
    states["colours"][0] = [bits(marks, "123456W"), bits(marks, "abcdefB")]
    states["blanks"] = bits(marks, "WB")
    evaluate = find_game(game).rules.evaluate
    assert [int(evaluate(states[0], player)) for player in (0, 1)] == [lead, -lead]


def bits(marks: str, wanted: str) -> int:
    """The cells with one of the wanted marks, as bits."""
    return sum(1 << cell for cell, mark in enumerate(marks) if mark in wanted)
