"""One call at a time: guards the methods that change an environment's games or look at them."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, ResetNeeded


class Caller:
    """Which thread is inside a call of an environment, and whether a call was interrupted.

    A call that fails with a `ValueError` has rejected its arguments and changed nothing. After any
    other exception, above all `KeyboardInterrupt`, masks may not match the states, and results are
    lost. The environment then requires a reset.
    """

    def __init__(self) -> None:
        self.thread: int | None = None
        self.interrupted = False

    def check_alone(self, name: str, me: int) -> None:
        """Raise an error if another thread is inside a call."""
        if self.thread != me and any(t.ident == self.thread for t in threading.enumerate()):
            raise AlreadyPendingCallError(
                f"{name}: another thread is inside a call of this environment, which serves one "
                "thread at a time; give each thread its own environment",
                name,
            )

    def __getstate__(self) -> dict[str, Any]:
        return {"thread": None, "interrupted": self.interrupted}


class Call:
    """A context manager for one call.

    Args:
        env: the environment, with the attributes `_caller`, `_batch` and `closed`.
        name: the name of the method.
        begins: whether the call needs no episodes in progress.
        looks: whether the call only looks at the games, as it may also after `close`.
    """

    __slots__ = ("_begins", "_env", "_looks", "_name")

    def __init__(self, env: Any, name: str, begins: bool = False, looks: bool = False) -> None:
        self._env, self._name, self._begins, self._looks = env, name, begins, looks

    def __enter__(self) -> None:
        env, caller, me = self._env, self._env._caller, threading.get_ident()
        if caller.thread is not None:
            caller.check_alone(self._name, me)
            require_reset(env)  # the last call was interrupted where `__exit__` did not run
        caller.thread = me
        if (env.closed and not self._looks) or not (self._begins or env._batch.begun):
            caller.thread = None
            raise not_playing(env, self._name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        caller = self._env._caller
        if kind is None:
            caller.interrupted = caller.interrupted and not self._env._batch.begun
        elif not issubclass(kind, ValueError):
            require_reset(self._env)
        caller.thread = None


def require_reset(env: Any) -> None:
    """Require a reset before the next call."""
    env._caller.interrupted, env._batch.begun = True, False


def not_playing(env: Any, name: str) -> Exception:
    """The error for a call that needs episodes in progress."""
    if env.closed:
        return is_closed(name)
    return needs_reset(name, "the last call was interrupted; " if env._caller.interrupted else "")


def is_closed(name: str) -> ClosedEnvironmentError:
    """The error for a call, by the name of its method, after `close`."""
    return ClosedEnvironmentError(f"{name}: the environment is closed; make a new one")


def needs_reset(name: str, why: str = "") -> ResetNeeded:
    """The error for a call, by the name of its method, that needs a reset; `why` ends in "; "."""
    return ResetNeeded(f"{name}: {why}reset must be called first")
