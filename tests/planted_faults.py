"""Plant faults in a copy of the library and see which tests catch each.

    python -m tests.planted_faults [--game NAME] [--fault TEXT]

Exits with status 1 if no test catches a fault, and with 130 after Ctrl-C. The slow tests in
`test_planted_faults.py` plant every fault.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults import Fault

ROOT = Path(__file__).parents[1]
FOLDERS = ("envs", "wrappers", "baselines", "benchmarks")
SUITES = ("games", "oracles", "golden", "contract")
MOST_SECONDS = 600
"""A run that takes longer counts as a failure: with a fault, games may never end."""
INTERRUPTED = 130
"""The exit code after Ctrl-C."""
ENOUGH = 5
"""A run stops after this many failing tests."""


def games() -> list[str]:
    """The games with faults to plant."""
    return sorted(f.stem for f in (ROOT / "tests/faults").glob("*.py") if f.stem != "__init__")


def faults_of(game: str) -> tuple[Fault, ...]:
    """The faults of a game."""
    found: tuple[Fault, ...] = importlib.import_module(f"tests.faults.{game}").FAULTS
    return found


def copy_library(to: Path) -> None:
    """Copy the library as a package to `to/site`, and the tests beside it."""
    caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/azumaya", to / "site/azumaya", ignore=caches)
    for folder in (*FOLDERS, "tests"):
        into = to / ("tests" if folder == "tests" else f"site/azumaya/{folder}")
        shutil.copytree(ROOT / folder, into, ignore=caches)
    shutil.copy(ROOT / "pyproject.toml", to)


def plant(fault: Fault, tree: Path) -> None:
    """Plant a fault in the copy; the text to replace must occur exactly once."""
    file = tree / "site/azumaya" / fault.file
    source = file.read_text()
    found = source.count(fault.right)
    assert found == 1, f"{fault.name}: {found} times in {fault.file}: {fault.right!r}"
    file.write_text(source.replace(fault.right, fault.wrong))


def run_tests(game: str, tree: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests of a game in the copy."""
    own = f"tests/games/test_{game}.py"
    suites = [own, *(f"tests/{suite}" for suite in SUITES if suite != "games")]
    options = [f"--maxfail={ENOUGH}", "-k", f"{game} and not interpreted"]
    return run_pytest(tree, [*suites, *options])


def run_pytest(tree: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run pytest in the copy, with a kernel cache of its own; raises `TimeoutExpired`."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "site"),
        "AZUMAYA_CACHE_DIR": str(tree / "cache"),
        "NUMBA_OPT": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=no", "-rfE", *words],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=False,
    )


def suites_that_fail(game: str, fault: Fault | None) -> dict[str, int]:
    """How many tests of each suite fail, at most `ENOUGH` in all, with a fault or without."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_library(tree)
        if fault is not None:
            plant(fault, tree)
        try:
            done = run_tests(game, tree)
        except subprocess.TimeoutExpired:
            return {"no end": 1}
    names = re.findall(r"^(?:FAILED|ERROR) tests/(\w+)", done.stdout, re.MULTILINE)
    if not names and done.returncode != 0:
        raise RuntimeError(f"{fault}: the tests did not run\n{done.stdout}{done.stderr}")
    return {suite: names.count(suite) for suite in SUITES if suite in names}


def chosen_faults(game: str | None, text: str) -> list[tuple[str, Fault]]:
    """The faults of one game or of all games whose names contain a text."""
    return [
        (name, fault)
        for name in ([game] if game else games())
        for fault in faults_of(name)
        if text in fault.name
    ]


def main(words: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.planted_faults", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--game", choices=games())
    parser.add_argument("--fault", default="", help="only faults whose name contains this text")
    args = parser.parse_args(words)
    chosen = chosen_faults(args.game, args.fault)
    if not chosen:
        names = ", ".join(fault.name for _, fault in chosen_faults(args.game, ""))
        parser.error(f"argument --fault: no name holds {args.fault!r}; there are {names}")
    done = missed = 0
    try:
        for game, fault in chosen:
            caught = suites_that_fail(game, fault)
            done, missed = done + 1, missed + (not caught)
            by = ", ".join(f"{suite} ({n})" for suite, n in caught.items()) or "NOTHING"
            print(f"| {game} | {fault.name} | {by} |", flush=True)
    except KeyboardInterrupt:
        print(f"stopped after {done} of {len(chosen)} faults", file=sys.stderr)
        return INTERRUPTED
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
