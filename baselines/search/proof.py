"""Proof-number search, built on a game's kernels; the solver uses it."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.alphabeta import USUAL_MOVES
from azumaya.baselines.search.children import PLIES
from azumaya.baselines.search.game_kernels import GameKernels, words_of
from azumaya.baselines.search.proof_kernels import (
    CONTROL,
    DONE,
    ENTRY,
    FRAME,
    MOVE,
    WAYS,
    begin,
    forget,
    proof_kernel,
)
from azumaya.baselines.search.table import NO_MOVE, SECOND_HASH, new_table
from azumaya.envs.game import as_states


class ProofRoom:
    """The memory of one proof-number search: a frame for each ply, and the table.

    It serves games that offer `prospects`, in episodes that end with a payoff of 1 or -1.

    Args:
        kernels: the game's kernels.
        megabytes: memory for the table.

    Raises:
        OptionError: the memory is too small for a table.
    """

    def __init__(self, kernels: GameKernels, megabytes: float) -> None:
        self.kernels = kernels
        self.table = new_table(megabytes, ENTRY, WAYS)
        self._run = proof_kernel(kernels)
        slots = 1 + USUAL_MOVES * PLIES + 64 * kernels.words
        self._states = kernels.new_states(slots)
        self._state_words = words_of(self._states)
        assert self._state_words.shape[1] < SECOND_HASH
        self._outlook = np.zeros((1, max(kernels.outlook_words, 1)), np.uint64)
        self._words = np.zeros(kernels.words, np.uint64)
        self._frames = as_states(np.zeros(PLIES + 1, FRAME))
        self._moves = as_states(np.zeros(slots, MOVE))
        self._control = as_states(np.zeros(1, CONTROL))

    @property
    def nodes(self) -> int:
        """Positions visited since `forget`."""
        return int(self._control["nodes"][0])

    @property
    def done(self) -> bool:
        """Whether the current search has ended."""
        return bool(self._control["phase"][0] == DONE)

    def forget(self, key: int = 0) -> None:
        """Empty the table and reset the counters; `key` breaks ties at the root."""
        forget(self._control, np.uint64(key))

    def prove(self, state: np.ndarray, bound: int) -> None:
        """Begin to find the exact value of `state`, `(1,)`; the table keeps its entries.

        Args:
            state: the running position.
            bound: the most that a player can gain, which must be 1.
        """
        assert bound == 1
        begin(self._states, self._frames, self._control, state)

    def go_on(self, limit: int) -> None:
        """Search until `limit` positions have been visited or the search ends."""
        self._run(
            limit, self._states, self._state_words, self._outlook, self._words, self._frames,
            self._moves, self.table, self._control,
        )  # fmt: skip

    def proven(self) -> tuple[int | None, int]:
        """The final payoff of player_0, None if it is not proven, and a move that leads to it."""
        frame = self._frames[0]
        if not self.done or (frame["win"] != 0.0 and frame["loss"] != 0.0):
            return None, NO_MOVE
        first = frame["win"] == 0.0
        wins = first == (self._states["to_move"][0] == 0)
        return 1 if wins else -1, int(self._moves["move"][frame["taken"]])
