"""Turns a user's options into validated settings and the start positions that they allow."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, PositionError, UnknownOptionError, brief, did_you_mean
from azumaya.envs.game import Game
from azumaya.envs.kernels.checksum import checksum, checksum_key
from azumaya.envs.symmetries import Settings

Items = tuple[tuple[str, Any, str], ...]
"""Options in the order of their names: the name, the value and its `repr`."""

POSITION = "position"
"""The option every game has: a position text to start from."""


@dataclass(frozen=True, eq=False)
class Setup:
    """What an episode starts from.

    Attributes:
        given: the options as the user gave them, except those that are None.
        settings: a canonical value for every option.
        starts: the start positions to draw from, `(n,)` states.
        num_actions: the number of actions.
        lasting: the options that matter after the start, by name.
        made_from: the game and the options that `prepare` remembers it by; None if it does not, as
            when a file was read.
    """

    given: Mapping[str, Any]
    settings: Settings
    starts: np.ndarray
    num_actions: int
    lasting: frozenset[str]
    made_from: tuple[Game, Items] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options as the user gave them, as a copy: they may contain lists."""
        return {name: _own(value) for name, value in self.given.items()}

    @cached_property
    def rules(self) -> int:
        """A digest of the settings that matter after the start."""
        settings = sorted((name, self.settings[name]) for name in self.lasting)
        return int(checksum_key(repr(settings)))

    @cached_property
    def origin(self) -> tuple[int, int]:
        """Digests of the settings that matter after the start, and of the start positions."""
        return self.rules, checksum("starts", self.starts)

    def without_starts(self, changed: Settings = MappingProxyType({})) -> Setup:
        """The same setup where the start is unknown: only the options that matter after it.

        Args:
            changed: options in canonical form that take the place of others.
        """
        given = {name: value for name, value in self.given.items() if name in self.lasting}
        given |= {name: changed[name] for name in changed if changed[name] != self.settings[name]}
        settings = {**self.settings, **changed}
        none = self.starts[:0].copy()
        return replace(self, given=given, settings=settings, starts=none, made_from=None)

    def without(self, names: Collection[str]) -> Setup:
        """The same setup without some of the options that were given."""
        given = {name: value for name, value in self.given.items() if name not in names}
        return self if len(given) == len(self.given) else replace(self, given=given)

    def with_origin(self, origin: tuple[int, int]) -> Setup:
        """The same setup with the `origin` of one whose starts are unknown here."""
        other = replace(self)
        other.__dict__["origin"] = origin  # where the cached property looks first
        return other

    def __copy__(self) -> Setup:
        """Itself, because it never changes; the start positions of a game may be many."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Setup:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What it is prepared from, or all of it; with a checksum, because kernels trust starts."""
        if self.made_from is not None:
            given = tuple(self.given)
            return {"made_from": self.made_from, "given": given, "checksum": self.origin[1]}
        return {**self.__dict__, "checksum": checksum(str(self.num_actions), self.starts)}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        saved = dict(saved)
        checked = saved.pop("checksum", None)
        if saved.get("made_from") is not None:
            self._make_again(saved["made_from"], saved["given"], checked)
            return
        if checked != checksum(str(saved["num_actions"]), saved["starts"]):
            raise OptionError("setup: its start positions were changed after they were saved")
        self.__dict__.update(saved)

    def _make_again(self, made_from: tuple[Game, Items], given: Sequence[str], check: int) -> None:
        made = _prepare_once(*made_from)
        if made.origin[1] != check:
            raise OptionError(
                "setup: its options give other start positions here than where it was saved"
            )
        self.__dict__.update(made.__dict__, given={name: made.given[name] for name in given})


