"""The networks: shapes, independent games in a batch, and logits that belong to their actions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from azumaya.baselines.agents.network import (
    NETWORKS,
    CellHead,
    MoveHead,
    NumberNet,
    default_network,
    group_planes,
)
from azumaya.envs import find_game, make_vec
from azumaya.envs.game import Game
from tests.cases import TESTED

EVERY = [
    (name, kind)
    for name in TESTED
    for kind in NETWORKS
    if kind != "numbers" or default_network(find_game(name)) == "numbers"
]


@pytest.mark.parametrize(("name", "kind"), EVERY)
def test_games_of_a_batch_are_independent(name: str, kind: str) -> None:
    """A logit for every action and a value, the same alone as in a batch."""
    games = make_vec(name, 5, threads=1)
    games.reset(seed=1)
    for _ in range(9):
        observations, *_ = games.step(games.random_actions())
    torch.manual_seed(1)
    network = NETWORKS[kind](games.game, games.single_action_space.n, width=4, depth=2)
    planes = torch.as_tensor(observations["observation"])
    logits, values = network(planes)
    assert logits.shape == (5, games.single_action_space.n)
    assert values.shape == (5,)
    alone, value = network(planes[3:4])
    assert torch.allclose(alone[0], logits[3], atol=1e-5)
    assert torch.allclose(value[0], values[3], atol=1e-5)
    assert logits.std() > 0


@pytest.mark.parametrize("name", TESTED)
def test_the_default_network_suits_the_game(name: str) -> None:
    """The default network sees neighbours if they matter, and houses if only those do."""
    game = find_game(name)
    sees_houses = NETWORKS[default_network(game)] is NumberNet
    assert sees_houses <= (game.symmetries.size > 1000 and bool(group_planes(game).numbered))
    assert sees_houses or default_network(game) == "board"


def lays_pieces(game: Game) -> bool:
    """Whether the first actions are pieces on cells."""
    actions = game.options.num_actions(game.options.defaults)
    return game.symmetries.moves is None and actions >= game.observation.cells


def lit(cells: int, cell: int, channel: int) -> object:
    """Features of two channels with a single cell lit in one."""
    x = torch.zeros(1, 2, cells)
    x[0, channel, cell] = 1.0
    return x


@pytest.mark.parametrize("name", [n for n in TESTED if find_game(n).symmetries.moves])
def test_logits_of_moves_depend_on_their_cells(name: str) -> None:
    """Features of a cell affect only the logits of moves that leave or enter it."""
    game = find_game(name)
    actions = game.options.num_actions(game.options.defaults)
    head = MoveHead(game, actions, 2)
    with torch.no_grad():
        head.worth.weight.copy_(torch.eye(2)[:, :, None, None])
        head.worth.bias.zero_()
    for cell in range(0, game.observation.cells, 7):
        for which in range(2):
            logits = head(
                lit(game.observation.cells, cell, which).view(1, 2, *game.observation.shape)
            )[0]
            told = [float(cell in game.symmetries.moves(a)[which]) for a in range(actions)]
            assert np.array_equal(logits.detach().numpy(), told)


@pytest.mark.parametrize("name", [n for n in TESTED if lays_pieces(find_game(n))])
def test_logits_of_pieces_depend_on_their_cell(name: str) -> None:
    """Laying piece p on cell c is action `p * cells + c`."""
    game = find_game(name)
    head = CellHead(game, game.options.num_actions(game.options.defaults), 2)
    assert head.pieces is not None
    with torch.no_grad():
        head.pieces.bias.zero_()
        dark = head(torch.zeros(1, 2, *game.observation.shape))[0]
        bright = head(lit(game.observation.cells, 11, 0).view(1, 2, *game.observation.shape))[0]
    pieces = head.pieces.out_channels
    changed = np.flatnonzero((bright - dark).numpy()[: pieces * game.observation.cells])
    assert changed.tolist() == [piece * game.observation.cells + 11 for piece in range(pieces)]
