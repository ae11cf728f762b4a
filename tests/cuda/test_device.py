"""On a real GPU: equality with the CPU over a million plies of every game, addresses, streams.

python -m pytest -m cuda tests/cuda
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from azumaya.envs import make_vec
from azumaya.envs.adapters.cuda.device import Device
from azumaya.envs.errors import IllegalActionError
from azumaya.envs.game import Game
from tests.cases import TESTED, Case, cases_of
from tests.cuda.compare import (
    COMBINATIONS,
    MODES,
    PLANTED,
    Pair,
    checked_actions_change_no_game,
    equal_results,
    equal_states,
    illegal_actions_are_reported_later,
    illegal_actions_lose,
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
    for mode in MODES:
        illegal_actions_lose(game, 4096, "planes", mode)


# ---- CUDA graphs ----


def captured(call: Callable[[], Any]) -> tuple[Callable[[], None], Any]:
    """A CUDA graph of the work that a call queues: what replays it, and what the call returned."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = call()
    return graph.replay, results


@ALL_GAMES
@pytest.mark.parametrize("illegal", ["raise", "lose"])
def test_replays_of_a_captured_step_are_steps(game: Game, illegal: str) -> None:
    """Choice and step in one graph; with `"lose"` some actions are illegal."""
    pair = Pair(game, 512, "packed", "NextStep", illegal=illegal, copy=False)

    def turn(env: Any) -> Any:
        actions = env.random_actions()
        if illegal == "lose":
            actions[::50] = PLANTED[0]
        return env.step(actions)

    pair.play(1, seed=7)  # compiles everything, which cannot be captured
    replay, results = captured(lambda: turn(pair.device))
    for _ in range(200):
        expected = turn(pair.host)
        replay()
    equal_results(expected, results)
    equal_states(pair.host, pair.device)
    pair.step()


@ALL_GAMES
def test_replays_are_counted_in_errors(game: Game) -> None:
    """An illegal action of the seventh replay was in that step, after those before the capture."""
    env: Any = make_vec(game.name, 512, device="cuda", observation="none", copy=False)
    env.reset(seed=1)
    for _ in range(2):
        env.step(env.random_actions())
    actions = env.random_actions()
    replay, _ = captured(lambda: env.step(actions))
    for bad, number, steps in ((7, 2 + 7, 2 + 10), (4, 4, 10)):  # reported steps count no more
        for turn in range(1, 11):
            actions.copy_(env.random_actions())
            if turn == bad:
                actions[[300, 17]] = PLANTED[0]
            replay()
        with pytest.raises(IllegalActionError, match=rf"\[17\]: -1 .* step {number} of {steps} "):
            env.check()
        env.check()


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
