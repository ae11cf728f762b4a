"""Proof-number search, built on a game's kernels; the solver uses it."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.line_room import LineRoom
from azumaya.baselines.search.proof_kernels import (
    CONTROL,
    ENTRY,
    FRAME,
    MOVE,
    WAYS,
    begin,
    forget,
    proof_kernel,
)
from azumaya.baselines.search.table import NO_MOVE, new_table


class ProofRoom(LineRoom):
    """The memory of one proof-number search: a frame for each ply, and the table.

    It serves games that offer `prospects`, in episodes that end with a payoff of 1 or -1.

    Args:
        kernels: the game's kernels.
        megabytes: memory for the table.

    Raises:
        OptionError: the memory is too small for a table.
    """

    def __init__(self, kernels: GameKernels, megabytes: float) -> None:
        super().__init__(kernels, FRAME, MOVE, CONTROL, new_table(megabytes, ENTRY, WAYS))
        self._run = proof_kernel(kernels)

    def forget(self, key: int = 0) -> None:
        """Empty the table and reset the counters; `key` breaks ties at the root."""
        forget(self.memory.control, np.uint64(key))

    def prove(self, state: np.ndarray, bound: int) -> None:
        """Begin to find the exact value of `state`, `(1,)`; the table keeps its entries.

        Args:
            state: the running position.
            bound: the most that a player can gain, which must be 1.
        """
        assert bound == 1
        begin(self.memory, state)

    def go_on(self, limit: int) -> None:
        """Search until `limit` positions have been visited or the search ends."""
        self._run(limit, self.memory)

    def proven(self) -> tuple[int | None, int]:
        """The final payoff of player_0, None if it is not proven, and a move that leads to it."""
        frame = self.memory.frames[0]
        if not self.done or (frame["win"] != 0.0 and frame["loss"] != 0.0):
            return None, NO_MOVE
        first = frame["win"] == 0.0
        wins = first == (self.memory.states["to_move"][0] == 0)
        return 1 if wins else -1, int(self.memory.moves["move"][frame["taken"]])
