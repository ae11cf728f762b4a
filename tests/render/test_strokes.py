"""The stroke font: complete, well-formed, correctly placed."""

from __future__ import annotations

import re
import string

import pytest

from azumaya.envs.render.strokes import GLYPHS, UNKNOWN, short, text_path, text_width, wrap

PRINTABLE = string.digits + string.ascii_letters + string.punctuation + " "
NUMBER = r"-?(?:\d+\.?\d*|\.\d+)"
STEP = re.compile(rf"[MLCSZ]|{NUMBER}")
POINTS = {"M": 1, "L": 1, "C": 3, "S": 2, "Z": 0}


def points(path: str) -> list[tuple[float, float]]:
    """All points of a path; fails if the path is malformed."""
    found: list[tuple[float, float]] = []
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [float(n) for n in numbers.split()]
        assert values or letter == "Z"
        assert len(values) % 2 == 0
        pairs = list(zip(values[::2], values[1::2], strict=True))
        assert POINTS[letter] == 0 or len(pairs) % POINTS[letter] == 0
        found += pairs
    return found


def test_every_printable_character_has_a_glyph_of_its_own() -> None:
    """Every printable ASCII character has a glyph, and no two are equal."""
    assert set(GLYPHS) == set(PRINTABLE)
    drawn = [glyph for _, glyph in GLYPHS.values()]
    assert len(set(drawn)) == len(drawn)
    assert UNKNOWN[1] not in drawn


@pytest.mark.parametrize("char", sorted(GLYPHS))
def test_glyphs_are_well_formed_and_within_their_width(char: str) -> None:
    """Glyphs use only the path commands that can be moved, and stay inside their box."""
    width, glyph = GLYPHS[char]
    assert "".join(STEP.findall(glyph)) == glyph.replace(" ", "")
    for x, y in points(glyph):
        assert -0.7 <= x <= width + 0.7
        assert -1.1 <= y <= 13


def test_text_is_moved_and_scaled() -> None:
    """An L is 5 wide and 10 high at height 10, and half of that at height 5."""
    assert points(text_path("L", 100, 50, 10)) == [(100, 45), (100, 55), (105, 55)]
    assert points(text_path("L", 100, 50, 5, "middle")) == [
        (98.75, 47.5),
        (98.75, 52.5),
        (101.25, 52.5),
    ]
    assert points(text_path("L", 100, 50, 10, "end"))[-1] == (100, 55)


def test_characters_stand_side_by_side() -> None:
    """The second begins after the width of the first plus a gap."""
    first, second = points(text_path("LL", 0, 5, 10))[:3], points(text_path("LL", 0, 5, 10))[3:]
    step = second[0][0] - first[0][0]
    assert step == pytest.approx(text_width("LL", 10) - text_width("L", 10))
    assert step > 5


def test_unknown_characters_become_boxes() -> None:
    """Outside ASCII."""
    assert len(points(text_path("é", 0, 5, 10))) == 4


def test_numbers_are_short() -> None:
    """At most two decimals, and no -0."""
    assert [short(x) for x in (1, 2.5, 1 / 3, -0.001, 10.0, -7.25)] == [
        "1", "2.5", "0.33", "0", "10", "-7.25",
    ]  # fmt: skip


def test_wrap_keeps_all_words_in_lines_that_fit() -> None:
    """Only a single word that is too long exceeds the width."""
    text = "one two three four five incomprehensibilities six"
    lines = wrap(text, 10, 120)
    assert " ".join(lines) == text
    assert len(lines) > 2
    assert all(text_width(line, 10) <= 120 or " " not in line for line in lines)
