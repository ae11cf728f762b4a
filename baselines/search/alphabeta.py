"""Alpha-beta with iterative deepening, and the exact solver, on the kernels of a game."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from azumaya.baselines.search.alphabeta_kernels import (
    CONTROL,
    DONE,
    ENTER,
    FRAME,
    PLIES,
    Insight,
    search_kernel,
)
from azumaya.baselines.search.budget import Budget, Rooms, share, spend
from azumaya.baselines.search.game_kernels import (
    GameKernels,
    kernels_of,
    payoff_bound,
    words_of,
)
from azumaya.baselines.search.table import (
    ENTRY,
    NO_MOVE,
    SECOND_HASH,
    UNIT,
    new_table,
)
from azumaya.baselines.search.uct import check_running
from azumaya.envs import Position
from azumaya.envs.adapters.batch.workers import check_threads
from azumaya.envs.errors import OptionError
from azumaya.envs.game import as_states

MEGABYTES = 64
NOTHING_KNOWN = Insight()


class HiddenDrawsError(ValueError):
    """A position in which chance has decided what neither player can see has no exact value."""


@dataclass(frozen=True)
class Found:
    """What alpha-beta has found.

    Attributes:
        best: the action to play.
        value: what the player to move will have gained by the end, if `exact`; else None.
        exact: whether no judgement at the horizon was needed.
        score: the judgement: `evaluate` at the horizon, or `UNIT` a point where the end was seen.
        depth: plies of the last iteration that was finished.
        nodes: positions looked at.
    """

    best: int
    value: int | None
    exact: bool
    score: int
    depth: int
    nodes: int


class Room:
    """Room for one alpha-beta search at a time: a frame for each ply, and the table.

    Args:
        kernels: of the game.
        megabytes: memory for the table.
        insight: what the game can tell that makes its positions easier to solve.

    Raises:
        HiddenDrawsError: chance decides what search would see.
        OptionError: the memory would not hold an entry.
    """

    def __init__(
        self, kernels: GameKernels, megabytes: float = MEGABYTES, insight: Insight = NOTHING_KNOWN
    ) -> None:
        check_open(kernels)
        if not ENTRY.itemsize * 2 <= megabytes * 2**20 < math.inf:
            raise OptionError(f"megabytes={megabytes!r}: a table needs at least 0.001")
        self.kernels, self.bound = kernels, 1
        self.table = new_table(megabytes)
        self._run = search_kernel(kernels, insight)
        self._states = kernels.new_states(PLIES + 1)
        self._state_words = words_of(self._states)
        assert self._state_words.shape[1] < SECOND_HASH
        self._outlook = np.zeros((1, max(insight.outlook_words, 1)), np.uint64)
        self._words = np.zeros(kernels.words, np.uint64)
        self.frames = as_states(np.zeros(PLIES + 1, FRAME))
        self._tried = np.zeros(PLIES + 1, np.int64)
        self.moves = np.empty((PLIES + 1) * 64 * kernels.words, np.int32)
        self._scores = np.empty(len(self.moves), np.int64)
        self.control = as_states(np.zeros(1, CONTROL))

    @property
    def nodes(self) -> int:
        """Positions looked at since `forget`."""
        return int(self.control["nodes"][0])

    @property
    def done(self) -> bool:
        """Whether the search that was begun last has ended."""
        return bool(self.control["phase"][0] == DONE)

    def forget(self, key: int = 0) -> None:
        """Begin with an empty table; `key` breaks ties at the root."""
        age = int(self.control["age"][0]) + 1
        self.control[:] = np.zeros(1, CONTROL)
        self.control["age"], self.control["key"] = age, np.uint64(key)
        self.control["phase"] = DONE

    def begin(self, state: np.ndarray, bound: int, depth: int) -> None:
        """Begin a search of a state, `(1,)`, so many plies deep; the table keeps what it has."""
        self.bound = bound
        self._states[0] = state[0]
        self.frames["lower"][0], self.frames["upper"][0] = -bound * UNIT, bound * UNIT
        self.frames["depth"][0], self.frames["move"][0] = depth, NO_MOVE
        self.frames["count"][0] = 0
        self.control["ply"], self.control["phase"] = 0, ENTER

    def go_on(self, limit: int) -> None:
        """Search until `limit` positions have been looked at, or to the end."""
        self._run(
            limit, self._states, self._state_words, self._outlook, self._words, self.frames,
            self._tried, self.moves, self._scores, self.table, self.control,
        )  # fmt: skip

    def waits(self, action: int) -> bool:
        """Whether a move at the root has not been searched, or not to the end."""
        frame = self.frames[0]
        left = self.moves[frame["first"] : frame["first"] + frame["count"]]
        trying = self.control["ply"][0] > 0 and self._tried[0] == action
        return bool(trying or action in left)


def check_open(kernels: GameKernels) -> None:
    """Refuse games in which search would see what players cannot."""
    if kernels.hidden_draws:
        raise HiddenDrawsError(
            f"{kernels.game.title}: what will be drawn is hidden from both players, so positions "
            "have no exact values; search with UCT"
        )


class Deepening:
    """Iterative deepening in a `Room`, to be run piece by piece."""

    def __init__(self, room: Room, position: Position, key: int) -> None:
        self._room, self._position, self._bound = room, position, payoff_bound(position)
        room.forget(key)
        self._depth, self._found = 0, Found(NO_MOVE, None, False, 0, 0, 0)
        self._next_iteration()

    @property
    def finished(self) -> bool:
        """Whether going deeper would change nothing."""
        return self._found.exact or self._depth == PLIES

    def advance(self, steps: int) -> int:
        """Look at so many positions more, or a few beyond."""
        before = self._room.nodes
        while self._room.nodes < before + steps and not self.finished:
            self._room.go_on(before + steps)
            if self._room.done:
                self._conclude()
                self._next_iteration()
        return self._room.nodes - before

    def found(self) -> Found:
        """The last finished iteration, or the one in progress where it knows better."""
        room, found = self._room, self._found
        move = int(room.frames["move"][0])
        if not room.done and move != NO_MOVE and not room.waits(found.best):
            score = int(room.frames["best"][0])
            found = Found(move, None, False, score, found.depth, room.nodes)
        if found.best == NO_MOVE:  # not even one ply deep: any move that is legal
            found = replace(found, best=self._position.legal_actions()[0])
        return replace(found, nodes=room.nodes)

    def _next_iteration(self) -> None:
        self._depth += 1
        self._room.begin(self._position.state, self._bound, self._depth)

    def _conclude(self) -> None:
        frame = self._room.frames[0]
        score, exact = int(frame["best"]), bool(frame["proven"])
        value = score // UNIT if exact else None
        self._found = Found(int(frame["move"]), value, exact, score, self._depth, self._room.nodes)


class AlphaBeta:
    """Alpha-beta with its settings; search as many positions as you like with one object.

    Args:
        budget: positions looked at (nodes), or time, for each position.
        megabytes: memory for the table, for each thread.
        threads: positions searched at once; None for as many as there are cores.

    Raises:
        OptionError: an argument has a value it cannot take.
    """

    def __init__(
        self, budget: Budget, *, megabytes: float = MEGABYTES, threads: int | None = None
    ) -> None:
        self.budget, self.megabytes = budget, megabytes
        self.threads = check_threads(threads)
        self.rooms = Rooms(functools.partial(Room, megabytes=megabytes), self.threads)

    def search(self, positions: Sequence[Position], keys: Sequence[int]) -> list[Found]:
        """Search each position, all of one game and running; ties are broken by its key.

        With a budget in nodes, the result depends on position, key and settings only.

        Raises:
            HiddenDrawsError: chance decides what search would see.
            OptionError: a position is over.
        """
        if not positions:
            return []
        check_running(positions)

        def work(i: int, room: Room, stopped: Callable[[], bool]) -> Found:
            search = Deepening(room, positions[i], int(keys[i]))
            spend(search, self.budget, stopped)
            return search.found()

        return share(
            work, len(positions), self.rooms.take(kernels_of(positions[0]), len(positions))
        )
