"""What search needs from a game: its kernels, and the sizes that they are compiled for."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from azumaya.baselines.search.hints import Hints, hints_of
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game, Rules
from azumaya.envs.kernels.bits import ZERO, word_count
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.position import Position

UNKNOWN = 1 << 18
"""More than any payoff, and few enough points for alpha-beta's scale of `UNIT` per point."""


class HiddenDrawsError(ValueError):
    """The game has hidden draws, so its positions have no exact values."""


@dataclass(frozen=True)
class GameKernels:
    """The kernels of one game, and the sizes they are compiled for.

    Attributes:
        game: the game, which creates the states.
        rules: its rules.
        hints: what else it offers to search.
        words: the number of words in a row of legal actions.
    """

    game: Game
    rules: Rules
    hints: Hints
    words: int

    @property
    def hidden_draws(self) -> bool:
        """Whether the game has draws that are hidden from both players."""
        return self.rules.resample is not None

    def check_open(self) -> None:
        """Refuse games in which a search for exact values would see what the players cannot.

        Raises:
            HiddenDrawsError: the game has hidden draws.
        """
        if self.hidden_draws:
            raise HiddenDrawsError(
                f"{self.game.title}: what will be drawn is hidden from both players, so positions "
                "have no exact values; search with UCT"
            )


@functools.cache
def without_hidden_draws(kernels: GameKernels) -> GameKernels:
    """The kernels of a game as if nothing were hidden from its players."""
    return replace(kernels, rules=replace(kernels.rules, resample=None))


def kernels_of(position: Position) -> GameKernels:
    """The kernels of a position's game; equal for equal games and numbers of actions."""
    game = position.game
    return GameKernels(game, game.rules, hints_of(game), word_count(position.num_actions))


@functools.cache
def legal_kernel(kernels: GameKernels) -> Any:
    """The kernel `legal(state, words)`, which clears `words` before it sets the legal actions."""
    write_legal, size = kernels.rules.write_legal, kernels.words

    @kernel
    def legal(state, words):
        for w in range(size):
            words[w] = ZERO
        write_legal(state, words)

    return legal


@functools.cache
def payoff_range_kernel(bounds: Any) -> Any:
    """The kernel `payoff_range(state)`: the least and the most that player_0's payoff can become.

    Both are proven, for a running position. `bounds` is the kernel of a game's `Hints`; without one
    nothing is known, and they are `-UNKNOWN` and `UNKNOWN`.
    """

    @kernel
    def payoff_range(state):
        if bounds is None:
            return np.int64(-UNKNOWN), np.int64(UNKNOWN)
        least, most = bounds(state)
        payoff = np.int64(state.payoff)
        if state.to_move == 0:
            return payoff + least, payoff + most
        return payoff - most, payoff - least

    return payoff_range


def payoff_bound(position: Position) -> int:
    """The most that a player can gain in an episode with a position's options.

    Raises:
        OptionError: it is more than searches can count with.
    """
    bound = position.game.options.payoff_bound(position.setup.settings)
    if bound >= UNKNOWN:
        raise OptionError(
            f"{position.game.id}: with these options a player can gain {bound:,}; searches need a "
            f"payoff bound below {UNKNOWN:,}"
        )
    return bound
