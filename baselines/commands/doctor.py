"""`azumaya doctor`: versions, cache, GPU, and a check that the games run correctly."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from azumaya.baselines.doctor import NOTE, OK, WRONG, Finding, examine
from azumaya.baselines.system.signals import FAILED
from azumaya.baselines.terminal import console

MARKS = {OK: "✓", NOTE: "·", WRONG: "✗"}
STYLES = {OK: "green", NOTE: "dim", WRONG: "bold red"}


def doctor(
    every_game: Annotated[
        bool, typer.Option("--all", help="Check all games instead of one of each kind.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show versions, compile cache and GPU, and check that the games run correctly.

    The first run compiles one game of each kind, which takes a few seconds per game.
    """
    screen = console(stderr=True)
    with screen.status("examining", spinner="dots"):
        findings = list(examine(every_game))
    wrong = [finding for finding in findings if finding.state == WRONG]
    if as_json:
        listed = [asdict(finding) for finding in findings]
        typer.echo(json.dumps({"ok": not wrong, "findings": listed}))
    else:
        console().print(_table(findings))
        typer.echo("everything needed works" if not wrong else f"problems found: {len(wrong)}")
    if wrong:
        raise typer.Exit(FAILED)


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    for _ in range(2):
        table.add_column(overflow="fold")
    topic = ""
    for finding in findings:
        if finding.topic != topic:
            topic = finding.topic
            table.add_row("", topic, "", style="bold")
        table.add_row(
            MARKS[finding.state], f"  {finding.name}", finding.value, style=STYLES[finding.state]
        )
    return table
