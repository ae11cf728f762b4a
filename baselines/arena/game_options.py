"""Games and their options from the command line: `abalone`, `territory=corners`, `handicap=1,3`."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from azumaya.baselines.system.files import shown
from azumaya.envs import GAMES, OptionError, find_game
from azumaya.envs.game import Game, Option
from azumaya.envs.registry import OWN_GAMES
from azumaya.envs.setup import POSITION, check_names, prepare

WORDS: Mapping[str, Any] = {"none": None, "true": True, "false": False}
"""Words that stand for these values, in upper or lower case."""


def named_games() -> list[tuple[str, str]]:
    """The games that shells complete, as `typer` takes them: names with titles."""
    return [(name, game.title) for name, game in GAMES.items()]


def game_named(name: str) -> Game:
    """Find a game by a name that the user typed.

    Raises:
        OptionError: there is no such game, or a module with games cannot be imported.
    """
    try:
        return find_game(name)
    except OptionError as error:
        reason = str(error).removeprefix(f"name={name!r}: ")
        if not reason.endswith("?"):
            reason += f"; {OWN_GAMES}"
        raise OptionError(f"game {shown(name)!r}: {reason}") from error


def by_default(game: Game | str, options: Mapping[str, Any]) -> bool:
    """Whether games with these options have the default rules and starts, however that is said.

    Raises:
        OptionError: there is no such game, or an option has an invalid value.
        PositionError: the option `position` is malformed, impossible or over.
    """
    game = find_game(game)
    setup = prepare(game, options)
    return POSITION not in setup.given and setup.settings == prepare(game, {}).settings


def read_options(game: Game, texts: Iterable[str]) -> dict[str, Any]:
    """The options of a game from words `NAME=VALUE`.

    Raises:
        OptionError: a word has no `=`, an option is unknown or given twice, or a value is invalid.
    """
    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise OptionError(f"option {text!r}: must be NAME=VALUE, such as {_example(game)}")
        check_names(game, {name: value})
        if name in given:
            raise OptionError(f"option {name}: given twice; give it one value")
        given[name] = read_value(game, name, value)
    return given


def _example(game: Game) -> str:
    option = game.options.known[0]
    return f"{option.name}={option.default}"


def read_value(game: Game, name: str, text: str) -> Any:
    """The value of an option from its text, in the type that the option expects.

    The text is tried in turn as a Python literal (`3`, `True`, `(1, 3)`), as it stands (`corners`,
    `1234`), and as texts separated by commas.

    Raises:
        OptionError: none of these values is valid for the option.
    """
    if name == POSITION:
        return text
    option = next(option for option in game.options if option.name == name)
    first: ValueError | None = None
    for value in _readings(text):
        try:
            check_value(option, value)
        except ValueError as error:
            first = first or error
        else:
            return value
    raise OptionError(f"option {first}") from first


def _readings(text: str) -> Iterable[Any]:
    if text.strip().lower() in WORDS:
        yield WORDS[text.strip().lower()]
    else:
        with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            yield ast.literal_eval(text.strip())
        yield text
        if "," in text:
            yield tuple(part.strip() for part in text.split(","))


def check_value(option: Option, value: Any) -> Any:
    """The canonical form of an option's value; None stands for its default.

    Raises:
        ValueError: the value is invalid.
    """
    if value is None:
        return None if option.reads_files else option.default
    return option.settle(value)
