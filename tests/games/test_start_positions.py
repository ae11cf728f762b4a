"""Start positions in pickles, where it matters which options a game has."""

from __future__ import annotations

import pickle

import pytest

from azumaya.envs import raw
from azumaya.envs.errors import OptionError
from azumaya.envs.position import Position
from azumaya.envs.setup import Setup


def test_pickles_keep_what_was_left_out_of_the_options() -> None:
    position = Position("sudoku_tiles", seed=1, draws="593").resample_hidden(3)
    assert pickle.loads(pickle.dumps(position)).options == position.options == {}


def test_start_positions_from_a_list_are_pickled() -> None:
    """A list may change, so nothing is made from it again."""
    puzzles = ["." * 81, "1" + "." * 80]
    saved = pickle.dumps(Position("sudoku_moyo", seed=1, puzzle=puzzles))
    puzzles.clear()
    position = pickle.loads(saved)
    assert len(position.setup.starts) == 2
    assert position.options == {"puzzle": ["." * 81, "1" + "." * 80]}


def test_options_that_are_returned_belong_to_the_caller() -> None:
    puzzles = ["." * 81]
    for made in (Position("sudoku_moyo", puzzle=puzzles), raw("sudoku_moyo", puzzle=puzzles)):
        made.options["puzzle"].append("x")
        assert made.options == {"puzzle": puzzles}


def test_start_positions_must_be_those_that_were_saved() -> None:
    """They are not if another version of the library has another bank of puzzles."""
    saved = {**Position("sudoku_moyo").setup.__getstate__(), "checksum": 1}
    with pytest.raises(OptionError, match="other start positions here"):
        Setup.__new__(Setup).__setstate__(saved)
