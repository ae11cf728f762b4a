"""Agents that search, such as `uct:1000`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from azumaya.baselines.agents import Agent
from azumaya.baselines.agents.asking import ask, check_agent, name_of
from azumaya.baselines.search.alphabeta import MEGABYTES, AlphaBeta
from azumaya.baselines.search.arguments import check_megabytes
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget, Rooms, check_budget, spend
from azumaya.baselines.search.evaluation import Evaluation
from azumaya.baselines.search.evaluator import AnyEvaluator
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.puct import PUCT
from azumaya.baselines.search.solver import SolverRooms, Solving
from azumaya.baselines.search.uct import UCT
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.adapters.duel.opponents import Opponent, is_agent
from azumaya.envs.engine.workers import check_threads
from azumaya.envs.errors import OptionError, UnknownOptionError, brief


class SearchAgent(Agent):
    """Plays the move that a search prefers.

    Args:
        search: the class of the search, whose keyword-only arguments are its settings.
        budget: the budget for each move.
        settings: the settings.
        judge: what judges positions, if the search takes that; it is part of the agent's name.

    Attributes:
        search: the search.

    Raises:
        OptionError: an argument is invalid, or the search has no such setting.
    """

    kind: ClassVar[str]
    """What the names of such agents begin with."""

    def __init__(
        self,
        search: Callable[..., Any],
        budget: Budget,
        settings: Mapping[str, float],
        *judge: Evaluation | AnyEvaluator | None,
    ) -> None:
        known = inspect.getfullargspec(search).kwonlyargs
        for name in settings:
            if name not in known:
                raise UnknownOptionError(
                    f"unexpected keyword argument {name!r}: {type(self).__name__} has no such "
                    f"setting. It has {', '.join(known)}."
                )
        self.search = search(budget, *judge, **settings)
        names = [name_of(each) for each in judge if each is not None]
        self.name = ":".join([self.kind, str(budget), *names])

    def check(self, position: Position) -> None:
        """Raise a `ValueError` if the search or its evaluation does not suit the game."""
        self.search.check(position)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The preferred move in each position; positions are searched in parallel."""
        return [found.best for found in self.search.search(positions, keys, lines=False)]


class UCTAgent(SearchAgent):
    """Plays the move that UCT prefers.

    Args:
        simulations: simulations per move; give either this or `milliseconds`.
        milliseconds: time per move.
        settings: further arguments of `UCT`.

    Raises:
        OptionError: an argument is invalid.
    """

    kind = "uct"

    def __init__(
        self,
        simulations: int | None = None,
        milliseconds: float | None = None,
        **settings: float,
    ) -> None:
        super().__init__(UCT, Budget(simulations, milliseconds), settings)


class PUCTAgent(SearchAgent):
    """Plays the move that PUCT with a compiled evaluation prefers.

    Args:
        simulations: simulations per move; give either this or `milliseconds`.
        milliseconds: time per move.
        evaluation: as for `PUCT`.
        settings: further arguments of `PUCT`.

    Raises:
        OptionError: an argument is invalid.
    """

    kind = "puct"

    def __init__(
        self,
        simulations: int | None = None,
        milliseconds: float | None = None,
        evaluation: Evaluation | None = None,
        **settings: float,
    ) -> None:
        super().__init__(PUCT, Budget(simulations, milliseconds), settings, evaluation)


class BatchPUCTAgent(SearchAgent):
    """Plays the move that PUCT with a network prefers.

    Args:
        evaluator: the network, an `Evaluator` or a `PackedEvaluator`.
        simulations: simulations per move; give either this or `milliseconds`.
        milliseconds: time per move.
        settings: further arguments of `BatchPUCT`.

    Raises:
        OptionError: an argument is invalid.
    """

    kind = "puct"

    def __init__(
        self,
        evaluator: AnyEvaluator,
        simulations: int | None = None,
        milliseconds: float | None = None,
        **settings: float,
    ) -> None:
        super().__init__(BatchPUCT, Budget(simulations, milliseconds), settings, evaluator)
        self.sidecar = getattr(evaluator, "sidecar", None)


class AlphaBetaAgent(SearchAgent):
    """Plays the best move found by alpha-beta search with iterative deepening.

    It refuses games with draws that are hidden from the players.

    Args:
        nodes: positions visited per move; give either this or `milliseconds`.
        milliseconds: time per move.
        evaluation: as for `AlphaBeta`.
        settings: further arguments of `AlphaBeta`.

    Raises:
        OptionError: an argument is invalid.
    """

    kind = "alphabeta"

    def __init__(
        self,
        nodes: int | None = None,
        milliseconds: float | None = None,
        evaluation: Evaluation | None = None,
        **settings: float,
    ) -> None:
        super().__init__(AlphaBeta, Budget(nodes, milliseconds), settings, evaluation)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The best move found in each position; positions are searched in parallel."""
        return [found.best for found in self.search.search(positions, keys)]


class SolverFirstAgent(Agent):
    """Plays a best move if the solver finds one in time, and otherwise what another agent plays.

    If the solver proves that the position already has the worst possible value, the other agent
    chooses the move, because the opponent may still make a mistake. Games with draws that are
    hidden from the players are refused.

    Args:
        other: the agent that plays where the solver does not finish. Both have the same name: this
            agent's `name` or that of its class.
        budget: nodes or time for the solver, per move.
        megabytes: memory for the solver's table, per thread.
        threads: positions solved in parallel; None means one per core.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        other: Opponent,
        budget: Budget,
        *,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
    ) -> None:
        if not is_agent(other):
            raise OptionError(
                f"other={brief(other)}: must be an agent, an object with act(positions, keys), "
                "such as find_agent(name) gives it"
            )
        self.other, self.budget = other, check_budget(budget)
        self.name = name_of(other)
        make = functools.partial(SolverRooms, megabytes=check_megabytes(megabytes))
        self._rooms = Rooms(make, check_threads(threads))

    def check(self, position: Position) -> None:
        """Check that it can play a position.

        Raises:
            HiddenDrawsError: the game has hidden draws.
            ValueError: the other agent refuses the position.
        """
        kernels_of(position).check_open()
        check_agent(self.other, position, self.name)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """A best move, or the other agent's, in each position; they are solved in parallel."""
        positions, keys = check_asked(positions, keys)

        def work(i: int, rooms: SolverRooms, stopped: Callable[[], bool]) -> int | None:
            room = rooms.suited(positions[i])
            room.prepare(self.budget)
            search = Solving(room, positions[i], key=keys[i])
            spend(search, self.budget, lambda: search.best is not None or stopped())
            return None if search.hopeless else search.best

        found = self._rooms.each(positions, work)
        left = [i for i, move in enumerate(found) if move is None]
        answers = {}
        if left:
            rest, rest_keys = [positions[i] for i in left], [keys[i] for i in left]
            answers = dict(zip(left, ask(self.other, rest, rest_keys, self.name), strict=True))
        return [answers[i] if move is None else move for i, move in enumerate(found)]
