"""Draw the pictures of the games on the start page of `azumaya serve`.

They are those of the overview of the games, `docs/games/index.md`.

python -m docs.images.make_cards
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from azumaya.envs import Position

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs/_ext"))  # as Sphinx does

from azumaya_docs.boards import cropped  # noqa: E402

BOARD = re.compile(r"```\{board\} (\w+)\n:position: (.+)\n")
"""A board of the overview: the game and the position text."""


def cards() -> dict[str, str]:
    """The pictures as SVG, by file name."""
    overview = (ROOT / "docs/games/index.md").read_text(encoding="utf-8")
    return {
        f"{game}.svg": cropped(Position(game, position=text), None, "", givens=False) + "\n"
        for game, text in BOARD.findall(overview)
    }


if __name__ == "__main__":
    for name, svg in cards().items():
        path = ROOT / "baselines/play/server/web" / name
        path.write_text(svg, encoding="utf-8", newline="\n")
