"""`SingleGame`, which reuses its buffers, shows the same as `Position`."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np

from azumaya.envs.adapters.aec.single import SingleGame
from azumaya.envs.kernels.spread import SPREAD_BYTES
from azumaya.envs.position import Position
from tests.cases import CASES, Case


def started(case: Case, seed: int) -> SingleGame:
    single = SingleGame(case.game, case.setup)
    single.begin(seed)
    single.look()
    single.guard.playing = True
    return single


def assert_shows(single: SingleGame, position: Position) -> None:
    assert (single.to_move, single.payoff) == (position.to_move, position.returns()[0])
    assert bool(single.over) == position.is_over
    masks = single.masks()
    np.testing.assert_array_equal(masks[single.to_move], position.action_mask())
    assert not masks[1 - single.to_move].any()
    for player in (0, 1):
        np.testing.assert_array_equal(single.planes(player), position.observation(player))


def test_shows_the_same_as_a_position(shape_case: Case) -> None:
    single, position, rng = started(shape_case, 3), shape_case.position(3), random.Random(3)
    assert_shows(single, position)
    while not position.is_over:
        action = rng.choice(position.legal_actions())
        assert single.is_legal(action)
        single.play(action)
        position.play(action)
        assert_shows(single, position)
    assert not single.masks().any()


def test_copies_are_aligned_and_independent(shape_case: Case) -> None:
    single = started(shape_case, 5)
    action = int(single.masks()[single.to_move].argmax())
    for other in (copy.deepcopy(single), pickle.loads(pickle.dumps(single))):
        assert all(room.ctypes.data % SPREAD_BYTES == 0 for room in (other._masks, other._planes))
        np.testing.assert_array_equal(other.masks(), single.masks())
        before = single.planes(0)
        other.play(action)
        np.testing.assert_array_equal(single.planes(0), before)
        assert other.states.tobytes() != single.states.tobytes()


def test_returned_arrays_are_copies() -> None:
    single = started(CASES[0], 7)
    masks, planes = single.masks(), single.planes(0)
    masks[:], planes[:] = 7, 7
    assert single.masks().max() == 1
    assert not (single.planes(0) == 7).all()
