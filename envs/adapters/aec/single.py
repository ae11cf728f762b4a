"""One game in its own buffers; a single kernel call plays a move and writes all outputs.

Calling a kernel from Python costs 0.3 µs if it takes arrays, but 2 µs if it takes a single record,
because numba then looks up its type every time. Both are more than the rules themselves cost. So
one call does everything that the AEC environment needs for a step.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.envs.adapters.batch.kernels import PLANES, show_kernel
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game, state_kind
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.checksum import checksum_key, checksum_of_one
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.spread import aligned, padded

_LOOK = -1
"""Stands for an action; nothing is played."""


@functools.cache
def turn_kernel(game: Game, words: int) -> Any:
    """The kernel that plays an action, or nothing, in `states[0]` and shows it to both players.

    In `turn(states, action, facts, seen, legal, masks, views)`, row `p` of the outputs is what
    player `p` sees. `facts`, `(3,)`, receives the fields `to_move`, `over` and `payoff`.
    """
    play, show = game.rules.play, show_kernel(game, words, PLANES)

    @kernel
    def turn(states, action, facts, seen, legal, masks, views):
        if action != _LOOK:
            play(states[0], action)
        facts[0], facts[1], facts[2] = states[0].to_move, states[0].over, states[0].payoff
        for player in range(2):
            show(states[0], player, player, seen, legal, masks, views)

    return turn


class SingleGame:
    """One game, with what both players see of it.

    Args:
        game: the game.
        num_actions: the number of actions.

    Attributes:
        states: the state, `(1,)`; call `look` after changing it.
        to_move, over, payoff: the fields of the state, as ints.
    """

    def __init__(self, game: Game, num_actions: int) -> None:
        self.game, self.num_actions = game, num_actions
        kind, state = state_kind(game, num_actions), game.rules.state
        self._keys = checksum_key(kind, state), checksum_key(kind, state, state)
        self.states = game.new_states(1)
        self.to_move = self.over = self.payoff = 0
        words, size = word_count(num_actions), len(game.observation.planes) * game.observation.cells
        self._masks, views = aligned((2, padded(num_actions)), np.int8), padded(size)
        self._views = aligned((2, views), np.int8)
        self._planes = self._views[:, :size].reshape(
            2, len(game.observation.planes), *game.observation.shape
        )
        self._both_masks = self._masks[:, :num_actions]
        self._each_mask = tuple(self._both_masks)
        self._facts = np.zeros(3, np.int64)
        seen = np.zeros(game.observation.packed_words, np.uint64)
        self._room = (seen, np.zeros((2, words), np.uint64), self._masks, self._views)
        self._turn = turn_kernel(game, words)

    def play(self, action: int) -> None:
        """Make a legal move."""
        self._turn(self.states, action, self._facts, *self._room)
        self.to_move, self.over, self.payoff = self._facts.tolist()

    def look(self) -> None:
        """Update the outputs from the current state."""
        self.play(_LOOK)

    def is_legal(self, action: int) -> bool:
        """Whether an action, from 0 to `num_actions - 1`, is legal for the player to move."""
        return bool(self._masks[self.to_move, action])

    def mask(self, player: int) -> np.ndarray:
        """A player's action mask, `(num_actions,)` int8; the next move overwrites it."""
        return self._each_mask[player]

    def masks(self) -> np.ndarray:
        """A copy of both players' action masks, `(2, num_actions)` int8."""
        return self._both_masks.copy()

    def clear_masks(self) -> None:
        """Mark all actions as illegal, until the next move or `look`."""
        self._masks[:] = 0

    def planes(self, player: int) -> np.ndarray:
        """A copy of a player's observation, `(C, rows, columns)` int8."""
        return self._planes[player].copy()

    def checksum(self, *states: np.ndarray) -> int:
        """The checksum of one or two states, `(1,)` each, for this game and action space."""
        return checksum_of_one(self._keys[len(states) - 1], *states)

    def __getstate__(self) -> tuple[Game, int, np.ndarray, int, bool]:
        """The data from which the rest is rebuilt: copied buffers would not be aligned."""
        cleared = not self._masks.any()
        return self.game, self.num_actions, self.states, self.checksum(self.states), cleared

    def __setstate__(self, saved: tuple[Game, int, np.ndarray, int, bool]) -> None:
        game, num_actions, states, given, cleared = saved
        SingleGame.__init__(self, game, num_actions)
        if given != self.checksum(states):
            raise OptionError("states: they were changed after they were saved")
        self.states[0] = states[0]
        self.look()
        if cleared:
            self.clear_masks()
