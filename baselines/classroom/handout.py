"""What students get of the course: its notebooks without solutions and results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azumaya.baselines.system.files import shown, write_whole
from azumaya.envs import OptionError

SOLUTION = "solution"
"""The tag of cells that students do not get."""


def student_notebook(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """A notebook without the cells tagged `solution`, and without results."""
    cells = [
        {**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
        if SOLUTION not in cell["metadata"].get("tags", ())
    ]
    return {**notebook, "cells": cells}


def write_notebooks(folder: Path, output: Path) -> list[Path]:
    """Write the students' versions of all notebooks of a folder; returns the files.

    Raises:
        OptionError: the folder has no notebooks, is the output, or one of them is no notebook.
        OSError: a file cannot be read or written.
    """
    if output.resolve() == folder.resolve():
        raise OptionError(f"--output {shown(output)}: the solutions are there; name another folder")
    made = {}
    for path in sorted(folder.glob("*.ipynb")):
        try:
            made[output / path.name] = student_notebook(json.loads(path.read_text("utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise OptionError(f"{shown(path)}: not a notebook") from None
    if not made:
        raise OptionError(f"{shown(folder)}: there are no notebooks, files such as 01.ipynb")
    output.mkdir(parents=True, exist_ok=True)
    for file, notebook in made.items():
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        write_whole(file, text.encode())
    return [*made]
