"""How pytest runs in a copy of the library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.library import ROOT

OPTIONS = (
    "-p", "tests.mutants.plugin", "-p", "no:cacheprovider", "-p", "no:nbmake",
    "--hypothesis-seed=0", "--tb=no", "-rfE",
)  # fmt: skip
LONGEST = 7200.0
"""Seconds that a run may take without a mutant."""


def environment_of(tree: Path, cache: Path, interpreted: bool = False) -> dict[str, str]:
    """The environment variables of a run in a copy: it imports the copy and shares the cache."""
    return {
        **os.environ,
        "PYTHONPATH": str(tree / "site"),
        "AZUMAYA_COPY": str(tree / "site"),
        "AZUMAYA_CACHE_DIR": str(cache.resolve()),
        "NUMBA_OPT": "1",
        "NUMBA_DISABLE_JIT": str(int(interpreted)),
    }


def failure(
    words: list[str], tree: Path, cache: Path, limit: float, interpreted: bool = False
) -> str:
    """The first test that fails in a copy; an empty text if none does."""
    (tree / "words").write_text("\n".join(words))  # there may be thousands
    asked = {"tree": str(tree.resolve()), "words": [*OPTIONS, "-x", "@words"], "limit": limit}
    process = _warm_process(cache, interpreted)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    code = json.loads(process.stdout.readline())
    if code is None:
        return "no end"
    if code == 0:
        return ""
    printed = (tree / "printed").read_text(errors="replace").splitlines()
    rows = [row for row in printed if row.startswith(("FAILED", "ERROR"))]
    return rows[0].split()[1] if rows else f"pytest: exit code {code}"


_own = threading.local()


def _warm_process(cache: Path, interpreted: bool) -> subprocess.Popen[str]:
    """The process of this thread that forks runs of pytest, see `warm.py`; it ends with ours."""
    found: dict[bool, subprocess.Popen[str]] = vars(_own).setdefault("processes", {})
    if interpreted not in found:
        found[interpreted] = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("warm.py"))],
            env=environment_of(ROOT, cache, interpreted), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0,
        )  # fmt: skip
    return found[interpreted]
