"""Shell completion: the words that may follow on a command line of `azumaya`.

The command itself takes a second to start, because it imports numba. So completion reads a table of
the commands, `completion.json`, and imports nothing but the standard library. `completion_table`
makes the table from the commands. The shells speak typer's protocol, whose scripts
`azumaya --install-completion` installs.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("completion.json")
REQUEST = "_AZUMAYA_COMPLETE"
"""The environment variable in which a shell asks for completion."""
BASH_BREAKS = ":="
"""Characters at which bash breaks words, unless told otherwise."""

AGENTS = {
    "random": "random legal moves",
    "greedy": "the move with the best next position",
    "champion": "trained values that ship with azumaya",
    "champion:10ms": "the same with search, for a time",
    "uct:1000": "tree search, simulations per move",
    "uct:10ms": "tree search, time per move",
    "puct:1000": "tree search with the game's evaluation, simulations per move",
    "puct:10ms": "tree search with the game's evaluation, time per move",
    "alphabeta:50000": "alpha-beta, nodes per move",
    "alphabeta:10ms": "alpha-beta, time per move",
}
"""Names of agents with their meanings; paths and classes are the user's own."""
PLAYERS = {"human": "you", **AGENTS}

Words = Mapping[str, str]
"""Possible words, with what they mean; an empty meaning says nothing."""


@dataclass
class _Line:
    """The part of a command line before the word that is completed.

    Attributes:
        command: the command so far, as in the table.
        values: what was given, by parameter.
        pending: the option whose value is missing.
        position: the number of arguments so far.
        ended: whether `--` has ended the options.
    """

    command: Mapping[str, Any]
    values: dict[str, list[str]] = field(default_factory=dict)
    pending: Mapping[str, Any] | None = None
    position: int = 0
    ended: bool = False

    def read(self, word: str) -> None:
        """Take the next word."""
        if self.pending is not None:
            self._give(self.pending, word)
            self.pending = None
        elif word == "--" and not self.ended:
            self.ended = True
        elif word.startswith("-") and not self.ended:
            name, equals, value = word.partition("=")
            option = self.option(name)
            if option is not None and equals:
                self._give(option, value)
            elif option is not None and option["value"]:
                self.pending = option
            elif option is not None:
                self._give(option, "")
        elif word in self.command["commands"] and not self.position:
            self.command = self.command["commands"][word]
        else:
            self.command = self.inner
            argument = self.argument
            if argument is not None:
                self._give(argument, word)
            self.position += 1

    @property
    def inner(self) -> Mapping[str, Any]:
        """The command that arguments are for: a group may have one that need not be named."""
        found: Mapping[str, Any] = self.command["commands"].get(
            self.command["default"], self.command
        )
        return found

    @property
    def argument(self) -> Mapping[str, Any] | None:
        """The argument that the next word is for."""
        arguments = self.inner["arguments"]
        if self.position < len(arguments):
            found: Mapping[str, Any] = arguments[self.position]
            return found
        return arguments[-1] if arguments and arguments[-1]["many"] else None

    def option(self, name: str) -> Mapping[str, Any] | None:
        """The option with a name, such as `--game`."""
        return next((o for o in self.inner["options"] if name in o["names"]), None)

    def _give(self, parameter: Mapping[str, Any], value: str) -> None:
        self.values.setdefault(parameter["name"], []).append(value)


def candidates(table: Mapping[str, Any], words: Sequence[str], incomplete: str) -> Words:
    """The words that may stand where a word is incomplete.

    Args:
        table: the table of the commands, see `completion_table`.
        words: the words between `azumaya` and that word.
        incomplete: what is there of the word.
    """
    line = _Line(table["azumaya"])
    for word in words:
        line.read(word)
    if line.pending is not None:
        found = _values(table, line, line.pending)
    elif incomplete.startswith("-") and not line.ended:
        name, equals, _ = incomplete.partition("=")
        option = line.option(name)
        if equals and option is not None:
            values = _values(table, line, option)
            found = {f"{name}={value}": meaning for value, meaning in values.items()}
        else:
            found = _options(line)
    else:
        commands = {} if line.position else line.command["commands"]
        found = {name: each["help"] for name, each in commands.items()}
        if line.argument is not None:
            found |= _values(table, line, line.argument)
    return {word: meaning for word, meaning in found.items() if word.startswith(incomplete)}


