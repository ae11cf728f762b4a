"""Every game has an oracle that shares nothing with the library and agrees with it."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.cases import TESTED, cases_of
from tests.oracles import has_oracle
from tests.oracles.crosscheck import Check, Progress, main, run_batch
from tests.oracles.lockstep import (
    MODES,
    ORDER,
    Episode,
    MismatchError,
    Table,
    episodes,
    tables_of,
)

PLIES = 4_000
HERE = Path(__file__).parent
USES_THE_LIBRARY = {"lockstep.py", "crosscheck.py", Path(__file__).name}


def test_no_game_lacks_an_oracle() -> None:
    """There is a module of the game's name in this folder."""
    assert [name for name in TESTED if not has_oracle(name)] == []


@pytest.mark.parametrize("name", TESTED)
def test_random_games_in_lockstep(name: str) -> None:
    """A short cross-check; the long one is `python -m tests.oracles.crosscheck`."""
    tables = tables_of(TESTED[name])
    plies: Counter[str] = Counter()
    for number, episode in enumerate(episodes(tables, seed=1)):
        episode.run()
        plies[episode.mode] += episode.plies
        if plies.total() >= PLIES and number >= len(ORDER) * len(tables):
            break
    assert set(plies) == set(MODES)
    assert plies.total() - plies["plain"] >= plies.total() / 5


def test_oracles_share_nothing_with_the_library() -> None:
    """Oracles import only the standard library and other oracles."""
    for file in HERE.glob("*.py"):
        if file.name in USES_THE_LIBRARY:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.partition(".")[0] not in ("azumaya", "numpy", "numba"), file.name


@pytest.fixture
def first_game() -> str:
    """The first game that has an oracle."""
    return next(name for name in TESTED if has_oracle(name))


def test_a_disagreement_is_reported(first_game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A move that the oracle does not allow raises an error with all moves of the game."""
    table = Table(cases_of(TESTED[first_game])[0])
    monkeypatch.setattr("tests.oracles.lockstep.OVER", {0: "", 1: "elsewise", 2: "truncated"})
    with pytest.raises(MismatchError, match=r"over: .*\n(.|\n)*start .*\nmoves "):
        Episode(table, "plain", 0).run()


def test_the_command_continues_where_it_stopped(
    first_game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches may finish in any order; only those without a gap before them are kept."""
    monkeypatch.setattr("tests.oracles.crosscheck.BATCH", 3)
    check = Check(first_game, 5, 10_000, tmp_path)
    batches = [check.next_batch() for _ in range(2)]
    first, second = (run_batch(*batch) for batch in batches)
    check.take(second.next_episode - 3, second)
    assert check.progress.total == 0
    check.take(first.next_episode - 3, first)
    again = Check(first_game, 5, 10_000, tmp_path)
    assert again.progress == check.progress
    assert again.progress.plies == first.plies + second.plies
    assert again.next_batch() == (first_game, 5, 6, 3)


def test_the_command_begins_again_when_the_sources_have_changed(
    first_game: str, tmp_path: Path
) -> None:
    """What was checked earlier says nothing of the library as it is now."""
    file = tmp_path / f"{first_game}-5.json"
    for sources in ({"sources": "others"}, {}):  # {}: kept before there was a version
        kept = {"game": first_game, "seed": 5, "next_episode": 6, "plies": {"plain": 900}}
        file.write_text(json.dumps(kept | sources))
        check = Check(first_game, 5, 500, tmp_path)
        assert not check.is_done
        assert check.next_batch()[2] == 0


def test_the_command_runs(
    first_game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints a summary."""
    arguments = ["--game", first_game, "--plies", "500", "--jobs", "1", "--state", str(tmp_path)]
    assert main(arguments) == 0
    assert "500 plies" in capsys.readouterr().out


def test_the_command_fails_after_a_disagreement(
    first_game: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    check = Check(first_game, 0, 500, tmp_path)
    monkeypatch.setattr("tests.oracles.lockstep.OVER", {0: "", 1: "elsewise", 2: "truncated"})
    check.take(0, run_batch(*check.next_batch()))  # here: the command's processes have no fault
    assert main(["--game", first_game, "--plies", "500", "--state", str(tmp_path)]) == 1
    assert "MISMATCH" in capsys.readouterr().out


def test_the_command_fails_without_special_plies(
    first_game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Check(first_game, 0, 500, tmp_path)
    check.take(0, Progress(first_game, 0, 1, Counter(plain=500)))
    assert main(["--game", first_game, "--plies", "500", "--state", str(tmp_path)]) == 1
    assert "0% special" in capsys.readouterr().out
