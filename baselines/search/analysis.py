"""Analysis of a position: its value, its best moves, and whether they are proven."""

from __future__ import annotations

from dataclasses import dataclass, replace

from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.outcome import Candidate, Outcome, preferred
from azumaya.baselines.search.solver import Solution, solve
from azumaya.baselines.search.uct import UCT
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_running
from azumaya.envs.errors import OptionError
from azumaya.envs.position import check_seed

SIMULATION_NODES = 50
"""Positions the solver visits in about the time of one simulation."""
HINT_MILLISECONDS = 1000.0
"""The usual search time of a hint."""
MEGABYTES = 128
"""Memory for the solver's table; UCT's tree needs its default amount in addition."""


@dataclass(frozen=True)
class MoveValue:
    """One legal move, from the view of the player to move.

    Attributes:
        move: the name of the move.
        action: the action number.
        value: what the player to move still gains after it, with best play by both; None if the
            search did not reach the move.
        exact: whether the value is proven.
        visits: simulations that began with this move.
    """

    move: str
    action: int
    value: float | None
    exact: bool
    visits: int


@dataclass(frozen=True)
class Analysis:
    """The analysis of a position.

    Attributes:
        to_move: the player to move.
        value: what the player to move still gains with best play by both.
        exact: whether the value is proven.
        best: the name of the move to play.
        moves: every legal move, best first.
        pv: the principal variation: the names of both players' moves, starting with `best`.
        nodes: positions visited by the solver.
        simulations: simulations made by UCT.
    """

    to_move: int
    value: float
    exact: bool
    best: str
    moves: tuple[MoveValue, ...]
    pv: tuple[str, ...]
    nodes: int
    simulations: int


def analyse(
    position: Position,
    *,
    simulations: int | None = None,
    nodes: int | None = None,
    milliseconds: float | None = None,
    key: int = 0,
) -> Analysis:
    """Value, moves and principal variation of a running position.

    Half of the budget goes to the solver; what it leaves unsolved is searched with UCT. In games
    with hidden draws, nothing can be solved and UCT gets the whole budget. With a budget in
    simulations or nodes, the result depends only on position, options and key.

    Args:
        position: the position.
        simulations: the budget in UCT simulations; the solver takes about as long as half of them.
        nodes: the budget in positions visited; a simulation counts as 50.
        milliseconds: the budget in time.
        key: the key of the random draws, from 0 to 2**64 - 1.

    Raises:
        OptionError: an argument is not of its type, the position is over, the budget is not
            positive, or not exactly one is given.
    """
    check_running(position)
    key = check_seed(key, "key")
    if nodes is not None and simulations is not None:
        raise OptionError(
            "budget: simulations and nodes are given; exactly one of the two is needed"
        )
    budget = Budget(simulations if nodes is None else nodes, milliseconds)
    hidden = kernels_of(position).hidden_draws
    solving, searching = _divided(budget, nodes is not None, 1 if hidden else 2)
    solution = Solution(position.to_move, None, {}, (), 0)
    if not hidden:
        solution = solve(
            position, nodes=solving.steps, milliseconds=solving.milliseconds, megabytes=MEGABYTES,
            line=True,
        )  # fmt: skip
    if solution.solved:
        return _described(position, solution, None)
    return _described(position, solution, UCT(searching).search([position], [key])[0])


def _divided(budget: Budget, in_nodes: bool, parts: int) -> tuple[Budget, Budget]:
    """Half of a budget for the solver, and one of `parts` for UCT."""
    if budget.steps is None:
        assert budget.milliseconds is not None
        return Budget(None, budget.milliseconds / 2), Budget(None, budget.milliseconds / parts)
    nodes = budget.steps * (1 if in_nodes else SIMULATION_NODES)
    return Budget(max(nodes // 2, 1)), Budget(max(nodes // (SIMULATION_NODES * parts), 1))


def _described(position: Position, solution: Solution, outcome: Outcome | None) -> Analysis:
    mover = position.to_move
    before = position.returns()[mover]
    found = _merged(solution, outcome, before)
    best = preferred(list(found.values()))
    exact = solution.value is not None or (outcome is not None and outcome.exact)
    if solution.value is not None:
        value, best = float(solution.value), _best_of(solution, found, best)
    else:
        value = best.value - before
    moves = [_move_value(position, action, found, before) for action in position.legal_actions()]
    moves.sort(key=lambda m: (m.action != best.action, *_order(m)))
    line = solution.line or (outcome.line if outcome is not None else ())
    if not line or line[0] != best.action or kernels_of(position).hidden_draws:
        line = (best.action,)
    simulations = 0 if outcome is None else outcome.simulations
    return Analysis(
        mover, value, exact, position.move_name(best.action), tuple(moves),
        _names(position, line), solution.nodes, simulations,
    )  # fmt: skip


def _merged(solution: Solution, outcome: Outcome | None, before: int) -> dict[int, Candidate]:
    """By action, what UCT and the solver found about the moves."""
    found = {} if outcome is None else {c.action: c for c in outcome.candidates}
    for action, gain in solution.moves.items():
        if gain is not None:
            seen = found.get(action, Candidate(action, 0, 0.0, 0, 0))
            final = gain + before
            found[action] = replace(seen, value=float(final), low=final, high=final)
    return found


def _best_of(solution: Solution, found: dict[int, Candidate], best: Candidate) -> Candidate:
    """A move proven to gain the value: the line's, or the preferred one if it is proven, too."""
    if solution.line:
        return found[solution.line[0]]
    if best.action in solution.best:
        return best
    return max((found[action] for action in solution.best), key=lambda c: c.visits)


def _move_value(
    position: Position, action: int, found: dict[int, Candidate], before: int
) -> MoveValue:
    seen, name = found.get(action), position.move_name(action)
    if seen is None:
        return MoveValue(name, action, None, False, 0)
    return MoveValue(name, action, seen.value - before, seen.exact, seen.visits)


def _order(move: MoveValue) -> tuple[float, int, int]:
    """Sort key: highest value first; moves that the search did not reach come last."""
    descending = float("inf") if move.value is None else -move.value
    return descending, -move.visits, move.action


def _names(position: Position, line: tuple[int, ...]) -> tuple[str, ...]:
    position, names = position.copy(), []
    for action in line:
        names.append(position.move_name(action))
        position.play(action)
    return tuple(names)


def summary(found: Analysis) -> str:
    """The value and the best move of an analysis in one line."""
    how = "exact" if found.exact else "estimate"
    return f"best {found.best}, value {shown_value(found.value, found.exact)} ({how})"


def shown_value(value: float | None, exact: bool) -> str:
    """A value as it is printed: proven ones are whole numbers; `?` stands for none."""
    if value is None:
        return "?"
    return f"{int(value):+d}" if exact else f"{value + 0.0:+.3f}"
