"""Options are checked on every call, although prepared options are cached."""

from __future__ import annotations

import pytest

from azumaya.envs import OptionError, Position
from tests.cases import TESTED


@pytest.mark.parametrize("game", TESTED)
def test_equal_values_of_another_type_are_refused(game: str) -> None:
    """True equals 1 in Python, but an option that takes one refuses the other, cached or not."""
    for option in TESTED[game].options:
        for right, wrong in ((True, 1), (False, 0), (1, True), (0, False)):
            try:
                Position(game, **{option.name: right})
            except ValueError:
                continue
            with pytest.raises(OptionError, match=option.name):
                Position(game, **{option.name: wrong})
