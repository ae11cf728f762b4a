"""The champions that ship with the package."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.search import AlphaBetaAgent, SolverFirstAgent
from azumaya.baselines.search.analysis import SIMULATION_NODES
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.system.command_line import read_options
from azumaya.baselines.training import value as value_script
from azumaya.baselines.values.champion import (
    ChampionAgent,
    champion_file,
    champion_value,
    searcher,
)
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game
from tests.cases import COMPLETE, TESTED
from tests.search.positions import late
from tests.values.networks import positions_of

CHAMPIONS = [
    game for name, game in GAMES.items() if name in COMPLETE or champion_file(game).is_file()
]
with_champion = pytest.mark.parametrize("game", CHAMPIONS, ids=lambda game: game.name)


@with_champion
def test_every_game_has_a_champion(game: Game) -> None:
    """Its files fit this version and have the command that trains it again."""
    value = champion_value(game)
    assert value.game is game
    assert np.abs(value.weights[: value.shape.bias]).max() > 0.1
    assert value.sidecar is not None
    assert value.sidecar.options == {}
    notes = value.sidecar.notes
    python, m, module, *given = notes["command"].split()
    assert (python, m) == ("python", "-m")
    assert module in (value_script.PROGRAM, "azumaya.baselines.training.td_value")
    config = read_options(value_script.Config(), given, module, "").completed()
    assert (config.game, config.width, config.seed) == (game.name, value.width, notes["seed"])
    assert 300_000 <= config.steps <= notes["steps"] < config.steps + 30_000  # games are completed
    assert notes.get("search", "alphabeta") == config.search


def test_the_champions_are_small() -> None:
    files = list(champion_file(GAMES["abalone"]).parent.iterdir())
    assert len(files) == 2 * len(CHAMPIONS)
    assert sum(file.stat().st_size for file in files) < 6 << 20


@pytest.mark.parametrize(
    ("name", "game"),
    [
        ("champion", "vierer_dominari"),
        ("champion:300", "vierer_dominari"),
        ("champion-net", "sudoku_moyo"),
        pytest.param("champion-net:20", "sudoku_moyo", marks=pytest.mark.slow),
    ],
)
def test_a_champion_plays(name: str, game: str) -> None:
    """The same from any copy; with a budget by search."""
    if name.startswith("champion-net"):
        pytest.importorskip("torch")
    agent = find_agent(name)
    assert agent.name == name
    positions = positions_of(GAMES[game], seeds=2)
    keys = list(range(len(positions)))
    moves = agent.act(positions, keys)
    assert all(move in p.legal_actions() for move, p in zip(moves, positions, strict=True))
    assert pickle.loads(pickle.dumps(agent)).act(positions, keys) == moves
    assert agent.act([], []) == []


@pytest.mark.parametrize("name", ["champion", "champion:300"])
def test_a_champion_keeps_the_memory_of_one_game(name: str) -> None:
    """That of every game it has played would add up; it is the same player when it comes back."""
    agent, positions = find_agent(name), [Position("vierer_dominari"), Position("sudoku_tiles")]
    moves = [agent.act([position], [1]) for position in positions]
    kept = weakref.ref(agent._player(positions[1]))  # type: ignore[attr-defined]
    assert agent._player(positions[1]) is kept()  # type: ignore[attr-defined]
    assert agent.act([positions[0]], [1]) == moves[0]
    gc.collect()
    assert kept() is None
    assert agent.act([positions[1]], [1]) == moves[1]


def test_hidden_draws_are_searched_by_puct() -> None:
    """Alpha-beta would see what the player cannot."""
    agent = ChampionAgent(20)
    position = Position("sudoku_tiles", seed=1)
    agent.check(position)
    (move,) = agent.act([position], [1])
    assert move in position.legal_actions()


def test_a_part_of_the_budget_goes_to_the_solver() -> None:
    """In nodes, simulations or time: a fifth, with AMAF a tenth."""
    position, value = Position("revers_dominari", seed=0), champion_value(GAMES["revers_dominari"])
    for name in ("alphabeta", "None"):
        agent = searcher(value, position, name, 1000)
        assert isinstance(agent, SolverFirstAgent)
        assert agent.budget == Budget(200)
        assert agent.other.search.budget == Budget(800)
    agent = searcher(value, position, "puct", 100)
    assert isinstance(agent, SolverFirstAgent)
    assert agent.budget == Budget(20 * SIMULATION_NODES)
    assert agent.other.search.budget == Budget(80)
    agent = searcher(value, position, "puct+rollouts", milliseconds=10)
    assert isinstance(agent, SolverFirstAgent)
    assert (agent.budget, agent.other.search.budget) == (Budget(None, 2.0), Budget(None, 8.0))
    puct = agent.other.search
    assert (puct.rollouts, puct.delay, puct.temperature) == (0.5, 8, 0.1)
    agent = searcher(value, position, "puct+amaf", milliseconds=10)
    assert isinstance(agent, SolverFirstAgent)
    assert (agent.budget, agent.other.search.budget) == (Budget(None, 1.0), Budget(None, 9.0))
    assert agent.other.search.breadth == 8
    for name in ("alphabeta", "puct+unheard-of"):
        assert isinstance(searcher(value, position, name, 4), AlphaBetaAgent)
    with pytest.raises(OptionError, match="exactly one"):
        searcher(value, position, "alphabeta")


def test_a_champion_keeps_what_the_solver_proves() -> None:
    agent = find_agent("champion:5000")
    cases = late(GAMES["vierer_dominari"], {}, 16, nodes=300)
    moves = agent.act([position for position, _ in cases], range(16))
    for move, (position, gains) in zip(moves, cases, strict=True):
        assert gains[move] == max(gains.values()), str(position)


def test_a_game_without_champion_is_refused() -> None:
    with pytest.raises(OptionError, match="there is none for azumaya/connect_four"):
        find_agent("champion").check(Position(TESTED["connect_four"], seed=0))


@pytest.mark.parametrize("kind", ["champion", "champion-net"])
@pytest.mark.parametrize("budget", ["", "0", "10ms:x", "x"])
def test_wrong_budgets_are_refused(kind: str, budget: str) -> None:
    with pytest.raises(OptionError, match=kind):
        find_agent(f"{kind}:{budget}")
