"""Words for messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A count with its noun, such as `1 game` or `1,200 games`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
