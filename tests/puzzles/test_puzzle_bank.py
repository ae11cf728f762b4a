"""The bank: every puzzle meets all criteria, no two are alike, and the seed reproduces it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.puzzles import BANK_SEED, PuzzleFormatError, bank, load_bank
from azumaya.envs.puzzles.criteria import check
from azumaya.envs.puzzles.formats import read_puzzles
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


def test_read_puzzles_reads_the_bank() -> None:
    assert read_puzzles(bank.BANK_FILE) == [to_text(cells) for cells in load_bank()]


def test_no_two_puzzles_are_alike() -> None:
    """Not even rotated, reflected or with renamed numbers."""
    seen = {canonical(cells) for cells in load_bank()}
    assert len(seen) == len(load_bank())


def test_alike_puzzles_have_the_same_canonical_form() -> None:
    square = load_bank()[3].reshape(9, 9)
    renamed = np.array([0, 4, 5, 6, 7, 8, 9, 1, 2, 3], np.uint8)[square]
    assert canonical(np.rot90(renamed.T, 3).ravel()) == canonical(square.ravel())
    assert canonical(load_bank()[4]) != canonical(load_bank()[3])


def canonical(cells: np.ndarray) -> tuple[int, ...]:
    """The smallest of the 8 rotations and reflections, numbers renamed by first appearance."""
    square = cells.reshape(9, 9)
    forms = (np.rot90(s, k).ravel().tolist() for s in (square, square.T) for k in range(4))
    return min(map(renamed, forms))


def renamed(numbers: list[int]) -> tuple[int, ...]:
    names: dict[int, int] = {0: 0}
    return tuple(names.setdefault(number, len(names)) for number in numbers)


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


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d[:-5],
        lambda d: d.replace(b"5", b"x", 1),
        lambda d: b"",
        lambda d: d[:31] + d[32:],
    ],
)
def test_a_damaged_file_is_refused(damage, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = b"".join(to_text(cells).encode() + b"\n" for cells in load_bank()[:9])
    file = tmp_path / "bank.txt"
    file.write_bytes(damage(whole))
    monkeypatch.setattr(bank, "BANK_FILE", file)
    with pytest.raises(PuzzleFormatError, match="damaged"):
        load_bank.__wrapped__()


def test_line_ends_of_another_system_do_no_harm(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bank.txt"
    file.write_bytes(bank.BANK_FILE.read_bytes().replace(b"\n", b"\r\n"))
    monkeypatch.setattr(bank, "BANK_FILE", file)
    assert (load_bank.__wrapped__() == load_bank()).all()
