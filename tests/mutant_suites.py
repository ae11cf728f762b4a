"""Which tests run for a mutant, and how: the ones most likely to catch it first.

A mutant is tried in two stages, each a run of pytest that stops at the first failure. The quick
stage needs few compiled kernels: for rules it replays the goldens as plain Python, which catches
most mutants in seconds. The second stage is all of the suite that concerns the file. Both run in a
copy of the library, with a cache of compiled kernels that all copies share (`mutant_copy.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from azumaya.benchmarks.child import run_child
from tests.planted_faults import FOLDERS, ROOT, copy_library

LEAST_SECONDS = 60.0
SLOWER = 3.0
"""A stage may take this many times as long as without a mutant, and `LEAST_SECONDS` more."""
LONGEST = 3600.0
"""Seconds that a stage may take without a mutant."""

_RULES = (
    "tests/games", "tests/golden", "tests/oracles", "tests/contract", "tests/property",
    "tests/render",
)  # fmt: skip
_MATCH = "tests/wrappers/test_match.py"
"""The match of two games of Sudoku Moyo shares its board."""
_QUICK = "(test_playthrough or by_hand) and not interpreted"
"""Goldens that take seconds as plain Python; most perft files take a minute."""
_ONE_GAME = "connect_four or not (sudoku or dominari or abalone)"
"""Tests of the yardstick and those that do not run for each game: little to compile."""


@dataclass(frozen=True)
class Stage:
    """One run of pytest.

    Attributes:
        words: pytest's arguments.
        interpreted: whether kernels are plain Python.
    """

    words: tuple[str, ...]
    interpreted: bool = False


def of_games(names: str, *more: str) -> tuple[Stage, Stage]:
    """The stages for the rules of some games: a `-k` expression of their names, and more files."""
    quick = Stage(("tests/golden", "-k", f"({names}) and {_QUICK}"), interpreted=True)
    names = " or ".join((names, *(Path(file).stem for file in more)))
    return (quick, Stage((*_RULES, *more, "-k", f"({names}) and not interpreted")))


def of_adapters(*folders: str) -> tuple[Stage, Stage]:
    """The stages for an adapter: its tests with the yardstick, then with every game."""
    return (Stage((*folders, "-k", _ONE_GAME)), Stage(folders))


_DOMINARI = "vierer or revers or score"
_TOLD_BY_MOYO = (
    Stage(("tests/games/test_sudoku_moyo_endgame.py",)),
    Stage(("tests/games", "tests/search/test_bounds.py", "-k", "sudoku_moyo or bounds")),
)
_TOLD_BY_HORIKOMI = (
    Stage(("tests/games/test_sudoku_horikomi_filling.py",)),
    Stage(("tests/games", "tests/search/test_bounds.py", "-k", "sudoku_horikomi or bounds")),
)
"""The stages for what a solver is told: no rule depends on it."""
_GOLDENS = (
    "tests/golden",
    "-k",
    f"test_bits or test_rng or (connect_four or sudoku_moyo or vierer) and {_QUICK}",
)

STAGES: tuple[tuple[str, tuple[Stage, Stage]], ...] = (
    (
        "envs/games/shima/match",
        (
            Stage((_MATCH, "-k", "swaps or impossible"), True),
            Stage((_MATCH, *_RULES, "-k", "match")),
        ),
    ),
    ("envs/games/shima/endgame", _TOLD_BY_MOYO),
    ("envs/games/shima/narrowing", _TOLD_BY_MOYO),
    ("envs/games/shima/race", _TOLD_BY_MOYO),
    ("envs/games/shima/filling", _TOLD_BY_HORIKOMI),
    ("envs/games/shima/moyo", of_games("sudoku_moyo")),
    ("envs/games/shima/horikomi", of_games("sudoku_horikomi")),
    ("envs/games/shima/", of_games("sudoku_moyo or sudoku_horikomi", _MATCH)),
    ("envs/games/tiles/", of_games("sudoku_tiles")),
    ("envs/games/dominari/vierer", of_games("vierer")),
    ("envs/games/dominari/revers", of_games("revers")),
    ("envs/games/dominari/score", of_games("score")),
    ("envs/games/dominari/", of_games(_DOMINARI)),
    ("envs/games/halma/", of_games("halma")),
    ("envs/games/abalone/", of_games("abalone")),
    (
        "envs/adapters/aec/",
        of_adapters("tests/contract", "tests/vector/test_against_aec.py", "tests/wrappers"),
    ),
    ("envs/adapters/", of_adapters("tests/vector", "tests/wrappers", "tests/contract")),
    (
        "envs/kernels/",
        (
            Stage(("tests/property/test_bits.py", "tests/property/test_rng.py", *_GOLDENS), True),
            Stage(("tests/property", "tests/compile", "tests/vector", "tests/golden")),
        ),
    ),
    (
        "envs/geometry/",
        (Stage(_GOLDENS, True), Stage(("tests/games", "tests/property", "tests/golden"))),
    ),
)
"""By the beginning of a file's path, the first that fits."""

