"""The champions that ship with the package."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.values.champion import ChampionAgent, champion_file, champion_value
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game
from tests.cases import TESTED
from tests.values.networks import positions_of


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_every_game_has_a_champion(game: Game) -> None:
    """Its files fit this version and say how it was trained."""
    value = champion_value(game)
    assert value.game is game
    assert value.sidecar is not None
    assert value.sidecar.notes["steps"] >= 300_000
    assert value.sidecar.options == {}
    assert np.abs(value.weights[: value.shape.bias]).max() > 0.1


def test_the_champions_are_small() -> None:
    """All together at most a few megabytes."""
    files = list(champion_file(GAMES["abalone"]).parent.iterdir())
    assert len(files) == 2 * len(GAMES)
    assert sum(file.stat().st_size for file in files) < 4 << 20


@pytest.mark.parametrize("name", ["champion", "champion:300"])
def test_a_champion_plays(name: str) -> None:
    """The same from any copy; with a budget by search."""
    agent = find_agent(name)
    assert agent.name == name
    positions = positions_of(GAMES["vierer_dominari"], seeds=2)
    keys = list(range(len(positions)))
    moves = agent.act(positions, keys)
    assert all(move in p.legal_actions() for move, p in zip(moves, positions, strict=True))
    assert pickle.loads(pickle.dumps(agent)).act(positions, keys) == moves
    assert agent.act([], []) == []


def test_hidden_draws_are_searched_by_puct() -> None:
    """Alpha-beta would see what the player cannot."""
    agent = ChampionAgent(20)
    position = Position("sudoku_tiles", seed=1)
    agent.check(position)
    (move,) = agent.act([position], [1])
    assert move in position.legal_actions()


def test_a_game_without_champion_is_refused() -> None:
    """By name."""
    with pytest.raises(OptionError, match="there is none for azumaya/connect_four"):
        find_agent("champion").check(Position(TESTED["connect_four"], seed=0))


@pytest.mark.parametrize("name", ["champion:", "champion:0", "champion:10ms:x", "champion:x"])
def test_wrong_budgets_are_refused(name: str) -> None:
    """As those of other searches."""
    with pytest.raises(OptionError, match="champion"):
        find_agent(name)
