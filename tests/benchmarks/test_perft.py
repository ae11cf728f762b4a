"""Perft: counts by the kernel are those of plain recursion, and those that the docs publish."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from azumaya.baselines.search import HiddenDrawsError
from azumaya.benchmarks.studies import perft as study
from azumaya.envs import GAMES, Position
from azumaya.envs.games.abalone.game import LAYOUTS
from tests.cases import YARDSTICK, random_line
from tests.commands import invoke, refused
from tests.golden.perft import perft

PAGE = Path(__file__).parents[2] / "docs" / "games" / "abalone.md"


@pytest.mark.parametrize(("name", "depth"), [(YARDSTICK.name, 5), ("abalone", 3)])
def test_counts_are_those_of_plain_recursion(name: str, depth: int) -> None:
    start = Position(name)
    assert list(study.perft(start, depth)) == [perft(start, d) for d in range(1, depth + 1)]


def test_nothing_follows_the_end_of_a_game() -> None:
    late = random_line(Position(YARDSTICK), np.random.default_rng(2))[-5]
    counts = list(study.perft(late, 10))
    assert counts == [perft(late, depth) for depth in range(1, 11)]
    assert counts[4] < counts[3] * len(late.legal_actions())


def test_hidden_draws_are_refused() -> None:
    with pytest.raises(HiddenDrawsError):
        list(study.perft(Position("sudoku_tiles"), 2))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_published_counts_of_abalone(layout: str) -> None:
    """Depths that take less than a second."""
    row = re.search(rf"^\| `{layout}` \| ([\d, |]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert row
    published = [int(count.replace(",", "")) for count in row[1].split(" | ")]
    assert len(published) == 5
    start = Position(GAMES["abalone"], layout=layout)
    assert list(study.perft(start, 4)) == published[:4]


def test_the_command() -> None:
    done = invoke(study.main, "--game", "connect_four", "--depth", 3)
    assert done.exit_code == 0, done.output
    assert [line.split(" (")[0] for line in done.output.splitlines()] == ["1 7", "2 49", "3 343"]
    refused(invoke(study.main, "--game", "sudoku_tiles"), "hidden")
