"""Perft files are recounted and playthroughs replayed; every game has some of both.

`tests/run.py interpreted` runs these tests again with the kernels as plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import pytest

from azumaya.envs.adapters.lookahead import DECIDED, value_kernel
from azumaya.envs.game import TERMINATED, Game
from azumaya.envs.kernels.compile import INTERPRETED
from tests.cases import TESTED
from tests.golden import perft, playthrough, told

QUICK, BY_ORACLE, BY_ORACLE_AT_LENGTH = 1_000, 60, 3_000

PERFT_FILES = sorted(perft.FOLDER.glob("*.txt"))
PLAYTHROUGHS = sorted(playthrough.FOLDER.glob("*/*.json"))


def test_no_game_lacks_goldens() -> None:
    """Each game has a perft file with its derivation, two playthroughs, and what is told."""
    lacking = [
        name for name in TESTED
        if not perft.files_of(name) or len(playthrough.files_of(name)) < 2
        or not (told.FOLDER / f"{name}.json").exists()
    ]  # fmt: skip
    assert lacking == [], "run: python -m tests.golden.record --game ..."


def test_every_golden_belongs_to_a_game() -> None:
    """Every perft file and playthrough belongs to a game and is tested."""
    known = {file for name in TESTED for file in perft.files_of(name)}
    known |= {file for name in TESTED for file in playthrough.files_of(name)}
    assert set(PERFT_FILES) | set(PLAYTHROUGHS) == known


@pytest.mark.parametrize("file", PERFT_FILES, ids=lambda file: file.stem)
def test_perft(file: Path) -> None:
    """The kernels give the recorded counts, and so does the oracle at lower depths."""
    derivation, sections = perft.read_perft(file)
    assert "Derivation" in derivation
    assert sections
    for section in sections:
        check_section(section, QUICK, BY_ORACLE)


@pytest.mark.slow
@pytest.mark.parametrize("file", PERFT_FILES, ids=lambda file: file.stem)
def test_perft_at_all_depths(file: Path) -> None:
    """The kernels recount every recorded line, the oracle as many as it can in reasonable time."""
    for section in perft.read_perft(file)[1]:
        most = max(row[0] for row in section.rows)
        assert check_section(section, most, BY_ORACLE_AT_LENGTH) == len(section.rows)


def check_section(section: perft.Section, most: int, most_by_oracle: int) -> int:
    """Recount a section; returns the number of lines counted by the kernels."""
    assert section.rows, section.position
    _, position = section.start()
    rows = tuple(perft.count(position, most, len(section.rows)))
    assert rows == up_to(most, section.rows), section.position
    by_oracle = tuple(perft.count_by_oracle(section, most_by_oracle))
    wanted = up_to(most_by_oracle, section.rows)
    assert by_oracle[: len(section.rows)] == wanted, section.position
    return len(rows)


def up_to(most: int, rows: Sequence[perft.Row]) -> tuple[perft.Row, ...]:
    """The rows that are counted where no depth has more than `most` sequences."""
    return tuple(takewhile(lambda row: row[0] <= most, rows))


@pytest.mark.parametrize("file", PLAYTHROUGHS, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_playthrough(file: Path) -> None:
    """A playthrough is replayed from its seed and, if nothing is hidden, from its text.

    In plain Python, where drawing a start from thousands of puzzles is slow, only the first
    playthrough of each game is replayed from its seed.
    """
    played = playthrough.read_playthrough(file)
    if not INTERPRETED or file == playthrough.files_of(played.game)[0]:
        played.replay(from_seed=True)
    played.replay(from_seed=False)


@pytest.mark.parametrize("seeds", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)
def test_told(game: Game, seeds: int) -> None:
    """Search and learners are told what is recorded, in one game of each variant or in all.

    In plain Python, in one game of one variant.
    """
    recorded, cases = told.read_told(game), told.cases_told(game)
    assert list(recorded) == [case.label for case in cases]
    for case in cases[: 1 if INTERPRETED else None]:
        for seed, digests in enumerate(recorded[case.label][:seeds]):
            assert told.told_of(case, seed) == digests, (case, seed)


@pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)
def test_the_evaluation_of_a_finished_game_is_its_payoff(game: Game) -> None:
    """For both players and every dtype of `payoff`."""
    states = game.new_states(1)
    states["over"] = TERMINATED
    for payoff in (-1, 0, 2):
        states["payoff"] = payoff
        assert [value_kernel(game)(states[0], p) for p in (0, 1)] == [
            DECIDED * payoff,
            -DECIDED * payoff,
        ]
