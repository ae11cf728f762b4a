"""Boards side by side, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from azumaya.envs import Position


class Boards:
    """Pictures of positions in a row.

    Args:
        positions: the positions.
        captions: a line below each; none if left out.
        width: the width of each picture in pixels.
    """

    def __init__(
        self, positions: Sequence[Position], captions: Sequence[str] = (), width: int = 300
    ) -> None:
        self.positions = list(positions)
        self.captions = [*captions, *[""] * (len(self.positions) - len(captions))]
        self.width = width

    def __repr__(self) -> str:
        pairs = zip(self.positions, self.captions, strict=True)
        return "\n".join(f"{position}  {caption}" for position, caption in pairs)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        figures = "".join(
            f'<figure style="width: {self.width}px; margin: 0">{_flexible(position.svg())}'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
            for position, caption in zip(self.positions, self.captions, strict=True)
        )
        return f'<div style="display: flex; flex-wrap: wrap; gap: 1em">{figures}</div>'


def _flexible(svg: str) -> str:
    """A picture that takes the width of what it is in."""
    return svg.replace("<svg ", '<svg style="width: 100%; height: auto" ', 1)
