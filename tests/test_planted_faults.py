"""Every planted fault is caught; without one, nothing is."""

from __future__ import annotations

import pytest

from tests.faults import Fault
from tests.planted_faults import copy_library, faults_of, games, plant, suites_that_fail

PLANTED = [(game, fault) for game in games() for fault in faults_of(game)]


def test_every_fault_can_be_planted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The texts to replace stand in the sources, so that no fault is planted in vain."""
    tree = tmp_path_factory.mktemp("tree")
    copy_library(tree)
    for _, fault in PLANTED:
        file = tree / "site/azumaya" / fault.file
        source = file.read_text()
        plant(fault, tree)
        assert file.read_text() != source
        file.write_text(source)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "fault"), PLANTED, ids=lambda value: getattr(value, "name", value)
)
def test_a_planted_fault_is_caught(game: str, fault: Fault) -> None:
    """By the tests of its game."""
    assert suites_that_fail(game, fault)


@pytest.mark.slow
@pytest.mark.parametrize("game", games())
def test_without_a_fault_nothing_fails(game: str) -> None:
    """The same tests pass in an unchanged copy."""
    assert suites_that_fail(game, None) == {}
