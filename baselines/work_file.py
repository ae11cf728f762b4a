"""Files of long work that can be interrupted: a line with its settings, then a line per result.

Lines are only ever appended. A writer that is killed leaves a torn last line at most, which is
removed when the work goes on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azumaya.baselines.files import parse_json
from azumaya.envs.errors import brief

Line = dict[str, Any]


class WorkFileError(ValueError):
    """A file of work that cannot be continued."""


def begin_work(path: Path, settings: Mapping[str, Any]) -> list[Line]:
    """Make a file of work, or open it again.

    Args:
        path: the file; it is made, with its folder, if it is missing.
        settings: everything that the results depend on, as JSON.

    Returns:
        The lines of earlier runs. A torn last line is removed from the file.

    Raises:
        WorkFileError: the file is damaged, or was begun with other settings.
        OSError: it cannot be read or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    head = json.dumps(settings)
    content = path.read_bytes() if path.exists() else b""
    if head.encode().startswith(content):  # a new file, or one whose first line is torn
        path.write_text(head + "\n", encoding="utf-8")
        return []
    whole = content[: content.rfind(b"\n") + 1]
    try:
        begun, *lines = whole.decode().splitlines() or [""]
        if begun != head:
            raise WorkFileError(
                f"{path}: it was begun with other settings; use the same ones or another file"
            )
        read = [_object(line) for line in lines]
    except WorkFileError:
        raise
    except ValueError as error:
        raise WorkFileError(f"{path}: damaged: {error}") from error
    if len(whole) < len(content):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return read


def _object(line: str) -> Line:
    found = parse_json(line.encode())
    if not isinstance(found, dict):
        raise ValueError(f"the line {brief(found)} is not a JSON object")
    return found


def line_text(line: Line) -> str:
    """A result as its line in the file, with the newline."""
    return json.dumps(line, separators=(",", ":")) + "\n"
