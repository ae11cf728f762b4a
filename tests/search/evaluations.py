"""Evaluations and evaluators for the tests of search, none of which is right about much."""

from __future__ import annotations

import functools

import numpy as np

from azumaya.baselines.search.evaluation import Evaluation
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import mix

BOTTOM = 38
"""The cell of Connect Four in the middle of the bottom row."""


@kernel
def mixture(state, weights, scratch):
    """The sum of three evaluations of Connect Four, each times its weight.

    One kernel, since searches are compiled for each evaluation.
    """
    scratch[0] = mix(state.discs[0] * np.uint64(3) + state.discs[1] * np.uint64(5))
    random = np.float64(scratch[0] >> np.uint64(11)) * 2.0**-52 - 1.0
    bit = np.uint64(1) << np.uint64(BOTTOM)
    middle = np.float64(state.discs[0] & bit > 0) - (state.discs[1] & bit > 0)
    return weights[0] + weights[1] * random + weights[2] * middle


def evaluation_of(constant: float = 0.0, noise: float = 0.0, centre: float = 0.0) -> Evaluation:
    """A value that is the same everywhere, one that looks random, and one of the middle disc.

    The random one, from -1 to 1, depends on the position; the last is 1 for a disc of the player
    in the middle of the bottom row, and -1 for one of the opponent.
    """
    return Evaluation(mixture, np.array([constant, noise, centre], np.float32), 1, "test")


@functools.cache
def weights_of(inputs: int, outputs: int) -> np.ndarray:
    """Whole numbers that look random, `(inputs, outputs)`."""
    return np.random.default_rng(5).integers(-8, 9, (inputs, outputs)).astype(np.float64)


class Linear:
    """An evaluator: logits and values are sums over the planes, with weights that look random.

    Attributes:
        shapes: the shapes of the batches it was given.
    """

    name = "linear"

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        self.shapes: set[tuple[int, ...]] = set()

    def evaluate(self, planes: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits and values; sums of integers are exact, so rows cannot influence each other."""
        self.shapes.add(planes.shape)
        flat = planes.reshape(len(planes), -1).astype(np.float64)
        found = flat @ weights_of(flat.shape[1], masks.shape[1] + 1)
        return found[:, :-1] / 16, self.scale * np.tanh(found[:, -1] / 64)


class Centre:
    """An evaluator of Connect Four: a disc in the middle of the bottom row is worth `worth`."""

    def __init__(self, worth: float) -> None:
        self.worth = worth

    def evaluate(self, planes: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Equal logits."""
        own, other = (planes[:, i].reshape(len(planes), -1)[:, BOTTOM] for i in (0, 1))
        return np.zeros(masks.shape, np.float32), self.worth * (own - other).astype(np.float64)


class Scattered:
    """A packed evaluator whose logits and values are hashes of the observation, exact anywhere."""

    def __init__(self, actions: int = 7) -> None:
        self.actions = actions

    def evaluate_packed(
        self, observation: np.ndarray, action_mask: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Logits and values."""
        with np.errstate(over="ignore"):
            hashes = observation @ np.arange(1, 2 * observation.shape[1], 2, dtype=np.uint64)
            actions = np.arange(1, self.actions + 1, dtype=np.uint64)
            mixed = (hashes[:, None] ^ actions) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(60)
        return mixed.astype(np.float32) / 4, (mixed[:, 0].astype(np.float64) - 7.5) / 8
