"""Verdicts on answers to the course's exercises."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from azumaya.baselines.agents.asking import AgentFailedError


class WrongAnswerError(Exception):
    """An answer is wrong; the message tells the student what was seen and what would be right."""


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

    The function returns a sentence if the answer is right and raises `WrongAnswerError` if not.
    Whatever else the answer raises is reported, too.

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
            except Exception as error:  # whatever the student's code raises
                own = error.__cause__ if isinstance(error, AgentFailedError) else error
                if isinstance(own, NotImplementedError):
                    return Verdict(False, "the function has still to be written.", reference)
                return Verdict(False, _raised(own or error), reference)

        return check

    return decorate


def _raised(error: BaseException) -> str:
    """A sentence about an exception, with the innermost line of the student's notebook."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "ipykernel" in frame.filename or frame.filename[:1] == "<"]
    where = f" in the line `{own[-1].line}`" if own and own[-1].line else ""
    return f"your code raised {type(error).__name__}: {error}{where}"


def require(condition: object, message: str) -> None:
    """Raise `WrongAnswerError` with a message unless a condition holds."""
    if not condition:
        raise WrongAnswerError(message)


def returned(given: Any) -> Any:
    """What an answer returned; raises `WrongAnswerError` for None."""
    require(given is not None, "the function returned None; is there a return missing?")
    return given
