"""The games from which `alphazero.py` learns: both players search with the network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.evaluator import PackedEvaluator
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.grove import Grove
from azumaya.baselines.search.outcome import CANDIDATE
from azumaya.baselines.search.solver import SolverRooms, solved_from_the_end
from azumaya.baselines.search.targets import Targets, note_searches
from azumaya.baselines.training.config import Numbers, Positive, Share, check_exact
from azumaya.baselines.training.network_config import NetworkConfig
from azumaya.envs import Position, find_game
from azumaya.envs.engine.kernels import PACKED, look_kernel
from azumaya.envs.game import RUNNING, as_states
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.states import words_of

MEGABYTES = 4.0
"""The most memory of a game's tree, and of the solver's table."""

# ---- the hyperparameters ----


@dataclass(frozen=True)
class PlayConfig(NetworkConfig):
    """The options of a run that say how games are played."""

    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that search, and evaluate the network on a CPU. Results do not depend on it."""
    games: Annotated[int, Numbers(0, 100_000)] = 0
    """Games played at once, and between two updates; 0: 128 on a CPU, 4,096 on a GPU."""
    simulations: Annotated[int, Numbers(2, 100_000)] = 64
    """Simulations for each move; the first only asks the network, and visits no move."""
    exploration: Positive = 1.25
    """The weight of exploration in the search."""
    noise: Share = 0.25
    """The share of Dirichlet noise in the priors at the root."""
    sampled_moves: Annotated[int, Numbers(0)] | None = None
    """Moves at the beginning of a game, of both players, that are drawn by the shares of visits, by
    default all. After them, and where the result is proven, the best one is played."""
    exact_nodes: Annotated[int, Numbers(0, 10**9)] = 0
    """Positions that the solver visits at most for each position at the end of a game, backwards
    from the last until one is not solved; 0: it is not asked, as in games with hidden draws."""
    most_plies: Annotated[int, Numbers(1, 100_000)] = 400
    """A game that lasts longer ends there; what the search found of its last position counts."""

    def completed(self) -> Self:
        """As `NetworkConfig.completed`.

        Raises:
            OptionError: also if nothing can be exact.
        """
        config = super().completed()
        check_exact(config.exact_nodes, config.game)
        if config.sampled_moves is None:
            config = replace(config, sampled_moves=config.most_plies)
        return config


# ---- what is learned ----


