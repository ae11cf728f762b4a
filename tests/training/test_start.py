"""Runs of the scripts with torch that begin with the network of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from azumaya.baselines.agents.champion_net import champion_net_file
from azumaya.baselines.agents.checkpoint import load
from azumaya.baselines.agents.network import NETWORKS
from azumaya.baselines.training import ppo
from azumaya.baselines.training.run_folder import RunError
from azumaya.envs import OptionError, find_game
from tests.baselines.checkpoints import fresh
from tests.cases import YARDSTICK
from tests.training.run_helpers import SCRIPTS

GAME = YARDSTICK.name


def saved(folder: Path, kind: str, game: str = GAME, **sizes: int) -> str:
    """The path of a checkpoint with random weights."""
    torch.manual_seed(7)
    return str(fresh(folder / kind, game, kind, sizes).with_suffix(""))


def completed(folder: Path, game: str = GAME, **given: Any) -> ppo.Config:
    """The options of a run of `ppo.py`, complete."""
    return ppo.Config(game=game, output=folder / "run", **given).completed()


@pytest.mark.parametrize("name", ["ppo", "alphazero", "maskable_ppo"])
def test_a_run_begins_with_the_weights_and_the_sizes(name: str, tmp_path: Path) -> None:
    """With a learning rate next to nothing it also ends with them; resumed it needs no start."""
    main, tiny = SCRIPTS[name]
    start, folder = saved(tmp_path, "board", width=5, depth=2), tmp_path / "run"
    given: dict[str, Any] = {
        "game": GAME, "start": start, "width": None, "depth": None, "learning_rate": 1e-12,
        "measure_starts": 1, "final_starts": 1,
    }  # fmt: skip
    first, _ = load(start)
    main(tiny(folder, **given))
    for file in tmp_path.glob("board.*"):
        file.unlink()
    main(tiny(folder, **given, resume=True, steps=300))
    with pytest.raises(RunError, match=r"--width 6 \(it has 5\)"):
        main(tiny(folder, **given | {"width": 6}, resume=True))
    last, sidecar = load(folder / "policy")
    assert (sidecar.network, sidecar.sizes) == ("board", {"width": 5, "depth": 2})
    assert first.keys() == last.keys()
    for weights in first:
        torch.testing.assert_close(last[weights], first[weights], rtol=0, atol=1e-6)


def test_a_network_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """One of other sizes than were given, of another game or of other actions."""
    start = saved(tmp_path, "board", width=5, depth=2)
    for given in ({"width": 16}, {"depth": 3}, {"network": "plain"}):
        [(name, size)] = given.items()
        with pytest.raises(OptionError, match=f"--{name} {size}: start=.* leave --{name} out"):
            completed(tmp_path, start=start, **given)
    completed(tmp_path, start=start, network="board", width=5)
    with pytest.raises(OptionError, match=rf"is of .*{GAME}-v0 with .*, not .*abalone"):
        completed(tmp_path, start=start, game="abalone")
    with pytest.raises(OptionError, match="champion-net: there is none for azumaya/abalone"):
        completed(tmp_path, start="champion-net", game="abalone")


def test_a_run_begins_with_the_network_that_ships(tmp_path: Path) -> None:
    """It may be one that is no default on a CPU."""
    game = find_game("sudoku_moyo")
    config = completed(tmp_path, game.name, start="champion-net")
    assert (config.network, config.width, config.depth) == ("houses", 16, 4)
    assert (config.learning_rate, config.shaping) == (1e-3, 0.0)
    network = config.begin(NETWORKS["houses"](game, 729, **config.sizes))
    shipped, _ = load(champion_net_file(game))
    assert all(torch.equal(network.state_dict()[name], shipped[name]) for name in shipped)


def test_sizes_that_a_checkpoint_leaves_out_are_those_of_its_network(tmp_path: Path) -> None:
    """So it is where a network was cloned."""
    game = find_game("sudoku_moyo")
    config = completed(tmp_path, game.name, start=saved(tmp_path, "numbers", game.name))
    assert (config.network, config.width, config.depth) == ("numbers", 16, 1)
    config.begin(NETWORKS["numbers"](game, 729, **config.sizes))
