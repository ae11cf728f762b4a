"""Memory for a search along one line of play, which alpha-beta and proof-number search share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.children import DONE, PLIES
from azumaya.baselines.search.game_kernels import GameKernels, words_of
from azumaya.baselines.search.table import MOST_HASHED
from azumaya.envs.errors import OptionError
from azumaya.envs.game import as_states

USUAL_MOVES = 64
"""The moves for which there is room at each ply, on average over a line."""
SHORT = 1000.0
"""Time limits in milliseconds up to which a search should not wait for memory."""


class LineRoom:
    """A frame for each ply of a line, and slots for the positions after its moves.

    Args:
        kernels: the game's kernels.
        frame: the dtype of a frame.
        move: the dtype of a listed move.
        control: the dtype of the state of the search, with the fields `nodes` and `phase`.
        table: the table of positions, whose entries have a field `age`.
    """

    def __init__(
        self,
        kernels: GameKernels,
        frame: np.dtype[Any],
        move: np.dtype[Any],
        control: np.dtype[Any],
        table: np.ndarray,
    ) -> None:
        self.kernels, self.table, self._touched = kernels, table, False
        slots = 1 + USUAL_MOVES * PLIES + 64 * kernels.words
        self._states = kernels.new_states(slots)
        self._state_words = words_of(self._states)
        self._outlook = np.zeros((1, max(kernels.hints.outlook_words, 1)), np.uint64)
        hashed = self._state_words if kernels.hints.outlook is None else self._outlook
        if hashed.shape[1] > MOST_HASHED:
            raise OptionError(
                f"{kernels.game.id}: positions of {hashed.shape[1]:,} words cannot be looked up in "
                f"a table; the most is {MOST_HASHED:,}, also of an outlook"
            )
        self._words = np.zeros(kernels.words, np.uint64)
        self.frames = as_states(np.zeros(PLIES + 1, frame))
        self.moves = as_states(np.zeros(slots, move))
        self.control = as_states(np.zeros(1, control))

    def prepare(self, budget: Budget) -> None:
        """Get ready for searches with a budget; call it before the clock runs.

        If they are short, all of the table's memory is taken now. Systems that give it out in pages
        of 2 MB may need milliseconds for each, and a search soon visits them all.
        """
        if not self._touched and (budget.milliseconds or math.inf) <= SHORT:
            self.table["age"] = 0  # which it is before the first search
            self._touched = True

    @property
    def nodes(self) -> int:
        """Positions visited since the search forgot all others."""
        return int(self.control["nodes"][0])

    @property
    def done(self) -> bool:
        """Whether the current search has ended."""
        return bool(self.control["phase"][0] == DONE)
