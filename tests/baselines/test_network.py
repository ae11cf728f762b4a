"""The networks: shapes, independent games in a batch, and logits that belong to their actions."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from azumaya.baselines.agents.candidates import CandidateFinder
from azumaya.baselines.agents.evaluator import NetworkEvaluator
from azumaya.baselines.agents.layers import CellHead, MoveHead
from azumaya.baselines.agents.network import (
    NETWORKS,
    LinesNet,
    NumberNet,
    can_play,
    default_network,
    takes_numbers,
)
from azumaya.baselines.agents.plane_groups import group_planes
from azumaya.baselines.training.policy import copy_of, evaluated
from azumaya.envs import find_game, make_vec
from azumaya.envs.game import Game
from azumaya.wrappers.transform import Transform
from tests.cases import TESTED

EVERY = [(name, kind) for name in TESTED for kind in NETWORKS if can_play(kind, find_game(name))]


@pytest.mark.parametrize(("name", "kind"), EVERY)
def test_games_of_a_batch_are_independent(name: str, kind: str) -> None:
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
    game = find_game(name)
    kind, numbered = default_network(game), bool(group_planes(game).numbered)
    assert kind in {"numbers", "boards", "board"}
    assert (kind == "numbers") <= (numbered and game.symmetries.size > 1000)
    assert (kind == "boards") == (name == "halma_dominari"), "the players come from different sides"
    lined = name in {"vierer_dominari", "revers_dominari"}
    assert default_network(game, symmetries=True) == ("lines" if lined else kind)
    assert default_network(game, "cuda") == ("houses" if numbered and kind != "boards" else kind)


@pytest.mark.slow  # the compiler takes seconds to import
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sudoku_moyo", "houses"), ("halma_dominari", "boards"), ("vierer_dominari", "lines"),
        ("abalone", "board"), ("abalone", "lines"),
    ],
)  # fmt: skip
def test_networks_for_a_gpu_are_compiled_whole(name: str, kind: str) -> None:
    """With and without gradients, for any number of positions, the compiler sees one graph each."""
    game = find_game(name)
    actions = game.options.num_actions(game.options.defaults)
    network = NETWORKS[kind](game, actions, width=4, depth=2)
    shape = len(game.observation.planes), *game.observation.shape
    torch.compiler.reset()
    compiled = torch.compile(evaluated, backend="eager", fullgraph=True)
    for count, bfloat16 in ((4, False), (6, False), (5, True), (7, True)):
        planes = torch.randint(2, (count, *shape), dtype=torch.int8)
        for inner in (network, copy_of(network)):
            logits, values = compiled(inner, planes, bfloat16)
            wanted = evaluated(inner, planes, bfloat16)
            assert torch.equal(logits, wanted[0])
            assert torch.equal(values, wanted[1])
    head = network.value[0].weight
    (gradient,) = torch.autograd.grad(compiled(network, planes, True)[1].sum(), head)
    assert gradient.any()


# ---- numbers ----


def actions_of(game: Game) -> int:
    return game.options.num_actions(game.options.defaults)


NUMBERED = [name for name in TESTED if takes_numbers(find_game(name))]


def positions(name: str, plies: int, count: int = 8) -> dict[str, np.ndarray]:
    """Observations of positions of random games."""
    games = make_vec(name, count, threads=1)
    seen, _ = games.reset(seed=3)
    for _ in range(plies):
        seen, *_ = games.step(games.random_actions())
    return seen


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_that_may_be_laid_are_candidates(name: str) -> None:
    numbered = group_planes(find_game(name)).numbered[0]
    for plies in range(0, 60, 4):
        seen = positions(name, plies)
        candidates = seen["observation"][:, numbered].reshape(len(seen["action_mask"]), -1)
        laid = seen["action_mask"][:, : candidates.shape[1]]
        assert (laid <= candidates).all()


@pytest.mark.parametrize("name", NUMBERED)
def test_further_layers_see_groups(name: str) -> None:
    game = find_game(name)
    network = NumberNet(game, actions_of(game), width=4)
    seen = network.candidates(torch.as_tensor(positions(name, 6)["observation"]))
    x = torch.arange(2.0 * len(seen.cell)).view(-1, 2) % 7
    sums = network.group_sums(x, seen).view(len(x), 5, 2)
    for i, names in enumerate(seen.groups):
        for kind, group in enumerate(names):
            assert sums[i, kind].tolist() == x[seen.groups[:, kind] == group].sum(0).tolist()


@pytest.mark.parametrize("name", NUMBERED)
def test_planes_of_other_forms(name: str) -> None:
    """Floats, planes that are not contiguous, and a network of doubles give the same."""
    game = find_game(name)
    network = NumberNet(game, actions_of(game), width=4, depth=2)
    planes = torch.as_tensor(positions(name, 6)["observation"])
    logits, values = network(planes)
    scattered = planes.transpose(0, 1).contiguous().transpose(0, 1)
    assert not scattered.is_contiguous()
    for other in (planes.float(), scattered):
        found, worths = network(other)
        assert torch.equal(found, logits)
        assert torch.equal(worths, values)
    found, worths = network.double()(planes)
    assert found.dtype == worths.dtype == torch.float64
    assert torch.allclose(found.float(), logits, atol=1e-5)


def test_planes_of_another_game_are_refused() -> None:
    """Kernels check nothing, so what they are given is checked."""
    finder = CandidateFinder(find_game("sudoku_moyo"))
    planes = positions("sudoku_moyo", 6)["observation"]
    for wrong in (planes[:, :-1], planes[:, :, :-1], planes[0], planes.astype(np.float32)):
        with pytest.raises(ValueError, match="planes of shape"):
            finder.find(wrong)


@pytest.mark.parametrize("name", ["abalone", "connect_four"])
@pytest.mark.parametrize("kind", ["numbers", "houses", "boards"])
def test_games_without_numbers_are_refused(name: str, kind: str) -> None:
    game = find_game(name)
    with pytest.raises(ValueError, match="needs planes of numbers"):
        NETWORKS[kind](game, actions_of(game))


def test_copies_find_the_same() -> None:
    """Networks are copied for pools of opponents, and sent to other processes."""
    network = NumberNet(find_game("sudoku_moyo"), 729, width=4)
    planes = torch.as_tensor(positions("sudoku_moyo", 6)["observation"])
    for other in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert torch.equal(other(planes)[0], network(planes)[0])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sudoku_moyo", "numbers"), ("sudoku_moyo", "houses"), ("halma_dominari", "boards"),
        ("vierer_dominari", "lines"), ("abalone", "board"), ("revers_dominari", "plain"),
    ],
)  # fmt: skip
def test_gradients_say_how_a_network_changes(name: str, kind: str) -> None:
    """Of each of its weights, which are changed a little at random."""
    game = find_game(name)
    torch.manual_seed(1)
    network = NETWORKS[kind](game, actions_of(game), width=4, depth=2).double()
    planes = torch.as_tensor(positions(name, 8, 5)["observation"])
    targets = torch.randn(5, actions_of(game) + 1, dtype=torch.float64)

    def loss() -> torch.Tensor:
        logits, values = network(planes)
        return (torch.cat((logits, values[:, None]), 1) - targets).square().mean()

    for weight in network.parameters():
        (gradient,) = torch.autograd.grad(loss(), weight)
        change = 1e-6 * torch.randn_like(weight)
        with torch.no_grad():
            weight.add_(change)
            above = loss()
            weight.sub_(2 * change)
            below = loss()
            weight.add_(change)
        assert torch.allclose((above - below) / 2, (gradient * change).sum(), rtol=1e-3, atol=1e-12)


class Elsewhere(nn.Module):
    """A network on another device, which finds zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(1, device="meta"))

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert planes.device == self.weight.device
        return torch.zeros(len(planes), 3), torch.zeros(len(planes))


