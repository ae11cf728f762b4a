"""Words that all games on the 6x6 board share: colours, sides, results."""

from __future__ import annotations

from typing import Any

from azumaya.envs.geometry.dominari36 import BLOCK_OF, SIZE

ROW_LENGTHS = (SIZE,) * SIZE
COLOUR_LETTERS = "wb"
COLOUR_NAMES = ("white", "black")
"""By player."""
BOARD_TEXT = """\
The board has 6x6 cells, columns a to f from left to right, rows 1 to 6 from bottom to top, and
nine blocks of 2x2. White moves first."""
"""The beginning of every `how_to_play`."""
GROUNDS = tuple("light" if block % 2 else "plain" for block in BLOCK_OF)
"""The grounds of a scene: every other block is light."""


def side_name(player: int) -> str:
    """A player and their colour, like `player_0 (white)`."""
    return f"player_{player} ({COLOUR_NAMES[player]})"


def result_note(state: Any) -> str:
    """How a game ended that was not cut off."""
    payoff = int(state["payoff"])
    return f"over: {side_name(int(payoff < 0))} wins" if payoff else "over: a draw"
