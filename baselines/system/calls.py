"""A child that calls Python functions: `python -m azumaya.baselines.system.calls` is its side."""

from __future__ import annotations

import base64
import pickle
import sys
import traceback
from collections.abc import Callable
from typing import Any

from azumaya.baselines.system.messages import Messages
from azumaya.baselines.system.processes import Child, ChildEndedError, module_words


class Caller:
    """A process that makes one call after the other; started when needed, replaced when it ends.

    One thread at a time may use it, except for `kill` and `close`.
    """

    def __init__(self) -> None:
        self._child: Child | None = None
        self._closed = False

    def call(self, work: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
        """What a function returns; what it raises is raised here, with its traceback as a note.

        Args:
            work: the function, which other processes can import.
            arguments: its arguments, which can be pickled, as what it returns.
            seconds: after this time it is given up. Starting the process does not count.

        Raises:
            ChildTimeoutError: it was given up.
            ChildEndedError: the process has ended, or this was closed.
            OSError: the process cannot be started.
        """
        child = self._running()
        try:
            returned, found = _loaded(child.ask(_dumped((work, arguments)), seconds))
        except BaseException:  # a late answer would be taken for that to the next call
            self.end()
            raise
        if returned:
            return found
        raise found

    def kill(self) -> None:
        """Let the process end, whatever it is doing."""
        if self._child is not None:
            self._child.kill()

    def close(self) -> None:
        """Let it end, and start no other."""
        self._closed = True
        self.kill()

    def end(self) -> None:
        """End the process, and wait until it has ended."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _running(self) -> Child:
        if self._child is None:
            self._child = Child(module_words(__name__))
            self.call(_follow, sys.path)
        if self._closed:
            self.end()
            raise ChildEndedError(None)
        return self._child


def _follow(path: list[str]) -> None:
    """Find modules where the parent does."""
    sys.path[:] = path


def _dumped(content: Any) -> bytes:
    return base64.b64encode(pickle.dumps(content, pickle.HIGHEST_PROTOCOL))


def _loaded(line: bytes) -> Any:
    return pickle.loads(base64.b64decode(line))


# ---- in the child ----


def main() -> None:
    """Make calls until there are no more."""
    messages = Messages()
    while (request := messages.read_line()) is not None:
        messages.answer_line(_answer(request))


def _answer(request: bytes) -> bytes:
    """Whether a call returned, and what; or what it raised."""
    try:
        work, arguments = _loaded(request)
        return _dumped((True, work(*arguments)))
    except BaseException as error:
        found = error if isinstance(error, Exception) else RuntimeError(repr(error))
        found.add_note(traceback.format_exc())
    try:
        return _dumped((False, found))
    except Exception:  # it cannot be pickled
        return _dumped((False, RuntimeError("".join(traceback.format_exception_only(found)))))


if __name__ == "__main__":
    main()
