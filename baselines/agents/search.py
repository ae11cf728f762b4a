"""Agents that search, such as `uct:1000`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from azumaya.baselines.agents import Agent
from azumaya.baselines.agents.asking import ask, check_agent, name_of
from azumaya.baselines.search.alphabeta import MEGABYTES, AlphaBeta, check_open
from azumaya.baselines.search.arguments import check_megabytes, check_settings
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget, Rooms, check_budget, spend
from azumaya.baselines.search.evaluation import Evaluation
from azumaya.baselines.search.evaluator import Evaluator, check_fits
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.puct import PUCT
from azumaya.baselines.search.solver import SolverRooms, Solving
from azumaya.baselines.search.uct import UCT
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.adapters.duel.opponents import Opponent, is_agent
from azumaya.envs.engine.workers import check_threads
from azumaya.envs.errors import OptionError, brief


class UCTAgent(Agent):
    """Plays the move that UCT prefers.

    Args:
        simulations: simulations per move; give either this or `milliseconds`.
        milliseconds: time per move.
        exploration: as for `UCT`.
        cut: as for `UCT`.
        megabytes: as for `UCT`.
        threads: as for `UCT`.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        simulations: int | None = None,
        milliseconds: float | None = None,
        **settings: float,
    ) -> None:
        budget = Budget(simulations, milliseconds)
        check_settings(self, UCT, settings)
        self.uct = UCT(budget, **settings)  # type: ignore[arg-type]
        self.name = f"uct:{budget}"

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The preferred move in each position; positions are searched in parallel."""
        return [found.best for found in self.uct.search(positions, keys, lines=False)]


class PUCTAgent(Agent):
    """Plays the move that PUCT with a compiled evaluation prefers.

    Args:
        simulations: simulations per move; give either this or `milliseconds`.
        milliseconds: time per move.
        evaluation: as for `PUCT`.
        exploration: as for `PUCT`.
        temperature: as for `PUCT`.
        rollouts: as for `PUCT`.
        delay: as for `PUCT`.
        breadth: as for `PUCT`.
        megabytes: as for `PUCT`.
        threads: as for `PUCT`.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        simulations: int | None = None,
        milliseconds: float | None = None,
        evaluation: Evaluation | None = None,
        **settings: float,
    ) -> None:
        budget = Budget(simulations, milliseconds)
        check_settings(self, PUCT, settings)
        self.puct = PUCT(budget, evaluation, **settings)  # type: ignore[arg-type]
        self.name = f"puct:{budget}{_suffix(evaluation)}"

    def check(self, position: Position) -> None:
        """Raise `OptionError` if the evaluation or `breadth` does not suit the game."""
        self.puct.check(position)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The preferred move in each position; positions are searched in parallel."""
        return [found.best for found in self.puct.search(positions, keys, lines=False)]


class BatchPUCTAgent(Agent):
    """Plays the move that PUCT with a network prefers.

    Args:
        evaluator: the network, see `Evaluator`.
        simulations: simulations per move; give either this or `milliseconds`.
        milliseconds: time per move.
        exploration: as for `BatchPUCT`.
        temperature: as for `BatchPUCT`.
        leaves: as for `BatchPUCT`.
        batch: as for `BatchPUCT`.
        games: as for `BatchPUCT`.
        megabytes: as for `BatchPUCT`.
        threads: as for `BatchPUCT`.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        simulations: int | None = None,
        milliseconds: float | None = None,
        **settings: float,
    ) -> None:
        budget = Budget(simulations, milliseconds)
        check_settings(self, BatchPUCT, settings)
        self.puct = BatchPUCT(budget, evaluator, **settings)  # type: ignore[arg-type]
        self.name = f"puct:{budget}:{getattr(evaluator, 'name', type(evaluator).__name__)}"
        self.sidecar = getattr(evaluator, "sidecar", None)

    def check(self, position: Position) -> None:
        """Raise what the evaluator's `check` raises."""
        check_fits(self.puct.evaluator, position)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The preferred move in each position; positions are searched together."""
        return [found.best for found in self.puct.search(positions, keys, lines=False)]


def _suffix(evaluation: Evaluation | None) -> str:
    """What an agent's name says of its evaluation."""
    return "" if evaluation is None else f":{evaluation.name}"


class AlphaBetaAgent(Agent):
    """Plays the best move found by alpha-beta search with iterative deepening.

    It refuses games with draws that are hidden from the players.

    Args:
        nodes: positions visited per move; give either this or `milliseconds`.
        milliseconds: time per move.
        evaluation: as for `AlphaBeta`.
        megabytes: as for `AlphaBeta`.
        threads: as for `AlphaBeta`.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        nodes: int | None = None,
        milliseconds: float | None = None,
        evaluation: Evaluation | None = None,
        **settings: float,
    ) -> None:
        budget = Budget(nodes, milliseconds)
        check_settings(self, AlphaBeta, settings)
        self.alphabeta = AlphaBeta(budget, evaluation, **settings)  # type: ignore[arg-type]
        self.name = f"alphabeta:{budget}{_suffix(evaluation)}"

    def check(self, position: Position) -> None:
        """Check that it can play a position.

        Raises:
            HiddenDrawsError: the game has hidden draws.
            OptionError: the evaluation is of another game.
        """
        check_open(kernels_of(position))
        if self.alphabeta.evaluation is not None:
            self.alphabeta.evaluation.check(position.game)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The best move found in each position; positions are searched in parallel."""
        return [found.best for found in self.alphabeta.search(positions, keys)]


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
        check_open(kernels_of(position))
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
