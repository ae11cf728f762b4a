"""Where a run's rows go: one JSON object a line, written as soon as it is measured.

`rows.jsonl` begins with a line that names the machine. A run that finds rows there goes on from
them; `results.json` has the same in one piece, once the run has ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from azumaya.benchmarks import machine

Row = dict[str, Any]
"""`key` (unique in a run), `kind`, and what that kind has; rates are units a second."""

SAME = ("cpu", "cores", "python", "numpy", "numba", "commit", "gpu", "torch")
"""What must not differ between the parts of one run."""
NOTHING: Mapping[str, Any] = MappingProxyType({})


class ResultsError(Exception):
    """The folder holds something that this run cannot go on from."""


class Results:
    """The rows of one run.

    Args:
        folder: where they are, or will be; made if need be.
        settings: what the run measures, by name; another one cannot go on from it.
        about: what else there is to say of the machine.

    Raises:
        ResultsError: the folder has rows of another machine, commit or setting.
    """

    def __init__(self, folder: Path, settings: str, about: Mapping[str, Any] = NOTHING) -> None:
        self.folder = folder
        self.header: Row = {"machine": {**machine.describe(), **about}, "settings": settings}
        self.rows: dict[str, Row] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "rows.jsonl"
        if self._file.exists():
            self._go_on()
        else:
            self._append(self.header)

    def _go_on(self) -> None:
        header, rows = read_lines(self._file)
        old, new = header["machine"], self.header["machine"]
        differing = [f"{name} {old.get(name)}" for name in SAME if old.get(name) != new.get(name)]
        if header["settings"] != self.header["settings"]:
            differing.append(f"settings {header['settings']}")
        if differing:
            raise ResultsError(
                f"{self._file} is of another run ({', '.join(differing)}): give another --output, "
                "or remove it"
            )
        self.header = header
        self.rows = {row["key"]: row for row in rows}
        lines = [json.dumps(line) + "\n" for line in (header, *rows)]
        self._file.write_text("".join(lines))  # without what a kill may have torn

    def _append(self, line: Row) -> None:
        with self._file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def __contains__(self, key: str) -> bool:
        """Whether a row has been measured."""
        return key in self.rows

    def add(self, row: Row) -> None:
        """Keep a row."""
        self.rows[row["key"]] = row
        self._append(row)

    def finish(self) -> Path:
        """Write all rows in one piece."""
        path = self.folder / "results.json"
        whole = {**self.header, "rows": list(self.rows.values())}
        path.write_text(json.dumps(whole, indent=1) + "\n")
        return path


def read_lines(file: Path) -> tuple[Row, list[Row]]:
    """The header and the rows of a `rows.jsonl`; a torn last line is left out.

    Raises:
        ResultsError: this is no such file.
    """
    lines = list(_whole_lines(file))
    if not lines or "machine" not in lines[0]:
        raise ResultsError(f"{file}: no rows of a benchmark run")
    return lines[0], lines[1:]


def _whole_lines(file: Path) -> Iterator[Row]:
    for line in file.read_text().splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            return


def read_run(folder: Path) -> tuple[Row, list[Row]]:
    """The header and rows of a run's folder: of its lines, or of the whole alone.

    Raises:
        ResultsError: it has neither.
    """
    if (folder / "rows.jsonl").exists():
        return read_lines(folder / "rows.jsonl")
    if not (folder / "results.json").exists():
        raise ResultsError(f"{folder}: neither rows.jsonl nor results.json there")
    whole = json.loads((folder / "results.json").read_text())
    return {name: value for name, value in whole.items() if name != "rows"}, whole["rows"]
