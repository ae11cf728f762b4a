"""The bank: every puzzle meets all criteria, and the seed reproduces it."""

from __future__ import annotations

import itertools

import numpy as np

from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.puzzles import BANK_SEED, load_bank
from azumaya.envs.puzzles.criteria import check
from azumaya.envs.puzzles.generator import generate
from azumaya.envs.puzzles.grid import to_text

CHECKED = slice(None, None, 250 if INTERPRETED else 1)


def test_shape() -> None:
    puzzles = load_bank()
    assert puzzles.shape == (2500, 81)
    assert puzzles.dtype == np.uint8
    assert puzzles.max() == 9
    assert not puzzles.flags.writeable


def test_every_puzzle_meets_every_criterion() -> None:
    for index, cells in list(enumerate(load_bank()))[CHECKED]:
        report = check(cells)
        assert report.ok, f"puzzle {index}: {report}"


def test_the_seed_reproduces_the_bank() -> None:
    count = 3 if INTERPRETED else 60
    assert [to_text(cells) for cells in load_bank()[:count]] == generate(count, BANK_SEED)


def test_the_seed_reproduces_the_last_puzzle() -> None:
    assert [to_text(load_bank()[-1])] == generate(1, BANK_SEED, first=2499)


def test_both_sides_can_move_in_the_main_phase() -> None:
    """Both sides have a move if each corner block has an empty cell.

    A corner block shares no house with the centre, so after the opening the cell can still take
    its number in the solution, and each side owns two corners of the standard board.
    """
    corners = [
        [9 * r + c for r in range(a, a + 3) for c in range(b, b + 3)]
        for a, b in itertools.product((0, 6), repeat=2)
    ]
    for cells in load_bank():
        assert all((cells[block] == 0).any() for block in corners)
