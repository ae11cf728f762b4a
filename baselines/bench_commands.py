"""`azumaya bench ...`: the benchmarks, in a fresh process of their own.

They stand above this package, which must not import them; and what is measured should not share
its process with a command line.
"""

from __future__ import annotations

import subprocess
import sys

import typer

PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def bench(context: typer.Context) -> None:
    """Measure how fast everything is; `azumaya bench --help` tells more."""
    command = [sys.executable, "-m", "azumaya.benchmarks", *context.args]
    with subprocess.Popen(command) as process:
        while True:
            try:
                raise typer.Exit(process.wait())
            except KeyboardInterrupt:
                continue  # it got the same Ctrl-C, and writes what it has
