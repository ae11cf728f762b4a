"""Evaluators: networks that give search the logits and values of many positions at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from azumaya.envs.errors import OptionError, brief


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates batches of positions, for `BatchPUCT`.

    An evaluator may also have a `name`, shown in the names of agents, and a method
    `check(position)`, which raises a `ValueError` if it cannot evaluate the game.
    """

    def evaluate(self, planes: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits and values of a batch of running positions, seen by the players to move.

        The batch always has the same size; rows left over are zero. A row's result must not depend
        on the other rows.

        Args:
            planes: `(B, C, rows, columns)` int8, as `Position.observation`.
            masks: `(B, A)` bool, the legal actions.

        Returns:
            Logits, `(B, A)`, of which only those of legal actions count; and values, `(B,)`: what
            the player to move still gains, the sum of the rewards to come. All finite.
        """


@runtime_checkable
class PackedEvaluator(Protocol):
    """An evaluator that unpacks positions itself, on its own device; `BatchPUCT` takes it, too.

    It may also have a method `begin_packed`, with the same arguments, that only begins the
    evaluation, and returns a function that waits for it and returns what `evaluate_packed` does.
    While it evaluates the leaves of some games, the trees of others grow. There are never more than
    two evaluations at a time, begun and waited for in turn, by the thread that searches.
    """

    def evaluate_packed(
        self, observation: np.ndarray, action_mask: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `Evaluator.evaluate`, of all positions that wait at once.

        Args:
            observation: packed observations, `(B, W)` uint64.
            action_mask: packed legal actions, `(B, W')` uint64.
        """


AnyEvaluator = Evaluator | PackedEvaluator
Answer = Callable[[], tuple[np.ndarray, np.ndarray]]
"""Waits for an evaluation that has begun, and returns its logits and values."""
NOT_FINITE = "evaluator: a value or a logit of a legal action is not finite"


def check_evaluator(evaluator: Any) -> AnyEvaluator:
    """An evaluator; `OptionError` for anything else."""
    if not isinstance(evaluator, AnyEvaluator) or isinstance(evaluator, type):
        raise OptionError(
            f"evaluator={brief(evaluator)}: an object with a method evaluate(planes, masks) is "
            "needed"
        )
    return evaluator


def begin_packed(
    evaluator: PackedEvaluator, observation: np.ndarray, action_mask: np.ndarray
) -> Answer:
    """Begin an evaluation; it is made when it is waited for if the evaluator has no other way."""
    begin: Callable[..., Answer] | None = getattr(evaluator, "begin_packed", None)
    if begin is None:
        return functools.partial(evaluator.evaluate_packed, observation, action_mask)
    return begin(observation, action_mask)


def checked(given: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The logits, float32, and values, float64, that an evaluator returned.

    Args:
        given: what it returned.
        shape: that of the logits, `(B, A)`; those of legal actions are not checked.

    Raises:
        OptionError: this is not a pair of arrays of real numbers, an array has the wrong shape, or
            a value is not finite.
    """
    try:
        logits, values = given
        logits, values = _numbers(logits, np.float32), _numbers(values, np.float64)
    except (TypeError, ValueError, RuntimeError) as error:  # the last for tensors with gradients
        raise OptionError(
            f"evaluator: returned {brief(given)}: must be logits and values, two arrays of real "
            "numbers (of a tensor, tensor.detach().cpu())"
        ) from error
    for name, found, expected in (("logits", logits, shape), ("values", values, shape[:1])):
        if found.shape != expected:
            raise OptionError(
                f"evaluator: {name} of shape {found.shape}: must be {expected} for this batch"
            )
    if not np.isfinite(values).all():
        raise OptionError(NOT_FINITE)
    return logits, values


def _numbers(given: Any, dtype: Any) -> np.ndarray:
    """Real numbers as an array of this type.

    Raises:
        TypeError, ValueError, RuntimeError: they are none, or no array.
    """
    array = np.asarray(given)
    if array.dtype.kind in "cSU":  # NumPy would drop imaginary parts and read texts
        raise TypeError(f"numbers of type {array.dtype}")
    with np.errstate(over="ignore"):  # becomes infinite, which is refused later
        return array.astype(dtype, copy=False)
