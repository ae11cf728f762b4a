"""Draw `overview.png`, the README's picture: a position of every game, played by greedy agents.

python docs/images/make_overview.py
"""

from __future__ import annotations

from pathlib import Path

from azumaya.baselines.agents import GreedyAgent
from azumaya.envs import GAMES, Position
from azumaya.envs.render import palette, png_of, svg_of
from azumaya.envs.render.layout import BOARD_LEFT, HEIGHT, PANEL, WIDTH
from azumaya.envs.render.pieces import element, text

COLUMNS, TITLE, PIXELS = 4, 44, 1960
"""Boards per row, the height of the name above each, and the width of the picture in pixels."""
PART_PLAYED = 0.7
"""A position is taken after this fraction of a game's plies."""
LONGEST, SEEDS = 120, 24
"""The most plies of a game, and the number of games from which the longest is chosen."""


def middle_of_a_game(name: str) -> tuple[Position, int]:
    """A position from the middle of a game, and the action that led to it."""
    lines = [line_of_play(name, seed) for seed in range(1, SEEDS + 1)]
    line = max(lines, key=len)
    return line[int(len(line) * PART_PLAYED)]


def line_of_play(name: str, seed: int) -> list[tuple[Position, int]]:
    """A game of two greedy players: the positions with the actions that led to them."""
    position, line = Position(name, seed=seed), []
    while not position.is_over and len(line) < LONGEST:
        action = GreedyAgent().act([position], [seed])[0]
        position.play(action)
        line.append((position.copy(), action))
    return line


def tile(index: int, name: str) -> str:
    """A board with the game's name above it, at its place in the picture."""
    position, action = middle_of_a_game(name)
    row, column = divmod(index, COLUMNS)
    x, y = column * (WIDTH + PANEL), row * (HEIGHT + TITLE)
    title = text(GAMES[name].title, (x + BOARD_LEFT, y + 30), 19, palette.INK, "start")
    board = svg_of(position.scene(last_action=action))
    return title + board.replace("<svg ", f'<svg x="{x}" y="{y + TITLE}" ', 1)


def main() -> None:
    """Draw the boards into one picture."""
    tiles = [tile(index, name) for index, name in enumerate(GAMES)]
    width, height = COLUMNS * (WIDTH + PANEL), -(-len(tiles) // COLUMNS) * (HEIGHT + TITLE)
    paper = element("rect", width=width, height=height, fill=palette.PAPER)
    sheet = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{paper}{"".join(tiles)}</svg>'
    )
    Path(__file__).with_name("overview.png").write_bytes(png_of(sheet, PIXELS))


if __name__ == "__main__":
    main()