def test_positions_go_to_the_device_of_a_network() -> None:
    planes = np.zeros((2, 1, 6, 7), np.int8)
    logits, values = NetworkEvaluator(Elsewhere()).evaluate(planes, np.ones((2, 3), bool))
    assert logits.shape == (2, 3)
    assert values.shape == (2,)


def test_gradients_are_the_same_each_time() -> None:
    """Whatever the number of torch's threads, they are added up in one order."""
    network = NumberNet(find_game("sudoku_moyo"), 729, width=16, depth=3)
    planes = torch.as_tensor(positions("sudoku_moyo", 6, 256)["observation"])
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        found = [
            torch.autograd.grad(network(planes)[0].square().sum(), network.layers[0].weight)[0]
            for _ in range(6)
        ]
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(found[0], other) for other in found)


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_and_lines_are_alike(name: str) -> None:
    """Other numbers, and two rows of a band swapped, give the same logits elsewhere."""
    game = find_game(name)
    network = NumberNet(game, actions_of(game), width=4, depth=2)
    planes = torch.as_tensor(positions(name, 6)["observation"])
    moved, groups = planes.clone(), group_planes(game).numbered + group_planes(game).counted
    rows = torch.arange(planes.shape[2])
    rows[:2] = torch.tensor([1, 0])
    numbers = torch.arange(len(groups[0])).roll(1)
    for kind in groups:
        moved[:, kind] = planes[:, torch.tensor(kind)[numbers]]
    moved = moved[:, :, rows]
    (logits, values), (others, worths) = network(planes), network(moved)
    laying = len(numbers) * game.observation.cells
    by_cell = logits[:, :laying].view(len(planes), len(numbers), *game.observation.shape)
    expected = by_cell[:, numbers][:, :, rows].flatten(1)
    assert torch.allclose(others[:, :laying], expected, atol=1e-5)
    assert torch.allclose(others[:, laying:], logits[:, laying:], atol=1e-5)
    assert torch.allclose(worths, values, atol=1e-5)
    assert logits[:, :laying].std() > 0


