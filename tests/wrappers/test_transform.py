"""Transforms refuse bad arguments. `tests/property` tests what they do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from azumaya.envs import IllegalActionError, OptionError, Position
from azumaya.wrappers import Transform, random_transform
from tests.cases import TESTED

FIRST, SECOND = list(TESTED.values())[:2]


@pytest.mark.parametrize("key", [-1, 2**64, 1.5, "1", None, True])
def test_bad_keys(key: Any) -> None:
    with pytest.raises(OptionError, match=r"key=.*: a whole number from 0 to 2\*\*64 - 1"):
        random_transform(FIRST, key)


@pytest.mark.parametrize("key", [0, 2**64 - 1, np.uint64(3)])
def test_all_keys_in_range_are_accepted(key: Any) -> None:
    assert repr(random_transform(FIRST, key)) == repr(random_transform(FIRST.name, int(key)))


@pytest.mark.parametrize(
    "action", [10**6, -1, 10**30, 1.0, True, "a", None, [0, 10**6], np.array([-1]), np.zeros(2)]
)
def test_bad_actions_are_refused(action: Any) -> None:
    transform = random_transform(FIRST, 1)
    most = len(transform.action_table) - 1
    with pytest.raises(IllegalActionError, match=rf"action=.*must be whole.* 0 to {most};"):
        transform.action(action)


def test_actions_of_every_shape_are_transformed() -> None:
    transform = random_transform(FIRST, 1)
    table = transform.action_table
    last = len(table) - 1
    assert transform.action(last) == transform.action(np.int16(last)) == table[last]
    assert type(transform.action(np.uint8(3))) is int
    every = np.arange(6, dtype=np.uint64).reshape(2, 3)
    assert (transform.action(every) == table[:6].reshape(2, 3)).all()
    assert transform.action(every[:0]).shape == (0, 3)


def test_other_games_are_refused() -> None:
    with pytest.raises(OptionError, match=f"position=.*: must be a position of {FIRST.title}"):
        random_transform(FIRST, 1, Position(SECOND))
    with pytest.raises(OptionError, match=f"other=.*: must be a transform of {FIRST.title}"):
        Transform(FIRST).then(Transform(SECOND))
    for other in (3, None, Transform(FIRST).symmetry):
        with pytest.raises(OptionError, match=f"other=.*: must be a transform of {FIRST.title}"):
            Transform(FIRST).then(other)  # type: ignore[arg-type]


def test_bad_symmetries_and_renamings_are_refused() -> None:
    with pytest.raises(OptionError, match="symmetry='turn': must be a Symmetry"):
        Transform(FIRST, "turn")  # type: ignore[arg-type]
    for renaming in ("abc", 5, [0.5]):
        with pytest.raises(OptionError, match=r"renaming=.*: must be whole numbers"):
            Transform(FIRST, renaming=renaming)  # type: ignore[arg-type]
