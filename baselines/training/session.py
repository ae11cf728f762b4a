"""A training session, from its options to the learning curve; all training scripts share it.

A script contributes a `Learner`. The session calls it, and between two updates measures, saves and
stops it. Only then can the whole state of a run be recorded. So it is recorded before each update,
and saves write that record; a resumed run repeats the update in which it was stopped.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TypeVar

import torch
from rich.console import Console

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.checkpoint import plain_tensors
from azumaya.baselines.arena.matches import Score
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.display import Display
from azumaya.baselines.training.evaluation import (
    draw_curve,
    evaluate,
    final_evaluation,
    final_ladder,
)
from azumaya.baselines.training.ladder import MILLISECONDS
from azumaya.baselines.training.run_folder import RunFolder
from azumaya.baselines.training.saved_parts import check_agent
from azumaya.baselines.training.saves import Save
from azumaya.envs import find_game
from azumaya.envs.setup import prepare


class TimeUpError(Exception):
    """The time limit of training has passed."""


class Learner(ABC):
    """What a training script does itself.

    Its methods are called in the order `restore` (if a run is resumed), `begin`, `learn`,
    `complete` (unless time is up), `trained`, `close`. Of these only `close` is called after an
    error. Without one `agent`, `searching` and `steps` are called even after `close`, for the final
    evaluation. Before each update `learn` must call `Overseer.between_updates`, which calls
    `check`, `agent`, `measured` and `snapshot`.
    """

    @property
    @abstractmethod
    def steps(self) -> int:
        """The number of actions learned from so far."""

    @property
    @abstractmethod
    def goal(self) -> int:
        """The number of actions after the last update, which may exceed `--steps`."""

    @abstractmethod
    def agent(self) -> Agent:
        """The agent as trained so far."""

    def searching(self, milliseconds: float) -> Agent | None:
        """The same agent with a search of this time per move; None if there is no such search."""
        return None

    @abstractmethod
    def snapshot(self, curve: list[dict[str, float]], lines: int) -> Save:
        """Copy everything needed to resume the run.

        Args:
            curve: the measurements so far.
            lines: the number of lines of metrics so far.
        """

    @abstractmethod
    def restore(self, save: Save) -> None:
        """Continue from a save.

        Raises:
            CheckpointError: the save does not fit; no file has been changed yet.
        """

    @abstractmethod
    def begin(self, run: RunFolder, save: Save | None) -> None:
        """Open the logs of a run whose folder is ready."""

    @abstractmethod
    def check(self) -> None:
        """Check that the weights can be saved.

        Raises:
            TrainingError: the numbers diverged.
        """

    @abstractmethod
    def measured(self, rates: Mapping[str, float]) -> None:
        """Log the win rate against each baseline."""

    @abstractmethod
    def learn(self, overseer: Overseer) -> None:
        """Update until all steps are done.

        Raises:
            TrainingError: the numbers diverged.
            TimeUpError: time is up; raised by the overseer.
        """

    def complete(self) -> None:  # noqa: B027 - not every script has something to do
        """Write what the logs still lack after the last step; the last save follows."""

    def trained(self, run: RunFolder) -> None:  # noqa: B027 - not every script has such files
        """Write files of the script's own, when all steps are done or time is up."""

    @abstractmethod
    def close(self) -> None:
        """Close the logs, if `begin` has opened them, and end games, threads and workers."""


