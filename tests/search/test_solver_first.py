"""The agent that solves positions first, and otherwise leaves the move to another agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from azumaya.baselines.agents import Agent
from azumaya.baselines.search import HiddenDrawsError, SolverFirstAgent
from azumaya.baselines.search.budget import Budget
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game
from tests.search.positions import each_solved, late


class Asked(Agent):
    """Plays the last legal move, and notes what it was asked."""

    name = "asked"

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def check(self, position: Position) -> None:
        """Refuse Abalone."""
        if position.game.name == "abalone":
            raise OptionError("asked: plays no Abalone")

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The last legal move in each position."""
        self.seen += [(str(p), int(key)) for p, key in zip(positions, keys, strict=True)]
        return [position.legal_actions()[-1] for position in positions]


@each_solved
def test_solved_positions_are_played_best(game: Game, options: dict[str, Any]) -> None:
    """The other agent is asked only where no move could be worse."""
    other = Asked()
    agent = SolverFirstAgent(other, Budget(20_000), megabytes=1)
    cases = late(game, options, 12)
    positions = [position for position, _ in cases]
    moves = agent.act(positions, range(len(cases)))
    hopeless = {key for _, key in other.seen}
    for i, (position, gains) in enumerate(cases):
        assert gains[moves[i]] == max(gains.values()), str(position)
        if i in hopeless:
            assert len(set(gains.values())) == 1
            assert max(gains.values()) < 0
            assert moves[i] == position.legal_actions()[-1]


def test_other_positions_are_left_to_the_other_agent() -> None:
    """With their keys, in order, and in one call."""
    other = Asked()
    agent = SolverFirstAgent(other, Budget(10), megabytes=1)
    positions = [Position("sudoku_moyo", seed=seed) for seed in range(5)]
    moves = agent.act(positions, [7, 8, 9, 10, 11])
    assert other.seen == [(str(p), key) for p, key in zip(positions, range(7, 12), strict=True)]
    assert moves == [position.legal_actions()[-1] for position in positions]
    assert agent.name == "asked"
    assert agent.act([], []) == []


def test_threads_and_company_change_nothing() -> None:
    """A move depends on the position and its key."""
    positions = [position for position, _ in late(GAMES["score_dominari"], {}, 16)]
    alone = SolverFirstAgent(Asked(), Budget(3000), megabytes=1, threads=1)
    each = [alone.act([position], [i])[0] for i, position in enumerate(positions)]
    for threads in (1, 3):
        agent = SolverFirstAgent(Asked(), Budget(3000), megabytes=1, threads=threads)
        assert agent.act(positions, range(16)) == each


def test_ties_are_broken_by_the_key() -> None:
    """Among moves that are equally good and look alike to the solver."""
    agent, varied = SolverFirstAgent(Asked(), Budget(50_000), megabytes=1), 0
    for position, gains in late(GAMES["score_dominari"], {}, 24):
        moves = set(agent.act([position] * 10, range(10)))
        assert {gains[move] for move in moves} == {max(gains.values())}
        varied += len(moves) > 1
    assert varied > 0


class Last:
    """An agent of one's own: the last legal move, by its name."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[str]:
        """The names."""
        return [position.legal_moves()[-1] for position in positions]


def test_any_agent_may_follow_the_solver() -> None:
    """It needs nothing but `act`, and goes by the name of its class."""
    position = Position("sudoku_moyo", seed=0)
    agent = SolverFirstAgent(Last(), Budget(10), megabytes=1)  # type: ignore[arg-type]
    agent.check(position)
    assert agent.name == "Last"
    assert agent.act([position], [1]) == [position.legal_moves()[-1]]
    for other in ("greedy", None, Asked):
        with pytest.raises(OptionError, match=r"^other=.*: must be an agent"):
            SolverFirstAgent(other, Budget(10))  # type: ignore[arg-type]


def test_what_it_cannot_play_is_refused() -> None:
    """Hidden draws, and what the other agent refuses."""
    agent = SolverFirstAgent(Asked(), Budget(10), megabytes=1)
    with pytest.raises(HiddenDrawsError):
        agent.check(Position("sudoku_tiles", seed=0))
    with pytest.raises(OptionError, match="no Abalone"):
        agent.check(Position("abalone", seed=0))
    agent.check(Position("sudoku_moyo", seed=0))
    with pytest.raises(OptionError, match="megabytes"):
        SolverFirstAgent(Asked(), Budget(10), megabytes=0).act(
            [Position("sudoku_moyo", seed=0)], [1]
        )
