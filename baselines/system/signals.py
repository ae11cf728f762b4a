"""How programs end: their exit codes, and signals, which end them even while LLVM compiles.

Scripts and commands have the same codes; those of other signals than Ctrl-C are 128 and the number
of the signal, as in a shell.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

ENDING = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]
"""The signals besides that of Ctrl-C that end a process."""
DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: all is done; something failed, or what was examined has faults; the command is wrong,
or what it names cannot be used, and nothing was done; Ctrl-C."""
AGAIN = 0.05
"""Seconds after which a signal is tried again that came where exceptions are lost."""


def leave_on_interrupt() -> None:
    """Let Ctrl-C end the process at once, without a traceback, while a program is imported."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def interrupt_anywhere() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt`, even while LLVM compiles.

    What takes long in Numba is a call to LLVM. A signal that comes meanwhile is handled in the
    first Python code that runs then: a callback of LLVM's, where ctypes prints an exception and
    goes on. So the signal is sent again a moment later.

    An ignored signal stays ignored, and a handler of somebody else's stays.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _leave):
        signal.signal(signal.SIGINT, _end)


def end_on_signals() -> None:
    """Turn signals that end a process into `Ended`, so that children are ended, too.

    A signal that is ignored, for instance because of `nohup`, stays ignored.
    """
    interrupt_anywhere()
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within this, signals end the process as after `end_on_signals`, so that work can be kept.

    Does nothing in other threads than the main one, where Python allows no handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (*ENDING, signal.SIGINT)}
    end_on_signals()
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # None: it is not Python's, and cannot be set again
                signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    if _loses_exceptions(frame):
        _send_again(number)
        return
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Ended(128 + number)


class Ended(SystemExit):
    """A signal has come that ends the process."""


def _send_again(number: int) -> None:
    again = threading.Timer(AGAIN, _send, [number])
    again.daemon = True
    again.start()


def _send(number: int) -> None:
    """Send a signal to the main thread, which handles it, and end what it waits for."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)
    else:
        signal.raise_signal(number)


def _loses_exceptions(frame: FrameType | None) -> bool:
    """Whether code runs that LLVM, the garbage collector or an extension module has called.

    An extension that imports others while it is loaded, such as those of pygame, goes on without
    one that failed.
    """
    while frame is not None:
        name = frame.f_code.co_name
        if name in ("__del__", "create_module") or name.startswith("_raw_object_cache_"):
            return True  # importlib loads extensions in the second, llvmlite calls the third
        frame = frame.f_back
    return False
