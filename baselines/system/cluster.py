"""Ray clusters."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from azumaya.envs.extras import require

RETRIES = 5
"""How many times Ray does a job again whose process or machine died."""
DEATHS = (
    "WorkerCrashedError", "OutOfMemoryError", "NodeDiedError", "LocalRayletDiedError",
    "ObjectLostError",
)  # fmt: skip
"""Ray's errors that say so; not every version has all of them."""


class CrewError(OSError):
    """Workers keep dying, so no result can be had."""


class Cluster:
    """A Ray cluster, which this process joins; one that it has joined before stays joined.

    Args:
        address: where the cluster is, as `ray.init` takes it; `local` starts one here.

    Attributes:
        ray: the package.

    Raises:
        MissingExtraError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """

    def __init__(self, address: str) -> None:
        self.ray: Any = require("ray", "ray")
        self._joined = not self.ray.is_initialized()
        if self._joined:
            with _sigterm_kept():
                self.ray.init(address=address, log_to_driver=False, include_dashboard=False)

    def remote(self, work: Callable[..., Any]) -> Any:
        """A function for one processor; Ray calls it again if its machine or process dies."""
        return self.ray.remote(num_cpus=1, max_retries=RETRIES)(work)

    def results(self, waiting: Sequence[Any]) -> list[Any]:
        """The results of calls, in the same order.

        Raises:
            CrewError: machines or processes keep dying.
        """
        try:
            return list(self.ray.get(waiting))
        except self._deaths() as error:
            raise CrewError(f"workers of Ray died {RETRIES + 1} times: {error}") from error

    def _deaths(self) -> tuple[type[Exception], ...]:
        there = (getattr(self.ray.exceptions, name, None) for name in DEATHS)
        return tuple(kind for kind in there if kind is not None)

    def leave(self) -> None:
        """Leave the cluster, unless the process had joined it before."""
        if self._joined:
            self.ray.shutdown()
            self._joined = False


@contextlib.contextmanager
def _sigterm_kept() -> Iterator[None]:
    """Within this, a package may set a handler of SIGTERM; afterwards the present one is back.

    Ray's own ends the process without the checks of `end_on_signals`. Only the main thread can set
    handlers, so in others Ray sets none.
    """
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
