"""A learner with a loop and logs, for scripts that do not get these from another library."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping

from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.events import EventFile
from azumaya.baselines.training.run_folder import RunFolder
from azumaya.baselines.training.saves import Save
from azumaya.baselines.training.session import Learner, Overseer


class RunLog:
    """The logs of a run: metrics as lines of JSON and for TensorBoard.

    Args:
        run: the run's folder.
        steps: the steps done at the last save; None before the first. The speed counts those after
            them.
    """

    def __init__(self, run: RunFolder, steps: int | None) -> None:
        self._metrics, self._events = run.metrics, EventFile(run.path, steps)
        self._began, self._before = time.monotonic(), steps or 0

    def write(self, values: Mapping[str, float], steps: int) -> None:
        """Write metrics by name, with the steps done and the steps per second."""
        speed = (steps - self._before) / max(1e-9, time.monotonic() - self._began)
        values = {**values, "time/fps": speed, "time/total_timesteps": steps}
        self._metrics.write(values)
        self._events.write(values, steps)

    def close(self) -> None:
        """Close the logs."""
        self._events.close()


class LoggedLearner(Learner):
    """A learner that updates until all steps are done, and logs each update.

    A script adds `update`, `agent`, `check`, `snapshot`, `restore`, which must set `done`, and to
    `close` what else has to be closed.

    Args:
        config: the options of the run.

    Attributes:
        config: the options of the run.
        done: the steps learned from so far, up to the last update.
        updates: the updates so far.
        logs: the logs, from `begin` on.
    """

    logs: RunLog

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.done = self.updates = 0

    @property
    def steps(self) -> int:
        """The number of steps learned from so far."""
        return self.done

    @property
    def goal(self) -> int:
        """The number of steps to learn from; the last update may exceed it."""
        return self.config.steps

    @property
    def progress(self) -> float:
        """The fraction of the steps that are done, at most 1; learning rates fall with it."""
        return min(1.0, self.steps / self.config.steps)

    @abstractmethod
    def update(self) -> tuple[int, Mapping[str, float]]:
        """Play and learn from it once.

        Returns:
            The number of steps learned from, and metrics by name, which are logged as `train/NAME`.
        """

    def learn(self, overseer: Overseer) -> None:
        """Update until all steps are done."""
        try:
            while self.steps < self.config.steps:
                overseer.between_updates()
                steps, metrics = self.update()
                self.done += steps
                self.updates += 1
                self._log("train", metrics)
                overseer.display.advance(self.steps)
        except (RuntimeError, ValueError):
            self.check()  # actions sampled from NaN logits raise one of these, too
            raise

    def begin(self, run: RunFolder, save: Save | None) -> None:
        """Open the logs."""
        self.logs = RunLog(run, save.steps if save else None)

    def measured(self, rates: Mapping[str, float]) -> None:
        """Log the win rates."""
        self._log("eval", rates)

    def _log(self, kind: str, values: Mapping[str, float]) -> None:
        self.logs.write({f"{kind}/{name}": value for name, value in values.items()}, self.steps)

    def close(self) -> None:
        """Close the logs, if they are open."""
        if hasattr(self, "logs"):
            self.logs.close()
