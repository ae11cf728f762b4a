"""Words for messages, and tables for pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def counted(count: int, noun: str) -> str:
    """A count with its noun, such as `1 game` or `1,200 games`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, of which all columns but the first are aligned right."""
    rule = ["---", *["---:"] * (len(headings) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, rule, *rows))
