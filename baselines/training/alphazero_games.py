"""The games from which `alphazero.py` learns: both players search with the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.evaluator import PackedEvaluator
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.outcome import Outcome
from azumaya.baselines.search.solver import SolverRooms, solved_from_the_end
from azumaya.baselines.training.config import Numbers, Positive, Share
from azumaya.baselines.training.network_config import NetworkConfig
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.kernels.bits import word_count

Policy = tuple[list[int], np.ndarray]
"""Actions, and their probabilities, `(n,)`."""
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
    simulations: Annotated[int, Numbers(1, 100_000)] = 64
    """Simulations for each move."""
    exploration: Positive = 1.25
    """The weight of exploration in the search."""
    noise: Share = 0.25
    """The share of Dirichlet noise in the priors at the root."""
    sampled_moves: Annotated[int, Numbers(0)] = 16
    """Moves at the beginning of a game, of both players, that are drawn by the shares of visits;
    after them the best one is played."""
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
        if config.exact_nodes and find_game(config.game).rules.resample is not None:
            raise OptionError(
                f"--exact-nodes {config.exact_nodes}: in {config.game} draws are hidden, so no "
                "value is exact; leave --exact-nodes out"
            )
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
    """A game in progress, and what there is to learn from its positions.

    Args:
        position: its start.
        lessons: room for its positions.

    Attributes:
        position: its last position.
        past: the positions before that.
    """

    def __init__(self, position: Position, lessons: Lessons) -> None:
        self.position, self.past, self._lessons = position, list[Position](), lessons
        self._exact: list[bool] = []

    @property
    def is_over(self) -> bool:
        """Whether the game is over, or there is no more room."""
        return self.position.is_over or len(self.past) == len(self._lessons.values)

    def move(self, action: int, outcome: Outcome, policy: Policy) -> None:
        """Note what a search found and the policy to learn from it, and play."""
        position, lessons, ply = self.position, self._lessons, len(self.past)
        observe = position.game.rules.observe
        observe(position.state[0], position.to_move, lessons.observation[ply])
        lessons.action_mask[ply] = position.legal_words()
        self._exact.append(outcome.exact)
        self.learn(ply, *policy, outcome.value - position.returns()[position.to_move])
        self.past.append(position)
        self.position = position.copy().play(action)

    def learn(self, ply: int, actions: Sequence[int], shares: np.ndarray, value: float) -> None:
        """Note a policy, and what is still gained."""
        lessons, most = self._lessons, self._lessons.actions.shape[1]
        shares = shares[:most] / shares[:most].sum()
        lessons.actions[ply] = lessons.shares[ply] = 0
        lessons.actions[ply, : len(shares)] = actions[:most]
        lessons.shares[ply, : len(shares)] = shares
        lessons.values[ply] = value

    def solve(self, rooms: SolverRooms, nodes: int) -> None:
        """Note exact values and right moves from the last position on, as far as they are found."""
        for ply, found in solved_from_the_end(rooms, self.past, nodes):
            assert found.value is not None
            self._exact[ply] = True
            self.learn(ply, found.best, np.ones(len(found.best)), found.value)

    def learned(self) -> Lessons:
        """What there is to learn: where nothing is exact, the value is what came of the game.

        If it was broken off, that is what the search found of its last position.
        """
        lessons = self._lessons.at(slice(len(self.past)))
        last = self.past[-1]
        final = float(self.position.returns()[0])
        if not self.position.is_over:
            sign = 1 - 2 * last.to_move
            final = last.returns()[0] + sign * float(lessons.values[-1])
        for ply, position in enumerate(self.past):
            if not self._exact[ply]:
                mover = position.to_move
                lessons.values[ply] = final * (1 - 2 * mover) - position.returns()[mover]
        return lessons


def policy_of(outcome: Outcome) -> Policy:
    """The policy to learn from a search: actions, and their probabilities.

    These are the shares of the visits; or, if the value is proven, the moves that are proven to
    keep it, all alike.
    """
    if outcome.exact:
        right = [c.action for c in outcome.candidates if c.exact and c.value == outcome.value]
        return right, np.full(len(right), 1 / len(right))
    tried = [c for c in outcome.candidates if c.visits]
    visits = np.array([c.visits for c in tried], np.float64)
    return [c.action for c in tried], visits / visits.sum()


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
        starts = [
            Position(self.game, seed=int(seed), **config.options)
            for seed in rng.integers(2**63, size=config.games)
        ]
        most = min(config.most_plies, self.game.options.max_steps(self.start.setup.settings))
        running = [Played(start, Lessons.room(config, start, most)) for start in starts]
        over = list[Lessons]()
        while running:
            keys, drawn = rng.integers(2**63, size=len(running)).tolist(), rng.random(len(running))
            positions = [each.position for each in running]
            found = self.puct.search(positions, keys, lines=False)
            moves = [self._move(*each) for each in zip(running, found, drawn, strict=True)]
            self.puct.advance(
                [None if each.is_over else m for each, m in zip(running, moves, strict=True)]
            )
            for g in reversed(range(len(running))):  # a tree goes on in its row
                if running[g].is_over:
                    over.append(self._learned(running[g]))
                    last = running.pop()
                    if g < len(running):
                        running[g] = last
        return over

    def _move(self, played: Played, outcome: Outcome, drawn: float) -> int:
        """Make a move and return it."""
        action, policy = outcome.best, policy_of(outcome)
        if len(played.past) < self.config.sampled_moves and not outcome.exact:
            actions, shares = policy
            action = actions[int(np.searchsorted(shares.cumsum()[:-1], drawn, side="right"))]
        played.move(action, outcome, policy)
        return action

    def _learned(self, played: Played) -> Lessons:
        if self.rooms:
            played.solve(self.rooms, self.config.exact_nodes)
        return played.learned()
