"""Scenes as text, with and without colours."""

from __future__ import annotations

import re
from io import StringIO

import pytest

from azumaya.envs import Position
from azumaya.envs.render import Renderer, ansi_of, palette
from azumaya.envs.render.ansi import wants_colour
from tests.render.scenes import BLANKS, MARBLES, REGIONS, SCENES, TALL, TILES, WIDE

ESCAPE = re.compile(r"\x1b\[[\d;]*m")


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


def test_blanks_without_colours() -> None:
    """The whole text: numbers with their colours, blanks, a dead cell, the last move, trays."""
    assert ansi_of(BLANKS, colour=False) == (
        "player_1 (black) to move\n"
        " 6  x   .  | .   .  | .   .\n"
        " 5  .   .  | .   .  | .   .\n"
        "   --------+--------+--------\n"
        " 4  .   .  | 3w >6b | .   .\n"
        " 3  .   .  |>ob  ow | .   .\n"
        "   --------+--------+--------\n"
        " 2  .   .  | .   .  | .   .\n"
        " 1  .   .  | .   .  | .   .\n"
        "    a   b    c   d    e   f\n"
        "white 3, black 2\n"
        "blanks: ow ow ow\n"
        "set aside: -\n"
        "(b black, w white, x dead, > last move)\n"
    )


def test_marbles_without_colours() -> None:
    """Rows are staggered by half a cell, and numbers stand at the ends of their diagonals."""
    assert ansi_of(MARBLES, colour=False) == (
        "player_0 (black) to move\n"
        "         i  w   .   .   .   .\n"
        "       h  .   .   .   .   .   .\n"
        "     g  .   .   .   .   .   .   .\n"
        "   f  .   .   .   .   .   .   .   .\n"
        " e  .   .   .   .  >b   .   .   .   .\n"
        "   d  .   .   .   .   .   .   .   .   9\n"
        "     c  .   .   .   .   .   .   .   8\n"
        "       b  .   .   .   .   .   .   7\n"
        "         a  .   .   .   .   b   6\n"
        "              1   2   3   4   5\n"
        "black out: ob ob\n"
        "white out: ow\n"
        "(b black, w white, > last move)\n"
    )


def test_regions_without_colours() -> None:
    """Marks show owners, capitals givens, lines the borders of regions and blocks."""
    lines = ansi_of(REGIONS, candidates=True, colour=False).splitlines()
    assert lines[1] == " 9  5L  >7l   .   : .    .    .   : .    .    ."
    assert lines[2] == "   ---------------+---------------+---------------"
    assert lines[3] == " 8  .    x    129 : 4    .    .   : .    .    ."
    assert lines[7] == " 6  :    :    :   : 2D   9d   :   : :    :    :"
    assert lines[-1].startswith("(d dark, f free, l light, n neutral, capital: given, + neutral")


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("candidates", [False, True])
def test_regions_still_free_show_their_names(candidates: bool, colour: bool) -> None:
    """On their first empty cell, as in pictures: they are the names of the moves."""
    position = Position("sudoku_moyo", territory="draft", seed=1)
    words = re.findall(r"r\d\b", ansi_of(position.scene(), candidates, colour).split("\n", 1)[1])
    assert sorted(words) == sorted(position.legal_moves())


@pytest.mark.parametrize("name", SCENES)
def test_colours_are_the_palettes_own_and_end_with_the_line(name: str) -> None:
    """Colours do not extend beyond their line, and the text is plain ASCII."""
    text = ansi_of(SCENES[name], candidates=True, colour=True)
    assert text.isascii()
    known = {look.ansi for look in (*palette.GROUNDS.values(), *palette.PIECES.values())}
    for line in text.splitlines():
        marks = ESCAPE.findall(line)
        assert marks[1::2] == ["\x1b[0m"] * (len(marks) // 2)
        for mark in marks[::2]:
            assert int(mark[2:-1].split("48;5;")[1]) in known


def test_colours_tell_owners_givens_and_the_last_move() -> None:
    """A given fills its cell, a placed stone shows the ground beside it, arrows mark the last."""
    light, dark = palette.PIECES["light"], palette.PIECES["dark"]
    ground = palette.GROUNDS["light"].ansi
    row = ansi_of(REGIONS, colour=True).splitlines()[1]
    assert f"\x1b[1;38;5;{light.ansi_ink};48;5;{light.ansi}m  5  \x1b[0m" in row
    last = f"\x1b[1;38;5;{palette.LAST_ANSI};48;5;{ground}m"
    laid = f"\x1b[38;5;{light.ansi_ink};48;5;{light.ansi}m 7 \x1b[0m"
    assert f"{last}>\x1b[0m{laid}{last}<\x1b[0m" in row
    assert f"48;5;{dark.ansi}m" in ansi_of(REGIONS, colour=True)


def test_both_ways_show_the_same_board() -> None:
    """With colours removed, the coloured text has the same rows and labels."""
    text = ESCAPE.sub("", ansi_of(TILES, colour=True))
    rows = [line for line in text.splitlines() if re.match(r" [1-9] ", line)]
    assert len(rows) == 9
    assert rows[0].split() == ["9", ".", ".", ".", "|", "8", "1", ".", "|", ".", ".", "."]


def test_candidates_are_shown_on_request_only() -> None:
    """Candidates are written into their cell."""
    assert "129" not in ansi_of(REGIONS, colour=False)
    assert "129" in ansi_of(REGIONS, candidates=True, colour=False)
    assert "129" in ansi_of(REGIONS, candidates=True, colour=True)


@pytest.mark.parametrize(
    ("environ", "terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "xterm"}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colours_are_used_where_they_are_wanted(
    environ: dict[str, str], terminal: bool, wanted: bool
) -> None:
    """The stream and the usual environment variables decide."""
    assert wants_colour(Terminal() if terminal else StringIO(), environ) is wanted


def test_the_renderer_asks_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """It uses colours on a terminal and none in a file."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", StringIO())
    assert Renderer("ansi").draw(BLANKS) == ansi_of(BLANKS, colour=False)
    monkeypatch.setattr("sys.stdout", Terminal())
    assert Renderer("ansi").draw(BLANKS) == ansi_of(BLANKS, colour=True)


def test_boards_of_any_shape() -> None:
    assert ansi_of(WIDE, colour=False).splitlines()[1:5] == [
        " 3  xb  .   .   .  >.",
        " 2  .   .   .   .  >.",
        " 1  .   .   .   .   ow",
        "    a   b   c   d   e",
    ]
    assert ansi_of(TALL, colour=True).count("\x1b[") > 2 * 15
