"""Helpers of the vector environment tests: cases, move choice and comparison of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.engine.workers import LEAST
from azumaya.envs.kernels.compile import INTERPRETED
from tests.cases import DERIVED_CASES, SHAPES, TESTED, Case, cases_of, nightly

FIRST = tuple(cases_of(game)[0] for game in TESTED.values())
"""The first variant of every game."""
UNLIKE = (FIRST[-1], next(c for c in FIRST if c.game.rules.resample is not None), FIRST[-2])
"""A small game, one with hidden draws, and one that is cut off, for what depends on no rules."""


def mostly_nightly(cases: Sequence[Case]) -> list[Any]:
    """Cases of `parametrize`, slow but for those games: each game needs kernels of its own."""
    games = [case.game for case in UNLIKE]
    return nightly(cases, [case for case in cases if case.game in games])


EVERY_GAME = pytest.mark.parametrize("case", FIRST, ids=lambda case: case.label)
EACH_NIGHTLY = pytest.mark.parametrize("case", mostly_nightly(FIRST), ids=lambda case: case.label)
ONE_GAME = pytest.mark.parametrize("case", UNLIKE[:1], ids=lambda case: case.label)
DRAWN_GAME = pytest.mark.parametrize("case", UNLIKE[1:2], ids=lambda case: case.label)
"""One game whose starts are drawn, and in which some actions are always illegal."""
UNLIKE_GAMES = pytest.mark.parametrize(
    "case", nightly(UNLIKE, UNLIKE[:2]), ids=lambda case: case.label
)
SOME = (*SHAPES, *DERIVED_CASES) if not INTERPRETED else FIRST
PLIES = 60 if INTERPRETED else 400
"""Steps enough for most games to end."""
ENDS = 6
"""A comparison need not go on after this many games have ended."""
MANY = 20 if INTERPRETED else 2 * LEAST + 37
"""Enough games that threads share them."""


def forbidding(case: Case) -> Case:
    """The first variant of a case's game in which some action is illegal at the start."""
    variants = cases_of(case.game)
    return next(found for found in variants if (found.position(4).action_mask() == 0).any())


def vector(case: Case, num_envs: int, **arguments: Any) -> Any:
    """A vector environment of a case, with one thread unless the test asks for more."""
    return AzumayaVectorEnv(case.game, num_envs, **{"threads": 1, **case.options, **arguments})


def interrupt(games: Any, plies: int) -> None:
    """Press Ctrl-C when a rollout of `plies` has played, but not yet shown its games."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games.games, "show", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            games.rollout(plies)


def pick(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal action for each row of masks `(n, A)`; -1 if the row has none."""
    choices = [np.flatnonzero(mask) for mask in masks]
    return np.array([rng.choice(legal) if legal.size else -1 for legal in choices])


def first_legal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """A policy that plays the first legal action."""
    assert observations.dtype == masks.dtype == np.int8
    assert len(observations) == len(masks)
    return masks.argmax(axis=1)


def last_legal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """A policy that plays the last legal action."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def noting(asked: list[str], name: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A policy that plays the first legal action, and notes its name each time it is asked."""

    def play(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        asked.append(name)
        return first_legal(observations, masks)

    return play


def alike(state: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    """Whether two results of `get_state` are equal."""
    return all(a.tobytes() == b.tobytes() for a, b in zip(state, other, strict=True))


def check_plays_like(games: Any, twin: Any, steps: int) -> None:
    """An SB3 environment and another one, which may have further games, go on alike."""
    rows = games.num_envs
    for _ in range(steps):
        masks = twin.action_masks()
        assert np.array_equal(games.action_masks(), masks[:rows])
        actions = masks.argmax(axis=1)
        results, others = games.step(actions[:rows])[:3], twin.step(actions)[:3]
        assert same(results, [each[:rows] for each in others])


def same(left: Any, right: Any) -> bool:
    """Whether two results of `reset` or `step` are equal, arrays by value."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, np.ndarray) and left.dtype == object:
        return same(list(left), list(right))
    return bool(np.array_equal(left, right))
