"""On a real GPU: equality with the CPU over a million plies of every game, addresses, streams.

python -m pytest -m cuda tests/cuda
"""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.envs import make_vec
from azumaya.envs.adapters.cuda.device import Device
from azumaya.envs.game import Game
from tests.cases import TESTED, Case, cases_of
from tests.cuda.compare import (
    COMBINATIONS,
    Pair,
    checked_actions_change_no_game,
    equal_states,
    illegal_actions_are_reported_later,
    random_bits_are_spread,
)

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]

ALL_GAMES = pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)
CASES = [case for game in TESTED.values() for case in cases_of(game)]
PLIES = 10**6
GAMES_AT_ONCE, STEPS = 2048, 250


@ALL_GAMES
def test_a_million_plies(game: Game) -> None:
    """Half of the plies in a rollout, the others in steps with all results compared."""
    pair = Pair(game, GAMES_AT_ONCE, "packed", "SameStep")
    pair.reset(seed=9)
    plies = (PLIES - STEPS * GAMES_AT_ONCE) // GAMES_AT_ONCE + 1
    assert pair.host.rollout(plies) == pair.device.rollout(plies)
    for _ in range(STEPS):
        pair.step()
    assert pair.ends
    equal_states(pair.host, pair.device)


@ALL_GAMES
def test_random_bits_are_spread(game: Game) -> None:
    for count in (1, 5, 1000):
        random_bits_are_spread(Device(), game, count)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_every_variant_form_and_mode(case: Case) -> None:
    for form, mode in COMBINATIONS:
        pair = Pair(case.game, 67, form, mode, **case.options)
        pair.play(40, seed=2)
        pair.reset()


@ALL_GAMES
def test_nothing_is_copied(game: Game) -> None:
    """Without copies tensors stay on the device at the same address, also through DLPack."""
    env: Any = make_vec(game.name, 256, device="cuda", copy=False)
    first = env.reset(seed=1)[0]
    for _ in range(5):
        seen = env.step(env.random_actions())[0]
        for name, tensor in seen.items():
            assert tensor.is_cuda
            assert tensor.data_ptr() == first[name].data_ptr()
            assert torch.from_dlpack(tensor).data_ptr() == tensor.data_ptr()


@ALL_GAMES
def test_on_another_stream(game: Game) -> None:
    """Kernels run in order with torch's work on its current stream."""
    pair = Pair(game, 512, "planes", "NextStep")
    with torch.cuda.stream(torch.cuda.Stream()):
        pair.play(30, seed=4)
    torch.cuda.synchronize()


@ALL_GAMES
def test_illegal_actions(game: Game) -> None:
    illegal_actions_are_reported_later(game, 4096)
    checked_actions_change_no_game(game)


def test_rows_beyond_two_gigabytes() -> None:
    """The last rows are correct although their byte offsets need more than 32 bits."""
    game = next(iter(TESTED.values()))
    env: Any = make_vec(game.name, 2**20, device="cuda", copy=False)
    seen = env.reset(seed=3)[0]
    assert seen["observation"].element_size() * seen["observation"].nelement() > 2**31
    packed: Any = make_vec(game.name, 2**20, device="cuda", copy=False, observation="packed")
    words = packed.reset(seed=3)[0]
    last = {name: tensor[-64:] for name, tensor in words.items()}
    for name, tensor in packed.unpack(last).items():
        assert torch.equal(tensor, seen[name][-64:])