def prepare(game: Game, given: Mapping[str, Any], kept: Settings = MappingProxyType({})) -> Setup:
    """Validate options and prepare the start positions.

    Args:
        game: the game.
        given: options by name; None means the default. `position` is a position text.
        kept: canonical values of options that were validated before, whose `given` value is not
            read again: its file, or a list of the caller, may have changed.

    Raises:
        OptionError: an option is unknown or has an invalid value.
        PositionError: no episode can start from `position`.
    """
    check_names(game, given)
    given = {name: value for name, value in given.items() if value is not None}
    from_files = {option.name for option in game.options if option.reads_files}
    if not from_files & given.keys():
        # `repr` distinguishes values that compare equal but are not the same, like True and 1.
        try:
            items = tuple((name, given[name], repr(given[name])) for name in sorted(given))
            hash(items)
        except (TypeError, ValueError):  # a list, also in a tuple; an int too long to be written
            pass
        else:
            return _prepare_once(game, items)
    return _prepare(game, {name: _own(value) for name, value in given.items()}, kept)


@lru_cache(maxsize=64)
def _prepare_once(game: Game, items: Items) -> Setup:
    made = _prepare(game, {name: value for name, value, _ in items}, {})
    return replace(made, made_from=(game, items))


def _own(value: Any) -> Any:
    """A copy of an option's value that does not change when the caller changes a list in it."""
    try:
        return deepcopy(value)
    except Exception:  # whatever its class does; the option's check says what is wrong with it
        return value


def _prepare(game: Game, given: dict[str, Any], kept: Settings) -> Setup:
    settings = {
        option.name: kept[option.name]
        if option.name in kept
        else option.settle(given.get(option.name, option.default))
        for option in game.options
    }
    starts = (
        _starts_from(game, given[POSITION], settings)
        if POSITION in given
        else game.options.starts(settings)
    )
    lasting = frozenset(option.name for option in game.options if not option.start_only)
    return Setup(given, settings, starts, game.options.num_actions(settings), lasting)


def override(game: Game, setup: Setup, options: Mapping[str, Any]) -> Setup:
    """The setup of one episode in which some options differ; the others are not read again.

    Raises:
        OptionError: as for `prepare`, or if the number of actions would change.
        PositionError: as for `prepare`.
    """
    kept = {name: value for name, value in setup.settings.items() if name not in options}
    changed = prepare(game, {**setup.given, **options}, kept)
    if changed.num_actions != setup.num_actions:
        raise OptionError(
            f"options={brief(dict(options))} would change the number of actions from "
            f"{setup.num_actions} to {changed.num_actions}; make another environment for that"
        )
    return changed


def option_names(game: Game) -> tuple[str, ...]:
    """The names of a game's options."""
    return (*(option.name for option in game.options), POSITION)


def check_names(
    game: Game, given: Mapping[str, Any], call: Callable[..., Any] | None = None
) -> None:
    """Reject options that the game does not have.

    Args:
        game: the game.
        given: the options.
        call: what they were given to; the message names its own keywords as well.

    Raises:
        UnknownOptionError: there is no such option.
    """
    names = option_names(game)
    for name in given:
        if name not in names:
            own = _keywords(call) if call else ()
            hint = did_you_mean(name, (*own, *names)) or "."
            further = f" Other arguments are {', '.join(own)}." if own else ""
            raise UnknownOptionError(
                f"unexpected keyword argument {str(name)!r}: {game.title} has no such option{hint} "
                f"It has {', '.join(names)}.{further}"
            )


def _keywords(call: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a method's arguments, without the game and its options."""
    return tuple(
        name
        for name, parameter in signature(call).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD and name not in ("self", "game")
    )


def known_options(game: Game, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `reset` that the game has; a warning names the others, which are ignored."""
    names = option_names(game)
    for name in options:
        if name not in names:
            warnings.warn(
                f"reset(options=...): {game.title} has no option {name!r}; it is ignored. "
                f"Options: {', '.join(names)}",
                stacklevel=4,
            )
    return {name: value for name, value in options.items() if name in names}


def check_options(options: Any) -> dict[str, Any]:
    """The `options` argument of `reset` as a dict; raises `OptionError`."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise OptionError(f"options={brief(options)}: must be a dict of options by name, or None")
    return dict(options)


def _starts_from(game: Game, text: Any, settings: Settings) -> np.ndarray:
    states = game.words.read_text(text, settings)
    if states["over"][0]:
        raise PositionError("position: the game is over in it, so no episode can start from it")
    return states
