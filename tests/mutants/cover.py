"""Which tests run a function: found out once by running the suite under coverage.

The suite runs in a copy of the library, as it does for every mutant, so a test that needs more than
the copy fails here and is asked no more. Processes that a test starts are followed, too. Compiled
kernels are not seen: `trials.py` names tests for them.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import coverage

from azumaya.benchmarks.child import run_child
from tests.library import copy_library, version_of_sources
from tests.mutants.edits import functions_of
from tests.mutants.running import LONGEST, OPTIONS, environment_of

NOT_ASKED = ("tests/mutants", "tests/structure", "tests/docs", "tests/browser", "tests/cuda")
"""Tests of texts, or of what has a check of its own."""

SETTINGS = """
[run]
source = {tree}/site/azumaya
parallel = true
context = ${{PYTEST_CURRENT_TEST-}}
data_file = {tree}/covered/part
disable_warnings = no-data-collected, module-not-measured, module-not-imported
"""


@dataclass(frozen=True)
class Cover:
    """Tests by the functions that they run.

    Args:
        version: of the sources.
        seconds: by the name of a test, how long it took.
        tests: by `file:function`, the names of the tests that run it.
    """

    version: str
    seconds: dict[str, float]
    tests: dict[str, list[str]]

    def of(self, file: str, function: str, limit: float) -> list[str]:
        """The tests that run a function, the quickest first, until they take `limit` seconds."""
        chosen: list[str] = []
        for name in sorted(self.tests.get(f"{file}:{function}", ()), key=self.seconds.__getitem__):
            limit -= self.seconds[name]
            if limit < 0 and chosen:
                break
            chosen.append(name)
        return chosen


def cover_of(file: Path, cache: Path) -> Cover:
    """The cover of the sources as they are; found out if the file is of other sources."""
    version = version_of_sources()
    known = json.loads(file.read_text()) if file.exists() else {}
    if known.get("version") != version:
        print("running the suite once to see which tests run which functions", flush=True)
        seconds, tests = _measured(cache)
        known = {"version": version, "seconds": seconds, "tests": tests}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(known))
    return Cover(**known)


def _measured(cache: Path) -> tuple[dict[str, float], dict[str, list[str]]]:
    """How long each test takes that passes, and the tests that run each function."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve()
        copy_library(tree)
        (tree / "covered").mkdir()
        settings = tree / ".coveragerc"
        settings.write_text(SETTINGS.format(tree=tree))
        ignored = [f"--ignore={name}" for name in NOT_ASKED]
        command = [sys.executable, "-m", "pytest", *OPTIONS, "-n", "2", *ignored, "tests"]
        # every process that starts measures itself: coverage installs a .pth file for that
        environment = {**environment_of(tree, cache), "COVERAGE_PROCESS_START": str(settings)}
        run_child(command, LONGEST, environment, tree)
        measured = coverage.Coverage(str(tree / "covered/part"), config_file=str(settings))
        measured.combine([str(tree / "covered")])
        seconds = _passed(tree / "covered/told.jsonl")
        return seconds, _by_function(measured.get_data(), tree / "site/azumaya", seconds)


def _passed(file: Path) -> dict[str, float]:
    """The seconds of every test that passed."""
    seconds: dict[str, float] = {}
    failed = set()
    for line in file.read_text().splitlines():
        name, outcome, duration = json.loads(line)
        seconds[name] = seconds.get(name, 0.0) + duration
        if outcome != "passed":
            failed.add(name)
    return {name: round(taken, 3) for name, taken in seconds.items() if name not in failed}


def _by_function(
    data: coverage.CoverageData, site: Path, seconds: dict[str, float]
) -> dict[str, list[str]]:
    tests: dict[str, list[str]] = {}
    for path in data.measured_files():
        file = Path(path).relative_to(site).as_posix()
        contexts = data.contexts_by_lineno(path)
        for function, node in functions_of(ast.parse(Path(path).read_text())):
            lines = range(node.body[0].lineno, (node.end_lineno or 0) + 1)
            found = {name for line in lines for name in contexts.get(line, ())}
            names = {_name(context) for context in found} & seconds.keys()
            if names:
                tests[f"{file}:{function}"] = sorted(names)
    return tests


def _name(context: str) -> str:
    """The test of a context: its process's own, or of the process that a test started."""
    return context.rpartition("|")[2].removesuffix(" (call)").removesuffix(" (setup)")
