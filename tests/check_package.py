"""Build the sdist and wheels, compare them, install what users get, and try it.

    python -m tests.check_package

A wheel built from the sdist, which is what pip makes where it finds no wheel, must equal the wheel
built from the tree, and contain every tracked file of the packages. It is installed in an empty
virtual environment: first alone, where only the core dependencies may come with it and every game
is played, then with the extra `cli`, where `azumaya doctor` must find no fault.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.check_wheel import PLAY, ROOT, build, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CORE = {
    "azumaya", "numpy", "gymnasium", "pettingzoo", "numba", "filelock", "platformdirs",
    "cloudpickle", "farama-notifications", "llvmlite", "typing-extensions",  # which those need
    "pip", "setuptools",  # in every new virtual environment
}  # fmt: skip
"""All that an environment with a plain install may hold."""
NOT_SHIPPED = "benchmarks/results/"
"""Measured figures, which are for readers of the repository."""
LIST = """
import importlib.metadata, json
print(json.dumps([each.name for each in importlib.metadata.distributions()]))
"""
ABOUT = """
import importlib.metadata, azumaya
assert azumaya.__version__ == importlib.metadata.version("azumaya")
"""


class PackageError(Exception):
    """What was built is not what it should be."""


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel by name."""
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def tracked() -> Iterator[str]:
    """The names in the wheel of all tracked files of the packages."""
    places: Mapping[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
    listed = subprocess.run(
        ["git", "ls-files", *places.values()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    folders = sorted(((folder, name) for name, folder in places.items()), reverse=True)
    for line in listed.stdout.splitlines():
        if line.startswith(NOT_SHIPPED):
            continue
        folder, package = next(each for each in folders if line.startswith(f"{each[0]}/"))
        top = package.replace(".", "/")
        yield f"{top}/{line.removeprefix(f'{folder}/')}".lstrip("/")


def compare(from_tree: Mapping[str, bytes], from_sdist: Mapping[str, bytes]) -> None:
    """Compare two wheels.

    Raises:
        PackageError: they differ, or lack a tracked file.
    """
    names = from_tree.keys() | from_sdist.keys()
    differ = sorted(name for name in names if from_tree.get(name) != from_sdist.get(name))
    if differ:
        raise PackageError(f"in the wheel of the tree or of the sdist alone, or unequal: {differ}")
    missing = sorted(set(tracked()) - names)
    if missing:
        raise PackageError(f"tracked, but not in the wheel: {missing}")
    # left over from an earlier build, for instance
    strange = sorted(name for name in names - set(tracked()) if ".dist-info/" not in name)
    if strange:
        raise PackageError(f"in the wheel, but not tracked: {strange}")


def beside_the_core(names: Iterable[str]) -> list[str]:
    """Those of some installed packages that a plain install must not bring."""
    return sorted({re.sub(r"[-_.]+", "-", name).lower() for name in names} - CORE)


def build_both_ways(scratch: Path) -> Path:
    """Build the wheel and the sdist, and a wheel from the sdist; returns the latter.

    Raises:
        PackageError: the two wheels differ, or lack a file.
    """
    for kind in ("wheel", "sdist"):
        build(kind, scratch / "tree")
    with tarfile.open(next((scratch / "tree").glob("*.tar.gz"))) as sdist:
        sdist.extractall(scratch / "unpacked", filter="data")
    (unpacked,) = (scratch / "unpacked").iterdir()
    run(sys.executable, "-m", "build", "--wheel", "--outdir", scratch / "sdist", unpacked)
    (from_tree,) = (scratch / "tree").glob("*.whl")
    (from_sdist,) = (scratch / "sdist").glob("*.whl")
    if from_tree.name != from_sdist.name:
        raise PackageError(f"{from_tree.name} and {from_sdist.name}: must have the same name")
    compare(contents(from_tree), contents(from_sdist))
    return from_sdist


def try_out(wheel: Path, place: Path) -> None:
    """Install the wheel in an empty virtual environment and try it.

    Raises:
        PackageError: other packages than the core's came with it.
        subprocess.CalledProcessError: something does not work.
    """
    venv.create(place, with_pip=True)
    bin_ = place / ("Scripts" if sys.platform == "win32" else "bin")
    python, pins = bin_ / "python", ("-c", ROOT / "constraints.txt")
    run(python, "-m", "pip", "install", "-q", *pins, wheel)
    listed = subprocess.run([python, "-c", LIST], capture_output=True, text=True, check=True)
    if others := beside_the_core(json.loads(listed.stdout)):
        raise PackageError(f"installed with the core, but not of it: {others}")
    run(python, "-c", ABOUT, cwd=place)
    run(python, "-c", PLAY, cwd=place)
    without = subprocess.run([bin_ / "azumaya"], capture_output=True, text=True, check=False)
    if without.returncode != 2 or ".[cli]" not in without.stderr:
        raise PackageError(f"`azumaya` without the extra cli: {without.stderr!r}")
    run(python, "-m", "pip", "install", "-q", *pins, f"{wheel}[cli]")
    run(bin_ / "azumaya", "--version", cwd=place)
    run(bin_ / "azumaya", "doctor", cwd=place)


def main() -> int:
    """Build, compare and try; returns 1 if something is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            try_out(build_both_ways(scratch), scratch / "empty")
        except (PackageError, subprocess.CalledProcessError) as error:
            print(error)
            return 1
    print("the sdist and the wheel build, agree, install and work")
    return 0


if __name__ == "__main__":
    sys.exit(main())
