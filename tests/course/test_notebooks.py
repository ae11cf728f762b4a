"""The notebooks are valid, hold no results, and every exercise has a check and a solution."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.course.notebooks import (
    FOLDER,
    NOTEBOOKS,
    TAGS,
    exercises,
    read,
    solved,
    source,
    tagged,
)

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def text_of(notebook: dict[str, Any]) -> str:
    return "\n".join(source(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


def test_there_are_eight_and_the_index_lists_them() -> None:
    listed = (FOLDER / "index.md").read_text("utf-8").split("```{toctree}")[1].split("```")[0]
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"0{number}" for number in range(1, 9)]
    assert re.findall(r"^\d.+$", listed, re.MULTILINE) == [path.stem for path in NOTEBOOKS]


@every_notebook
def test_a_notebook_is_valid(path: Path) -> None:
    nbformat: Any = pytest.importorskip("nbformat")
    nbformat.validate(read(path))
    identifiers = [cell["id"] for cell in read(path)["cells"]]
    assert len(set(identifiers)) == len(identifiers)


@every_notebook
def test_a_notebook_holds_no_results(path: Path) -> None:
    """Results are made when the documentation is built; in git they would be noise."""
    for cell in code_cells(read(path)):
        assert cell["outputs"] == [], cell["id"]
        assert cell["execution_count"] is None, cell["id"]


@every_notebook
def test_a_notebook_is_stored_in_one_way(path: Path) -> None:
    """One line of the file for each line of a cell, so that changes can be read."""
    notebook = read(path)
    assert path.read_text("utf-8") == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }


@every_notebook
def test_code_can_be_parsed_as_it_is_and_solved(path: Path) -> None:
    for notebook in (read(path), solved(path)):
        for cell in code_cells(notebook):
            ast.parse(source(cell))


@every_notebook
def test_tags_are_known_and_exercises_complete(path: Path) -> None:
    notebook = read(path)
    used = {tag for cell in notebook["cells"] for tag in cell["metadata"].get("tags", [])}
    assert used == TAGS
    order = [
        tag
        for cell in notebook["cells"]
        for tag in cell["metadata"].get("tags", [])
        if tag in ("exercise", "check")
    ]
    assert order == ["exercise", "check"] * len(exercises(path))
    assert all("raise NotImplementedError" in exercise.stub for exercise in exercises(path))


@every_notebook
def test_a_notebook_has_what_a_lesson_needs(path: Path) -> None:
    text = text_of(read(path))
    assert text.startswith(f"# {int(path.stem[:2])}. ")
    assert re.search(r"^\*About \d\d minutes\. Needs `?", text.split("\n\n")[1])
    assert 20 <= int(re.search(r"About (\d+) minutes", text).group(1)) <= 40  # type: ignore[union-attr]
    for heading in (r"## Exercise", "## Questions to think about", "## Reading"):
        assert re.search(f"^{heading}", text, re.MULTILINE), heading


@every_notebook
def test_a_solution_is_folded(path: Path) -> None:
    (cell,) = tagged(read(path), "solution")
    assert cell["cell_type"] == "markdown"
    assert source(cell).startswith("<details>\n<summary>")
    assert source(cell).rstrip().endswith("</details>")


def test_a_wrong_solution_would_stop_the_run() -> None:
    """`make test-course` asserts every verdict."""
    for path in NOTEBOOKS:
        for cell in tagged(solved(path), "check"):
            assert cell["source"].splitlines()[-1].startswith("assert ")
