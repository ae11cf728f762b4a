"""Views: what a network sees of games through symmetries is what transformed games show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from azumaya.baselines.training.views import VIEWS, View, transforms, views
from azumaya.envs import Position
from azumaya.envs.game import Game
from tests.cases import TESTED
from tests.search.positions import midgame
from tests.training.run_helpers import SCRIPTS

CPU = torch.device("cpu")


def seen(view: View, position: Position) -> tuple[np.ndarray, np.ndarray]:
    """A position's planes and legal actions through a view."""
    planes, mask = position.observation(position.to_move), position.action_mask()
    found = view.see(torch.from_numpy(planes[None]), torch.from_numpy(mask[None]))
    return found[0][0].numpy(), found[1][0].numpy()


@pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)
def test_views_show_what_transformed_positions_show(game: Game) -> None:
    """From start to end, also where players or cells must keep their order."""
    start, checked = Position(game, seed=3), 0
    for one, view in list(zip(transforms(start), views(start, CPU), strict=True))[:6]:
        for plies in (0, 1, 6, 15):
            position = midgame(game, {}, 3, plies)
            moved = one.position(position)
            planes, mask = seen(view, position)
            assert (planes == moved.observation(moved.to_move)).all()
            assert (mask == moved.action_mask()).all()
            goes = view.action_to.numpy()
            assert {int(goes[a]) for a in position.legal_actions()} == set(moved.legal_actions())
            checked += moved != position
    assert len(views(start, CPU)) == VIEWS
    assert checked, "some symmetries change something"


@pytest.mark.parametrize("script", ["ppo", "alphazero"])
def test_scripts_learn_through_views(script: str, tmp_path: Path) -> None:
    main, tiny = SCRIPTS[script]
    weights = []
    for symmetries in (False, True):
        folder = tmp_path / str(symmetries)
        main(tiny(folder, symmetries=symmetries, network="board", game="connect_four", depth=1))
        weights.append((folder / "policy.safetensors").read_bytes())
    assert weights[0] != weights[1]
