"""What `help` and type checkers know about the environments."""

from __future__ import annotations

import importlib
import inspect
import pydoc
import typing
from typing import Any

import pytest

from azumaya.envs import make
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.registry import GAMES
from azumaya.envs.setup import option_names

ALL_GAMES = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)


@ALL_GAMES
def test_modules_show_their_keywords(game: Any) -> None:
    """`help(module)` describes `env` and `raw_env` with exactly the options of the game."""
    module = importlib.import_module(f"azumaya.envs.{game.name}_v{game.version}")
    text = pydoc.plain(pydoc.render_doc(module))
    for function in (module.env, module.raw_env):
        keywords = inspect.signature(function).parameters
        assert tuple(keywords) == ("render_mode", "action_mask", *option_names(game))
        assert f"{function.__name__}(" in text
        function(**{name: parameter.default for name, parameter in keywords.items()})
    for option in game.options:
        assert option.meaning[:40] in " ".join(text.replace("|", " ").split()) or not option.meaning


def test_make_has_a_type() -> None:
    """Type checkers can resolve `make(...).unwrapped.position`."""
    made = typing.get_type_hints(make)["return"]
    assert typing.get_type_hints(made.unwrapped.fget)["return"] is RawEnv
    assert "position" in vars(RawEnv)
    assert isinstance(make(next(iter(GAMES))), made)
