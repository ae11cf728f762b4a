"""Options are checked on every call, although prepared ones are cached; `help` names them all."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from azumaya.envs import GAMES, OptionError, Position
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


@pytest.mark.parametrize("name", GAMES)
def test_help_names_every_keyword(name: str) -> None:
    """Editors read the docstring and the signature, which are made from the game's options."""
    game = GAMES[name]
    module = import_module(f"azumaya.envs.{name}_v{game.version}")
    keywords = ["render_mode", "action_mask", *(o.name for o in game.options), "position"]
    for function in (module.env, module.raw_env):
        lines = inspect.getdoc(function).splitlines()
        assert lines[0].startswith(game.title)
        start = lines.index("Args:") + 1
        named = [line.split(":")[0].strip() for line in lines[start : lines.index("Raises:")]]
        assert [word for word in named if word] == keywords
        assert list(inspect.signature(function).parameters) == keywords
        for option in game.options:
            assert option.meaning in inspect.getdoc(function)
    assert module.env.__doc__ != module.raw_env.__doc__
