"""The champions: values that ship with the package, one for each game, and an agent that uses them.

Each was trained by `azumaya.baselines.training.value`; the notes of its sidecar have the
command.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.by_game import ByGameAgent
from azumaya.baselines.agents.search import AlphaBetaAgent, PUCTAgent, SolverFirstAgent
from azumaya.baselines.search.analysis import SIMULATION_NODES
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of, payoff_bound
from azumaya.baselines.values.value import Value, ValueAgent, load_value
from azumaya.envs import OptionError, Position
from azumaya.envs.game import Game

CHAMPION = "champion"
SearchKind = Literal["alphabeta", "puct", "puct+rollouts", "puct+amaf"]
SEARCH = "search"
"""The note of a sidecar that says which search suits a value, a `SearchKind`."""
SETTINGS: Mapping[str, Mapping[str, float]] = {
    "puct": {},
    "puct+rollouts": {"rollouts": 0.5},
    "puct+amaf": {"rollouts": 0.5, "breadth": 8},
}
"""The settings of PUCT that are not the defaults, for each search by PUCT."""
SOLVER_SHARE = 0.2
"""The share of a budget that goes to the solver, except in `SOLVER_SHARES`."""
SOLVER_SHARES: Mapping[str, float] = {"puct+amaf": 0.1}
DATA = Path(__file__).with_name("data")


def champion_file(game: Game) -> Path:
    """Where the weights of a game's champion are, or would be, in the package."""
    return DATA / f"{game.name}.safetensors"


@functools.cache
def champion_value(game: Game) -> Value:
    """The value that ships with the package for a game.

    Raises:
        OptionError: there is none for this game.
        CheckpointError: the file of the installed package is damaged.
        MissingExtraError: safetensors is not installed.
    """
    file = champion_file(game)
    if not file.exists():
        raise OptionError(f"agent {CHAMPION}: there is none for {game.id}")
    return load_value(file)


def value_to_begin_with(start: str, game: Game, options: Mapping[str, Any]) -> Value:
    """The value with which learning begins: `champion`, or a compiled value's checkpoint.

    Args:
        start: its name.
        game: the game to be learned.
        options: its options.

    Raises:
        OptionError: it is of another game or of other payoffs, or there is no champion.
        CheckpointError: the file cannot be read.
    """
    value = champion_value(game) if start == CHAMPION else load_value(start)
    if value.game is not game:
        raise OptionError(f"start={start!r}: is of {value.game.id}, not {game.id}")
    here = payoff_bound(Position(game, **options))
    there = value.weights[value.shape.bound]
    if here != there:
        raise OptionError(
            f"start={start!r}: learned fractions of a payoff of {there:g}, but with these "
            f"options the largest is {here}"
        )
    return value


def searcher(
    value: Value,
    position: Position,
    search: str,
    steps: int | None = None,
    milliseconds: float | None = None,
) -> Agent:
    """An agent that searches with a value.

    A fifth of the budget, with `puct+amaf` a tenth, goes to the solver, whose moves are best where
    it finishes. In games with hidden draws, which it cannot solve, PUCT has the whole budget.

    Args:
        value: the value.
        position: any position of the game with the options to be played.
        search: a `SearchKind`; anything else counts as alpha-beta. With `puct+rollouts` and
            `puct+amaf`, half of each result comes from a random rollout; with the latter, few moves
            of a position are evaluated at first, see `breadth` of `PUCT`.
        steps: nodes per move (simulations of PUCT); give this or `milliseconds`.
        milliseconds: time per move.

    Raises:
        OptionError: the budget is invalid.
    """
    whole, evaluation = Budget(steps, milliseconds), value.evaluation()
    if kernels_of(position).hidden_draws:
        return PUCTAgent(whole.steps, whole.milliseconds, evaluation)
    by_puct = search in SETTINGS
    share = SOLVER_SHARES.get(search, SOLVER_SHARE)
    solving, rest = _divided(whole, share, SIMULATION_NODES if by_puct else 1)
    agent: Agent
    if by_puct:
        agent = PUCTAgent(rest.steps, rest.milliseconds, evaluation, **SETTINGS[search])
    else:
        agent = AlphaBetaAgent(rest.steps, rest.milliseconds, evaluation)
    return agent if solving is None else SolverFirstAgent(agent, solving)


def _divided(whole: Budget, share: float, nodes: int) -> tuple[Budget | None, Budget]:
    """The solver's share, None if too small, and the rest; a step is worth this many nodes."""
    if whole.milliseconds is not None:
        solving = share * whole.milliseconds
        return Budget(None, solving), Budget(None, whole.milliseconds - solving)
    assert whole.steps is not None
    steps = int(share * whole.steps)
    return Budget(steps * nodes) if steps else None, Budget(whole.steps - steps)


class ChampionAgent(ByGameAgent):
    """Plays any game with the value that ships for it.

    Without a budget it looks one move ahead. With one, a part of it goes to the solver; if that
    does not finish, the agent searches as the value's sidecar says, by alpha-beta or by PUCT. Where
    draws are hidden from the players, PUCT has the whole budget.

    Args:
        steps: nodes per move (simulations of PUCT); give this, `milliseconds` or neither.
        milliseconds: time per move.

    Raises:
        OptionError: the budget is invalid.
    """

    def __init__(self, steps: int | None = None, milliseconds: float | None = None) -> None:
        super().__init__(CHAMPION, DATA, steps, milliseconds)

    def player_of(self, position: Position) -> Agent:
        """The agent with the value of a position's game."""
        value = champion_value(position.game)
        if self.budget is None:
            return ValueAgent(value, CHAMPION)
        search = str(value.sidecar.notes.get(SEARCH)) if value.sidecar else ""
        return searcher(value, position, search, self.budget.steps, self.budget.milliseconds)
