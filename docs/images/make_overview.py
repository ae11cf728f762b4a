"""Draw `overview.png`, the README's picture: a position of every game, played at random.

python docs/images/make_overview.py
"""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from azumaya.baselines.agents import GreedyAgent
from azumaya.envs import GAMES, Position
from azumaya.envs.render import png_of, svg_of

COLUMNS, SCALE = 4, 0.62
PART_PLAYED = 0.55
"""How far into a game of two greedy players a position is taken from."""


def middle_of_a_game(name: str, seed: int) -> tuple[Position, int]:
    """A position from the middle of a game, and the action that led to it."""
    position, line = Position(name, seed=seed), []
    while not position.is_over and len(line) < 120:
        action = GreedyAgent().act([position], [seed])[0]
        position.play(action)
        line.append((position.copy(), action))
    return line[int(len(line) * PART_PLAYED)]


def main() -> None:
    """Draw the boards into one picture, all at one scale."""
    tiles = []
    for seed, name in enumerate(GAMES, start=3):
        position, action = middle_of_a_game(name, seed)
        picture = Image.open(io.BytesIO(png_of(svg_of(position.scene(last_action=action)))))
        size = (round(picture.width * SCALE), round(picture.height * SCALE))
        tiles.append(picture.convert("RGB").resize(size, Image.Resampling.LANCZOS))
    width, height = (max(sizes) for sizes in zip(*(tile.size for tile in tiles), strict=True))
    rows = -(-len(tiles) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * width, rows * height), tiles[0].getpixel((1, 1)))
    for i, tile in enumerate(tiles):
        sheet.paste(tile, (i % COLUMNS * width, i // COLUMNS * height))
    sheet.save(Path(__file__).with_name("overview.png"), optimize=True)


if __name__ == "__main__":
    main()
