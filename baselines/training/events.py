"""TensorBoard's event files of a run."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from torch.utils.tensorboard import SummaryWriter


def event_writer(folder: str, steps: int) -> SummaryWriter:
    """A writer of events; those that a killed run wrote after its last save are purged.

    Args:
        folder: the run's folder.
        steps: the number of steps at the last save, 0 for a new run.
    """
    return SummaryWriter(log_dir=folder, purge_step=steps + 1 if steps else None)  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def threads_quiet() -> Iterator[None]:
    """Print no tracebacks of threads that cannot write a file.

    TensorBoard writes in a thread of its own. The next call to the logger raises the same error
    again, and it is reported there.
    """
    before = threading.excepthook

    def tell(told: threading.ExceptHookArgs) -> None:
        if not issubclass(told.exc_type, OSError):
            before(told)

    threading.excepthook = tell
    try:
        yield
    finally:
        threading.excepthook = before
