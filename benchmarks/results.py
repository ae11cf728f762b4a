"""The file of a run: one JSON object per line, written as soon as it is measured.

`rows.jsonl` begins with a line that describes the machine. A run that finds rows there continues
from them: it measures what is missing, and tries again what failed or was skipped.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from azumaya.baselines.system import files
from azumaya.benchmarks import machine

Row = dict[str, Any]
"""`key` (unique in a run), `kind`, and the fields of that kind; rates are units per second."""

SAME = ("cpu", "cores", "python", *machine.MEASURED, "commit", "gpu")
"""The fields of the header that must be the same in all parts of a run."""
NOTHING: Mapping[str, Any] = MappingProxyType({})

FILE = "rows.jsonl"
LARGEST_FILE = 64 << 20
"""The largest file of rows that is read, in bytes; that of a full run has about 100 KB."""


class ResultsError(Exception):
    """The folder contains something that this run cannot continue."""


def is_measured(row: Row) -> bool:
    """Whether a row has what it is for, instead of the reason why it has not."""
    return "error" not in row and "skipped" not in row


class Results:
    """The rows of one run.

    Args:
        folder: the folder of the file; created if it does not exist.
        settings: names what the run measures; only a run with the same settings can continue it.
        about: further facts about the machine.

    Raises:
        ResultsError: the folder has rows of another machine, version, commit or setting, or cannot
            be written.
    """

    def __init__(self, folder: Path, settings: str, about: Mapping[str, Any] = NOTHING) -> None:
        self.folder = folder
        self.header: Row = {"machine": {**machine.describe(), **about}, "settings": settings}
        self.rows: dict[str, Row] = {}
        self._file = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self._file.exists():
                self._continue()
            else:
                self._append(self.header)
        except OSError as error:
            raise ResultsError(
                f"{folder}: rows cannot be written to this folder: {files.reason(error)}; "
                "give another --output"
            ) from error

    def _continue(self) -> None:
        header, rows = read_run(self.folder)
        old, new = header["machine"], self.header["machine"]
        differing = [f"{name} {old.get(name)}" for name in SAME if old.get(name) != new.get(name)]
        if header["settings"] != self.header["settings"]:
            differing.append(f"settings {header['settings']}")
        if differing:
            raise ResultsError(
                f"{self._file} has rows of another run ({', '.join(differing)}): give another "
                "--output, or remove the file"
            )
        self.header = header
        self.rows = {row["key"]: row for row in rows}
        self._write_anew()  # this leaves out a line that a kill cut off

    def _write_anew(self) -> None:
        lines = [json.dumps(line) + "\n" for line in (self.header, *self.rows.values())]
        files.write_whole(self._file, "".join(lines).encode())

    def _append(self, line: Row) -> None:
        with self._file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def __contains__(self, key: str) -> bool:
        """Whether the row of a key has been measured; one that says why not is tried again."""
        return key in self.rows and is_measured(self.rows[key])

    def add(self, row: Row) -> None:
        """Save a row, in place of an earlier one with its key.

        Raises:
            ResultsError: it cannot be written; the earlier rows are safe.
        """
        self.rows[row["key"]] = row
        try:
            self._append(row)
        except OSError as error:
            raise _not_written(self._file, error) from error

    def remove(self, keys: Collection[str]) -> None:
        """Drop rows, also from the file.

        Raises:
            ResultsError: it cannot be written anew; it has them still.
        """
        if not keys:
            return
        for key in keys:
            del self.rows[key]
        try:
            self._write_anew()
        except OSError as error:
            raise _not_written(self._file, error) from error

    def measured(self) -> int:
        """How many rows have been measured."""
        return sum(map(is_measured, self.rows.values()))


def _not_written(file: Path, error: OSError) -> ResultsError:
    why = error.strerror or type(error).__name__
    return ResultsError(
        f"{file} could not be written: {why}; once it can be, the same command with --output "
        f"{file.parent} continues from here"
    )


def read_run(folder: Path) -> tuple[Row, list[Row]]:
    """The header and the rows of a run's folder; an incomplete last line is left out.

    Raises:
        ResultsError: it has no `rows.jsonl`, or one that is not of this kind.
    """
    file = folder / FILE
    header, *rows = list(_whole_lines(file)) or [None]
    headed = isinstance(header, dict) and isinstance(header.get("machine"), dict)
    rowed = all(
        isinstance(row, dict) and isinstance(row.get("key"), str) and "kind" in row for row in rows
    )
    if not headed or "settings" not in header or not rowed:
        raise ResultsError(f"{file}: not rows of a benchmark run")
    latest = {row["key"]: row for row in rows}  # a row that failed may have been measured since
    return header, list(latest.values())


def _whole_lines(file: Path) -> Iterator[Any]:
    for line in _read_text(file).splitlines():
        try:
            yield json.loads(line)
        except ValueError:  # cut off
            return


def _read_text(file: Path) -> str:
    try:
        return files.read_bytes(file, LARGEST_FILE).decode("utf-8")
    except FileNotFoundError as error:
        raise ResultsError(f"{file.parent}: must contain {file.name}") from error
    except OSError as error:
        raise ResultsError(files.reason(error)) from error
    except UnicodeDecodeError as error:
        raise ResultsError(f"{file}: not rows of a benchmark run: must be UTF-8 text") from error
    except files.UnusableFileError as error:
        raise ResultsError(f"{file}: not rows of a benchmark run: {error}") from error
