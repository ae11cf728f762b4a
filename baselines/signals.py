"""Signals end a process, also while LLVM compiles for it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable
from types import FrameType

ENDING = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]
"""The signals besides that of Ctrl-C that end a process."""
AGAIN = 0.05
"""Seconds after which a signal is tried again that came where exceptions are lost."""


def interrupt_anywhere() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt`, also while LLVM compiles.

    What takes long in Numba is a call to LLVM. A signal that comes meanwhile is handled in the
    first Python code that runs then: a callback of LLVM's, where ctypes prints an exception and
    goes on. So the signal is sent again a moment later.

    An ignored signal stays ignored, and a handler of somebody else's stays.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def end_on_signals(numbers: Iterable[signal.Signals] = ENDING) -> None:
    """Turn signals that end a process into `SystemExit`, so that children are ended, too.

    A signal that is ignored, for instance because of `nohup`, stays ignored.

    Args:
        numbers: the signals; Ctrl-C is handled in any case.
    """
    interrupt_anywhere()
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    if _loses_exceptions(frame):
        again = threading.Timer(AGAIN, _send, [number])
        again.daemon = True
        again.start()
        return
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _send(number: int) -> None:
    """Send a signal to the main thread, which handles it, and end what it waits for."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)
    else:
        signal.raise_signal(number)


def _loses_exceptions(frame: FrameType | None) -> bool:
    """Whether code runs that LLVM or the garbage collector has called."""
    while frame is not None:
        name = frame.f_code.co_name
        if name == "__del__" or name.startswith("_raw_object_cache_"):  # the latter are llvmlite's
            return True
        frame = frame.f_back
    return False
