"""One game of the engine; a single kernel call plays a move and writes all outputs.

Calling a kernel from Python costs 0.3 µs if it takes arrays, but 2 µs if it takes a single record,
because numba then looks up its type every time. Both are more than the rules themselves cost. So
one call does everything that the AEC environment needs for a step.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from azumaya.envs.engine.games import Games
from azumaya.envs.engine.kernels import PLANES, show_kernel
from azumaya.envs.game import Game
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.spread import aligned, padded
from azumaya.envs.setup import Setup

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


class SingleGame(Games):
    """One game, with what both players see of it.

    Args:
        game: the game.
        setup: its validated options.

    Attributes:
        to_move, over, payoff: the fields of the state, as ints.
    """

    losable = True
    _REBUILT: ClassVar[tuple[str, ...]] = (
        *Games._REBUILT, "_masks", "_planes", "_both_masks", "_each_mask", "_facts", "_outputs",
        "_turn", "_start",
    )  # fmt: skip

    def __init__(self, game: Game, setup: Setup) -> None:
        super().__init__(game, setup, 1)
        self.to_move = self.over = self.payoff = 0
        self._build()

    def _build(self) -> None:
        super()._build()
        game, actions = self.game, self.num_actions
        size = len(game.observation.planes) * game.observation.cells
        self.legal = np.zeros((2, self.words), np.uint64)
        self._masks = aligned((2, padded(actions)), np.int8)
        views = aligned((2, padded(size)), np.int8)
        shape = (2, len(game.observation.planes), *game.observation.shape)
        self._planes = views[:, :size].reshape(shape)
        self._both_masks = self._masks[:, :actions]
        self._each_mask = tuple(self._both_masks)
        self._facts = np.zeros(3, np.int64)
        self._start: tuple[Any, np.ndarray | None] = (None, None)
        seen = np.zeros(game.observation.packed_words, np.uint64)
        self._outputs = (seen, self.legal, self._masks, views)
        self._turn = turn_kernel(game, self.words)

    def _refresh(self) -> None:
        self.look()

    def play(self, action: int) -> None:
        """Make a legal move."""
        self._turn(self.states, action, self._facts, *self._outputs)
        self.to_move, self.over, self.payoff = self._facts.tolist()

    def look(self) -> None:
        """Update the outputs from the current state."""
        self.play(_LOOK)
        if self.series["lost"][0]:
            self._masks[:] = 0

    def lose(self) -> None:
        """End the episode by an illegal action: nothing is legal any more."""
        self.series["lost"] = 1
        self._masks[:] = 0

    def is_legal(self, action: int) -> bool:
        """Whether an action, from 0 to `num_actions - 1`, is legal for the player to move."""
        return bool(self._masks[self.to_move, action])

    def mask(self, player: int) -> np.ndarray:
        """A player's action mask, `(num_actions,)` int8; the next move overwrites it."""
        return self._each_mask[player]

    def masks(self) -> np.ndarray:
        """A copy of both players' action masks, `(2, num_actions)` int8."""
        return self._both_masks.copy()

    def planes(self, player: int) -> np.ndarray:
        """A copy of a player's observation, `(C, rows, columns)` int8."""
        return self._planes[player].copy()

    def _start_of(self, setup: Setup, series: np.ndarray) -> np.ndarray | None:
        """As for all games, but found once for each episode."""
        episode = setup, int(series["key"][0])
        if self._start[0] != episode:
            self._start = episode, super()._start_of(setup, series)
        return self._start[1]
