"""Exact values: what each move gains with best play by both, or that it is not solved."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.budget import Budget, spend
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of, payoff_bound
from azumaya.baselines.search.proof import ProofRoom
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_running

MEGABYTES = 256
"""Default memory for the solver's table."""


@dataclass(frozen=True)
class Solution:
    """The exact values found within the budget.

    Attributes:
        to_move: the player to move.
        value: what the player to move still gains with best play; None if not solved.
        moves: by action, in order, what it gains with best play afterwards; None if not solved.
        line: best play by both to the end, as actions; empty if not requested or not solved.
        nodes: positions visited.
    """

    to_move: int
    value: int | None
    moves: dict[int, int | None]
    line: tuple[int, ...]
    nodes: int

    @property
    def solved(self) -> bool:
        """Whether the position and all of its moves are solved."""
        return self.value is not None and None not in self.moves.values()

    @property
    def best(self) -> tuple[int, ...]:
        """The moves proven to gain the value."""
        if self.value is None:
            return ()
        return tuple(a for a, gain in self.moves.items() if gain == self.value)


class SolverRooms:
    """The solver's memory for one game: for each kind of search, made when it is first needed.

    Args:
        kernels: the game's kernels.
        megabytes: memory for the table of each kind.

    Raises:
        HiddenDrawsError: the game has hidden draws.
    """

    def __init__(self, kernels: GameKernels, megabytes: float = MEGABYTES) -> None:
        kernels.check_open()
        self._kernels, self._megabytes = kernels, megabytes
        self._rooms: dict[bool, Room | ProofRoom] = {}

    def suited(self, position: Position) -> Room | ProofRoom:
        """The memory of the search that suits a position of the game.

        Proof-number search needs a game that offers `prospects` and ends with a winner; alpha-beta
        serves all others.

        Raises:
            OptionError: the memory is too small for a table, or there is less.
        """
        proof = self._kernels.hints.prospects is not None and payoff_bound(position) == 1
        if proof not in self._rooms:
            make = ProofRoom if proof else Room
            self._rooms[proof] = make(self._kernels, self._megabytes)
        return self._rooms[proof]


class Solving:
    """The solver at work on one position, run in steps.

    It solves the position, then each of its moves and finally, if wanted, a line of best play. All
    of these searches share one table. `key` breaks ties among the moves.

    Attributes:
        value: what the player to move still gains with best play; None until the position is
            solved.
        best: a move that gains it; None until then.
        gains: by action what it gains; None until it is solved.
        line: best play by both to the end, if wanted and found.
        finished: whether there is nothing left to search.
    """

    def __init__(
        self, room: Room | ProofRoom, position: Position, line: bool = False, key: int = 0
    ) -> None:
        self._room, self._bound = room, payoff_bound(position)
        self._position = position
        self._lowest = -self._bound - position.returns()[position.to_move]
        self.value: int | None = None
        self.best: int | None = None
        self.gains: dict[int, int | None] = dict.fromkeys(position.legal_actions())
        self.line: tuple[int, ...] = ()
        self._wants_line = line
        # The generator does not refer to the search, which would keep its memory for the collector.
        self._next = Solving._stages(weakref.proxy(self))
        room.forget(key)
        self.finished = False
        self._take_stage()

    @property
    def hopeless(self) -> bool:
        """Whether the position is solved and no move could be worse than the best one."""
        return self.value == self._lowest

    def run(self, steps: int) -> int:
        """Visit about `steps` more positions; returns the actual number."""
        room, before = self._room, self._room.nodes
        while room.nodes < before + steps and not self.finished:
            room.go_on(before + steps)
            if room.done:
                self._take_stage()
        return room.nodes - before

    def solution(self) -> Solution:
        """The results so far."""
        return Solution(
            self._position.to_move, self.value, dict(self.gains), self.line, self._room.nodes
        )

    def _take_stage(self) -> None:
        """Start the next search that is needed; finish if there is none."""
        position = next(self._next, None)
        if position is None:
            self.finished = True
        else:
            self._room.prove(position.state, self._bound)

    def _stages(self) -> Iterator[Position]:
        """The positions to search in turn; each `yield` waits for the result."""
        yield self._position
        final, best = self._room.proven()
        if final is None:
            return
        self.value = self.gains[best] = self._gain(final)
        self.best = best
        for action in self.gains:
            if self.gains[action] is None:
                after = self._position.copy().play(action)
                if after.is_over:
                    self.gains[action] = self._gain(after.returns()[0])
                elif self.hopeless:
                    self.gains[action] = self._lowest
                else:
                    yield after
                    final, _ = self._room.proven()
                    self.gains[action] = None if final is None else self._gain(final)
        if self._wants_line:
            # Not through the proxy, whose methods keep the search itself.
            yield from Solving._line_stages(self, best)

    def _line_stages(self, best: int) -> Iterator[Position]:
        line, position = [best], self._position.copy().play(best)
        while not position.is_over:
            yield position.copy()
            final, best = self._room.proven()
            if final is None:
                return
            line.append(best)
            position.play(best)
        self.line = tuple(line)

    def _gain(self, final: int) -> int:
        """What the player to move still gains if player_0's final payoff is `final`."""
        mover = self._position.to_move
        return (final if mover == 0 else -final) - self._position.returns()[mover]


def solved_from_the_end(
    rooms: SolverRooms, positions: Sequence[Position], nodes: int
) -> Iterator[tuple[int, Solution]]:
    """Solve running positions of a game, from the last one until one is not solved.

    Args:
        rooms: the solver's memory.
        positions: the positions, in the order of play.
        nodes: about the most positions to visit for each.

    Returns:
        The index of each position that was solved with all of its moves, and its solution.
    """
    for index in reversed(range(len(positions))):
        search = Solving(rooms.suited(positions[index]), positions[index])
        spend(search, Budget(nodes))
        solution = search.solution()
        if not solution.solved:
            return
        yield index, solution


def solve(
    position: Position,
    *,
    nodes: int | None = None,
    milliseconds: float | None = None,
    megabytes: float = MEGABYTES,
    line: bool = False,
) -> Solution:
    """Solve a running position: what each move gains with best play by both.

    Every value is exact: one is given only if no line was cut short.

    Args:
        position: the position.
        nodes: about the most positions to visit; the search ends after the position at whose moves
            this number is reached. Give either this or `milliseconds`.
        milliseconds: the time limit.
        megabytes: memory for the table of positions.
        line: whether to find a line of best play, which takes more time.

    Raises:
        HiddenDrawsError: the game has draws that are hidden from the players.
        OptionError: `position` is not a position, or is over, or an argument is invalid.
    """
    check_running(position)
    rooms = SolverRooms(kernels_of(position), megabytes)
    search = Solving(rooms.suited(position), position, line)
    spend(search, Budget(nodes, milliseconds))
    return search.solution()
