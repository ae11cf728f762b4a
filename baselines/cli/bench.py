"""`azumaya bench ...`: the benchmarks, in a fresh process of their own.

The benchmarks import this package, which must not import them; and measurements should not share
a process with a command line.
"""

from __future__ import annotations

import os
import subprocess
import sys

import typer

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def bench(context: typer.Context) -> None:
    """Measure how fast the games run on this machine; see `azumaya bench --help`."""
    command = [sys.executable, "-m", "azumaya.benchmarks", *context.args]
    if os.name == "posix":
        # The benchmarks replace this process and keep its number. So they receive every signal
        # sent to it, and nothing keeps running once it has ended.
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
