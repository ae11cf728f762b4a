"""Every planted fault is caught, and without one no test fails."""

from __future__ import annotations

import pytest

from tests import planted_faults
from tests.faults import Fault
from tests.planted_faults import copy_library, faults_of, games, plant, suites_that_fail

PLANTED = [(game, fault) for game in games() for fault in faults_of(game)]


def test_every_fault_can_be_planted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The text that each fault replaces occurs in the sources."""
    tree = tmp_path_factory.mktemp("tree")
    copy_library(tree)
    for _, fault in PLANTED:
        file = tree / "site/azumaya" / fault.file
        source = file.read_text()
        plant(fault, tree)
        assert file.read_text() != source
        file.write_text(source)


def test_ctrl_c_ends_the_command_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter([{"games": 2}])

    def stopped(*arguments: object) -> dict[str, int]:
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr(planted_faults, "suites_that_fail", stopped)
    game, fault = PLANTED[0]
    assert planted_faults.main(["--game", game]) == 130
    said = capsys.readouterr()
    assert said.out == f"| {game} | {fault.name} | games (2) |\n"
    assert said.err == f"stopped after 1 of {len(faults_of(game))} faults\n"


def test_a_fault_that_no_test_catches_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    game, fault = PLANTED[0]
    for caught, status in (({}, 1), ({"games": 1}, 0)):
        monkeypatch.setattr(planted_faults, "suites_that_fail", lambda *_, caught=caught: caught)
        assert planted_faults.main(["--game", game, "--fault", fault.name]) == status


def test_unknown_faults_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        planted_faults.main(["--fault", "no such fault"])
    assert end.value.code == 2
    assert "--fault: no name holds 'no such fault'; there are" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "fault"), PLANTED, ids=lambda value: getattr(value, "name", value)
)
def test_a_planted_fault_is_caught(game: str, fault: Fault) -> None:
    """The tests of the game catch the fault."""
    assert suites_that_fail(game, fault)


@pytest.mark.slow
@pytest.mark.parametrize("game", games())
def test_without_a_fault_nothing_fails(game: str) -> None:
    """The same tests pass in an unchanged copy."""
    assert suites_that_fail(game, None) == {}
