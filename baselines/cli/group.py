"""Groups of commands of which one need not be named."""

from __future__ import annotations

from typing import Any

import typer


def with_default(default: str) -> type[typer.core.TyperGroup]:
    """A group in which `default` is put before arguments that begin with no command."""

    class WithDefault(typer.core.TyperGroup):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            # While a shell completes the first word, it may still be any command.
            named = args[0] in self.commands if args else ctx.resilient_parsing
            return super().parse_args(ctx, args if named else [default, *args])

        def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
            inner: Any = self.commands[default]
            first = [p for p in inner.params if p.param_type_name == "argument"][:1]
            owners = (super(), inner, *first)
            found = [item for owner in owners for item in owner.shell_complete(ctx, incomplete)]
            return [*{item.value: item for item in found}.values()]

    return WithDefault
