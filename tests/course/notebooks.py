"""The notebooks of the course as data: cells by tag, exercises with their stubs and solutions.

`python -m tests.course.notebooks FOLDER` writes them with their exercises solved, for `make
test-course`.
"""

from __future__ import annotations

import ast
import copy
import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "course"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
TAGS = {"setup", "exercise", "check", "solution"}
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Exercise:
    """An exercise of a notebook.

    Attributes:
        setup: the code of the cells that it needs.
        stub: the cell that the student fills in.
        check: the cell that checks it; its last line is the verdict.
        solution: the code of the solution.
    """

    setup: str
    stub: str
    check: str
    solution: str

    def verdict(self, answer: str) -> Any:
        """The verdict on an answer, given as the code of the student's cell."""
        namespace: dict[str, Any] = {"__name__": "__notebook__"}
        exec("\n".join((self.setup, answer)), namespace)
        *statements, last = ast.parse(self.check).body
        assert isinstance(last, ast.Expr)
        exec(compile(ast.Module(statements, []), "check", "exec"), namespace)
        return eval(compile(ast.Expression(last.value), "check", "eval"), namespace)


def read(path: Path) -> dict[str, Any]:
    """A notebook as JSON."""
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def source(cell: dict[str, Any]) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def tagged(notebook: dict[str, Any], tag: str) -> list[dict[str, Any]]:
    """The cells with a tag."""
    return [cell for cell in notebook["cells"] if tag in cell["metadata"].get("tags", [])]


def solutions(notebook: dict[str, Any]) -> list[str]:
    """The solutions of a notebook, in the order of its exercises."""
    return [code for cell in tagged(notebook, "solution") for code in FENCE.findall(source(cell))]


def exercises(path: Path) -> list[Exercise]:
    """The exercises of a notebook."""
    notebook = read(path)
    setup = "\n".join(source(cell) for cell in tagged(notebook, "setup"))
    cells = (tagged(notebook, "exercise"), tagged(notebook, "check"), solutions(notebook))
    return [
        Exercise(setup, source(stub), source(check), solution)
        for stub, check, solution in zip(*cells, strict=True)
    ]


def solved(path: Path) -> dict[str, Any]:
    """A copy of a notebook in which the exercises are solved, and a wrong answer is an error."""
    notebook = copy.deepcopy(read(path))
    answers = zip(tagged(notebook, "exercise"), solutions(notebook), strict=True)
    for cell, solution in answers:
        cell["source"] = solution
    for cell in tagged(notebook, "check"):
        lines = source(cell).rstrip().splitlines()
        cell["source"] = "\n".join([*lines[:-1], f"assert {lines[-1]}"])
    return notebook


def main(folder: Path) -> None:
    """Write all notebooks, solved, to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in NOTEBOOKS:
        (folder / path.name).write_text(json.dumps(solved(path)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
