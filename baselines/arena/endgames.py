"""What an agent's moves lose near the end of its games, where the solver knows every value."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from azumaya.baselines.agents.asking import action_of, name_of
from azumaya.baselines.arena.exam_results import Interval, regret_interval
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import Solution, SolverRooms, solved_from_the_end
from azumaya.envs import Position
from azumaya.envs.adapters.duel.opponents import Opponent
from azumaya.envs.position import episode_key

STREAM = 1 << 24
"""The keys of an agent's moves come from this environment number."""
KEYS = 8
"""How often an agent is asked for its move in a position."""
NODES, MEGABYTES = 20_000, 16
"""The solver's budget for a position, and its memory."""


@dataclass(frozen=True)
class Endgames:
    """What an agent's moves lose against exact play, where some move is better than another.

    Attributes:
        positions: how many such positions were solved, all with the agent to move.
        plies_left: the most plies that a game still lasted from one of them.
        mistakes: the share of moves that lose anything.
        regret: the value of the best move less that of the agent's, on average.
        interval: the 95 % interval for `regret`.
    """

    positions: int
    plies_left: int
    mistakes: float
    regret: float
    interval: Interval


class EndgameExaminer:
    """Solves the ends of an agent's games, from the last position backwards as far as it can.

    A position counts once, however often it occurs. An agent that plays at random is asked for
    several moves with different keys, and their mean counts.

    Args:
        agent: the agent.
        start: a position of the game with the options that are played.
        seed: the seed of the keys.
        nodes: the solver's budget for each position.

    Raises:
        HiddenDrawsError: the game has hidden draws.
    """

    def __init__(self, agent: Opponent, start: Position, seed: int, nodes: int = NODES) -> None:
        self._agent, self._seed, self._nodes = agent, seed, nodes
        self._rooms = SolverRooms(kernels_of(start), MEGABYTES)
        self._seen: set[str] = set()
        self._losses: list[list[int]] = []
        self._most = self._left = 0

    def add(self, path: Sequence[Position], seat: int) -> None:
        """Examine a game.

        Args:
            path: its positions, the last of which is over.
            seat: the agent's seat.
        """
        for left, position, solution in self._solved(path, seat):
            gains = [gain for gain in solution.moves.values() if gain is not None]
            if str(position) not in self._seen and min(gains) < max(gains):
                self._seen.add(str(position))
                self._losses.append(self._lost(position, solution))
                self._most = max(self._most, max(gains) - min(gains))
                self._left = max(self._left, left)

    def result(self) -> Endgames | None:
        """What has been found; None if that is nothing."""
        if not self._losses:
            return None
        regrets = [statistics.fmean(losses) for losses in self._losses]
        return Endgames(
            len(regrets),
            self._left,
            statistics.fmean(loss > 0 for losses in self._losses for loss in losses),
            statistics.fmean(regrets),
            regret_interval(regrets, self._most),
        )

    def _solved(
        self, path: Sequence[Position], seat: int
    ) -> Iterator[tuple[int, Position, Solution]]:
        """The agent's solved positions, from the last one on, with the plies left."""
        own = [
            (len(path) - 1 - ply, position)
            for ply, position in enumerate(path)
            if not position.is_over and position.to_move == seat
        ]
        positions = [position for _, position in own]
        for index, solution in solved_from_the_end(self._rooms, positions, self._nodes):
            yield *own[index], solution

    def _lost(self, position: Position, solution: Solution) -> list[int]:
        """What each of the agent's moves loses."""
        number = len(self._losses) * KEYS
        keys = [int(episode_key(self._seed, STREAM, number + k)) for k in range(KEYS)]
        name = name_of(self._agent)
        gains = [solution.moves[action_of(self._agent, position, key, name)] for key in keys]
        assert solution.value is not None
        return [solution.value - gain for gain in gains if gain is not None]
