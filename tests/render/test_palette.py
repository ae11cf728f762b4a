"""Colours: sufficient contrast, and distinguishable by brightness alone."""

from __future__ import annotations

from itertools import combinations

import pytest

from azumaya.envs.render.palette import (
    DEAD,
    DEAD_RING,
    GROUNDS,
    INK,
    LAST,
    LAST_EDGE,
    PAPER,
    PIECES,
    ground,
    piece,
)

READABLE = 4.5


def luminance(colour: str) -> float:
    """Relative luminance as defined by WCAG 2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: str, second: str) -> float:
    """Contrast ratio as defined by WCAG 2, from 1 to 21."""
    dark, bright = sorted((luminance(first), luminance(second)))
    return (bright + 0.05) / (dark + 0.05)


def ansi_colour(number: int) -> str:
    """One of the 256 terminal colours, from 16 on."""
    if number >= 232:
        return f"#{8 + (number - 232) * 10:02x}" + f"{8 + (number - 232) * 10:02x}" * 2
    levels = (0, 95, 135, 175, 215, 255)
    red, green, blue = (number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6
    return f"#{levels[red]:02x}{levels[green]:02x}{levels[blue]:02x}"


@pytest.mark.parametrize("name", PIECES)
def test_numbers_on_stones_can_be_read(name: str) -> None:
    """Numbers are readable on screen, on paper and in the terminal."""
    look = PIECES[name]
    assert contrast(look.fill, look.ink) >= READABLE
    assert contrast(ansi_colour(look.ansi), ansi_colour(look.ansi_ink)) >= READABLE


@pytest.mark.parametrize("name", GROUNDS)
def test_candidates_on_grounds_can_be_read(name: str) -> None:
    """Each ground has a suitable ink; the token of a dead cell, or its ring, stands out."""
    look = GROUNDS[name]
    assert contrast(look.fill, look.ink) >= READABLE
    assert contrast(ansi_colour(look.ansi), ansi_colour(look.ansi_ink)) >= READABLE
    assert max(contrast(look.fill, DEAD), contrast(look.fill, DEAD_RING)) >= 3


def test_notes_can_be_read() -> None:
    """Notes are readable on the paper around the board."""
    assert contrast(PAPER, INK) >= READABLE


def test_the_last_move_stands_out() -> None:
    """From the grounds, or by the edge of its frame."""
    assert contrast(LAST, LAST_EDGE) >= READABLE
    for look in GROUNDS.values():
        assert max(contrast(look.fill, LAST), contrast(look.fill, LAST_EDGE)) >= 2.5


def test_owners_differ_in_brightness() -> None:
    """Owners are distinguishable in print and for colour-blind readers, not only by hue."""
    for looks in (GROUNDS, PIECES):
        for first, second in combinations(("light", "dark", "neutral"), 2):
            assert contrast(looks[first].fill, looks[second].fill) >= 1.4
    assert contrast(PIECES["white"].fill, PIECES["black"].fill) >= 7
    assert contrast(PIECES["white"].shade, PIECES["black"].shade) >= 7


def test_letters_and_marks_are_distinct() -> None:
    """Without colours nothing else distinguishes pieces and grounds."""
    assert len({look.letter for look in PIECES.values()}) == len(PIECES)
    marks = [GROUNDS[name].mark for name in ("light", "dark", "neutral", "free")]
    assert len(set(marks)) == 4


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    """A game that uses a new colour must add it to the palette."""
    with pytest.raises(ValueError, match="'purple' is not drawable: must be one of light"):
        piece("purple")
    with pytest.raises(ValueError, match="'lava' is not drawable: must be one of light"):
        ground("lava")
