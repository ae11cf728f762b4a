"""Metrics of a run as lines of JSON, which go on where the last save left them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Metrics:
    """A file of JSON objects, one a line.

    Args:
        path: the file, which is made if it is not there.
        length: its bytes at the last save; what a killed run wrote after that is cut off. A
            shorter file stays as it is.
    """

    def __init__(self, path: Path, length: int = 0) -> None:
        self._file = path.open("ab")
        if self._file.tell() > length:
            self._file.truncate(length)
            self._file.seek(0, os.SEEK_END)

    def write(self, values: Mapping[str, Any]) -> None:
        """Add a line."""
        self._file.write(json.dumps(values).encode() + b"\n")
        self._file.flush()

    def flush(self) -> None:
        """Bring all lines to the disk."""
        os.fsync(self._file.fileno())

    @property
    def length(self) -> int:
        """The length in bytes."""
        return self._file.tell()

    def close(self) -> None:
        """Write no more."""
        self._file.close()
