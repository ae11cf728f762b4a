"""The logs of a run that a script writes itself: metrics as lines of JSON and for TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Mapping

from azumaya.baselines.training.events import EventFile
from azumaya.baselines.training.run_folder import RunFolder


class RunLog:
    """The logs of a run.

    Args:
        run: the run's folder.
        steps: the steps done before; the speed counts those after them.
    """

    def __init__(self, run: RunFolder, steps: int) -> None:
        self._metrics, self._events = run.metrics, EventFile(run.path, steps)
        self._began, self._before = time.monotonic(), steps

    def write(self, values: Mapping[str, float], steps: int) -> None:
        """Write metrics by name, with the steps done and the steps per second."""
        speed = (steps - self._before) / max(1e-9, time.monotonic() - self._began)
        values = {**values, "time/fps": speed, "time/total_timesteps": steps}
        self._metrics.write(values)
        self._events.write(values, steps)

    def close(self) -> None:
        """Close the logs."""
        self._events.close()
