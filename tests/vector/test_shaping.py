"""Shaped rewards are the rewards of the rules plus the gains in the game's evaluation."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from azumaya.envs.errors import OptionError
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.cases import Case
from tests.vector.cases import EACH_NIGHTLY, pick

GAMES, PLIES, WEIGHT = 6, 150, 0.5


def played(case: Case, weight: float):
    """Random play of the learner: rewards, dones, and the evaluations at each of its turns."""
    games = AzumayaVecEnv(
        case.game, GAMES, opponent="greedy", seed=4, shaping=weight, **case.options
    )
    rng, rows = np.random.default_rng(4), []
    games.reset()
    for _ in range(PLIES):
        before = evaluations(games)
        _, rewards, dones, infos = games.step(pick(games.action_masks(), rng))
        cut = np.array([info["TimeLimit.truncated"] for info in infos])
        rows.append((before, rewards, dones, cut, evaluations(games)))
    return [np.stack(column) for column in zip(*rows, strict=True)]


def evaluations(games: AzumayaVecEnv) -> list[int]:
    """The evaluation of each game, one position at a time."""
    states, seats = games.duel.states, games.get_state()["seats"]["seat"]
    return [int(games.game.rules.evaluate(states[i], int(seats[i]))) for i in range(GAMES)]


@EACH_NIGHTLY
def test_gains_are_those_of_the_evaluation(case: Case) -> None:
    """A step pays its gain in evaluation, scaled alike in all games, unless it ends the game."""
    _, plain, dones, _, _ = played(case, 0.0)
    before, shaped, same_dones, cut, after = played(case, WEIGHT)
    assert np.array_equal(dones, same_dones)
    extra = shaped.astype(float) - plain
    on = ~dones
    change = (after - before)[on]
    assert np.any(change), "a check needs a change"
    unit = np.median(extra[on][change != 0] / change[change != 0])
    assert 0 < unit <= WEIGHT
    assert np.allclose(extra[on], change * unit, atol=1e-5)
    assert not extra[dones & ~cut].any()


@EACH_NIGHTLY
def test_a_gain_weighs_the_same_in_every_game(case: Case) -> None:
    """Scaled, the evaluations of random play are at most about 1 in every game."""
    _, plain, dones, _, _ = played(case, 0.0)
    _, shaped, _, _, _ = played(case, 1.0)
    extra = np.abs((shaped - plain)[~dones])
    assert 0.001 < extra.mean() < 3


def test_any_kind_of_number_is_a_weight() -> None:
    """Up to a million; `tests/contract/test_wrong_values.py` has what is none."""
    with pytest.raises(OptionError, match=r"shaping=10000000\.0: "):
        AzumayaVecEnv("sudoku_moyo", 2, shaping=1e7)
    games = AzumayaVecEnv("sudoku_moyo", 2, shaping=np.float32(0.25), seed=1)
    games.reset()
    assert games.step(games.action_masks().argmax(1))[1].dtype == np.float32