def test_stocks_say_which_numbers_can_be_laid() -> None:
    """In Sudoku Horikomi a number that nobody has left only fits neutral cells."""
    game = find_game("sudoku_horikomi")
    network = NumberNet(game, 729, width=4)
    planes = torch.as_tensor(positions("sudoku_horikomi", 6)["observation"])
    groups, named = group_planes(game), [plane.name for plane in game.observation.planes]
    owned = planes[:, [named.index("own"), named.index("opposing")]].any(1)
    spent = planes.clone()
    spent[:, [kind[4] for kind in groups.counted]] = 0
    (logits, _), (others, _) = network(planes), network(spent)
    of_fives = slice(4 * 81, 5 * 81)
    assert (logits[:, of_fives].view(-1, 9, 9)[owned] != 0).any()
    assert (others[:, of_fives].view(-1, 9, 9)[owned] == 0).all()
    mine = planes.clone()
    mine[:, groups.counted[1][4]] = 0  # now only the observer has fives
    assert not torch.equal(network(mine)[0][:, of_fives], logits[:, of_fives])


def test_positions_without_candidates_have_values() -> None:
    """Nothing is left to lay: all logits are 0, and so much for the value."""
    game = find_game("sudoku_moyo")
    network = NumberNet(game, 729, width=4, depth=2)
    logits, values = network(torch.zeros(3, len(game.observation.planes), 9, 9, dtype=torch.int8))
    assert not logits.any()
    assert values.isfinite().all()


# ---- lines ----


def features(name: str, planes: torch.Tensor, depth: int) -> torch.Tensor:
    """What `LinesNet` finds of cells, without means over the board, `(B, W, rows, columns)`."""
    game = find_game(name)
    torch.manual_seed(1)
    network = LinesNet(game, actions_of(game), width=16, depth=depth)
    for far in network.far:
        nn.init.zeros_(far.weight)
    network.logits = nn.Identity()
    found: torch.Tensor = network(planes)[0]
    return found


LINED = [name for name, kind in EVERY if kind == "lines"]


@pytest.mark.parametrize("name", LINED)
def test_rows_and_columns_are_alike(name: str) -> None:
    planes = torch.as_tensor(positions(name, 6)["observation"])
    found, turned = features(name, planes, 3), features(name, planes.mT, 3)
    assert torch.allclose(turned, found.mT, atol=1e-5)
    assert not torch.allclose(found, found.mT, atol=1e-2)


@pytest.mark.parametrize("name", LINED)
def test_a_layer_sees_the_lines_of_a_cell(name: str) -> None:
    """All other cells in its row and its column, and no others; its place on them matters."""
    planes = torch.as_tensor(positions(name, 6)["observation"])
    other = planes.clone()
    other[:, 0, 1, 2] = 1 - other[:, 0, 1, 2]
    changed = (features(name, planes, 1) != features(name, other, 1)).any(1).any(0)
    expected = torch.zeros_like(changed)
    expected[1] = expected[:, 2] = True
    assert torch.equal(changed, expected)
    rolled = features(name, planes.roll(1, 3), 1)
    assert not torch.allclose(rolled, features(name, planes, 1).roll(1, 3), atol=1e-2)


def test_boards_that_are_not_square_have_no_lines() -> None:
    with pytest.raises(ValueError, match="needs a square board"):
        LinesNet(TESTED["connect_four"], 7)


# ---- boards ----