class Overseer:
    """Measures, saves and stops, always between two updates.

    Attributes:
        display: where progress is shown.
        snapshot: the last recorded state.
    """

    def __init__(
        self, config: RunConfig, run: RunFolder, display: Display, learner: Learner
    ) -> None:
        self.config, self.run, self.display, self.learner = config, run, display, learner
        self.snapshot: Save | None = None
        self.began = 0
        self.curve: list[dict[str, float]] = []

    def resume(self, save: Save) -> None:
        """Continue from a save."""
        self.snapshot, self.began, self.curve = save, save.steps, list(save.curve)

    def between_updates(self) -> None:
        """Measure and save if that is due.

        Raises:
            TrainingError: the numbers diverged.
            TimeUpError: time is up.
        """
        self.learner.check()
        due = not self.curve or self.since_measured >= self.config.measure_every
        if due:
            self.measure()
        self.keep_snapshot()
        if due:
            self.save()
        if self.time_is_up:
            raise TimeUpError

    @property
    def since_measured(self) -> int:
        """Steps since the last measurement."""
        return self.learner.steps - int(self.curve[-1]["steps"])

    @property
    def time_is_up(self) -> bool:
        """Whether to stop; a resumed run always makes at least one update."""
        limit, progress = self.config.minutes, self.learner.steps > self.began
        return bool(limit) and progress and self.display.minutes >= limit

    def measure(self) -> None:
        """Evaluate against the baselines and log the win rates."""
        scores = evaluate(self.config, self.learner.agent(), self.config.measure_starts)
        self.display.measured(self.learner.steps, scores)
        rates = {score.second: score.rate for score in scores}
        self.learner.measured(rates)
        self.curve.append({"steps": self.learner.steps, **rates})

    def keep_snapshot(self) -> None:
        """Record the run's state, to be saved now or when training stops."""
        self.snapshot = self.learner.snapshot(list(self.curve), self.run.metrics.lines)

    def save(self) -> None:
        """Save the recorded state, if there is one."""
        if self.snapshot:
            self.run.save(self.snapshot)

    def finish(self) -> None:
        """After the last step: evaluate once more, end the logs, and save."""
        self.learner.check()
        self.measure()
        self.learner.complete()
        self.keep_snapshot()
        self.save()

    def pause(self) -> None:
        """When time is up: save, then show a last evaluation, which is not saved."""
        self.save()
        if self.since_measured:
            self.measure()
            self.run.write_curve(self.curve)


C = TypeVar("C", bound=RunConfig)


@plain_tensors()
def run_training(config: C, make: Callable[[C], Learner]) -> list[Score]:
    """Train, evaluate, draw.

    Args:
        config: the options.
        make: makes the learner for checked and completed options, as its class does.

    Raises:
        OptionError: an option has an invalid value; nothing was changed.
        RunError: the folder already holds a run, or has none to resume; nothing was changed.
        CheckpointError: the save cannot be read; nothing was changed.
        TrainingError: the numbers diverged; the last save is from before that.
        OSError: a file or the output cannot be written, as on a full disk; the last save is intact.
        KeyboardInterrupt: on Ctrl-C, after saving; on other signals a script raises `SystemExit`.
    """
    config = config.ready()
    torch.set_num_threads(config.threads)
    display, run = Display(Console()), config.run
    with contextlib.closing(run):
        with contextlib.closing(make(config)) as learner:
            train(config, run, display, learner)
            trained = display.minutes
        try:
            scores = final_evaluation(config, run, learner.agent(), learner.steps, display)
            draw_curve(run, find_game(config.game).title)
            if config.ladder_starts:
                agents = learner.agent(), learner.searching(MILLISECONDS)
                final_ladder(config, run, agents, scores, display)
        except (KeyboardInterrupt, SystemExit):
            display.say(f"The agent is saved. To evaluate it: {run.resume_command}")
            raise
        display.say(
            f"Trained in {trained:.1f} minutes, evaluated in {display.minutes - trained:.1f}. "
            f"The run is in {run.path}/"
        )
        if learner.steps < config.steps:
            done = f"{learner.steps:,} of {config.steps:,} steps are done"
            display.say(f"{done}. To resume: {run.resume_command}")
    return scores


def train(config: RunConfig, run: RunFolder, display: Display, learner: Learner) -> None:
    """Train, or resume training. However training ends, the last recorded state is saved."""
    overseer, save = Overseer(config, run, display, learner), None
    if config.resume:
        run.lock()
        save = run.saved()
    if save:
        sidecar = config.sidecar(prepare(find_game(config.game), config.options).num_actions)
        if sidecar:
            check_agent(save, sidecar)
        learner.restore(save)
        overseer.resume(save)
    # all was checked: now files may change
    run.begin(config.stored_form(), save, resume=config.resume, overwrite=config.overwrite)
    learner.begin(run, save)
    try:
        learn(config, learner, overseer)
    except BaseException as error:
        display.stop()
        with contextlib.suppress(OSError):  # report the error that ended training instead
            overseer.save()
        if isinstance(error, KeyboardInterrupt | SystemExit) and overseer.snapshot:
            done = f"{overseer.snapshot.steps:,} steps"
            display.say(f"Saved after {done}. To resume: {run.resume_command}")
        raise


def learn(config: RunConfig, learner: Learner, overseer: Overseer) -> None:
    """Train until all steps are done or time is up.

    Raises:
        TrainingError: the numbers diverged.
    """
    if learner.steps < config.steps:
        overseer.display.start(learner.steps, learner.goal)
        try:
            learner.learn(overseer)
            overseer.finish()
        except TimeUpError:
            overseer.pause()
        overseer.display.stop()
    learner.trained(overseer.run)  # also if the run was killed after its last save, before this
