"""Terminal handling for all commands: consoles, and system errors in one line."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.files import shown

CLOSED, FAILED, AGENT_FAILED = 1, 2, 1
"""Exit codes: the reader of the output has closed it (as `| head` does); a system error; an agent
of the user's raised an exception."""


def console(stderr: bool = False) -> Console:
    """A console that prints text unchanged: `[/b]` and `:x:` may be parts of names, not markup."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def progress(*columns: ProgressColumn) -> Progress:
    """A progress bar on the error stream, shown only where that is a terminal."""
    where = console(stderr=True)
    return Progress(*columns, console=where, transient=True, disable=not where.is_terminal)


def say(message: str) -> None:
    """Print a message on the error stream as one line, however long."""
    console(stderr=True).print(message, soft_wrap=True)


def reason(error: OSError) -> str:
    """The message of a system error, with the file if it names one."""
    why = error.strerror or str(error) or type(error).__name__
    return why if error.filename is None else f"{shown(error.filename)}: {why}"


def guarded(name: str, command: Callable[[], Any]) -> None:
    """Run a command; system errors end it with a one-line message and an exit code.

    Before the message about an agent of the user's that failed comes where in its code it did.

    Output is flushed here, so that a full disk is noticed while it can still be reported.

    Args:
        name: what messages begin with, such as `azumaya`.
        command: the command; it may raise `SystemExit`.

    Raises:
        SystemExit: with `FAILED` after a system error, such as a full disk; with `CLOSED`, and no
            message, if the reader of the output has closed it; with `AGENT_FAILED` if an agent
            raised an exception.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # never fail on a character that the terminal lacks
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            command()
        finally:
            _flush()
    except OSError as error:
        _drop_output()
        if error.errno == errno.EPIPE:
            raise SystemExit(CLOSED) from None
        _tell(f"{name}: {reason(error)}")
        raise SystemExit(FAILED) from None
    except AgentFailedError as error:
        cause = error.__cause__
        if cause is not None:
            own = traceback.extract_tb(_from_the_agent(cause.__traceback__))
            if own:
                _tell("".join(traceback.format_list(own)).rstrip())
        _tell(f"{name}: {error}")
        raise SystemExit(AGENT_FAILED) from None


def _from_the_agent(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the library's frames at its beginning."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("azumaya."):
        trace = trace.tb_next
    return trace


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def _tell(line: str) -> None:
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # the error stream fails as well; only the exit code is left
        _drop_output(sys.stderr)


def _drop_output(stream: Any = None) -> None:
    """Redirect a stream (by default stdout) to the null device, so that no later flush fails."""
    try:
        number = (stream or sys.stdout).fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):  # a stream without a file, as in tests
        return
