"""What search needs from a game; only this module knows the layout of the `Game` record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.position import Position


@dataclass(frozen=True)
class GameKernels:
    """The kernels of one game, and the sizes they are compiled for.

    Attributes:
        game: the game, which creates the states.
        words: the number of words in a row of legal actions.
        play: kernel `play(state, action)`.
        write_legal: kernel `write_legal(state, words)`.
        observe: kernel `observe(state, player, packed)`.
        evaluate: kernel `evaluate(state, player)`.
        resample: kernel `resample(state, key)`; None if nothing is hidden.
        bounds: kernel `bounds(state)`; None if the game offers none.
        simplify: kernel `simplify(state)`; None if the game offers none.
        outlook: kernel `outlook(state, row)`; None if the game offers none.
        outlook_words: the words of an outlook.
        rank: kernel `rank(state, player)`; None if the game offers none.
        prospects: kernel `prospects(state)`; None if the game offers none.
        narrow: kernel `narrow(state, words)`; None if the game offers none.
    """

    game: Game
    words: int
    play: Any
    write_legal: Any
    observe: Any
    evaluate: Any
    resample: Any
    bounds: Any
    simplify: Any
    outlook: Any
    outlook_words: int
    rank: Any
    prospects: Any
    narrow: Any

    @property
    def hidden_draws(self) -> bool:
        """Whether the game has draws that are hidden from both players."""
        return self.resample is not None

    def new_states(self, count: int) -> np.ndarray:
        """Zeroed states, `(count,)`."""
        return self.game.new_states(count)


def kernels_of(position: Position) -> GameKernels:
    """The kernels of a position's game; equal for equal games and numbers of actions."""
    game, rules = position.game, position.game.rules
    return GameKernels(
        game,
        word_count(position.num_actions),
        rules.play,
        rules.write_legal,
        rules.observe,
        rules.evaluate,
        rules.resample,
        rules.bounds,
        rules.simplify,
        rules.outlook,
        rules.outlook_words,
        rules.rank,
        rules.prospects,
        rules.narrow,
    )


def payoff_bound(position: Position) -> int:
    """The most that a player can gain in an episode with a position's options."""
    return position.game.options.payoff_bound(position._setup.settings)


def words_of(states: np.ndarray) -> np.ndarray:
    """A view of states, `(n,)`, as words, `(n, W)` uint64."""
    return np.asarray(states).view(np.uint64).reshape(len(states), -1)
