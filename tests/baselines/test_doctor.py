"""`azumaya doctor` tells what works, and notices what does not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from azumaya.baselines.cli import contract, doctor
from azumaya.envs import GAMES
from tests.commands import azumaya


def test_one_game_of_each_kind_is_checked() -> None:
    kinds = [game.name for game in doctor.one_of_each_kind()]
    assert kinds[0] == next(iter(GAMES))
    assert len(kinds) == len(set(kinds)) == 5


def test_a_sound_installation_is_found_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "one_of_each_kind", lambda: [GAMES["vierer_dominari"]])
    result = azumaya("doctor", "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 0, result.stdout
    assert report["ok"] is True
    names = {finding["name"] for finding in report["findings"]}
    assert {"python", "azumaya", "numba", "cache", "cuda", "vierer_dominari"} <= names


def test_games_that_differ_from_their_batch_are_found_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The batch is given another game than the one that is played alone."""
    alone, other = GAMES["vierer_dominari"], GAMES["score_dominari"]
    make = contract.AzumayaVectorEnv
    monkeypatch.setattr(
        contract, "AzumayaVectorEnv", lambda game, *rest, **given: make(other, *rest, **given)
    )
    (finding,) = doctor.check_games([alone])
    assert finding.state == doctor.WRONG
    assert "another observation" in finding.value
    monkeypatch.undo()
    twisted = replace(alone, words=replace(alone.words, write_text=lambda state, settings: "x"))
    (finding,) = doctor.check_games([twisted])
    assert finding.state == doctor.WRONG, "a text that reads back otherwise"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError("libcudart.so: cannot open\nmore"), "OSError: libcudart.so: cannot open"),
        (ImportError(""), "ImportError: "),
        (AttributeError("no torch"), "AttributeError: no torch"),
    ],
)
def test_a_broken_torch_is_reported(
    error: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(doctor, "make_vec", broken)
    assert doctor.gpu() == doctor.Finding("gpu", "cuda", told, doctor.NOTE)


def test_wrong_findings_end_with_their_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = doctor.Finding("games", "[/b]", "it does not run", doctor.WRONG)
    monkeypatch.setattr("azumaya.baselines.cli.doctor.examine", lambda every: [broken])
    result = azumaya("doctor")
    assert result.exit_code == 1
    assert "[/b]" in result.stdout
    assert "problems found: 1" in result.stdout


def test_a_cache_that_cannot_be_kept_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("open")
    place.chmod(0o777)
    monkeypatch.setenv("AZUMAYA_CACHE_DIR", str(place / "cache"))
    assert doctor.compile_cache().state == doctor.WRONG
    monkeypatch.setenv("AZUMAYA_CACHE_DIR", "")
    assert doctor.compile_cache().state == doctor.NOTE