@pytest.mark.parametrize("name", [name for name, kind in EVERY if kind == "boards"])
def test_numbers_are_alike_on_their_boards(name: str) -> None:
    """Other numbers give the same logits, of those numbers; cells next to each other matter."""
    game = find_game(name)
    torch.manual_seed(1)
    network = NETWORKS["boards"](game, actions_of(game), width=4, depth=2)
    planes = torch.as_tensor(positions(name, 6)["observation"])
    renamed, groups = planes.clone(), group_planes(game)
    numbers = torch.arange(network.numbers).roll(1)
    for each in groups.numbered + groups.counted:
        renamed[:, each] = planes[:, torch.tensor(each)[numbers]]
    (logits, values), (others, worths) = network(planes), network(renamed)
    assert torch.allclose(worths, values, atol=1e-5)
    laid = len(numbers) * game.observation.cells if network.laid else 0
    if laid:
        by_number = logits[:, :laid].unflatten(1, (len(numbers), -1))
        assert torch.allclose(others[:, :laid], by_number[:, numbers].flatten(1), atol=1e-5)
    own = numbers if network.each else slice(None)
    assert torch.allclose(others[:, laid:], logits[:, laid:][:, own], atol=1e-5)
    assert not torch.allclose(network(planes.flip(3))[1], values, atol=1e-5)


def test_both_players_see_the_board_from_one_side() -> None:
    """In Halma-Dominari the other player has the same logits, turned, and the same value."""
    game = find_game("halma_dominari")
    torch.manual_seed(1)
    network = NETWORKS["boards"](game, actions_of(game), width=4, depth=2)
    turn = next(one for one in game.symmetries.group[1] if one.swaps)
    seen, transform = positions(game.name, 6), Transform(game, turn)
    ours = torch.as_tensor(seen["observation"])
    theirs = torch.as_tensor(transform.observation(seen["observation"]))
    (logits, values), (others, worths) = network(ours), network(theirs)
    assert not torch.equal(ours, theirs)
    assert torch.allclose(others, logits[:, transform.action_index], atol=1e-5)
    assert torch.allclose(worths, values, atol=1e-5)


# ---- heads ----


def lays_pieces(game: Game) -> bool:
    """Whether the first actions are pieces on cells."""
    return game.symmetries.moves is None and actions_of(game) >= game.observation.cells


def lit(game: Game, cell: int, channel: int) -> torch.Tensor:
    """Features of two channels with a single cell lit in one."""
    x = torch.zeros(1, 2, game.observation.cells)
    x[0, channel, cell] = 1.0
    return x.view(1, 2, *game.observation.shape)


@pytest.mark.parametrize("name", [n for n in TESTED if find_game(n).symmetries.moves])
def test_the_logit_of_a_move_depends_on_two_cells_and_its_kind(name: str) -> None:
    """The first cell that it leaves and the one `AHEAD` steps from it.

    The kind is what it leaves and enters, seen from the first cell.
    """
    game = find_game(name)
    rows, columns = game.observation.shape
    actions = actions_of(game)
    head = MoveHead(game, actions, 2)
    moves = [game.symmetries.moves(action) for action in range(actions)]
    kinds, near, far = [], [], []
    for leaves, enters in moves:
        row, column = divmod(leaves[0], columns)
        kind = tuple(
            tuple((cell // columns - row, cell % columns - column) for cell in cells)
            for cells in (leaves, enters)
        )
        down, right = kind[1][0]
        row, column = row + head.AHEAD * down, column + head.AHEAD * right
        inside = row in range(rows) and column in range(columns)
        kinds.append((kind, inside))
        near.append(leaves[0])
        far.append(row * columns + column if inside else None)
    with torch.no_grad():
        dark = head(torch.zeros(1, 2, rows, columns))[0].numpy()
        by_kind = dict(zip(kinds, dark, strict=True))
        assert len(set(by_kind.values())) == len(by_kind)
        assert [by_kind[each] for each in kinds] == dark.tolist()
        for cell in range(0, game.observation.cells, 7):
            changed = head(lit(game, cell, 0))[0].numpy() != dark
            assert changed.tolist() == [cell in pair for pair in zip(near, far, strict=True)]


@pytest.mark.parametrize("name", [n for n in TESTED if lays_pieces(find_game(n))])
def test_logits_of_pieces_depend_on_their_cell(name: str) -> None:
    """Laying piece p on cell c is action `p * cells + c`."""
    game = find_game(name)
    head = CellHead(game, actions_of(game), 2)
    assert head.pieces is not None
    with torch.no_grad():
        head.pieces.bias.zero_()
        dark = head(torch.zeros(1, 2, *game.observation.shape))[0]
        bright = head(lit(game, 11, 0))[0]
    pieces = head.pieces.out_channels
    changed = np.flatnonzero((bright - dark).numpy()[: pieces * game.observation.cells])
    assert changed.tolist() == [piece * game.observation.cells + 11 for piece in range(pieces)]
