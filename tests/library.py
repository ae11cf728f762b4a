"""The library as files: where it is, a digest of it, and copies in which something is changed."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("envs", "wrappers", "baselines", "benchmarks")


def copy_library(to: Path) -> None:
    """Copy the package to `to/site`, and beside it the tests and what they read."""
    caches = shutil.ignore_patterns("__pycache__", "_build", "_generated")
    shutil.copytree(ROOT / "src/azumaya", to / "site/azumaya", ignore=caches)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, to / "site/azumaya" / folder, ignore=caches)
    for folder in ("tests", "docs"):
        shutil.copytree(ROOT / folder, to / folder, ignore=caches)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, to)


def version_of_sources() -> str:
    """A digest of the library and its tests."""
    state = hashlib.blake2b(digest_size=8)
    for folder in (*FOLDERS, "tests"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            state.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return state.hexdigest()
