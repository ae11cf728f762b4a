"""What a run tells: metrics as lines of JSON, TensorBoard's event files, progress on the screen.

TensorBoard's own writer hands records to a thread, through a queue whose locks are Python code:
Ctrl-C in there leaves them locked for good, and closing the writer waits for the thread. Here there
is no thread: a record is one write to a file, which is done or not.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from azumaya.baselines.arena.rounds import Score
from azumaya.envs.errors import naming

METRICS = "progress.json"
"""The file of metrics in a run's folder."""
VERSION = "brain.Event:2"
"""The format of TensorBoard's files, which their first record names."""


class Logs:
    """Both logs of a run, continued from its last save.

    Metrics are JSON objects, one per line. Lines after the last save, from a run that was killed,
    are cut off; a file with fewer lines is kept as it is. TensorBoard gets a new file, which tells
    it to show no events after the last save.

    Args:
        folder: the run's folder.
        steps: the steps done at the last save; None before the first. The speed that is logged
            counts those after them.
        lines: the lines of metrics at the last save.

    Attributes:
        lines: the number of lines.

    Raises:
        OSError: a file cannot be written.
    """

    def __init__(self, folder: Path, steps: int | None, lines: int = 0) -> None:
        self.lines, length = 0, 0
        self._metrics = (folder / METRICS).open("ab")
        with (folder / METRICS).open("rb") as there:
            for line in itertools.islice(there, lines):
                if line.endswith(b"\n"):
                    self.lines, length = self.lines + 1, length + len(line)
        self._metrics.truncate(length)
        self._metrics.seek(0, os.SEEK_END)
        # TensorBoard reads the files of a folder in the order of their names
        self._events = (folder / f"events.out.tfevents.{time.time_ns()}").open("xb")
        self._records = RecordWriter(self._events)
        self._add_event(file_version=VERSION)
        first = 0 if steps is None else steps + 1
        self._add_event(step=first, session_log=SessionLog(status=SessionLog.START))
        self._began, self._before = time.monotonic(), steps or 0

    def write(self, values: Mapping[str, float], steps: int) -> None:
        """Write metrics by name, with the steps done and the steps per second.

        Metrics that are not finite, which JSON cannot have, are left out.

        Raises:
            OSError: a file cannot be written.
        """
        speed = (steps - self._before) / max(1e-9, time.monotonic() - self._began)
        values = {name: value for name, value in values.items() if math.isfinite(value)}
        values = {**values, "time/fps": speed, "time/total_timesteps": steps}
        with naming(self._metrics.name):
            self._metrics.write(json.dumps(values).encode() + b"\n")
            self._metrics.flush()
        self.lines += 1
        shown = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._add_event(step=steps, summary=Summary(value=shown))

    def _add_event(self, **content: Any) -> None:
        event = Event(wall_time=time.time(), **content)
        with naming(self._events.name):
            self._records.write(event.SerializeToString())
            self._events.flush()

    def flush(self) -> None:
        """Flush all lines of metrics to the disk."""
        with naming(self._metrics.name):
            os.fsync(self._metrics.fileno())

    def close(self) -> None:
        """Close the files."""
        self._metrics.close()
        self._events.close()


# ---- progress on the screen ----


class Display:
    """Shows the progress of a run: a bar, or occasional plain lines in a file or pipe.

    Args:
        console: where to print; a terminal gets a bar, anything else plain lines.
    """

    def __init__(self, console: Console) -> None:
        self.console, self.began = console, time.monotonic()
        self.total = 0
        self._bar = self._make_bar(TextColumn("{task.fields[steps]}"))
        self._task = self._bar.add_task("training", total=1.0, steps="")

    def _make_bar(self, count: ProgressColumn) -> Progress:
        return Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            count,
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_interactive,
        )

    def say(self, text: str) -> None:
        """Print a line unchanged, so that commands in it can be copied."""
        self.console.print(text, soft_wrap=True, markup=False, highlight=False)

    @property
    def minutes(self) -> float:
        """Minutes since this object was created."""
        return (time.monotonic() - self.began) / 60

    def start(self, total: int) -> None:
        """Show that training starts or resumes, to `total` steps; 0 if time alone ends it."""
        self.total = total
        self._bar.start()

    def advance(self, done: int, progress: float) -> None:
        """Show that `done` steps are complete, and how much of the run that is, from 0 to 1."""
        self._bar.update(self._task, completed=progress, steps=self._of(done))

    def _of(self, done: int) -> str:
        return f"{done:,} of {self.total:,} steps" if self.total else f"{done:,} steps"

    def measured(self, done: int, scores: Sequence[Score]) -> None:
        """Show the scores of an evaluation after `done` steps."""
        rates = ", ".join(f"{score.second} {score.rate:.0%}" for score in scores)
        self._bar.update(self._task, description=f"training ({rates})")
        if not self.console.is_interactive:
            self.say(f"{self._of(done)}, {self.minutes:.1f} minutes: {rates}")

    def stop(self) -> None:
        """Show that training has ended."""
        self._bar.stop()

    @contextlib.contextmanager
    def evaluating(self, games: int) -> Iterator[Progress]:
        """Show the progress of an evaluation with `games` games against each baseline."""
        if not self.console.is_interactive:
            self.say(f"evaluating: {games:,} games against each baseline")
        with self._make_bar(MofNCompleteColumn()) as bar:
            yield bar
