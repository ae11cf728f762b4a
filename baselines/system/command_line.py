"""A dataclass as a command line: each field is an option, and the text below it says what it is."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from azumaya.envs.extras import require

C = TypeVar("C")
COMMANDS = "azumaya.baselines.system.commands"
"""What needs the extra `cli`, unlike the declarations here."""


@dataclass(frozen=True)
class Words:
    """Marks a field that takes all words up to the next option, such as `--seeds 1 2 3`.

    Attributes:
        read: makes the value of the field from the words; a `ValueError` says what is wrong.
        write: the words of a value.
        metavar: what stands for the words in the help text.
        place: whether they need no name before them.
    """

    read: Callable[[Sequence[Any]], Any] = tuple
    write: Callable[[Any], Sequence[Any]] = list
    metavar: str | None = None
    place: bool = False


@dataclass(frozen=True)
class Time:
    """Marks a field, a number of units of time, that is typed as a time: `--time 10min`.

    The name of the field with a number of these units is its earlier spelling, which is still read.

    Attributes:
        unit: the unit of the field.
        name: the name of the option.
        least: the shortest time; None: all above 0.
        most: the longest time; None: any.
    """

    unit: str
    name: str = "time"
    least: float | None = None
    most: float | None = None


def read_options(
    default: C, words: Sequence[str] | None, program: str, description: str | None
) -> C:
    """Parse a command line.

    Args:
        default: an object of the dataclass; its values are those of options that are not given.
        words: the words; None: those of this process.
        program: what runs it, for the help text, such as `python -m module`.
        description: what the help text says about the program.

    Raises:
        SystemExit: the words cannot be parsed, or ask for help.
        MissingExtraError: typer is not installed.
    """
    typer, commands = require("typer", "cli"), require(COMMANDS, "cli")
    marks, times = marks_of(type(default)), times_of(type(default))
    given: list[C] = []

    def take(**values: Any) -> None:
        for name, mark in marks.items():
            known, several = getattr(default, name), values[name]
            try:
                values[name] = known if several in (None, mark.write(known)) else mark.read(several)
            except ValueError as error:
                raise typer.BadParameter(f"{flag(name)}: {error}") from None
        given.append(replace(default, **values))  # type: ignore[type-var]

    parameters = [*parameters_of(default, marks)]
    take.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    take.__annotations__ = {each.name: each.annotation for each in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    help_names = {"help_option_names": ["-h", "--help"]}
    renamed = {flag(name): flag(time.name) for name, time in times.items()}
    spelled = commands.formerly(renamed, {flag(name): time.unit for name, time in times.items()})
    app.command(cls=spelled, help=told(description or ""), context_settings=help_names)(take)
    flags = {flag(name) for name, mark in marks.items() if not mark.place}
    try:
        app([*one_by_one(sys.argv[1:] if words is None else words, flags)], prog_name=program)
    except SystemExit:  # also after it has run
        if not given:
            raise
    return given[0]


def copyable(words: Sequence[object]) -> str:
    """A command as it is typed, quoted where its shell needs that."""
    texts = [*map(str, words)]
    return subprocess.list2cmdline(texts) if sys.platform == "win32" else shlex.join(texts)


def flag(name: str) -> str:
    """An option as typed on the command line, such as `--final-share`."""
    return f"--{name.replace('_', '-')}"


def one_by_one(words: Sequence[str], flags: set[str]) -> Iterator[str]:
    """The words, with the name of an option that takes several before each of these.

    Names of options may be written with `_`. An option without words comes last, so that it is
    refused, and takes no other option for its word.
    """
    several, waiting, empty = "", False, ""
    for word in words:
        if re.match(r"--?[A-Za-z]", word):
            empty = several if waiting else empty
            name, equals, value = word.partition("=")
            name = name.replace("_", "-") if name.startswith("--") else name
            several = name if name in flags and not equals else ""
            waiting = bool(several)
            if not several:
                yield f"{name}{equals}{value}"
        else:
            if several:
                yield several
            yield word
            waiting = False
    empty = several if waiting else empty
    if empty:
        yield empty


def marks_of(kind: type[Any]) -> dict[str, Words]:
    """The fields of a dataclass that take several words; a tuple of any length does anyway."""
    hints, found = get_type_hints(kind, include_extras=True), _marked(kind, Words)
    tuples = {name: Words() for name, hint in hints.items() if get_origin(hint) is tuple}
    return {**tuples, **found}


def times_of(kind: type[Any]) -> dict[str, Time]:
    """The fields of a dataclass that are typed as times."""
    return _marked(kind, Time)


def _marked(kind: type[Any], mark: type[C]) -> dict[str, C]:
    """The fields of a dataclass with a mark."""
    return {
        name: each
        for name, hint in get_type_hints(kind, include_extras=True).items()
        for each in getattr(hint, "__metadata__", ())
        if isinstance(each, mark)
    }


def parameters_of(default: Any, marks: Mapping[str, Words]) -> Iterator[inspect.Parameter]:
    """The fields of a dataclass as parameters of a command of typer."""
    typer, times = require("typer", "cli"), times_of(type(default))
    hints, texts = get_type_hints(type(default), include_extras=True), texts_of(type(default))
    for each in fields(default):
        mark, value, hint = marks.get(each.name), getattr(default, each.name), hints[each.name]
        about = {"help": texts.get(each.name, ""), "metavar": mark.metavar if mark else None}
        kind: Any
        if each.name in times:
            kind = Annotated[Any, _time_option(times[each.name], str(about["help"]), value)]
        elif mark and mark.place:
            value, kind = None, Annotated[plain(hint) | None, typer.Argument(**about)]
        else:
            value = mark.write(value) if mark else value
            kind = Annotated[plain(hint), typer.Option(**about)]
        how = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(each.name, how, default=value, annotation=kind)


def _time_option(time: Time, words: str, default: float) -> Any:
    return require(COMMANDS, "cli").time_option(
        words, time.unit, default or None, time.least, time.most, flag(time.name)
    )


def plain(hint: Any) -> Any:
    """A type as typer takes it: without what is declared of its values, and tuples as lists."""
    if get_origin(hint) is Annotated:
        return plain(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        (kind,) = (each for each in get_args(hint) if each is not NoneType)
        return plain(kind) | None
    if get_origin(hint) is tuple:
        return list[plain(get_args(hint)[0])]  # type: ignore[misc]
    return list[str] if get_origin(hint) is dict else hint


def texts_of(kind: type[Any]) -> dict[str, str]:
    """The texts below the fields of a dataclass and of those that it inherits from, by name."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__[:-1]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        for field, text in zip(tree.body, tree.body[1:], strict=False):  # type: ignore[attr-defined]
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                found[ast.unparse(field.target)] = told(ast.literal_eval(text.value))
    return found


def told(text: str) -> str:
    """A text for help: lines stay as they are in lists and in blocks that are indented."""
    parts = inspect.cleandoc(text).split("\n\n")
    lines = (
        textwrap.dedent(part) if part.startswith((" ", "- ")) else " ".join(part.split())
        for part in parts
    )
    escaped: str = require("rich.markup", "cli").escape("\n\n".join(lines))
    return escaped
