"""Which tests a mutant is tried with, and how: the ones most likely to catch it first.

First come the tests that run its function (`cover.py`), the quickest first. Coverage does not see
compiled kernels, so for their files two stages follow, each a run of pytest that stops at the first
failure. The quick stage needs few kernels: for rules it replays the goldens as plain Python, which
catches most mutants in seconds. The second stage is all of the suite that concerns the file.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.library import copy_library
from tests.mutants.cover import cover_of
from tests.mutants.edits import Mutant
from tests.mutants.running import LONGEST, failure

LEAST_SECONDS = 60.0
SLOWER = 4.0
"""A stage may take this many times as long as without a mutant, and `LEAST_SECONDS` more."""
COVERING_SECONDS = 240.0
"""So long the tests that run a function may take."""
FIRST_SECONDS, FIRST_FILES = 5.0, 3
"""What is tried first of them: few files to collect, and most mutants are caught there."""

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
_HINTED = "hints or bounds or limit or connect_four"
_TOLD = Stage(("tests/golden", "-k", "told"))
"""What search and learners are told: no rule depends on it."""
_GOLDENS = (
    "tests/golden",
    "-k",
    f"test_bits or test_rng or (connect_four or sudoku_moyo or vierer) and {_QUICK}",
)

STAGES: tuple[tuple[str, tuple[Stage, ...]], ...] = (
    (
        "envs/games/sudoku_moyo_match/",
        (
            Stage((_MATCH, "-k", "swaps or impossible"), True),
            Stage((_MATCH, *_RULES, "-k", "match")),
        ),
    ),
    (
        "baselines/search/hints/",
        (_TOLD, Stage(("tests/games", "tests/search", "tests/values", "-k", _HINTED))),
    ),
    ("envs/games/sudoku_moyo/", of_games("sudoku_moyo")),
    ("envs/games/sudoku_horikomi/", of_games("sudoku_horikomi")),
    ("envs/games/_shima/", of_games("sudoku_moyo or sudoku_horikomi", _MATCH)),
    ("envs/games/sudoku_tiles/", of_games("sudoku_tiles")),
    ("envs/games/vierer_dominari/", of_games("vierer")),
    ("envs/games/revers_dominari/", of_games("revers")),
    ("envs/games/score_dominari/", of_games("score")),
    ("envs/games/_dominari/", of_games(_DOMINARI)),
    ("envs/games/halma_dominari/", of_games("halma")),
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
    ("baselines/search/", of_adapters("tests/search", "tests/games/test_connect_four_search.py")),
    ("baselines/values/", (*of_adapters("tests/values"), _TOLD)),
    (
        "baselines/agents/",
        (*of_adapters("tests/baselines/test_agents.py", "tests/baselines/test_network.py"), _TOLD),
    ),
    # runs in processes that end without a word to coverage
    ("baselines/classroom/linux", (Stage(("tests/classroom/test_isolation.py",)),)),
    ("baselines/arena/kernels", of_adapters("tests/baselines/test_arena.py")),
    # what is drawn once and kept is covered by the test that happened to be first
    ("envs/render/", (Stage(("tests/render",)),)),
    (
        "envs/geometry/",
        (Stage(_GOLDENS, True), Stage(("tests/games", "tests/property", "tests/golden"))),
    ),
)
"""By the beginning of a file's path, the first that fits."""


def stages_of(file: str) -> tuple[Stage, ...]:
    """The stages of a file with compiled kernels; none for another."""
    return next((stages for beginning, stages in STAGES if file.startswith(beginning)), ())


class UncleanError(Exception):
    """The tests fail without a mutant, so nothing can be said of one."""


class Trials:
    """Tries mutants in copies of the library.

    Args:
        work: a folder that keeps compiled kernels, the cover, and the times of stages between
            commands.
    """

    def __init__(self, work: Path) -> None:
        self._cache, self._times_file = work / "cache", work / "times.json"
        self._cover = cover_of(work / "cover.json", self._cache)
        self.version = self._cover.version
        known = json.loads(self._times_file.read_text()) if self._times_file.exists() else {}
        self._times: dict[str, float] = known.get(self.version, {})

    def catches(self, mutant: Mutant) -> str:
        """The first test that fails with a mutant; an empty text if none does.

        Raises:
            UncleanError: the tests fail with the file as it is.
        """
        with tempfile.TemporaryDirectory() as folder:
            copy_library(Path(folder))
            (Path(folder) / "site/azumaya" / mutant.file).write_bytes(mutant.source())
            for covering in self._covering(mutant):
                seconds = sum(map(self._cover.seconds.__getitem__, covering))
                limit = LEAST_SECONDS + SLOWER * seconds
                if caught := failure(covering, Path(folder), self._cache, limit):
                    return caught
            for stage in stages_of(mutant.file):
                limit = LEAST_SECONDS + SLOWER * self._clean_seconds(stage)
                words, interpreted = list(stage.words), stage.interpreted
                if caught := failure(words, Path(folder), self._cache, limit, interpreted):
                    return f"{caught} (interpreted)" if interpreted else caught
        return ""

    def _covering(self, mutant: Mutant) -> Iterator[list[str]]:
        """The tests that run a mutant's function: a few of the quickest, then the others."""
        covering = self._cover.of(mutant.file, mutant.function, COVERING_SECONDS)
        quick = self._cover.of(mutant.file, mutant.function, FIRST_SECONDS)
        files = list(dict.fromkeys(name.partition("::")[0] for name in quick))[:FIRST_FILES]
        first = [name for name in quick if name.partition("::")[0] in files]
        others = [name for name in covering if name not in set(first)]
        yield from filter(None, (first, others))

    def _clean_seconds(self, stage: Stage) -> float:
        """How long a stage takes without a mutant; found out at the first question."""
        name = json.dumps([stage.words, stage.interpreted])
        if name not in self._times:
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                copy_library(Path(folder))
                words, tree = list(stage.words), Path(folder)
                failed = failure(words, tree, self._cache, LONGEST, stage.interpreted)
            if failed:
                raise UncleanError(f"without a mutant {failed} fails (pytest {stage.words})")
            self._times[name] = time.monotonic() - began
            self._times_file.write_text(json.dumps({self.version: self._times}))
        return self._times[name]
