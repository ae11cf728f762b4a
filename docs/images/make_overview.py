"""Draw `overview.png`, the README's picture: a position of every game, played by greedy agents.

PYTHONPATH=docs/_ext python docs/images/make_overview.py
"""

from __future__ import annotations

from pathlib import Path

from azumaya_docs.boards import FRAME, cropped

from azumaya.baselines.agents import GreedyAgent
from azumaya.envs import GAMES, Position
from azumaya.envs.render import palette, png_of
from azumaya.envs.render.layout import BOARD_SIZE
from azumaya.envs.render.pieces import element, text

COLUMNS, PIXELS = 4, 1560
"""Boards per row, and the width of the picture in pixels."""
GAP, NAME, LINE = 40, 64, 50
"""Around the boards; the height of the name, and of each line of the caption below a board."""
PART_PLAYED = 0.7
"""A position is taken after this fraction of a game's plies."""
LONGEST, SEEDS = 120, 24
"""The most plies of a game, and the number of games from which the longest is chosen."""
CAPTIONS = {
    "sudoku_moyo": "fill your own regions;\nno move left: you lose",
    "sudoku_horikomi": "invade; the player with\nfewer holes wins",
    "sudoku_tiles": "score for every tile\nthat the new tile sees",
    "halma_dominari": "race six numbers\nacross, forward only",
    "vierer_dominari": "four in a row; blanks\nfill dead cells",
    "revers_dominari": "surround stones and\nturn them over",
    "score_dominari": "grow from a corner;\nfill blocks and lines",
    "abalone": "push six marbles\noff the board",
}
SIDE = BOARD_SIZE + 2 * FRAME
HEIGHT = NAME + SIDE + 2 * LINE + GAP
"""The side of a board with its frame, and the height of a row of boards."""


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
    """A board with the game's name above and its idea below, at its place in the picture."""
    position, action = middle_of_a_game(name)
    row, column = divmod(index, COLUMNS)
    x, y = GAP + column * (SIDE + GAP), GAP + row * HEIGHT
    title = text(GAMES[name].title, (x + FRAME, y + NAME / 2), 42, palette.INK, "start")
    place = f'x="{x}" y="{y + NAME}" width="{SIDE}" height="{SIDE}"'
    board = cropped(position, action, place)
    below = y + NAME + SIDE + LINE * 0.7
    lines = [
        text(line, (x + FRAME, below + LINE * n), 32, palette.INK, "start")
        for n, line in enumerate(CAPTIONS[name].split("\n"))
    ]
    return title + board + "".join(lines)


def main() -> None:
    """Draw the boards into one picture."""
    tiles = [tile(index, name) for index, name in enumerate(GAMES)]
    width, height = GAP + COLUMNS * (SIDE + GAP), GAP + -(-len(tiles) // COLUMNS) * HEIGHT
    paper = element("rect", width=width, height=height, fill=palette.PAPER)
    sheet = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{paper}{"".join(tiles)}</svg>'
    )
    Path(__file__).with_name("overview.png").write_bytes(png_of(sheet, PIXELS))


if __name__ == "__main__":
    main()
