"""The networks that ship with the package."""

from __future__ import annotations

import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.agents.champion_net import DATA, champion_net_file
from azumaya.baselines.agents.sidecar import read_sidecar
from azumaya.baselines.arena.exam_results import answers_of
from azumaya.baselines.arena.exams import load_exam
from azumaya.baselines.play.server.choices import Choices
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.system.command_line import read_options
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game

WITH_NET = [game for game in GAMES.values() if champion_net_file(game).is_file()]
LEAST_KEPT = {"sudoku_moyo": 0.86}
"""The lower ends of the intervals of what the networks keep of the public exam."""
with_net = pytest.mark.parametrize("game", WITH_NET, ids=lambda game: game.name)


@with_net
def test_a_network_comes_from_the_command_on_its_card(game: Game) -> None:
    pytest.importorskip("torch")
    from azumaya.baselines.training import ppo  # noqa: PLC0415 - needs torch

    sidecar = read_sidecar(champion_net_file(game))
    python, m, module, *given = sidecar.notes["command"].split()
    assert (python, m, module) == ("python", "-m", ppo.PROGRAM)
    config = read_options(ppo.Config(), given, module, "").completed()
    assert (sidecar.game, sidecar.options) == (game.id, {})
    assert (config.game, config.network, config.sizes) == (
        game.name, sidecar.network, sidecar.sizes,
    )  # fmt: skip
    assert config.seed == sidecar.notes["seed"]
    assert config.steps <= sidecar.notes["steps"] < 1.01 * config.steps


@with_net
def test_a_network_keeps_most_won_positions(game: Game) -> None:
    pytest.importorskip("torch")
    kept = answers_of(find_agent("champion-net"), load_exam(game.name)).kept_wins
    assert kept is not None
    assert kept > LEAST_KEPT[game.name]


def test_games_without_a_network_are_refused() -> None:
    with pytest.raises(OptionError, match="champion-net: there is none for azumaya/abalone"):
        find_agent("champion-net").check(Position("abalone"))


def test_networks_are_small() -> None:
    for file in DATA.iterdir():
        assert file.stat().st_size < 2_000_000


def test_a_server_offers_a_network_if_it_is_named() -> None:
    """Otherwise its workers need no torch."""
    with pytest.raises(RefusalError, match="must be human"):
        Choices((), Limits()).player("champion-net")
    choices = Choices(("champion-net",), Limits())
    assert choices.player("champion-net").name == "champion-net"
    (offered,) = (each for each in choices.described["players"] if each["name"] == "champion-net")
    assert offered["games"] == [game.name for game in WITH_NET]
