"""A run's metrics as lines of JSON, continued from the last save."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azumaya.envs.errors import naming


class Metrics:
    """A file of JSON objects, one per line.

    Args:
        path: the file, created if missing.
        lines: how many it had at the last save. Later lines, from a run that was killed, are cut
            off; a file with fewer lines is kept as it is.

    Attributes:
        lines: the number of lines.
    """

    def __init__(self, path: Path, lines: int = 0) -> None:
        self.lines, length = 0, 0
        self._file = path.open("ab")
        with path.open("rb") as there:
            for line in itertools.islice(there, lines):
                if line.endswith(b"\n"):
                    self.lines, length = self.lines + 1, length + len(line)
        self._file.truncate(length)
        self._file.seek(0, os.SEEK_END)

    def write(self, values: Mapping[str, Any]) -> None:
        """Add a line."""
        with naming(self._file.name):
            self._file.write(json.dumps(values).encode() + b"\n")
            self._file.flush()
        self.lines += 1

    def flush(self) -> None:
        """Flush all lines to the disk."""
        with naming(self._file.name):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()
