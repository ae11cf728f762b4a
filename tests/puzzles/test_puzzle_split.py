"""The fixed split of the bank: no symmetry maps a puzzle of one part to one of the other."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pytest

from azumaya.envs import OptionError, Position, make
from azumaya.envs.geometry.sudoku81 import GRID
from azumaya.envs.geometry.symmetry import houses_kept
from azumaya.envs.puzzles import load_bank
from azumaya.envs.puzzles.bank import fingerprints, load_part
from azumaya.envs.puzzles.choice import load_puzzles


def test_the_parts_form_the_bank() -> None:
    train, test = load_part("train"), load_part("test")
    assert (len(train), len(test)) == (2000, 500)
    rows = {puzzle.tobytes() for puzzle in np.concatenate([train, test])}
    assert rows == {puzzle.tobytes() for puzzle in load_bank()}


@pytest.mark.parametrize("part", ["Test", "held-out", "", None, 1, ["test"]])
def test_other_parts_are_refused(part: object) -> None:
    with pytest.raises(OptionError, match=r"part=.*: must be one of 'train', 'test'"):
        load_part(part)


def test_no_puzzle_of_one_part_is_like_one_of_the_other() -> None:
    """Alike puzzles have equal fingerprints (see below), and no fingerprint is in both parts."""
    train, test = (set(fingerprints(load_part(part)).tolist()) for part in ("train", "test"))
    assert not train & test


def test_symmetries_keep_the_fingerprint() -> None:
    """Naively moved cells and renamed numbers, for every kind of symmetry."""
    rng = random.Random(5)
    bank, group = load_bank()[::50], houses_kept(GRID)
    moved = np.zeros_like(bank)
    for puzzle, other in zip(bank, moved, strict=True):
        symmetry = [rng.choice(factor) for factor in group]
        names = [0, *rng.sample(range(1, 10), 9)]
        for cell in range(81):
            to = cell
            for factor in symmetry:
                to = factor.cells[to]
            other[to] = names[puzzle[cell]]
    assert not (bank == moved).all(axis=1).any()
    assert fingerprints(bank).tolist() == fingerprints(moved).tolist()


def test_other_puzzles_have_other_fingerprints() -> None:
    bank = load_bank()
    assert len(set(fingerprints(bank).tolist())) == len(bank)
    fewer = bank[:100].copy()
    fewer[np.arange(100), [np.flatnonzero(puzzle)[0] for puzzle in fewer]] = 0
    assert not set(fingerprints(fewer).tolist()) & set(fingerprints(bank).tolist())


def test_the_split_stays() -> None:
    """Results on the test puzzles are comparable only as long as the split stays the same."""
    assert hashlib.sha256(load_part("test").tobytes()).hexdigest()[:16] == "deddbf56d50d789d"


@pytest.mark.parametrize("game", ["sudoku_moyo", "sudoku_horikomi"])
def test_episodes_draw_from_their_part(game: str) -> None:
    parts = {part: {p.tobytes() for p in load_part(part)} for part in ("train", "test")}
    for part, puzzles in parts.items():
        for seed in range(20):
            env = make(game, puzzle=part)
            env.reset(seed=seed)
            assert board_of(env.unwrapped.position) in puzzles
    env = make(game, puzzle="train")
    env.reset(seed=1, options={"puzzle": "test"})
    assert board_of(env.unwrapped.position) in parts["test"]
    assert Position(game, seed=3, puzzle="test", territory="rows").options["puzzle"] == "test"


def board_of(position: Position) -> bytes:
    """The digits on the board, in the form of the bank."""
    marks = str(position).split()[0].replace("/", "")
    return bytes(0 if mark == "." else int(mark) for mark in marks)


def test_other_names_are_refused() -> None:
    with pytest.raises(OptionError, match="'train', 'test' nor a file"):
        load_puzzles("tests_that_are_none")
