"""The packaging matches the tree; each game has its module; no file is named `utils`."""

from __future__ import annotations

import importlib
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from azumaya.envs.game import Game
from azumaya.envs.registry import GAMES
from tests.check_package import tracked
from tests.library import ROOT
from tests.mutants.trials import STAGES
from tests.processes import python

_CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, SETUPTOOLS = _CONFIGURATION["project"], _CONFIGURATION["tool"]["setuptools"]


def folder_of(package: str) -> Path:
    """The folder of a package according to `package-dir`."""
    places: dict[str, str] = SETUPTOOLS["package-dir"]
    if package in places:
        return ROOT / places[package]
    parent, _, name = package.rpartition(".")
    return folder_of(parent) / name


def test_packages_match_the_tree() -> None:
    """The listed packages are exactly the folders with an `__init__.py`."""
    tops = [ROOT / place for place in SETUPTOOLS["package-dir"].values()]
    there = {file.parent for top in tops for file in top.rglob("__init__.py")}
    assert {folder_of(package) for package in SETUPTOOLS["packages"]} == there
    assert len(SETUPTOOLS["packages"]) == len(there)


def test_every_module_is_in_a_package() -> None:
    """No Python file is in a folder that the wheel leaves out, and no listed module is missing."""
    tops = [ROOT / place for place in SETUPTOOLS["package-dir"].values()]
    alone = {ROOT / SETUPTOOLS["package-dir"][""] / f"{m}.py" for m in SETUPTOOLS["py-modules"]}
    for file in {file for top in tops for file in top.rglob("*.py")} - alone:
        assert (file.parent / "__init__.py").exists(), file
    assert all(file.exists() for file in alone)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="it asks git for the files")
def test_data_files_are_packaged() -> None:
    """`package-data` names exactly the tracked files of the packages that are not Python."""
    shipped = {
        f"{package.replace('.', '/')}/{file.relative_to(folder_of(package)).as_posix()}"
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for file in folder_of(package).glob(pattern)
    }
    assert shipped == {name for name in tracked() if not name.endswith(".py")}


def test_a_package_in_a_zip_says_what_is_needed(tmp_path: Path) -> None:
    """A wheel that is not installed but put on the path is one."""
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(folder_of("azumaya") / "__init__.py", "azumaya/__init__.py")
    code = f"import sys; sys.path.insert(0, {str(archive)!r}); import azumaya"
    done = python("-c", code)
    assert f"ImportError: azumaya cannot run from an archive ({archive})" in done.stderr
    assert "install it with pip" in done.stderr


def test_the_versions_of_python_are_the_same_everywhere() -> None:
    """In the package's classifiers, the Makefile, the README and the tests of the core in CI."""
    words = [each.split(" :: ")[-1] for each in PROJECT["classifiers"]]
    minors = [int(word.removeprefix("3.")) for word in words if word.startswith("3.")]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert PROJECT["requires-python"] == f">=3.{minors[0]},<3.{minors[-1] + 1}"
    makefile, readme = ((ROOT / name).read_text() for name in ("Makefile", "README.md"))
    assert f"(3, {minors[0]}) <= sys.version_info[:2] <= (3, {minors[-1]})" in makefile
    assert f"Python 3.{minors[0]} to 3.{minors[-1]}." in readme
    tested = ", ".join(f'"3.{minor}"' for minor in minors)
    assert f"python: [{tested}]" in (ROOT / ".github/workflows/tests.yml").read_text()


def test_make_alone_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):.*?(?:  ## (.+))?$", text, re.MULTILINE)
    assert targets[0][0] == "help"
    assert all(described for _, described in targets), targets
    phony = text.replace("\\\n", " ").split(".PHONY:")[1].splitlines()[0].split()
    assert sorted(phony) == sorted(name for name, _ in targets)


def test_versioned_modules_are_the_games() -> None:
    """There is exactly one module `<name>_v<version>` for each game."""
    modules = {file.stem for file in (ROOT / "envs").glob("*_v[0-9]*.py")}
    assert modules == {f"{game.name}_v{game.version}" for game in GAMES.values()}


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_versioned_modules_are_thin(game: Game) -> None:
    """They contain `env` and `raw_env` of their game and nothing else."""
    module = importlib.import_module(f"azumaya.envs.{game.name}_v{game.version}")
    assert module.raw_env().game is game
    assert module.env().unwrapped.game is game
    assert len(Path(module.__file__ or "").read_text().splitlines()) < 20


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="it asks git for the files")
def test_a_clone_on_windows_has_the_same_bytes() -> None:
    """Digests of their files tell agents apart: `champion` would be another one there."""
    name = "baselines/values/data/abalone.json"
    command = ["git", "check-attr", "text", name]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert asked.stdout == f"{name}: text: unset\n"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="it asks git for the files")
def test_no_file_is_named_utils() -> None:
    """The name of a file must say what it contains."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = {Path(line).stem for line in listed.stdout.splitlines()}
    assert "test_packages" in names
    assert not names & {"utils", "util", "helpers", "misc", "common"}


def test_generic_code_names_no_game() -> None:
    """Adapters and contract tests know games only by their records."""
    for folder in ("envs/adapters", "tests/contract"):
        for file in (ROOT / folder).rglob("*.py"):
            source = file.read_text()
            assert [name for name in GAMES if name in source] == [], file


def test_every_path_named_for_mutants_exists() -> None:
    """A test file that moved would make every mutant of its stage count as caught."""
    for beginning, stages in STAGES:
        assert list(ROOT.glob(f"{beginning}*")), beginning
        for stage in stages:
            paths = [word for word in stage.words if word.startswith("tests/")]
            assert all((ROOT / path).exists() for path in paths), stage
