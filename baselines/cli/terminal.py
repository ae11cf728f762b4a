"""Terminal handling for all commands: consoles, progress bars, and errors in one line."""

from __future__ import annotations

import errno
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
)

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.system.files import reason, shown
from azumaya.baselines.system.signals import FAILED, INTERRUPTED

PATIENCE = 1.0
"""Seconds after which a command says that it is at work."""
COMPILING = "compiling, some 20 s the first time"
UNUSABLE = (
    errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM,
    errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip
"""Errors of the system that say of a file which the user has named that it cannot be used."""


def console(stderr: bool = False) -> Console:
    """A console that prints text unchanged: `[/b]` and `:x:` may be parts of names, not markup."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def progress(words: str, *more: ProgressColumn, on: Console | None = None) -> Progress:
    """A progress bar with a count, shown only in a terminal, and gone when it has ended.

    Args:
        words: the text before the bar, in which `{task.description}` is that of the task; if it is
            empty, the bar comes first.
        more: columns to add on the right.
        on: where it is shown; by default on the error stream.
    """
    on = on or console(stderr=True)
    before = [TextColumn(words)] if words else []
    columns = (*before, BarColumn(), MofNCompleteColumn(), *more)
    return Progress(*columns, console=on, transient=True, disable=not on.is_terminal)


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Say that something takes a while, on the error stream of a terminal, from 1 s on.

    The first use of a game compiles its kernels, which is what takes longest.
    """
    on = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=on, transient=True, disable=not on.is_terminal) as shown:
        late = threading.Timer(PATIENCE, lambda: shown.add_task(f"{words}; {COMPILING}"))
        late.daemon = True
        late.start()
        try:
            yield
        finally:
            late.cancel()


def say(message: str) -> None:
    """Print a message on the error stream as one line, however long."""
    console(stderr=True).print(message, soft_wrap=True)


def wrote(path: Path, what: str, json: bool = False) -> None:
    """Say which file was written; beside JSON, on the error stream."""
    console(stderr=json).print(f"{shown(path)}: {what}", soft_wrap=True)


@contextmanager
def complaints(
    kinds: type[Exception] | tuple[type[Exception], ...] = ValueError,
) -> Iterator[None]:
    """Turn errors in what the user gave into complaints of the command line.

    Args:
        kinds: the exceptions that say what is wrong, besides those of `UNUSABLE`.

    Raises:
        typer.BadParameter: such an exception was raised; the message is the same.
    """
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(str(error)) from None
    except OSError as error:
        if error.errno not in UNUSABLE:
            raise
        raise typer.BadParameter(reason(error)) from None


@contextmanager
def printing_aside() -> Iterator[None]:
    """Within this, what agents and their programs print is no result: it is an error output."""
    kept = None
    with suppress(OSError):  # the output has been closed
        kept = os.dup(1)
        sys.stdout.flush()
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)


def guarded(name: str, command: Callable[[], Any]) -> None:
    """Run a command; system errors end it with a one-line message and an exit code.

    Before the message about an agent of the user's that failed comes where in its code it did.

    Output is flushed here, so that a full disk is noticed while it can still be reported.

    Args:
        name: what messages begin with, such as `azumaya`.
        command: the command; it may raise `SystemExit`.

    Raises:
        SystemExit: with `FAILED` after a system error, such as a full disk, or if an agent raised
            an exception; without a message if the reader of the output has closed it, as `| head`
            does; with `INTERRUPTED` after Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # never fail on a character that the terminal lacks
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            command()
        finally:
            _flush()
    except KeyboardInterrupt:  # while typer sets up the commands; it handles those that come later
        raise SystemExit(INTERRUPTED) from None
    except OSError as error:
        _drop_output()
        if error.errno == errno.EPIPE:
            raise SystemExit(FAILED) from None
        _tell(f"{name}: {reason(error)}")
        raise SystemExit(FAILED) from None
    except AgentFailedError as error:
        cause = error.__cause__
        if cause is not None:
            own = traceback.extract_tb(_from_the_agent(cause.__traceback__))
            if own:
                _tell("".join(traceback.format_list(own)).rstrip())
        _tell(f"{name}: {error}")
        raise SystemExit(FAILED) from None


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
        print(line, file=sys.stderr)  # which flushes after each line
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
