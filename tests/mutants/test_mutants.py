"""The command that makes mutants: what it edits and draws, which tests it asks, what it keeps."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.library import ROOT
from tests.mutants import __main__ as command
from tests.mutants import edits, trials
from tests.mutants.cover import Cover
from tests.mutants.edits import Mutant, mutants_of

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
    monkeypatch.setattr(edits, "ROOT", tmp_path)
    file = tmp_path / "first.py"
    file.write_text(SOURCE)
    return file


def test_edits(source: Path) -> None:
    found = {mutant.change for mutant in mutants_of(source)}
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


def test_every_edit_can_be_compiled_is_one_and_moves_no_line(source: Path) -> None:
    source.write_text(SOURCE.replace("x < 3 and", "(\n        x\n        < 3\n    ) and"))
    for mutant in mutants_of(source):
        assert ast.dump(ast.parse(mutant.source())) != ast.dump(ast.parse(source.read_text()))
        assert mutant.source().count(b"\n") == source.read_text().count("\n"), mutant


def test_a_key_depends_on_the_function_and_the_edit_alone(source: Path) -> None:
    keys = [mutant.key for mutant in mutants_of(source)]
    assert len(set(keys)) == len(keys)
    moved = source.with_name("second.py")
    moved.write_text("# more\n" + SOURCE.replace("At least 1.", "One at least."))
    assert [mutant.key for mutant in mutants_of(moved)] == keys
    source.write_text(SOURCE.replace("y = x", "y = -x"))
    assert not {mutant.key for mutant in mutants_of(source)} & set(keys)


def test_a_seed_draws_the_same_mutants_of_each_part_and_another_seed_others() -> None:
    drawn = command.chosen(3, 5, "")
    assert drawn == command.chosen(3, 5, "")
    assert len(set(drawn)) == 5 * len(command.PARTS)
    assert drawn != command.chosen(4, 5, "")


def test_the_quickest_tests_of_a_function_come_first_until_the_time_is_up() -> None:
    cover = Cover("", {"a": 3.0, "b": 1.0, "c": 2.0, "d": 0.1}, {"x.py:f": ["a", "b", "c"]})
    assert cover.of("x.py", "f", 4.0) == ["b", "c"]
    assert cover.of("x.py", "f", 0.5) == ["b"], "one at least"
    assert cover.of("x.py", "g", 4.0) == []


def test_results_are_kept_and_survivors_tried_again_once_anything_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = command.chosen(1, 4, "envs/kernels/bits.py")
    monkeypatch.setattr(command, "EQUIVALENT", tmp_path / "equivalent.json")
    (tmp_path / "equivalent.json").write_text(json.dumps({drawn[0].key: "the same"}))
    output, tried = tmp_path / "results.jsonl", list[Mutant]()

    def catches(mutant: Mutant) -> str:
        tried.append(mutant)
        return "" if mutant == drawn[1] else "tests/x.py::test_y"

    for version, expected in (("one", drawn[1:]), ("one", []), ("two", drawn[1:2])):
        tried.clear()
        assert command.run(drawn, catches, version, output) == [drawn[1]]
        assert tried == expected
    output.write_bytes(output.read_bytes()[:-20])
    assert command.known_results(output, "one").keys() == {m.key for m in drawn[1:]}


@pytest.mark.parametrize(("survive", "status"), [(1, 0), (2, 1)])
def test_the_share_is_told_and_97_percent_are_asked_for(
    survive: int, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = command.chosen(1, 40, "envs/games")
    assert command.report(drawn, drawn[:survive]) == status
    said = capsys.readouterr().out
    assert f"{40 - survive} of   40 are caught: {(40 - survive) / 40:.1%} (" in said


def test_every_path_named_for_mutants_exists() -> None:
    """A test file that moved would make every mutant of its stage count as caught."""
    for beginning, stages in trials.STAGES:
        assert list(ROOT.glob(f"{beginning}*")), beginning
        for stage in stages:
            paths = [word for word in stage.words if word.startswith("tests/")]
            assert all((ROOT / path).exists() for path in paths), stage
