"""The runner of other libraries' examples, tested with its own scripts; pins; the page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from azumaya.benchmarks.peers.environments import InstallError
from tests.integrations import __main__ as runner
from tests.integrations.catalogue import CORE, LIBRARIES, ROOT, SCRIPTS, Library, dependencies

PAGE = (ROOT / "docs" / "guides" / "with-other-libraries.md").read_text("utf-8")
OLDEST = ROOT / "tests" / "integrations" / "oldest.txt"
EXACT = re.compile(r"[a-z0-9_-]+(\[[a-z]+\])?==[0-9.]+")
WITHOUT_REGISTRY = """
import sys
import pettingzoo, gymnasium
sys.modules["pettingzoo.env_registry.registration"] = None  # as where there is no such module
import azumaya.envs
azumaya.envs.make("abalone").reset(seed=1)
assert "azumaya/abalone-v0" in gymnasium.registry
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library that uses this environment; each test writes its script."""
    monkeypatch.setattr(runner, "environment_of", lambda *_: Path(sys.executable))
    script = tmp_path / "script.py"
    return Library("a", "A", ("numpy==0",), str(script), "", "")


def run(library: Library, code: str) -> dict[str, object]:
    Path(library.script).write_text(code, "utf-8")
    return runner.run_library(library, Path("unused"))


def test_a_result_has_the_versions_and_the_output_of_the_script(library: Library) -> None:
    result = run(library, "print('much'); print('{\"steps\": 3}')")
    versions = result["versions"]
    assert isinstance(versions, dict)
    assert tuple(versions) == CORE
    assert result["library"] == "a"
    assert result["steps"] == 3
    assert "error" not in result


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError('no masks')", "exit code 1: .*ValueError: no masks"),
        ("assert 1 == 2, 'illegal'", "exit code 1: .*AssertionError: illegal"),
        ("print('done')", "no result on standard output: 'done"),
        ("", "no result on standard output: ''"),
        ("print('[1]')", "no result on standard output: '.1."),
    ],
)
def test_a_script_that_fails_or_gives_no_result_is_an_error(
    library: Library, code: str, said: str
) -> None:
    assert re.match(said, str(run(library, code)["error"]))


def test_a_script_that_takes_too_long_is_an_error(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "TIME_LIMIT_S", 1.0)
    assert run(library, "import time; time.sleep(60)")["error"] == "it took more than 1 s"


def test_the_exit_status_tells_whether_a_library_failed(
    library: Library, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> Path:
        raise InstallError("no such version")

    monkeypatch.setattr(runner, "LIBRARIES", {"a": library})
    monkeypatch.setattr(runner, "end_on_signals", lambda: None)
    Path(library.script).write_text("print('{}')")
    assert runner.main([]) == 0
    assert "error" not in json.loads(capsys.readouterr().out)
    monkeypatch.setattr(runner, "environment_of", refuse)
    assert runner.main(["a"]) == 1
    assert json.loads(capsys.readouterr().out) == {"library": "a", "error": "no such version"}
    with pytest.raises(SystemExit) as ended:
        runner.main(["b"])
    assert ended.value.code == 2


def test_remove_removes_the_environment(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setattr(runner, "environment_of", lambda *_: python)
    Path(library.script).write_text("print('{}')")
    runner.run_library(library, tmp_path)
    assert python.exists()
    runner.run_library(library, tmp_path, remove=True)
    assert not python.parents[1].exists()


# ---- pins ----


def test_every_library_is_pinned_and_every_script_belongs_to_one() -> None:
    assert {each.script for each in LIBRARIES.values()} == {
        path.name for path in SCRIPTS.glob("*.py")
    }
    for each in LIBRARIES.values():
        assert all(EXACT.fullmatch(pin) for pin in each.pins), each.name
        ours = dependencies()
        assert each.environment().packages[2 : 2 + len(ours)] == ours


def test_the_oldest_pins_are_the_bounds() -> None:
    lines = OLDEST.read_text("utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    bounds = dict(each.split(">=") for each in dependencies() if ";" not in each)
    assert tuple(bounds) == tuple(pins) == CORE
    for name, pin in pins.items():
        assert pin.removesuffix(".0") == bounds[name].removesuffix(".0"), name


def test_the_environments_need_no_registry_of_pettingzoo() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_REGISTRY], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# ---- the page ----


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_page_shows_each_library_with_its_version_and_script(name: str) -> None:
    library = LIBRARIES[name]
    row = f"| {library.title} | {library.version} | {library.adapter} | {library.shows} |"
    assert row in PAGE.splitlines()
    assert f"tests/integrations/scripts/{library.script}\n" in PAGE
    assert f"\n## {library.title}\n" in PAGE
    assert all(pin in PAGE for pin in library.environment().first + library.pins)


def test_the_page_names_the_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for each in project["dependencies"]:
        requirement, _, newer = each.partition(";")
        name, bound = requirement.split(">=")
        rest = rf".*needs {re.escape(bound)}\b" if newer else rf"{re.escape(bound)} \|"
        assert re.search(rf"^\| {name} \| {rest}", PAGE, re.MULTILINE), each
