"""Alpha-beta with iterative deepening, built on a game's kernels; the solver uses it, too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from azumaya.baselines.search.alphabeta_kernels import FRAME, begin, search_kernel, waits
from azumaya.baselines.search.arguments import check_megabytes
from azumaya.baselines.search.budget import Budget, Rooms, check_budget, spend
from azumaya.baselines.search.children import MOVE, PLIES
from azumaya.baselines.search.evaluation import Evaluation, check_evaluation
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of, payoff_bound
from azumaya.baselines.search.line_room import LineRoom
from azumaya.baselines.search.table import NO_MOVE, PROVEN, UNIT, new_table
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.engine.workers import check_threads

MEGABYTES = 64


@dataclass(frozen=True)
class Found:
    """The result of an alpha-beta search.

    Attributes:
        best: the action to play.
        value: the final payoff of the player to move if `exact`, else None.
        exact: whether the value is proven, without evaluations at the horizon.
        score: the final payoff of the player to move, `UNIT` per point, as it was searched; at the
            horizon the game's `evaluate` is added as it is, unless the search has an `Evaluation`.
        depth: depth in plies of the last completed iteration.
        nodes: positions visited.
    """

    best: int
    value: int | None
    exact: bool
    score: int
    depth: int
    nodes: int


class Room(LineRoom):
    """The memory of one alpha-beta search: a frame for each ply, and the table.

    Args:
        kernels: the game's kernels.
        megabytes: memory for the table.
        evaluation: what judges positions at the horizon; None means the game's `evaluate`.

    Raises:
        HiddenDrawsError: the game has hidden draws.
        OptionError: the memory is too small for a table.
    """

    def __init__(
        self,
        kernels: GameKernels,
        megabytes: float = MEGABYTES,
        evaluation: Evaluation | None = None,
    ) -> None:
        if evaluation is not None:
            evaluation.check(kernels.game)
        run = search_kernel(kernels, evaluation.value if evaluation else None)
        super().__init__(kernels, run, FRAME, MOVE, new_table(megabytes))
        if evaluation is not None:
            weights, scratch = evaluation.weights, evaluation.new_scratch()
            self.memory = self.memory._replace(weights=weights, scratch=scratch)

    def begin(self, state: np.ndarray, bound: int, depth: int) -> None:
        """Begin a search of `state`, `(1,)`, to `depth` plies; the table keeps its entries."""
        begin(self.memory, state, bound, depth)

    def prove(self, state: np.ndarray, bound: int) -> None:
        """Begin to find the exact value of `state`, `(1,)`; the table keeps its entries."""
        self.begin(state, bound, PROVEN)

    def proven(self) -> tuple[int | None, int]:
        """The final payoff of player_0, None if it is not proven, and a move that leads to it."""
        frame = self.memory.frames[0]
        if not frame["proven"]:
            return None, NO_MOVE
        best = int(frame["best"]) // UNIT
        return best if self.memory.states["to_move"][0] == 0 else -best, int(frame["move"])


class Deepening:
    """Iterative deepening in a `Room`, run in steps."""

    def __init__(self, room: Room, position: Position, key: int) -> None:
        self._room, self._position, self._bound = room, position, payoff_bound(position)
        room.forget(key)
        self._depth, self._found = 0, Found(NO_MOVE, None, False, 0, 0, 0)
        self._next_iteration()

    @property
    def finished(self) -> bool:
        """Whether a deeper search could not change the result."""
        return self._found.exact or self._depth == PLIES

    def run(self, steps: int) -> int:
        """Visit about `steps` more positions; returns the actual number."""
        before = self._room.nodes
        while self._room.nodes < before + steps and not self.finished:
            self._room.go_on(before + steps)
            if self._room.done:
                self._conclude()
                self._next_iteration()
        return self._room.nodes - before

    def found(self) -> Found:
        """The result of the last completed iteration, or of the current one if that is better."""
        room, found = self._room, self._found
        move = int(room.memory.frames["move"][0])
        if not room.done and move != NO_MOVE and not waits(room.memory, found.best):
            score = int(room.memory.frames["best"][0])
            found = Found(move, None, False, score, found.depth, room.nodes)
        if found.best == NO_MOVE:  # not even one ply was completed: take any legal move
            found = replace(found, best=self._position.legal_actions()[0])
        return replace(found, nodes=room.nodes)

    def _next_iteration(self) -> None:
        self._depth += 1
        self._room.begin(self._position.state, self._bound, self._depth)

    def _conclude(self) -> None:
        frame = self._room.memory.frames[0]
        score, exact = int(frame["best"]), bool(frame["proven"])
        value = score // UNIT if exact else None
        self._found = Found(int(frame["move"]), value, exact, score, self._depth, self._room.nodes)


class AlphaBeta:
    """Alpha-beta search with fixed settings; one object can search any number of positions.

    Args:
        budget: nodes (positions visited) or time per searched position.
        evaluation: what judges positions at the horizon, and orders moves; None means the game's
            `evaluate`. What it says never counts as proven.
        megabytes: memory for the table of each thread.
        threads: positions searched in parallel; None means one per core.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        budget: Budget,
        evaluation: Evaluation | None = None,
        *,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
    ) -> None:
        self.budget, self.megabytes = check_budget(budget), check_megabytes(megabytes)
        self.evaluation = check_evaluation(evaluation)
        self.threads = check_threads(threads)
        make = functools.partial(Room, megabytes=megabytes, evaluation=evaluation)
        self.rooms = Rooms(make, self.threads)

    def check(self, position: Position) -> None:
        """Check that a position can be searched.

        Raises:
            HiddenDrawsError: the game has hidden draws.
            OptionError: the evaluation is of another game.
        """
        kernels_of(position).check_open()
        if self.evaluation is not None:
            self.evaluation.check(position.game)

    def search(self, positions: Sequence[Position], keys: Sequence[int]) -> list[Found]:
        """Search running positions of the same game; each position's key breaks ties.

        With a budget in nodes, the result depends only on position, key and settings.

        Raises:
            HiddenDrawsError: the game has hidden draws.
            OptionError: a position or a key is invalid.
        """
        positions, keys = check_asked(positions, keys)

        def work(i: int, room: Room, stopped: Callable[[], bool]) -> Found:
            room.prepare(self.budget)
            search = Deepening(room, positions[i], keys[i])
            spend(search, self.budget, stopped)
            return search.found()

        return self.rooms.each(positions, work)
