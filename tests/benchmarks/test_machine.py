"""The commit that results name: of this code alone, and other ones for other changes."""

from __future__ import annotations

import json
import re
import subprocess
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from azumaya.baselines.system import machine


def git(folder: Path, *words: str) -> None:
    about = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run(["git", "-C", str(folder), *about, *words], check=True, capture_output=True)


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, in which the code seems to lie."""
    for name in ("baselines/machine.py", "envs/rules.py", "README.md", "benchmarks/results/a/rows"):
        (file := tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text("as it was\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "baselines" / "machine.py"))
    return tmp_path


def test_changes_of_the_code_are_told_apart(checkout: Path) -> None:
    found = [machine.commit()]
    assert re.fullmatch("[0-9a-f]{12}", found[0])
    rules = checkout / "envs" / "rules.py"
    for text in ("changed\n", "changed again\n"):
        rules.write_text(text)
        found.append(machine.commit())
    (checkout / "envs" / "more.py").write_text("new\n")
    found.append(machine.commit())
    rules.unlink()
    found.append(machine.commit())
    assert len({*found}) == len(found)
    assert all(re.fullmatch(rf"{found[0]}\+[0-9a-f]{{8}}", each) for each in found[1:])
    assert machine.commit() == found[-1]


def test_pages_and_stored_rows_are_no_code(checkout: Path) -> None:
    """A run may write its rows where others have been stored."""
    before = machine.commit()
    (checkout / "README.md").write_text("changed\n")
    (checkout / "benchmarks" / "results" / "a" / "rows").write_text("one more\n")
    (checkout / "benchmarks" / "results" / "new").write_text("new\n")
    assert machine.commit() == before


def test_code_inside_another_repository_has_no_commit(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the user's own, whose virtual environment has the package."""
    installed = checkout / ".venv" / "lib" / "baselines" / "machine.py"
    installed.parent.mkdir(parents=True)
    installed.write_text("installed\n")
    monkeypatch.setattr(machine, "__file__", str(installed))
    assert machine.commit() == "none"
    note = {"url": "https://example.org/x.git", "vcs_info": {"vcs": "git", "commit_id": "ab" * 20}}
    (about := checkout / "azumaya.dist-info").mkdir()
    (about / "direct_url.json").write_text(json.dumps(note))
    monkeypatch.setattr(
        machine.importlib.metadata, "distribution", lambda _: PathDistribution(about)
    )
    assert machine.commit() == "ab" * 6
