"""GPU kernels emulated on the CPU: equality with the CPU's own kernels, and no bad access.

numba-cuda and NVVM compile the kernels as for a device; `emulator/` explains how they run here. If
nvJitLink is installed, `AZUMAYA_TEST_LTO=1` also optimizes them at link time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from azumaya.envs import make_vec
from azumaya.envs.adapters.cuda.vector import CudaVectorEnv
from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.envs.game import Game
from tests.cases import CASES, TESTED, Case, cases_of
from tests.cuda.compare import (
    COMBINATIONS,
    MODES,
    Pair,
    checked_actions_change_no_game,
    equal_states,
    illegal_actions_are_reported_later,
    illegal_actions_lose,
    random_bits_are_spread,
)
from tests.cuda.emulator.build import missing
from tests.cuda.emulator.device import EmulatedDevice, Emulator
from tests.cuda.ptx import check
from tests.cuda.test_simulator import near_the_end

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

EMULATOR = Emulator(lto=os.environ.get("AZUMAYA_TEST_LTO") == "1", check=check)
"""Shared by all tests, so that each kernel is compiled once; all PTX is checked."""
ALL_GAMES = pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)
GAMES_AT_ONCE = 67
"""Two full warps and part of a third; a fourth warp of the block has nothing to do."""


@pytest.fixture(autouse=True)
def emulated() -> Iterator[None]:
    """Emulate environments with `device="cuda"` in the tests of this file."""
    with EMULATOR.installed():
        yield


def play_to_ends(case: Case, form: str, mode: str) -> None:
    """Play games that begin close to their end, to reach rewards, resets and final observations."""
    pair = Pair(case.game, GAMES_AT_ONCE, form, mode, **near_the_end(case))
    pair.play(10, seed=4)
    assert pair.ends
    for env in (pair.host, pair.device):  # half of the games begin anew, the others near the end
        env.set_options({"position": None}, np.arange(GAMES_AT_ONCE) % 2 == 0)
    for _ in range(6):
        pair.step()
    equal_states(pair.host, pair.device)


@pytest.mark.parametrize("number", range(len(TESTED)), ids=list(TESTED))
def test_games(number: int) -> None:
    """A combination of form and mode for each game; together the games cover all of them."""
    assert len(TESTED) >= len(COMBINATIONS)
    game = list(TESTED.values())[number]
    form, mode = COMBINATIONS[number % len(COMBINATIONS)]
    pair = Pair(game, GAMES_AT_ONCE, form, mode)
    pair.play(25, seed=2)
    pair.reset()
    play_to_ends(cases_of(game)[0], form, mode)


@ALL_GAMES
def test_random_bits_are_spread(game: Game) -> None:
    """Fewer rows than a group, and several groups, of which the last is not full."""
    for count in (1, 5, 100):
        random_bits_are_spread(EmulatedDevice(EMULATOR), game, count)


def test_boards_too_small_for_number_planes_are_refused() -> None:
    game = next(iter(TESTED.values()))
    small = replace(game, observation=replace(game.observation, shape=(1, 7)))
    with pytest.raises(OptionError, match=r"has 7 cells, and with number planes .* needs 8"):
        CudaVectorEnv(small, 2)


@ALL_GAMES
def test_rollouts(game: Game) -> None:
    """From the start, and from positions where games end during the rollout."""
    for options in ({}, near_the_end(cases_of(game)[0])):
        pair = Pair(game, GAMES_AT_ONCE, "none", "NextStep", **options)
        pair.reset(seed=3)
        ended = pair.device.rollout(40)
        assert pair.host.rollout(40) == ended
        assert ended or not options
        equal_states(pair.host, pair.device)
        pair.step()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_finals_of_every_variant(case: Case) -> None:
    play_to_ends(case, "packed", "SameStep")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_every_variant_form_and_mode(case: Case) -> None:
    for form, mode in COMBINATIONS:
        pair = Pair(case.game, GAMES_AT_ONCE, form, mode, **case.options)
        pair.play(40, seed=2)
        pair.reset()
        play_to_ends(case, form, mode)


@ALL_GAMES
def test_illegal_actions_are_reported_later(game: Game) -> None:
    illegal_actions_are_reported_later(game, 512)


@ALL_GAMES
def test_illegal_actions_change_nothing(game: Game) -> None:
    """Action numbers out of range cause no access out of bounds, which the emulator would catch."""
    env: Any = make_vec(game.name, GAMES_AT_ONCE, device="cuda", observation="packed")
    env.reset(seed=1)
    before, actions = env.get_state()[0], env.random_actions()
    count = env.single_action_space.n
    bad = {3: count, 31: -1, 32: 2**62, 40: -(2**63), 66: 64 * env.games.words}
    for row, action in bad.items():
        actions[row] = action
    env.step(actions)
    with pytest.raises(IllegalActionError, match=rf"actions\[3\]: {count} .* step 1 of 1"):
        env.check()
    after = env.get_state()[0]
    same = {row for row in range(GAMES_AT_ONCE) if before[row].tobytes() == after[row].tobytes()}
    assert same == bad.keys()


@ALL_GAMES
@pytest.mark.parametrize("mode", MODES)
def test_illegal_actions_lose(game: Game, mode: str) -> None:
    """Also in positions near the end, where the rules end other games of the batch."""
    for options in ({}, near_the_end(cases_of(game)[0])):
        illegal_actions_lose(game, GAMES_AT_ONCE, "packed", mode, **options)


@ALL_GAMES
def test_checked_actions_change_no_game(game: Game) -> None:
    checked_actions_change_no_game(game)
