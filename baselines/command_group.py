"""Groups of commands of which one need not be named."""

from __future__ import annotations

from typing import Any

import typer


def with_default(default: str) -> type[typer.core.TyperGroup]:
    """A group in which `default` is put before arguments that begin with no command."""

    class WithDefault(typer.core.TyperGroup):
        default_command = default

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            named = args[:1] and args[0] in self.commands
            return super().parse_args(ctx, args if named else [default, *args])

    return WithDefault
