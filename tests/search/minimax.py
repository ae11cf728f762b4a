"""Naive minimax values, without tables, bounds or windows, on `Position` objects."""

from __future__ import annotations

import random
from collections.abc import Iterator

from azumaya.envs.position import Position
from tests.cases import random_line


class TooLarge(Exception):  # noqa: N818 - not an error: such positions are skipped
    """The tree below a position has more nodes than allowed."""


class Minimax:
    """Values by trying every move to the end of the game.

    Args:
        nodes: the most positions to visit before `TooLarge` is raised.
    """

    def __init__(self, nodes: int) -> None:
        self.left = nodes

    def final(self, position: Position) -> int:
        """The return of player_0 at the end with best play of both players."""
        self.left -= 1
        if self.left < 0:
            raise TooLarge
        if position.is_over:
            return position.returns()[0]
        finals = [self.final(position.copy().play(action)) for action in position.legal_actions()]
        return max(finals) if position.to_move == 0 else min(finals)

    def gains(self, position: Position) -> dict[int, int]:
        """What the player to move still gains by each move with best play afterwards."""
        mover, before = position.to_move, position.returns()[position.to_move]
        return {
            action: (1 - 2 * mover) * self.final(position.copy().play(action)) - before
            for action in position.legal_actions()
        }


def late_positions(
    start: Position, seed: int, count: int, nodes: int
) -> Iterator[tuple[Position, dict[int, int]]]:
    """Running positions towards the end of random games, with the gain of each of their moves.

    At most eight positions of each game, from its end backwards, while their trees have at most
    `nodes` nodes.
    """
    rng = random.Random(seed)
    found = 0
    while found < count:
        for position in reversed(random_line(start, rng)[-9:-1]):
            try:
                gains = Minimax(nodes).gains(position)
            except TooLarge:
                break
            yield position, gains
            found += 1
            if found == count:
                return
