"""Verdicts on answers to the course's exercises."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.envs.errors import brief, told

UNWRITTEN = "the function has still to be written."
"""What is said of a stub."""


class WrongAnswerError(Exception):
    """An answer is wrong; the message tells the student what was seen and what would be right."""


class AnswerFailedError(RuntimeError):
    """The student's function raised an exception, which is the cause of this one."""


@dataclass(frozen=True)
class Verdict:
    """What a check found. True as a condition if the answer is right.

    Attributes:
        passed: whether the answer is right.
        message: why, in words for the student.
        function: the student's function if it is right, else the course's own, so that the rest
            of a notebook runs either way.
    """

    passed: bool
    message: str
    function: Callable[..., Any]

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"{'Right' if self.passed else 'Not yet'}: {self.message}"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        colour = "#2e7d32" if self.passed else "#c62828"
        style = f"border-left: 4px solid {colour}; padding: 0.4em 0.8em"
        return f'<div style="{style}">{escape(repr(self))}</div>'


def checked(
    reference: Callable[..., Any],
) -> Callable[[Callable[[Any], str]], Callable[[Any], Verdict]]:
    """Turn a function that examines an answer into a check that returns a `Verdict`.

    The function returns a sentence if the answer is right and raises `WrongAnswerError` if not. It
    calls the answer by `asked` or `returned`, so that what the student's code raises can be told
    from what the check itself stumbles over; both are reported.

    Args:
        reference: the course's own answer, for students who want to read on.
    """

    def decorate(examine: Callable[[Any], str]) -> Callable[[Any], Verdict]:
        @functools.wraps(examine)
        def check(answer: Any) -> Verdict:
            try:
                return Verdict(True, examine(answer), answer)
            except WrongAnswerError as error:
                return Verdict(False, str(error), reference)
            except (AnswerFailedError, AgentFailedError) as error:
                return Verdict(False, _raised(error.__cause__ or error), reference)
            except Exception as error:  # what was returned is of a kind that no check foresees
                why = f"what your code returned cannot be checked: {told(error)}"
                return Verdict(False, why, reference)

        return check

    return decorate


def _raised(error: BaseException) -> str:
    """A sentence about an exception, with the innermost line of the student's notebook."""
    if isinstance(error, NotImplementedError):
        return UNWRITTEN
    if error.__traceback__ is None or error.__traceback__.tb_next is None:  # none of its lines ran
        return f"your function cannot be called as it should: {told(error)}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "ipykernel" in frame.filename or frame.filename[:1] == "<"]
    where = f" in the line `{own[-1].line}`" if own and own[-1].line else ""
    return f"your code raised {told(error)}{where}"


def asked(answer: Callable[..., Any], *arguments: Any) -> Any:
    """What an answer returns for some arguments.

    Raises:
        AnswerFailedError: it raises an exception, or cannot be called.
    """
    try:
        return answer(*arguments)
    except Exception as error:
        raise AnswerFailedError from error


def require(condition: object, message: str) -> None:
    """Raise `WrongAnswerError` with a message unless a condition holds."""
    if not condition:
        raise WrongAnswerError(message)


def returned(answer: Callable[..., Any], *arguments: Any) -> Any:
    """What an answer returns for some arguments, as `asked`; `WrongAnswerError` for None."""
    given = asked(answer, *arguments)
    require(given is not None, "the function returned None; is there a return missing?")
    return given


def numbers(
    given: Any, shape: tuple[int, ...], wanted: str, what: str = "the answer"
) -> np.ndarray:
    """What an answer returned, as floats; raises `WrongAnswerError` if it is something else.

    Args:
        given: what it returned.
        shape: the shape it must have; that of one number is `()`.
        wanted: what it should be, in words.
        what: what it is called.
    """
    try:
        found = np.asarray(given)
    except (TypeError, ValueError, RuntimeError):  # rows of unequal length, a tensor with gradients
        found = np.array(None)
    fits = found.dtype.kind in "biuf" and found.shape == shape
    whole = isinstance(given, np.ndarray) and given.ndim  # its shape says more than its numbers
    seen = f"an array of the shape {found.shape}" if whole else brief(given)
    require(fits, f"{what} is {seen}; it should be {wanted}.")
    return found.astype(float)
