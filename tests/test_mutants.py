"""The command that makes mutants: what it edits, what it draws, what it says."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests import mutant_suites, mutants
from tests.mutant_suites import Stage, Suites, UncleanError
from tests.mutants import chosen, known_results, mutants_of, run

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


class Answers:
    """In place of `Suites`: what catches each mutant in its second stage, by the file's content."""

    def __init__(self, caught: dict[bytes, str], version: str = "one") -> None:
        self.caught, self.version, self.tried = caught, version, list[bytes]()

    def catches(self, stage: Stage, file: str, source: bytes) -> str:
        """What catches the mutant, as told beforehand."""
        if stage.interpreted:
            return ""
        self.tried.append(source)
        return self.caught[source]


def test_survivors_are_told_and_excused_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = chosen(1, 4, "envs/kernels/bits.py")
    sources = [mutant.source() for mutant in drawn]
    caught = dict(zip(sources, ["", "", "tests/x.py::test_y", "no end"], strict=True))
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "equivalent.json")
    (tmp_path / "equivalent.json").write_text(json.dumps({drawn[0].key: "the same"}))
    output = tmp_path / "results.jsonl"
    for version, tried in (("one", sources[1:]), ("one", []), ("two", sources[1:2])):
        said: list[str] = []
        answers = Answers(caught, version)
        assert run(drawn, answers, output, said.append) == [drawn[1]]  # type: ignore[arg-type]
        assert said[0] == f"{4 - len(tried)} of 4 mutants are known or excused"
        assert answers.tried == tried, "survivors are tried again once anything has changed"


class QuickAnswers(Answers):
    """The quick stage catches everything."""

    def catches(self, stage: Stage, file: str, source: bytes) -> str:
        """Always the same test."""
        assert stage.interpreted, "what the quick stage catches is not tried again"
        return "tests/x.py::test_y (interpreted)"


def test_the_quick_stage_comes_first(tmp_path: Path) -> None:
    drawn = chosen(1, 4, "envs/kernels/bits.py")
    said: list[str] = []
    assert not run(drawn, QuickAnswers({}), tmp_path / "results.jsonl", said.append)  # type: ignore[arg-type]
    assert len(said) == 5
    assert said[1] == f"stage 1, 1/4: {drawn[0]} | tests/x.py::test_y (interpreted)"


def test_a_torn_line_costs_one_result(tmp_path: Path) -> None:
    drawn = chosen(1, 3, "envs/kernels/bits.py")
    answers = Answers({mutant.source(): "no end" for mutant in drawn})
    output = tmp_path / "results.jsonl"
    run(drawn[:2], answers, output, lambda line: None)  # type: ignore[arg-type]
    output.write_bytes(output.read_bytes()[:-20])
    run(drawn[2:], answers, output, lambda line: None)  # type: ignore[arg-type]
    assert known_results(output, "one").keys() == {drawn[0].key, drawn[2].key}


@pytest.mark.parametrize(("survive", "status"), [(0, 0), (1, 0), (2, 1)])
def test_the_share_is_told_and_97_percent_are_asked_for(
    survive: int,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "equivalent.json").write_text("{}")
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "equivalent.json")
    drawn = chosen(1, 40, "envs/games")
    assert mutants.report(drawn, drawn[:survive]) == status
    last = capsys.readouterr().out.splitlines()[-1]
    assert f"{40 - survive} of 40 mutants" in last
    assert f"({(40 - survive) / 40:.1%})" in last


def test_comments_and_lines_above_keep_a_key(source: Path) -> None:
    keys = [mutant.key for mutant in mutants_of(source)]
    assert len(set(keys)) == len(keys)
    source.write_text("# more\n" + SOURCE.replace("At least 1.", "One at least."))
    assert [mutant.key for mutant in mutants_of(source)] == keys
    source.write_text(SOURCE.replace("y = x", "y = -x"))
    assert not {mutant.key for mutant in mutants_of(source)} & set(keys)