LEFT_OUT = ("envs/adapters/cuda/", "envs/kernels/cache", "envs/kernels/private_folder.py")
"""Files without mutants: a GPU's code has an emulator, the compile cache tests that kill it."""


def stages_of(file: str) -> tuple[Stage, Stage] | None:
    """The quick and the second stage for the mutants of a file; None where it has no mutants."""
    if file.startswith(LEFT_OUT):
        return None
    return next((stages for beginning, stages in STAGES if file.startswith(beginning)), None)


class UncleanError(Exception):
    """The tests fail without a mutant, so nothing can be said of one."""


class Suites:
    """Runs stages in copies of the library.

    Args:
        work: a folder that keeps compiled kernels and the times of stages between commands.
    """

    def __init__(self, work: Path) -> None:
        self._cache, self._times_file = work / "cache", work / "times.json"
        work.mkdir(parents=True, exist_ok=True)
        self.version = version_of_sources()
        known = json.loads(self._times_file.read_text()) if self._times_file.exists() else {}
        self._times: dict[str, float] = known.get(self.version, {})

    def catches(self, stage: Stage, file: str, source: bytes) -> str:
        """What fails in a stage where a file has other content; an empty text if nothing does.

        Raises:
            UncleanError: the tests fail with the file as it is.
        """
        limit = LEAST_SECONDS + SLOWER * self._clean_seconds(stage)
        with tempfile.TemporaryDirectory() as folder:
            copy_library(Path(folder))
            (Path(folder) / "site/azumaya" / file).write_bytes(source)
            caught = self._failure(stage, Path(folder), limit)
        return f"{caught} (interpreted)" if caught and stage.interpreted else caught

    def _clean_seconds(self, stage: Stage) -> float:
        """How long a stage takes without a mutant; found out at the first question."""
        name = json.dumps([stage.words, stage.interpreted])
        if name not in self._times:
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                copy_library(Path(folder))
                failed = self._failure(stage, Path(folder), LONGEST)
            if failed:
                raise UncleanError(f"without a mutant {failed} fails (pytest {stage.words})")
            self._times[name] = time.monotonic() - began
            self._times_file.write_text(json.dumps({self.version: self._times}))
        return self._times[name]

    def _failure(self, stage: Stage, tree: Path, limit: float) -> str:
        """The first test that fails; an empty text if none does."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(tree / "site"),
            "AZUMAYA_COPY": str(tree / "site"),
            "AZUMAYA_CACHE_DIR": str(self._cache.resolve()),
            "NUMBA_OPT": "1",
            "NUMBA_DISABLE_JIT": str(int(stage.interpreted)),
        }
        options = ["-p", "tests.mutant_copy", "-p", "no:cacheprovider", "-p", "no:nbmake"]
        options.append("--hypothesis-seed=0")
        command = [sys.executable, "-m", "pytest", *options, "--tb=no", "-rfE", "-x", *stage.words]
        try:
            done = run_child(command, limit, environment, tree)
        except subprocess.TimeoutExpired:
            return "no end"
        if done.returncode == 0:
            return ""
        rows = [row for row in done.stdout.splitlines() if row.startswith(("FAILED", "ERROR"))]
        return rows[0].split()[1] if rows else f"pytest: exit code {done.returncode}"


def version_of_sources() -> str:
    """A digest of the library and its tests: what a mutant survived may fall with another."""
    state = hashlib.blake2b(digest_size=8)
    for folder in (*FOLDERS, "tests"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            state.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return state.hexdigest()
