"""Nothing in the repository cites a file outside it, so that readers can look everything up."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.library import ROOT

OUTSIDE = re.compile(r"(?<![\w/-])(\.\./)*shared/|\brule-texts\b|(?<![\w.~])/work/")
"""`shared/` beside or above the repository, the folder of rule texts, and the machine's work
folders. A path inside the repository that merely ends in one of these words does not count."""


def tracked() -> list[str]:
    """The tracked files, relative to the root, without this one, which names what it forbids."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is no list of tracked files")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    own = Path(__file__).relative_to(ROOT).as_posix()
    return [name for name in listed.split("\0") if name and name != own]


def citations(text: str) -> list[tuple[int, str]]:
    """The lines of a text, numbered from 1, that cite something outside the repository."""
    lines = enumerate(text.splitlines(), start=1)
    return [(number, line.strip()) for number, line in lines if OUTSIDE.search(line)]


def test_no_file_cites_what_is_not_in_the_repository() -> None:
    found = []
    for name in tracked():
        path = ROOT / name
        if path.is_file():  # a file deleted but not yet committed is still listed
            text = path.read_bytes().decode("utf-8", errors="ignore")
            found += [f"{name}:{number}: {line}" for number, line in citations(text)]
    assert found == [], "\n".join(found)
