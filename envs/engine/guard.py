"""One call at a time: guards the methods that change games or look at them."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, ResetNeeded


class Guard:
    """Whether games are in play, and which thread is inside a call.

    What changes games takes them out of play until the change is complete. A call that fails with a
    `ValueError` has rejected its arguments and changed nothing. After any other exception, above
    all `KeyboardInterrupt`, masks may not match the states, and results are lost; games that were
    in play then need a reset.

    Attributes:
        playing: whether episodes are in progress.
        begun: whether there are series of episodes to continue, also after an interrupted call.
        closed: whether only looking is allowed.
        undone: whether what fails has been undone, so that the games are as they were.
        thread: the thread that is inside a call.
    """

    def __init__(self) -> None:
        self.playing = self.begun = self.closed = self.undone = False
        self.thread: int | None = None

    @property
    def interrupted(self) -> bool:
        """Whether a call was interrupted, so that a reset is needed."""
        return self.begun and not self.playing

    def needs_reset(self, name: str) -> ResetNeeded:
        """The error for a call, by the name of its method, that needs episodes in progress."""
        return needs_reset(name, "the last call was interrupted; " if self.interrupted else "")

    def check_playing(self, name: str) -> None:
        """Raise `ResetNeeded`, naming the method called, if no episodes are in progress."""
        if not self.playing:
            raise self.needs_reset(name)

    def check_alone(self, name: str, me: int) -> None:
        """Raise an error if another thread is inside a call."""
        if self.thread != me and any(t.ident == self.thread for t in threading.enumerate()):
            raise AlreadyPendingCallError(
                f"{name}: another thread is inside a call of this environment, which serves one "
                "thread at a time; give each thread its own environment",
                name,
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "thread": None}


class Call:
    """A context manager for one call.

    Args:
        guard: the guard of the games.
        name: the name of the method.
        begins: whether the call needs no episodes in progress.
        looks: whether the call only looks at the games, as it may also after `close`.
    """

    __slots__ = ("_begins", "_guard", "_looks", "_name")

    def __init__(self, guard: Guard, name: str, begins: bool = False, looks: bool = False) -> None:
        self._guard, self._name, self._begins, self._looks = guard, name, begins, looks

    def __enter__(self) -> None:
        guard, me = self._guard, threading.get_ident()
        if guard.thread is not None:
            guard.check_alone(self._name, me)
            guard.playing = False  # the last call was interrupted where `__exit__` did not run
        guard.thread = me
        if (guard.closed and not self._looks) or not (self._begins or guard.playing):
            guard.thread = None
            if guard.closed:
                raise ClosedEnvironmentError(
                    f"{self._name}: the environment is closed; make a new one"
                )
            guard.check_playing(self._name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        guard = self._guard
        if kind is not None and not issubclass(kind, ValueError) and not guard.undone:
            guard.playing = False
        guard.undone, guard.thread = False, None


def needs_reset(name: str, why: str = "") -> ResetNeeded:
    """The error for a call, by the name of its method, that needs a reset; `why` ends in "; "."""
    return ResetNeeded(f"{name}: {why}reset must be called first")
