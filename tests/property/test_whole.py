"""Integers from users: which are accepted, which are refused, and the messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azumaya.envs.errors import DeviceError, OptionError
from azumaya.envs.whole import as_whole, whole_number


@given(st.integers(), st.integers(), st.integers())
def test_only_numbers_in_the_range_are_accepted(value: int, one: int, other: int) -> None:
    low, high = sorted((one, other))
    if low <= value <= high:
        assert whole_number(value, "n", low, high) == value
    else:
        with pytest.raises(OptionError, match=r"^n="):
            whole_number(value, "n", low, high)


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.int32, int])
def test_every_type_of_integer_becomes_an_int(kind: type) -> None:
    number = whole_number(kind(7), "n")
    assert (number, type(number)) == (7, int)


@pytest.mark.parametrize(
    "value", [True, False, np.True_, 1.0, np.float64(2), "3", None, [1], np.zeros(2, int)]
)
def test_other_values_than_integers_are_refused(value: object) -> None:
    assert as_whole(value) is None
    with pytest.raises(OptionError, match=r"^n=.*: a whole number is needed$"):
        whole_number(value, "n")


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1, None, "a whole number from 1 is needed"),
        (None, 9, "a whole number up to 9 is needed"),
        (0, 2**64 - 1, r"a whole number from 0 to 2\*\*64 - 1 is needed"),
        (0, 255, "a whole number from 0 to 255 is needed"),
    ],
)
def test_the_message_gives_the_range(low: int | None, high: int | None, said: str) -> None:
    with pytest.raises(DeviceError, match=f"^n=0.5: {said}$"):
        whole_number(0.5, "n", low, high, DeviceError)


@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**5000), "x" * 10**6, np.zeros(10**6), "a\nb"],
    ids=["long", "below", "text", "array", "lines"],
)
def test_the_message_is_one_short_line(value: object) -> None:
    with pytest.raises(OptionError) as caught:
        whole_number(value, "n", 0, 9)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)
