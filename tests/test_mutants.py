"""The command that makes mutants: what it edits, what it draws, what it says."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests import mutants
from tests.mutants import Mutant, chosen, mutants_of, run

SOURCE = '''
TABLE = 1 + 2

def first(x, row):
    """At least 1."""
    if x < 3 and row[0] != 7:
        row[1] = x + 1
        print(x)
    y = x
    if not y:
        raise ValueError("not 5")
    return y
'''


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    file = tmp_path / "first.py"
    file.write_text(SOURCE)
    return file


def test_edits(source: Path) -> None:
    found = {mutant.change.partition(": ")[2] for mutant in mutants_of(source)}
    assert found >= {
        "x < 3 -> (x <= 3)",
        "row[0] != 7 -> (row[0] == 7)",
        "x < 3 and row[0] != 7 -> (x < 3 or row[0] != 7)",
        "x < 3 and row[0] != 7 -> (not (x < 3 and row[0] != 7))",
        "x + 1 -> (x - 1)",
        "row[1] = x + 1 -> pass",
        "print(x) -> pass",
        "not y -> (y)",
    }
    assert not any("TABLE" in change or "y = x" in change for change in found)
    assert not any("not 5" in change for change in found)


def test_every_edit_can_be_compiled_and_is_one(source: Path) -> None:
    for mutant in mutants_of(source):
        edited = SOURCE[: mutant.start] + mutant.text + SOURCE[mutant.end :]
        assert ast.dump(ast.parse(edited)) != ast.dump(ast.parse(SOURCE)), mutant


def test_a_seed_draws_the_same_mutants_and_another_seed_others() -> None:
    drawn = chosen(3, 30, "envs/games")
    assert drawn == chosen(3, 30, "envs/games")
    assert len(set(drawn)) == 30
    assert drawn != chosen(4, 30, "envs/games")


def test_survivors_are_told_and_excused_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = chosen(1, 4, "envs/kernels/bits.py")
    tried: list[Mutant] = []

    def is_caught(mutant: Mutant) -> str:
        tried.append(mutant)
        return "" if mutant in drawn[:2] else "tests/x.py::test_y"

    monkeypatch.setattr(mutants, "is_caught", is_caught)
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "equivalent.json")
    (tmp_path / "equivalent.json").write_text(json.dumps({drawn[0].key: "the same"}))
    said: list[str] = []
    output = tmp_path / "results.jsonl"
    assert run(drawn, output, said.append) == [drawn[1]]
    assert [line.rpartition("| ")[2] for line in said] == [
        "excused", "NOTHING", "tests/x.py::test_y", "tests/x.py::test_y",
    ]  # fmt: skip
    assert run(drawn, output, said.append) == [drawn[1]]
    assert tried == drawn, "what stands in the results is not tried again"


def test_excused_mutants_have_a_reason() -> None:
    excused = json.loads(mutants.EQUIVALENT.read_text())
    assert all(isinstance(reason, str) and len(reason) > 10 for reason in excused.values())
