"""Commands whose words go on to another program: `azumaya bench` and `azumaya train`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from azumaya.baselines.cli.terminal import complaints
from azumaya.baselines.protocol.tracks import ALGORITHMS
from azumaya.baselines.system.commands import game_option
from azumaya.envs.errors import OptionError, did_you_mean

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
USAGE = f"""azumaya train [--game GAME] [--algorithm {"|".join(ALGORITHMS)}] [--time TIME] [...]

Trains an agent by self-play, {ALGORITHMS[0]} by default, and evaluates it.
All other options are those of the script, whose help follows.
"""


def bench(context: typer.Context) -> None:
    """Measure how fast the games run on this machine; see `azumaya bench --help`.

    The benchmarks import this package, which must not import them; and measurements should not
    share a process with a command line.
    """
    become("azumaya.benchmarks", context.args)


def train(context: typer.Context) -> None:
    """Train an agent: `azumaya train --game GAME --algorithm ppo`; see `azumaya train --help`."""
    with complaints():
        algorithm, words = script_words(context.args)
    if {"--help", "-h"} & set(words):
        typer.echo(USAGE)
    become(f"azumaya.baselines.training.{algorithm}", words)


def script_words(words: Sequence[str]) -> tuple[str, list[str]]:
    """The script that `azumaya train` runs with these words, and the words for it.

    Raises:
        OptionError: an option has no value, or there is no such script.
    """
    if words and not words[0].startswith("-"):
        words = game_option(words)
    algorithm, words = taken(words, "--algorithm", ALGORITHMS[0])
    if algorithm not in ALGORITHMS:
        known, hint = ", ".join(ALGORITHMS), did_you_mean(algorithm, ALGORITHMS)
        raise OptionError(f"--algorithm {algorithm}: must be one of {known}{hint}")
    return algorithm, words


def taken(words: Sequence[str], name: str, default: str) -> tuple[str, list[str]]:
    """The value of an option among words, and the others.

    Raises:
        OptionError: the option has no value.
    """
    value, others, left = default, list[str](), iter(words)
    for word in left:
        given, equals, after = word.partition("=")
        if given != name:
            others.append(word)
            continue
        found = after if equals else next(left, None)
        if found is None:
            raise OptionError(f"{name}: needs a value")
        value = found
    return value, others


def become(module: str, words: Sequence[str]) -> NoReturn:
    """Run a module in a fresh process in place of this one."""
    command = [sys.executable, "-m", module, *words]
    if os.name == "posix":
        # It replaces this process and keeps its number. So it receives every signal sent to it,
        # and nothing keeps running once it has ended.
        os.execv(sys.executable, command)
    raise typer.Exit(_wait_for(command))


def _wait_for(command: list[str]) -> int:
    """Run a command as a child, where a process cannot be replaced; returns its exit code."""
    with subprocess.Popen(command) as process:
        try:
            while True:
                try:
                    return process.wait()
                except KeyboardInterrupt:
                    continue  # the child received the same Ctrl-C and is saving its results
        finally:
            process.terminate()