def _options(line: _Line) -> Words:
    """The options that can still be given."""
    return {
        name: option["help"]
        for option in line.inner["options"]
        if option["many"] or option["name"] not in line.values
        for name in option["names"]
        if name.startswith("--")
    }


def _values(table: Mapping[str, Any], line: _Line, parameter: Mapping[str, Any]) -> Words:
    """The values that a parameter may have."""
    kind = parameter["kind"]
    if kind == "games":
        return {name: game["title"] for name, game in table["games"].items()}
    if kind == "options":
        chosen = [name for name in line.values.get("game", ()) if name in table["games"]]
        games = [table["games"][name] for name in chosen or table["games"]]
        return {text: meaning for game in games for text, meaning in game["options"].items()}
    if kind == "parts":
        return dict.fromkeys(table["parts"], "")
    return {"agents": AGENTS, "players": PLAYERS}.get(kind, {})


# ---- the shells ----


def _split(text: str) -> list[str]:
    """The words of a command line that may end within quotes."""
    reader = shlex.shlex(text, posix=True)
    reader.whitespace_split, reader.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(reader)
    except ValueError:  # no closing quote
        words.append(reader.token)
    return words


def _bash(table: Mapping[str, Any]) -> tuple[str, int]:
    """Bash breaks `uct:10` into three words, and replaces only the last of them."""
    text, number = os.environ.get("COMP_WORDS", ""), int(os.environ.get("COMP_CWORD", "0"))
    broken = text.split("\n") if "\n" in text else _split(text)
    broken = [*broken, ""][: number + 1]
    whole = broken[:1]
    for word in broken[1:]:
        if len(whole) > 1 and (_is_break(word) or _is_break(whole[-1][-1:])):
            whole[-1] += word
        else:
            whole.append(word)
    *words, incomplete = whole[1:] or [""]
    found = candidates(table, [" ".join(_split(word)) for word in words], incomplete)
    was_broken = len(whole) < len(broken)
    kept = len(re.sub(rf"[^{BASH_BREAKS}]*$", "", incomplete)) if was_broken else 0
    return "\n".join(word[kept:] for word in found), 0


def _is_break(text: str) -> bool:
    return bool(text) and not text.strip(BASH_BREAKS)


def _typed() -> tuple[list[str], str]:
    """The words before the cursor, and the one at it, as zsh and fish tell them."""
    text = os.environ.get("_TYPER_COMPLETE_ARGS", "")
    words = _split(text)[1:]
    if words and not text.endswith(" "):
        return words[:-1], words[-1]
    return words, ""


def _zsh(table: Mapping[str, Any]) -> tuple[str, int]:
    found = candidates(table, *_typed())
    if not found:
        return "_files", 0
    shown = [
        f'"{_quoted(word)}":"{_quoted(meaning)}"' if meaning else f'"{_quoted(word)}"'
        for word, meaning in found.items()
    ]
    return "_arguments '*: :((" + "\n".join(shown) + "))'", 0


def _quoted(text: str) -> str:
    """Text within the nested quotes of zsh's `_arguments`."""
    replaced = text.replace('"', '""').replace("'", "''")
    return replaced.replace("$", "\\$").replace("`", "\\`").replace(":", r"\\:")


def _fish(table: Mapping[str, Any]) -> tuple[str, int]:
    found = candidates(table, *_typed())
    if os.environ.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return "", 0 if found else 1
    lines = [f"{word}\t{meaning}" if meaning else word for word, meaning in found.items()]
    return "\n".join(lines), 0


SHELLS: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, int]]] = {
    "complete_bash": _bash,
    "complete_zsh": _zsh,
    "complete_fish": _fish,
}


def answer_shell() -> int | None:
    """Print the completions that a shell asks for.

    Returns:
        The exit code; None if no shell asks, or one that is not known here.
    """
    answer = SHELLS.get(os.environ.get(REQUEST, ""))
    if answer is None:
        return None
    text, code = answer(json.loads(TABLE.read_text("utf-8")))
    if text:
        print(text)
    return code
