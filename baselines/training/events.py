"""TensorBoard's event files of a run.

TensorBoard's own writer hands records to a thread, through a queue whose locks are Python code:
Ctrl-C in there leaves them locked for good, and closing the writer waits for the thread. Here there
is no thread: a record is one write to a file, which is done or not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from azumaya.envs.errors import naming

VERSION = "brain.Event:2"
"""The format of the file, which its first record names."""


class EventFile:
    """A new file of events.

    Args:
        folder: the run's folder.
        steps: the number of steps at the last save; None before the first. Events that a killed run
            wrote after it, in files of its own, are no longer shown.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, folder: Path, steps: int | None) -> None:
        # TensorBoard reads the files of a folder in the order of their names
        self._file = (folder / f"events.out.tfevents.{time.time_ns()}").open("xb")
        self._records = RecordWriter(self._file)
        self._add(file_version=VERSION)
        first = 0 if steps is None else steps + 1
        self._add(step=first, session_log=SessionLog(status=SessionLog.START))

    def write(self, values: Mapping[str, float], steps: int) -> None:
        """Add metrics by name, with the steps done.

        Raises:
            OSError: the file cannot be written.
        """
        shown = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._add(step=steps, summary=Summary(value=shown))

    def _add(self, **content: Any) -> None:
        event = Event(wall_time=time.time(), **content)
        with naming(self._file.name):
            self._records.write(event.SerializeToString())
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
