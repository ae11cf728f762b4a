"""Runs commands inside the process of the tests; `processes.py` runs them as users do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.testing import CliRunner, Result

from azumaya.baselines.cli.app import app


def azumaya(*words: object, say: str = "", width: int = 400, program: typer.Typer = app) -> Result:
    """Run `azumaya` with these words.

    Args:
        words: what would be typed after `azumaya`.
        say: what it reads from standard input.
        width: the columns of the terminal, at which messages and tables are wrapped.
        program: another program to run instead.
    """
    return CliRunner().invoke(program, [*map(str, words)], input=say, env={"COLUMNS": str(width)})


def invoke(command: Callable[..., Any], *words: object) -> Result:
    """Run one command, a function with typer's annotations, as a program of its own."""
    alone = typer.Typer()
    alone.command()(command)
    return azumaya(*words, program=alone)


def refused(result: Result, *messages: str) -> None:
    """Assert a message, exit code 2 and no traceback."""
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    said = " ".join(result.output.replace("│", " ").split())
    for message in messages:
        assert message in said
    assert "Traceback" not in said
