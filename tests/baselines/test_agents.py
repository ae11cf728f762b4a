"""Agents play legal moves that depend only on position and key, not on the batch."""

from __future__ import annotations

import numpy as np
import pytest

from azumaya.baselines.agents import Agent, GreedyAgent, RandomAgent
from azumaya.baselines.arena.matches import Score, play_pairing
from azumaya.envs import Position
from tests.cases import TESTED

AGENTS: list[Agent] = [RandomAgent(), GreedyAgent()]


def some_positions(game: str, plies: int = 12) -> list[Position]:
    """Running positions of one random game."""
    position, line = Position(game, seed=5), []
    for ply in range(plies):
        if position.is_over:
            break
        line.append(position.copy())
        position.play(RandomAgent().act([position], [ply])[0])
    return line


@pytest.mark.parametrize("game", TESTED)
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_agents_are_functions_of_position_and_key(game: str, agent: Agent) -> None:
    positions = some_positions(game)
    keys = list(range(len(positions)))
    together = agent.act(positions, keys)
    apart = [agent.act([p], [k])[0] for p, k in zip(positions, keys, strict=True)]
    assert together == apart
    assert all(a in p.legal_actions() for a, p in zip(together, positions, strict=True))


@pytest.mark.parametrize("game", TESTED)
def test_greedy_plays_the_best_evaluated_move(game: str) -> None:
    for key, position in enumerate(some_positions(game)):
        worth = {a: evaluation_after(position, a) for a in position.legal_actions()}
        assert worth[GreedyAgent().act([position], [key])[0]] == max(worth.values())


def evaluation_after(position: Position, action: int) -> float:
    """The evaluation after a move, computed with `Position` objects."""
    after = position.copy().play(action)
    if after.is_over:
        return 10.0**9 * after.returns()[position.to_move]
    return float(position.game.rules.evaluate(after.state[0], position.to_move))


def test_random_agent_is_uniform() -> None:
    position = Position("abalone")
    legal = position.legal_actions()
    actions = RandomAgent().act([position] * 8800, list(range(8800)))
    counts = np.array([actions.count(a) for a in legal])
    expected = 8800 / len(legal)
    assert ((counts - expected) ** 2 / expected).sum() < 2 * len(legal)


@pytest.mark.parametrize("game", TESTED)
def test_swapping_the_agents_mirrors_a_pairing(game: str) -> None:
    one = play_pairing(game, GreedyAgent(), RandomAgent(), starts=40, seed=1)
    assert one == play_pairing(game, GreedyAgent(), RandomAgent(), starts=40, seed=1)
    other = play_pairing(game, RandomAgent(), GreedyAgent(), starts=40, seed=1)
    assert one.games == other.games == 80
    assert one.rate > 0.5 > other.rate, "greedy should beat random in every game"


def test_wilson_interval() -> None:
    low, high = Score("a", "b", wins=50, draws=0, losses=50).interval()
    assert (round(low, 4), round(high, 4)) == (0.4038, 0.5962)
    assert Score("a", "b", wins=10, draws=0, losses=0).interval()[1] == 1.0
    assert Score("a", "b", wins=1, draws=2, losses=1).rate == 0.5
