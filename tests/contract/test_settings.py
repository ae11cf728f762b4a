"""Options are checked every time, however often the same were given before."""

from __future__ import annotations

import pytest

from azumaya.envs import OptionError, Position
from tests.cases import TESTED


@pytest.mark.parametrize("game", TESTED)
def test_what_compares_equal_is_not_taken_for_the_same(game: str) -> None:
    """True and 1 are equal in Python; an option that takes one refuses the other, seen or not."""
    for option in TESTED[game].options:
        for right, wrong in ((True, 1), (False, 0), (1, True), (0, False)):
            try:
                Position(game, **{option.name: right})
            except ValueError:
                continue
            with pytest.raises(OptionError, match=option.name):
                Position(game, **{option.name: wrong})
