"""Agents play legal moves that depend only on position and key, not on the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.agents import Agent, GreedyAgent, RandomAgent
from azumaya.baselines.agents.program import ProgramAgent
from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.search import (
    AlphaBetaAgent,
    BatchPUCTAgent,
    PUCTAgent,
    SolverFirstAgent,
    UCTAgent,
)
from azumaya.baselines.search.budget import Budget
from azumaya.envs import OptionError, Position, UnknownOptionError
from tests.cases import TESTED, nightly
from tests.search.evaluations import Linear

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


def test_the_interval_is_wilsons_where_pairs_are_not_known() -> None:
    low, high = Score("a", "b", wins=50, draws=0, losses=50).interval()
    assert (round(low, 4), round(high, 4)) == (0.4038, 0.5962)
    assert Score("a", "b", wins=10, draws=0, losses=0).interval()[1] == 1.0
    assert Score("a", "b", wins=1, draws=2, losses=1).rate == 0.5


def test_a_score_without_games_has_no_rate() -> None:
    score = Score("a", "b")
    said = r"^Score of a against b: no games were played"
    for rate in ("rate", "rate_by_seat"):
        with pytest.raises(OptionError, match=said):
            getattr(score, rate)
    with pytest.raises(OptionError, match=said):
        score.interval()


# ---- settings ----


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (UCTAgent, "UCTAgent"),
        (PUCTAgent, "PUCTAgent"),
        (AlphaBetaAgent, "AlphaBetaAgent"),
        (lambda *given, **more: BatchPUCTAgent(Linear(), *given, **more), "BatchPUCTAgent"),
    ],
)
def test_settings_that_an_agent_does_not_have(make: Callable[..., Agent], name: str) -> None:
    make(5, threads=1, megabytes=1)
    with pytest.raises(
        UnknownOptionError,
        match=f"^unexpected keyword argument 'foo': {name} has no such setting. It has .*megabytes",
    ):
        make(5, foo=0)


@pytest.mark.parametrize("temperature", ["1", None, True, -1, float("inf"), float("nan"), 1e-40])
def test_the_temperature_of_a_policy_is_checked(temperature: Any) -> None:
    with pytest.raises(OptionError, match=r"^temperature=.*: a number from (0|1e-30) is needed"):
        policy(temperature)


@pytest.mark.parametrize("temperature", [0.0, 1e-30, 1.0, 1e308, float("inf")])
def test_a_policy_plays_legal_moves_at_any_temperature(temperature: float) -> None:
    """Nothing that happens to the logits may unmask an illegal action, not even unchecked."""
    agent, positions = policy(1.0), some_positions(ASKED.game.name)
    agent.temperature = temperature  # type: ignore[attr-defined]
    moves = agent.act(positions, range(len(positions)))
    assert all(move in p.legal_actions() for move, p in zip(moves, positions, strict=True))


# ---- what is asked ----


def policy(temperature: float) -> Agent:
    """An agent with an untrained network."""
    torch = pytest.importorskip("torch")
    from azumaya.baselines.agents.network import NETWORKS  # noqa: PLC0415 - needs torch
    from azumaya.baselines.agents.policy import PolicyAgent  # noqa: PLC0415 - next to it

    torch.manual_seed(1)
    network = NETWORKS["board"](ASKED.game, ASKED.num_actions, width=4, depth=1)
    return PolicyAgent(network, temperature=temperature)


def champion(*budget: int) -> Agent:
    """The champion."""
    pytest.importorskip("safetensors")
    from azumaya.baselines.values.champion import ChampionAgent  # noqa: PLC0415 - next to it

    return ChampionAgent(*budget)


ASKED = Position("score_dominari")
OVER = ASKED.copy()
while not OVER.is_over:
    OVER.play(OVER.legal_actions()[0])
MAKERS: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "uct": lambda: UCTAgent(5),
    "puct": lambda: PUCTAgent(5),
    "batch puct": lambda: BatchPUCTAgent(Linear(), 5),
    "alphabeta": lambda: AlphaBetaAgent(50),
    "solver first": lambda: SolverFirstAgent(RandomAgent(), Budget(5), megabytes=1),
    "policy": lambda: policy(0.0),
    "policy with temperature": lambda: policy(1.0),
    "champion": champion,
    "champion:20": lambda: champion(20),
    "program": lambda: ProgramAgent("head -n 0"),
}


@pytest.fixture(scope="module")
def made() -> dict[str, Agent]:
    """The agents made so far; each keeps its memory."""
    return {}


@pytest.fixture(params=MAKERS)
def agent(request: pytest.FixtureRequest, made: dict[str, Agent]) -> Agent:
    """Every agent of the library."""
    if request.param not in made:
        made[request.param] = MAKERS[request.param]()
    return made[request.param]


@pytest.mark.parametrize(
    ("positions", "keys", "message"),
    [
        (ASKED, [1], "positions=<.*>: a list of positions is needed"),
        ("vierer", [1] * 6, "positions='vierer': a list of positions is needed"),
        (None, [1], "positions=None: a list"),
        (["vierer"], [1], r"positions\[0\]='vierer': a Position is needed"),
        ([ASKED, OVER], [1, 2], r"positions\[1\]: the game is over; a running position is needed"),
        ([ASKED], 1, "keys=1: a list of keys is needed"),
        ([ASKED], np.array(1), r"keys=array\(1\): a list"),
        ([ASKED], "1", "keys='1': a list"),
        (
            [ASKED, ASKED],
            [1],
            r"keys=\[1\]: 1 for 2 positions; one key for each position is needed",
        ),
        ([ASKED], [1, 2], r"keys=\[1, 2\]: 2 for 1 positions"),
        ([], [1], r"keys=\[1\]: 1 for 0 positions"),
        ([ASKED], [-1], r"keys\[0\]=-1: a whole number from 0 to 2\*\*64 - 1 is needed"),
        ([ASKED, ASKED], [1, 2**64], r"keys\[1\]=18446744073709551616: a whole number"),
        ([ASKED], [1.5], r"keys\[0\]=1.5"),
        ([ASKED], np.array([1.0]), r"keys\[0\]=1.0"),
        ([ASKED], [True], r"keys\[0\]=True"),
    ],
)
def test_wrong_positions_and_keys_are_refused(
    agent: Agent, positions: Any, keys: Any, message: str
) -> None:
    with pytest.raises(OptionError, match=f"^{message}"):
        agent.act(positions, keys)


@pytest.mark.parametrize(
    "agent",
    nightly(MAKERS, [name for name in MAKERS if not name.startswith("champion")]),
    indirect=True,
)
def test_sequences_and_arrays_are_as_good_as_lists(agent: Agent) -> None:
    if isinstance(agent, ProgramAgent):
        pytest.skip("this one gives no answers")
    expected = agent.act([ASKED, ASKED], [7, 2**64 - 1])
    keys = np.array([7, 2**64 - 1], np.uint64)
    assert agent.act((ASKED, ASKED), keys) == expected
    assert agent.act(np.array([ASKED, ASKED], object), tuple(keys)) == expected  # type: ignore[arg-type]
    assert agent.act([ASKED], range(7, 8)) == expected[:1]
    assert agent.act([ASKED], np.array([7], np.int8)) == expected[:1]  # type: ignore[arg-type]
    assert agent.act([], []) == []


@pytest.mark.parametrize("name", ["greedy", "uct", "policy", "champion:20"])
def test_positions_of_several_games_are_refused(name: str) -> None:
    """Compiled code has room for the states and moves of the first only."""
    for other in (Position("abalone"), Position("score_dominari", referee=False)):
        with pytest.raises(
            OptionError, match=r"^positions\[1\]: of .*; all must be of .*, as the f"
        ):
            MAKERS[name]().act([ASKED, other], [1, 2])
