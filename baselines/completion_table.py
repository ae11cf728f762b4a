"""Make the table from which shells complete commands: `completion.json`.

    python -m azumaya.baselines.completion_table

Run it after a change of the commands, of the games or of their options; a test compares the table
with them.
"""

from __future__ import annotations

import json
import re
from typing import Any

import typer

from azumaya.baselines.arena.exams import PARTS
from azumaya.baselines.commands import app
from azumaya.baselines.completion import TABLE
from azumaya.baselines.files import write_whole
from azumaya.envs import GAMES
from azumaya.envs.game import Game, Option

KINDS = {
    "game": "games",
    "option": "options",
    "part": "parts",
    **dict.fromkeys(("agents", "agent", "first", "second", "opponent", "add"), "agents"),
}
"""What the values of parameters are, by the parameter's name."""
KINDS_OF_COMMANDS = {("play", "first"): "players", ("play", "second"): "players"}
"""The same for one command alone."""
_VALUES = re.compile(r'`"(\w+)"`|`(True|False)`')
_LONGEST = 80


def make_table() -> dict[str, Any]:
    """The commands with their parameters, the games with their options, the parts of exams."""
    games = {name: {"title": game.title, "options": _options(game)} for name, game in GAMES.items()}
    return {"azumaya": _command(typer.main.get_command(app), ""), "games": games, "parts": PARTS}


def _options(game: Game) -> dict[str, str]:
    """Settings such as `territory=corners`; no meaning where each value has one of its own."""
    return {
        f"{option.name}={value}": "" if option.meaning[0] == "`" else _short(option.meaning)
        for option in game.options
        for value in _named_values(option)
    }


def _named_values(option: Option) -> list[str]:
    """The values of an option that are words; otherwise its default."""
    words = [text or flag for text, flag in _VALUES.findall(option.values)]
    return words or ([] if option.default is None else [str(option.default)])


def _command(command: Any, name: str) -> dict[str, Any]:
    """A command or group, as click describes it."""
    parameters = [each for each in command.params if not each.hidden]
    options = [p for p in parameters if p.param_type_name == "option"]
    return {
        "help": _short(command.get_short_help_str(_LONGEST)),
        "default": getattr(command, "default_command", ""),
        "commands": {
            key: _command(each, key) for key, each in getattr(command, "commands", {}).items()
        },
        "options": [*(_option(p, name) for p in options), _HELP],
        "arguments": [
            {"name": p.name, "kind": _kind(name, p.name), "many": p.nargs != 1}
            for p in parameters
            if p.param_type_name == "argument"
        ],
    }


_HELP = {
    "name": "help", "names": ["--help"], "value": False, "many": False, "kind": "",
    "help": "Show this message and exit.",
}  # fmt: skip


def _option(parameter: Any, command: str) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "names": [*parameter.opts, *parameter.secondary_opts],
        "value": not parameter.is_flag,
        "many": bool(parameter.multiple),
        "kind": "" if parameter.is_flag else _kind(command, parameter.name),
        "help": _short(parameter.help or ""),
    }


def _kind(command: str, parameter: str) -> str:
    return KINDS_OF_COMMANDS.get((command, parameter), KINDS.get(parameter, ""))


def _short(text: str) -> str:
    """The first sentence, at most `_LONGEST` characters of it."""
    first = re.split(r"(?<=[^.])[.:;](?:\s|$)", " ".join(text.split()), maxsplit=1)[0]
    return first if len(first) <= _LONGEST else first[: _LONGEST - 3].rsplit(" ", 1)[0] + "..."


def table_bytes() -> bytes:
    """The content of the table's file."""
    return (json.dumps(make_table(), indent=1) + "\n").encode()


if __name__ == "__main__":
    write_whole(TABLE, table_bytes())
