"""The command line: `azumaya COMMAND ...`, a module for each command.

All but this module needs the extra `cli`. `app`, the program that the commands make up, imports all
of them whenever any command runs, so packages of other extras, and what is slow to import, are
imported by the functions that need them.
"""

from __future__ import annotations

import sys

from azumaya.baselines.system.signals import REFUSED, interrupt_anywhere, leave_on_interrupt


def main() -> None:
    """Run the command line; missing packages and system errors are reported in one line."""
    leave_on_interrupt()
    from azumaya.envs.extras import MissingExtraError, require  # noqa: PLC0415 - takes a second

    try:
        require("typer", extra="cli")
        require("rich", extra="cli")
        from azumaya.baselines.cli.app import app  # noqa: PLC0415 - needs the extra `cli`
        from azumaya.baselines.cli.terminal import guarded  # noqa: PLC0415 - needs the extra `cli`

        interrupt_anywhere()
        guarded("azumaya", app)
    except MissingExtraError as error:
        print(f"azumaya: {error}", file=sys.stderr)
        raise SystemExit(REFUSED) from None
