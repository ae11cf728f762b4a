"""A run of a training script: what surrounds the loop that the script has itself.

    def train(run):
        state = ...
        for update in run.updates(state, agent):
            ...  # play and learn
            run.learned(steps, metrics)

Between two updates a run is measured, saved and stopped. Only then can its whole state be recorded.
So it is recorded before an update, and saves write that record; a resumed run repeats the updates
since then. There is a record before each update, unless that took more than a fiftieth of the time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Generic, Self, TypeVar

import torch
from rich.console import Console

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.sidecar import Sidecar, plain_tensors
from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.evaluation import (
    MILLISECONDS,
    draw_curve,
    evaluate,
    exam_kept,
    final_evaluation,
    final_ladder,
)
from azumaya.baselines.training.logs import Display
from azumaya.baselines.training.saves import Save
from azumaya.baselines.training.state import State, check_agent, restore, saved
from azumaya.envs import find_game
from azumaya.envs.setup import prepare

C = TypeVar("C", bound=RunConfig)
Searching = Callable[[float], Agent]
"""What makes an agent that searches for a time per move, in milliseconds."""


RECORDING = 0.02
"""The largest share of the time that goes into records of the state."""


class Run(Generic[C]):
    """A run. `with` opens it, and saves the last recorded state however training ends.

    Args:
        config: the options.

    Raises:
        OptionError: an option has an invalid value; nothing was changed.
        RunError: the folder already holds a run, or has none to resume; nothing was changed.
        CheckpointError: the save cannot be read; nothing was changed.

    Attributes:
        config: the options, checked and completed.
        folder: the run's folder.
        display: where progress is shown.
        state: the state, from `updates` on.
        curve: the measurements so far.
        record: the state as it was before one of the last updates.
    """

    state: State

    def __init__(self, config: C) -> None:
        self.config: C = config.ready()
        self.folder, self.display = self.config.folder, Display(Console())
        self.curve: list[dict[str, float]] = []
        self.record: Save | None = None
        self.training = self.evaluating = False
        self._began, self._opened = 0, contextlib.ExitStack()
        self._next_record = self._minutes_measured = 0.0

    # ---- the loop ----

    def updates(
        self,
        state: State,
        agent: Callable[[], Agent],
        searching: Searching | None = None,
        *,
        exam: bool = False,
    ) -> Iterator[int]:
        """The numbers of the updates to be made, until the steps are done or the time is up.

        First a save is restored, and the folder is made ready. Between two updates the run is
        measured and saved if that is due. Call `learned` at the end of each.

        Args:
            state: everything that the updates change.
            agent: makes the agent as trained so far.
            searching: makes the same agent with search, for the ladder; None if it has no search.
            exam: whether measurements include the game's exam, if it has one.

        Raises:
            RunError, CheckpointError: the folder or its save cannot be used; nothing was changed.
            TrainingError: the numbers diverged; the last save is from before that.
            OSError: a file or the output cannot be written; the last save is intact.
        """
        self.state, self._agent, self._searching, self._exam = state, agent, searching, exam
        self._begin()
        if self.is_done:
            return
        self.training = True
        self.display.start(self.config.steps)
        self.display.advance(state.steps, self.progress)
        while not self.is_done:
            self._between_updates()
            if self._time_is_up:
                self._pause()
                break
            yield state.updates
        else:
            self._between_updates(last=True)
        self.training = False
        self.display.stop()

    def learned(self, steps: int, metrics: Mapping[str, float]) -> None:
        """Count an update: the steps learned from. Metrics are logged as `train/NAME`."""
        self.state.steps += steps
        self.state.updates += 1
        self._log("train", metrics)
        self.display.advance(self.state.steps, self.progress)

    @property
    def progress(self) -> float:
        """How much of the run is done, from 0 to 1; learning rates fall with it."""
        return self.progress_after(0)

    def progress_after(self, steps: int) -> float:
        """How much is done after some more steps, or by now where the run ends with its time."""
        if self.config.steps:
            return min(1.0, (self.state.steps + steps) / self.config.steps)
        return min(1.0, self.display.minutes / self.config.minutes)

    @property
    def is_done(self) -> bool:
        """Whether all steps are done, if they have a number; the last update may have done more."""
        return 0 < self.config.steps <= self.state.steps

    def _begin(self) -> None:
        """Restore the save if there is one; then, when all was checked, change files."""
        config, save = self.config, None
        if config.resume:
            self.folder.lock()
            save = self.folder.saved()
        if save:
            sidecar = self._sidecar()
            if sidecar:
                check_agent(save, sidecar)
            restore(self.state, save)
            self.record, self._began, self.curve = save, save.steps, list(save.curve)
        stored = config.stored_form()
        self.folder.begin(stored, save, resume=config.resume, overwrite=config.overwrite)

    def _sidecar(self) -> Sidecar | None:
        """The sidecar of the agent as trained so far."""
        config = self.config
        actions = prepare(find_game(config.game), config.options).num_actions
        return config.sidecar(actions, steps=self.state.steps)

    def _log(self, kind: str, values: Mapping[str, float]) -> None:
        named = {f"{kind}/{name}": value for name, value in values.items()}
        self.folder.logs.write(named, self.state.steps)

    # ---- between two updates ----

    def _between_updates(self, last: bool = False) -> None:
        self.state.check_finite()
        due = last or not self.curve or self._measurement_is_due
        if due:
            self._measure()
        if due or time.monotonic() >= self._next_record:
            self.keep_record()
        if due:
            self.save()

    @property
    def _since_measured(self) -> int:
        return self.state.steps - int(self.curve[-1]["steps"])

    @property
    def _measurement_is_due(self) -> bool:
        if self.config.measure_every:
            return self._since_measured >= self.config.measure_every
        return self.display.minutes - self._minutes_measured >= self.config.minutes / 10

    @property
    def _time_is_up(self) -> bool:
        """A resumed run always makes at least one update."""
        limit, progress = self.config.minutes, self.state.steps > self._began
        return bool(limit) and progress and self.display.minutes >= limit

    def _measure(self) -> None:
        """Evaluate against the baselines, and log the win rates."""
        agent = self._agent()
        scores = evaluate(self.config, agent, self.config.measure_starts)
        self.display.measured(self.state.steps, scores)
        rates = {score.second: score.rate for score in scores}
        self._log("eval", {**rates, **(exam_kept(self.config, agent) if self._exam else {})})
        self.curve.append({"steps": self.state.steps, **rates})
        self._minutes_measured = self.display.minutes

    def keep_record(self) -> None:
        """Record the state, to be saved now or when training stops."""
        lines, begin = self.folder.logs.lines, time.monotonic()
        self.record = saved(self.state, list(self.curve), lines, self._sidecar())
        end = time.monotonic()
        self._next_record = end + (end - begin) / RECORDING

    def save(self) -> None:
        """Save the recorded state, if there is one."""
        if self.record:
            self.folder.save(self.record)

    def _pause(self) -> None:
        """When time is up: save, then show a last evaluation, which is not saved."""
        self.keep_record()
        self.save()
        if self._since_measured:
            self._measure()
            self.folder.write_curve(self.curve)

    # ---- the end ----

    def evaluate(self) -> list[Score]:
        """Evaluate the trained agent, draw the curve, measure the ladder, say where all is."""
        config, folder, display = self.config, self.folder, self.display
        trained = display.minutes
        self.evaluating = True
        scores = final_evaluation(config, folder, self._agent(), self.state.steps, display)
        draw_curve(folder, self.curve, find_game(config.game).title)
        if config.ladder_starts:
            searching = self._searching(MILLISECONDS) if self._searching else None
            final_ladder(config, folder, (self._agent(), searching), scores, display)
        self.evaluating = False
        display.say(
            f"Trained in {trained:.1f} minutes, evaluated in {display.minutes - trained:.1f}. "
            f"The run is in {folder.path}/"
        )
        if config.steps and not self.is_done:
            done = f"{self.state.steps:,} of {config.steps:,} steps are done"
            display.say(f"{done}. To resume: {folder.resume_command}")
        return scores

    def __enter__(self) -> Self:
        self._opened.enter_context(plain_tensors())
        self._opened.callback(self.folder.close)
        torch.set_num_threads(self.config.threads)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        with self._opened:
            if error is None:
                return
            if self.training:
                self._broken_off(error)
            elif self.evaluating and isinstance(error, KeyboardInterrupt | SystemExit):
                command = self.folder.resume_command
                self.display.say(f"The agent is saved. To evaluate it: {command}")

    def _broken_off(self, error: BaseException) -> None:
        """Save the recorded state."""
        self.display.stop()
        with contextlib.suppress(OSError):  # report the error that ended training instead
            self.save()
        if isinstance(error, KeyboardInterrupt | SystemExit) and self.record:
            done = f"{self.record.steps:,} steps"
            self.display.say(f"Saved after {done}. To resume: {self.folder.resume_command}")
        if isinstance(error, RuntimeError | ValueError):
            self.state.check_finite()  # actions sampled from NaN logits raise one of these, too


def run_training(config: C, train: Callable[[Run[C]], None]) -> list[Score]:
    """Train, evaluate, draw.

    Args:
        config: the options.
        train: the script's loop.

    Raises:
        OptionError, RunError, CheckpointError, TrainingError, OSError: as `Run`, `Run.updates`.
        KeyboardInterrupt: on Ctrl-C, after saving; on other signals a script raises `SystemExit`.
    """
    with Run(config) as run:
        train(run)
        return run.evaluate()
