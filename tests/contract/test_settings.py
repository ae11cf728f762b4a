"""Options are checked on every call, although prepared ones are cached; `help` names them all."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any, get_type_hints

import numpy as np
import pytest

from azumaya.envs import GAMES, OptionError, Position, make
from azumaya.envs.adapters.aec.raw_env import RawEnv
from tests.cases import TESTED


def takes(game: str, option: str, value: Any) -> bool:
    """Whether an option of a game has a value."""
    try:
        Position(game, **{option: value})
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("game", TESTED)
def test_equal_values_of_another_type_are_refused(game: str) -> None:
    """True equals 1 in Python, but an option that takes one refuses the other, cached or not."""
    for option in TESTED[game].options:
        for right, wrong in ((True, 1), (False, 0), (1, True), (0, False)):
            if takes(game, option.name, right):
                with pytest.raises(OptionError, match=option.name):
                    Position(game, **{option.name: wrong})


def test_some_options_take_flags_and_some_numbers() -> None:
    """Those that the test above checks."""
    options = [(name, option.name) for name, game in TESTED.items() for option in game.options]
    for value, some in ((True, {"misplacement", "referee"}), (1, {"max_plies"})):
        assert {option for game, option in options if takes(game, option, value)} >= some


class Odd(str):
    """A text of a subclass, whose `str` and `repr` may say anything."""

    def __str__(self) -> str:
        return "something else"

    __repr__ = __str__


@pytest.mark.parametrize("kind", [np.str_, Odd])
@pytest.mark.parametrize("name", TESTED)
def test_texts_may_be_of_a_subclass(name: str, kind: Any) -> None:
    """Their canonical form is that of the text itself, so states fit."""

    def odd(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(odd, value))
        return kind(value) if isinstance(value, str) else value

    options = {option.name: option for option in TESTED[name].options if not option.reads_files}
    for variant in TESTED[name].options.variants:
        for option in options.keys() & variant.keys():
            plain = options[option].settle(variant[option])
            assert repr(options[option].settle(odd(variant[option]))) == repr(plain)


@pytest.mark.parametrize("name", TESTED)
def test_flags_may_be_numpys(name: str) -> None:
    game = TESTED[name]
    for option in game.options:
        for flag in (True, False):
            try:
                plain = option.settle(flag)
            except OptionError:
                continue
            assert option.settle(np.bool_(flag)) is plain
            with pytest.raises(OptionError, match=option.name):
                option.settle(np.int64(flag))


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
        parameters = inspect.signature(function).parameters
        assert list(parameters) == keywords
        function(**{name: parameter.default for name, parameter in parameters.items()})
        for option in game.options:
            assert option.meaning in inspect.getdoc(function)
    assert module.env.__doc__ != module.raw_env.__doc__


def test_make_has_a_type() -> None:
    """Type checkers can resolve `make(...).unwrapped.position`."""
    made = get_type_hints(make)["return"]
    assert get_type_hints(made.unwrapped.fget)["return"] is RawEnv
    assert "position" in vars(RawEnv)
    assert isinstance(make(next(iter(GAMES))), made)
