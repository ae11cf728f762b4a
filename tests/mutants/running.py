"""How pytest runs in a copy of the library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from azumaya.benchmarks.child import run_child

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
    command = [sys.executable, "-m", "pytest", *OPTIONS, "-x", "@words"]
    try:
        done = run_child(command, limit, environment_of(tree, cache, interpreted), tree)
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == 0:
        return ""
    rows = [row for row in done.stdout.splitlines() if row.startswith(("FAILED", "ERROR"))]
    return rows[0].split()[1] if rows else f"pytest: exit code {done.returncode}"