@dataclass
class Lessons:
    """`n` positions and what to learn from them, for the players to move.

    Attributes:
        observation: packed observations, `(n, W)` uint64.
        action_mask: packed legal actions, `(n, W')` uint64.
        actions: the actions of the policy to learn, `(n, K)` int32.
        shares: their probabilities, `(n, K)` float32; 0 where there are fewer actions.
        values: what the player to move still gained, `(n,)` float32.
    """

    observation: np.ndarray
    action_mask: np.ndarray
    actions: np.ndarray
    shares: np.ndarray
    values: np.ndarray

    @classmethod
    def room(cls, config: PlayConfig, start: Position, count: int) -> Lessons:
        """Room for some positions of games that begin like `start`."""
        most = min(config.simulations, start.num_actions)
        return cls(
            np.zeros((count, start.game.observation.packed_words), np.uint64),
            np.zeros((count, word_count(start.num_actions)), np.uint64),
            np.zeros((count, most), np.int32),
            np.zeros((count, most), np.float32),
            np.zeros(count, np.float32),
        )

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All arrays, in the order above."""
        return tuple(vars(self).values())

    def at(self, rows: slice | np.ndarray) -> Lessons:
        """Some of the positions."""
        return Lessons(*(each[rows] for each in self.arrays))


# ---- games ----


class Played:
    """Games in progress, and what there is to learn from their positions.

    Args:
        config: the options.
        start: a start of the games.

    Attributes:
        most: the most positions of a game; row `n * most + ply` of the arrays has those of game n.
        states: the positions.
        lessons: what is to be learned from them.
        exact: whether their values are proven.
    """

    def __init__(self, config: PlayConfig, start: Position) -> None:
        limit = start.game.options.max_steps(start.setup.settings)
        self.most = min(config.most_plies, limit)
        count = config.games * self.most
        self.start, self.states = start, start.game.new_states(count)
        self.lessons, self.exact = Lessons.room(config, start, count), np.zeros(count, bool)
        lessons = self.lessons
        self._targets = Targets(lessons.actions, lessons.shares, lessons.values, self.exact)
        self._room = as_states(np.empty(start.num_actions, CANDIDATE))
        self._ranked = np.empty((2, start.num_actions), np.int64)

    def note(self, rows: np.ndarray, grove: Grove, drawn: np.ndarray, sampled: bool) -> np.ndarray:
        """Note what a search found in some rows, and return the moves to play, `(n,)`.

        Args:
            rows: the rows, `(n,)`.
            grove: what was searched.
            drawn: random numbers from 0 to 1, `(n,)`.
            sampled: whether moves are drawn, unless the value is proven.
        """
        words_of(self.states)[rows] = words_of(grove.roots)[: len(rows)]
        gained, targets = _gained(grove.roots[: len(rows)]), self._targets
        chosen: np.ndarray = note_searches(
            rows, drawn, sampled, gained, grove.arrays, self._room, self._ranked, targets
        )
        return chosen

    def solve(self, rows: slice, rooms: SolverRooms, nodes: int) -> None:
        """Note exact values and right moves from the last position on, as far as they are found."""
        game, setup, lessons = self.start.game, self.start.setup, self.lessons.at(rows)
        past = [Position.of_states(game, setup, each) for each in self.states[rows][:, None]]
        for ply, found in solved_from_the_end(rooms, past, nodes):
            assert found.value is not None
            right = found.best[: lessons.actions.shape[1]]
            lessons.actions[ply] = lessons.shares[ply] = 0
            lessons.actions[ply, : len(right)] = right
            lessons.shares[ply, : len(right)] = 1 / len(right)
            lessons.values[ply], self.exact[rows.start + ply] = found.value, True

    def learned(self, rows: slice, payoff: int | None) -> Lessons:
        """What there is to learn: where nothing is exact, the value is what came of the game.

        Args:
            rows: those of the game.
            payoff: the game's, for player_0; None if it was broken off. Then it is what the search
                found of its last position.
        """
        lessons, states = self.lessons.at(rows), self.states[rows]
        count, words = len(states), lessons.action_mask
        look = look_kernel(self.start.game, words.shape[1], PACKED)
        look(
            0, count, np.arange(count), np.full(count, -1), states, np.zeros(0, np.uint64), words,
            words, lessons.observation,
        )  # fmt: skip
        signs, gained, open_ = 1 - 2 * states["to_move"], _gained(states), ~self.exact[rows]
        broken_off = signs[-1] * (gained[-1] + float(lessons.values[-1]))
        final = broken_off if payoff is None else float(payoff)
        lessons.values[open_] = (signs * final - gained)[open_]
        return lessons


def _gained(states: np.ndarray) -> np.ndarray:
    """What the players to move have gained so far, `(n,)` int64."""
    return np.asarray((1 - 2 * states["to_move"]) * states["payoff"], np.int64)


class SelfPlay:
    """Plays games in which both players search with the network.

    Args:
        config: the options.
        evaluator: the network.

    Attributes:
        start: a start of the games.
    """

    def __init__(self, config: PlayConfig, evaluator: PackedEvaluator) -> None:
        self.config, self.game = config, find_game(config.game)
        self.start = Position(self.game, **config.options)
        exact = config.exact_nodes > 0
        self.rooms = SolverRooms(kernels_of(self.start), MEGABYTES) if exact else None
        self.puct = BatchPUCT(
            Budget(config.simulations), evaluator,
            exploration=config.exploration, games=config.games, megabytes=MEGABYTES,
            threads=config.threads, noise=config.noise,
        )  # fmt: skip

    def play(self, update: int) -> list[Lessons]:
        """Play games to their ends; they follow from the seed, the update and the network."""
        config, rng = self.config, np.random.default_rng((self.config.seed, update))
        assert config.sampled_moves is not None  # as completed
        starts = [
            Position(self.game, seed=int(seed), **config.options)
            for seed in rng.integers(2**63, size=config.games)
        ]
        played, grove = Played(config, self.start), self.puct.grove_for(starts)
        grove.begin(starts, False)
        rows, over = np.arange(config.games) * played.most, list[Lessons]()
        for ply in range(played.most):
            keys, drawn = rng.integers(2**63, size=len(rows)), rng.random(len(rows))
            grove.go_on(keys)
            self.puct.spend(grove)
            grove.move(played.note(rows, grove, drawn, ply < config.sampled_moves))
            ended = grove.roots["over"][: len(rows)] != RUNNING
            running = list(range(len(rows)))
            for g in reversed(np.flatnonzero(ended | (ply == played.most - 1)).tolist()):
                payoff = int(grove.roots["payoff"][g]) if ended[g] else None
                over.append(self._learned(played, slice(rows[g] - ply, rows[g] + 1), payoff))
                last = running.pop()
                if g < len(running):
                    running[g] = last
            grove.arrange(running)
            rows = rows[running] + 1
            if not running:
                break
        return over

    def _learned(self, played: Played, rows: slice, payoff: int | None) -> Lessons:
        if self.rooms:
            played.solve(rows, self.rooms, self.config.exact_nodes)
        return played.learned(rows, payoff)
