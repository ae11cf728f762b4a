"""How programs read their words: one spelling for all of them, and the old ones with a warning.

- The game is always `--game`: other commands have agents or files in that place, some take several
  games, and some take the game from a checkpoint or a record.
- A time has its unit: `--time 10ms`, `2s`, `5min`, `1h`.
- What runs at once is `--workers`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

F = TypeVar("F", bound=Callable[..., Any])
GAME = "--game"
WORKERS = {"--jobs": "--workers", "--processes": "--workers"}
UNITS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}
"""Milliseconds of each unit of time."""
NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")
TIME = re.compile(rf"({NUMBER.pattern}) ?({'|'.join(UNITS)})")


def time_option(
    words: str, unit: str, default: float | None = None, least: float | None = None,
    most: float | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """An option that takes a time, such as `10ms`, as a number of units.

    Args:
        words: the help.
        unit: the unit in which the command is given the time, of `UNITS`.
        default: shown in the help.
        least, most: what is allowed; without `least`, every time above 0.
        name: the option, if it is called otherwise than the parameter.
    """

    def read(text: str | float) -> float:
        return read_time(text, unit, least, most) if isinstance(text, str) else text

    if default is not None:
        words += f" Default: {shown_time(default, unit)}."
    names = () if name is None else (name,)
    return typer.Option(*names, help=words, parser=read, metavar="TIME", show_default=False)


def read_time(text: str, unit: str, least: float | None = None, most: float | None = None) -> float:
    """A time such as `10ms` as a number of units; raises `typer.BadParameter`."""
    parts = TIME.fullmatch(text)
    value = float(parts[1]) * UNITS[parts[2]] / UNITS[unit] if parts else -1
    low = value <= 0 if least is None else value < least
    if low or (most is not None and value > most):
        bounds = "above 0" if least is None else f"from {shown_time(least, unit)}"
        bounds += "" if most is None else f" to {shown_time(most, unit)}"
        raise typer.BadParameter(f"{text}: must be a time {bounds}, such as 10ms, 2s or 5min")
    return value


def shown_time(value: float, unit: str) -> str:
    """A time in the largest unit in which it is at least 1."""
    found = value * UNITS[unit]
    unit = max((u for u in UNITS if UNITS[u] <= found), key=UNITS.__getitem__, default="ms")
    return f"{found / UNITS[unit]:g}{unit}"


class _Help:
    """Help in which flags have no type, and numbers a short one."""

    def get_params(self, ctx: Any) -> Any:
        found = super().get_params(ctx)  # type: ignore[misc]
        for each in found:
            if each.metavar is None and getattr(each, "is_flag", False):
                each.metavar = ""
            elif each.metavar is None and _ranged(each):
                each.metavar = "N"
        return found


def _ranged(option: Any) -> bool:
    return (getattr(option, "min", None), getattr(option, "max", None)) != (None, None)


class Command(_Help, TyperCommand):
    """A command, with the spellings that it had."""

    renamed: Mapping[str, str] = {}
    """The options that were, and what they are now."""
    units: Mapping[str, str] = {}
    """The units of numbers after options, old or new, that take a time."""
    game_first = False
    """Whether the game was the first word that is no option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: D102 - click's
        if not ctx.resilient_parsing:
            args = [*self._current(args)]
            if self.game_first:
                args = self._with_game(args)
        return super().parse_args(ctx, args)

    def _current(self, words: Sequence[str]) -> Iterator[str]:
        """The words with options as they are now, and a unit after every time."""
        old = ""  # an option whose value is the next word
        for word in words:
            name, equals, value = (old, "", word) if old else word.partition("=")
            if name not in self.renamed and name not in self.units:
                yield word
                continue
            old = "" if old or equals else name
            if not old:
                yield from self._now(name, equals or " ", value)
        if old:
            yield self.renamed.get(old, old)

    def _now(self, old: str, between: str, value: str) -> Iterator[str]:
        """An option and its value as they are written now, with a warning if that differs."""
        new = self.renamed.get(old, old)
        timed = value + self.units.get(old, "") if NUMBER.fullmatch(value) else value
        if (old, value) != (new, timed):
            _say(f"azumaya: {old}{between}{value} is now {new}{between}{timed}")
        yield from (f"{new}={timed}",) if between == "=" else (new, timed)

    def _with_game(self, words: list[str]) -> list[str]:
        """The words with the game as an option."""
        valued = [each for each in self.params if not getattr(each, "is_flag", False)]
        taking = {name for each in valued for name in each.opts}
        places, skip = [], False
        for place, word in enumerate(words):
            option = word.startswith("-") and word != "-"
            if not skip and not option:
                places.append(place)
            skip = not skip and word in taking
        if len(places) <= sum(each.param_type_name == "argument" for each in self.params):
            return words
        return game_option(words, places[0])


class Group(_Help, TyperGroup):
    """A group of commands."""


class Commands(typer.Typer):
    """A program or a group of commands whose help and spellings are those of all others."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"cls": Group, "rich_markup_mode": "rich", **settings})

    def command(  # type: ignore[override]
        self, name: str | None = None, **settings: Any
    ) -> Callable[[F], F]:
        """A decorator that makes a function a command, as in typer."""
        return super().command(name, **{"cls": Command, **settings})


def formerly(
    renamed: Mapping[str, str] | None = None, units: Mapping[str, str] | None = None,
    game_first: bool = False,
) -> type[Command]:  # fmt: skip
    """A command that also takes, with a warning, what it took in earlier versions."""
    settings = {"renamed": renamed or {}, "units": units or {}, "game_first": game_first}
    return type("Command", (Command,), settings)


def game_option(words: Sequence[str], place: int = 0) -> list[str]:
    """Words whose game is an option instead of the word at this place, with a warning."""
    _say(f"azumaya: the game is now an option: {GAME} {words[place]}")
    return [GAME, words[place], *words[:place], *words[place + 1 :]]


def with_default(default: str) -> type[Group]:
    """A group in which `default` is put before arguments that begin with no command."""

    class WithDefault(Group):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            # While a shell completes the first word, it may still be any command.
            named = args[0] in self.commands if args else ctx.resilient_parsing
            return super().parse_args(ctx, args if named else [default, *args])

        def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
            inner: Any = self.commands[default]
            first = [p for p in inner.params if p.param_type_name == "argument"][:1]
            owners = (super(), inner, *first)
            found = [item for owner in owners for item in owner.shell_complete(ctx, incomplete)]
            return [*{item.value: item for item in found}.values()]

    return WithDefault


def _say(message: str) -> None:
    print(message, file=sys.stderr)