def test_lines_below_an_edit_stay_where_they_are(source: Path) -> None:
    source.write_text(SOURCE.replace("x < 3 and", "(\n        x\n        < 3\n    ) and"))
    for mutant in mutants_of(source):
        assert mutant.source().count(b"\n") == source.read_text().count("\n"), mutant


QUICK, SECOND = Stage(("tests/test_one.py",), interpreted=True), Stage(("tests",))


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Suites:
    """Suites that keep the times of stages from test to test."""
    return Suites(tmp_path_factory.mktemp("known"))


@pytest.fixture
def suites(known: Suites, monkeypatch: pytest.MonkeyPatch) -> Suites:
    """Suites for a library of one file."""
    monkeypatch.setattr(mutant_suites, "copy_library", a_library)
    return known


TESTS = {
    "test_one.py": "import azumaya.envs.whole as w\ndef test_one():\n    assert w.ONE == 1\n",
    "test_two.py": "import azumaya.envs.whole as w\ndef test_two():\n    assert w.TWO == 2\n",
}


def a_library(to: Path) -> None:
    """In place of `copy_library`: just enough to be imported and tested."""
    for folder in ("site/azumaya/envs/kernels", "tests"):
        (to / folder).mkdir(parents=True)
    for module in ("", "envs/", "envs/kernels/"):
        (to / f"site/azumaya/{module}__init__.py").touch()
    (to / "site/azumaya/envs/kernels/compile.py").write_text("INTERPRETED = True")
    (to / "site/azumaya/envs/whole.py").write_text("ONE, TWO = 1, 2")
    (to / "tests/__init__.py").touch()
    plugin = Path(mutant_suites.__file__).with_name("mutant_copy.py")
    (to / "tests/mutant_copy.py").write_text(plugin.read_text())
    for name, text in TESTS.items():
        (to / "tests" / name).write_text(text)


@pytest.mark.parametrize(
    ("stage", "content", "caught"),
    [
        (QUICK, "ONE, TWO = 1, 3", ""),
        (SECOND, "ONE, TWO = 1, 2 # the same", ""),
        (SECOND, "ONE, TWO = 1, 3", "tests/test_two.py::test_two"),
        (QUICK, "ONE, TWO = 0, 2", "tests/test_one.py::test_one (interpreted)"),
        (QUICK, "ONE, TWO = 1,", "tests/test_one.py (interpreted)"),
        (QUICK, "import os; os._exit(7)", "pytest: exit code 7 (interpreted)"),
        (QUICK, "while True: pass", "no end (interpreted)"),
    ],
)
def test_stages(
    stage: Stage, content: str, caught: str, suites: Suites, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = caught.startswith("no end")
    monkeypatch.setattr(mutant_suites, "LEAST_SECONDS", 1.0 if endless else 20.0)
    monkeypatch.setattr(mutant_suites, "SLOWER", 1.0)
    assert suites.catches(stage, "envs/whole.py", content.encode()) == caught


def test_tests_that_fail_anyway_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(to: Path) -> None:
        a_library(to)
        (to / "site/azumaya/envs/whole.py").write_text("ONE, TWO = 1, 5")

    monkeypatch.setattr(mutant_suites, "copy_library", broken)
    with pytest.raises(UncleanError, match=r"without a mutant tests/test_two.py::test_two fails"):
        Suites(tmp_path).catches(SECOND, "envs/whole.py", b"ONE, TWO = 1, 2")


def test_every_path_named_for_mutants_exists() -> None:
    """A test file that moved would make every mutant of its stage count as caught."""
    for beginning, stages in mutant_suites.STAGES:
        assert list(mutants.ROOT.glob(f"{beginning}*")), beginning
        for stage in stages:
            paths = [word for word in stage.words if word.startswith("tests/")]
            assert all((mutants.ROOT / path).exists() for path in paths), stage


def test_excused_mutants_have_a_reason() -> None:
    excused = json.loads(mutants.EQUIVALENT.read_text())
    assert all(isinstance(reason, str) and len(reason) > 10 for reason in excused.values())


def test_a_text_that_no_path_holds_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        mutants.main(["--only", "envs/kernel/"])
    assert "--only envs/kernel/: no file" in capsys.readouterr().err
