"""The comparison with peers, tested with its own script and environment."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from azumaya.benchmarks.peers import compare, environments
from azumaya.benchmarks.peers.catalogue import PEERS, Peer
from azumaya.benchmarks.peers.environments import InstallError, environment_of, why
from azumaya.benchmarks.results import ResultsError, is_measured, read_run
from tests.benchmarks.conftest import QUIET
from tests.cases import TESTED, YARDSTICK

GAME = next(iter(TESTED.values()))
FIGURES = dict.fromkeys(
    (
        "CartPole-v1",
        "bare",
        "uct",
        "alphabeta",
        "aec raw_env",
        "aec env",
        "batch step",
        "batch loop",
    ),
    100.0,
)
TWICE = {YARDSTICK: dict.fromkeys(FIGURES, 200.0)}
"""The values of the yardstick, which differ from those of our other game."""
SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from script import Script
script = Script("a peer")
for game in ("go", "hex", "draughts"):
    if script.wants(game):
        for batch in (1, 2):
            with script.attempt(game, f"batch {{batch}}"):
                if game == "hex":
                    raise ValueError("no hex here")
                script.row(game, f"batch {{batch}}", "batch step", "nothing", lambda: 50)
"""


@pytest.fixture
def peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Peer:
    """A peer whose script needs no packages and runs in this environment."""
    script = tmp_path / "a_peer.py"
    script.write_text(SCRIPT.format(here=str(compare.HERE)))
    monkeypatch.setattr(compare, "environment_of", lambda *_: Path(sys.executable))
    monkeypatch.setattr(compare, "ours", lambda _, game: {**FIGURES, **TWICE.get(game, {})})
    return Peer("a_peer", str(script), (), connect_four="draughts")


def comparison(tmp_path: Path, only: str = "") -> compare.Comparison:
    return compare.Comparison(GAME, tmp_path / "place", 0.001, 2, only)


def test_rows_are_paired_with_ours(peer: Peer, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert compare.compare(comparison(tmp_path, "go,hex"), [peer], folder, QUIET)
    header, rows = read_run(folder)
    go = [row for row in rows if row.get("game") == "go"]
    assert [row["config"] for row in go] == ["batch 1", "batch 2"]
    for row in go:
        assert row["ours"] == 100
        assert row["ratio"] == pytest.approx(100 / row["value"], rel=1e-3)
    assert [row["error"] for row in rows if row.get("game") == "hex"] == [
        "ValueError: no hex here"
    ] * 2
    assert not [row for row in rows if row.get("game") == "draughts"]
    text = compare.render(header, rows)
    assert text.count("| a_peer | go |") == 1  # the better batch size
    assert "no hex here" in text


def test_only_a_finished_peer_is_not_run_again(
    peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with a row that could not be measured is; its new rows take the place of all old ones."""
    for only, again in (("go", False), ("go,hex", True)):
        run, folder = comparison(tmp_path, only), tmp_path / only
        assert compare.compare(run, [peer], folder, QUIET)
        rows = read_run(folder)[1]
        with monkeypatch.context() as patch:
            patch.setattr(compare, "run_script", lambda *_: ([], ""))
            assert compare.compare(run, [peer], folder, QUIET)
        (*others, ending) = read_run(folder)[1]
        assert (ending["key"], ending["rows"]) == ("peer/a_peer", 0 if again else 2)
        assert others == ([] if again else rows[:-1])


def test_the_same_game_has_a_table_of_its_own(peer: Peer, tmp_path: Path) -> None:
    """A peer's Connect Four is compared with ours and with the game that was named."""
    folder = tmp_path / "out"
    compare.compare(comparison(tmp_path, "go,draughts"), [peer], folder, QUIET)
    header, rows = read_run(folder)
    found = [(row["game"], row["ours_game"], row["ours"]) for row in rows if "ours_game" in row]
    assert found == [
        *[("go", GAME.name, 100)] * 2,
        *[("draughts", GAME.name, 100)] * 2,
        *[("draughts", YARDSTICK.name, 200)] * 2,
    ]
    same, main = compare.render(header, rows).split("## Every peer")
    assert main.count("| a_peer | draughts |") == same.count("| a_peer | draughts |") == 1
    assert "| a_peer | go |" not in same


def test_a_peer_that_cannot_be_installed_is_reported(
    peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Path:
        raise InstallError("no such package")

    monkeypatch.setattr(compare, "environment_of", refuse)
    compare.compare(comparison(tmp_path), [peer], tmp_path / "out", QUIET)
    header, rows = read_run(tmp_path / "out")
    assert [row["error"] for row in rows] == ["InstallError: no such package"]
    assert "no such package" in compare.render(header, rows)


def test_a_script_that_fails_half_way_is_reported(peer: Peer, tmp_path: Path) -> None:
    """What it had measured is kept, but the peer is not finished."""
    script = Path(peer.script)
    whole = script.read_text()
    script.write_text(whole + "raise SystemExit('broken half-way')\n")
    run, folder = comparison(tmp_path, "go"), tmp_path / "out"
    compare.compare(run, [peer], folder, QUIET)
    header, rows = read_run(folder)
    assert ["value" in row for row in rows] == [True, True, False]
    assert "exit code 1: broken half-way" in rows[-1]["error"]
    assert "broken half-way" in compare.render(header, rows)
    script.write_text(whole)
    compare.compare(run, [peer], folder, QUIET)
    assert all(is_measured(row) for row in read_run(folder)[1])


def test_a_run_with_other_repeats_cannot_continue(peer: Peer, tmp_path: Path) -> None:
    run, folder = comparison(tmp_path, "go"), tmp_path / "out"
    compare.compare(run, [peer], folder, QUIET)
    with pytest.raises(ResultsError, match="settings peers"):
        compare.compare(replace(run, repeats=3), [peer], folder, QUIET)


def test_all_figures_of_our_game_are_measured() -> None:
    found = compare.ours(compare.Comparison(YARDSTICK, Path(), 0.001, 1), YARDSTICK)
    assert found.keys() == FIGURES.keys() == {"CartPole-v1", *compare.INCLUDES}
    assert all(value > 0 for value in found.values())


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_peer_is_pinned_and_has_a_script(peer: Peer) -> None:
    assert all("==" in package for package in (*peer.packages, *peer.first))
    source = (compare.HERE / peer.script).read_text()
    assert any(f'"{name}"' in source for name in FIGURES) or 'f"aec {form}"' in source
    compile(source, peer.script, "exec")


def test_a_python_is_found_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts run in another folder."""
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    what = compare.Comparison(GAME, tmp_path, python=Path("env/bin/python"))
    assert what.python == python


def test_an_environment_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[list[str]] = []
    monkeypatch.setattr(environments.venv, "create", lambda at, **_: Path(at).mkdir(parents=True))
    monkeypatch.setattr(environments, "_pip", lambda _, words: made.append(list(words)))
    peer = Peer("x", "x.py", ("x==1",), first=("y==2",))
    python = environment_of(peer, tmp_path)
    assert made == [["install", "y==2"], ["install", "x==1"]]
    assert environment_of(peer, tmp_path) == python
    assert len(made) == 2
    assert environment_of(Peer("x", "x.py", ("x==2",)), tmp_path) != python


def test_sources_are_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def pip(_: Path, words: list[str], variables: dict[str, str]) -> None:
        made.append(words[0])
        if words[0] == "download":
            source = Path(variables["TMPDIR"]) / "pip-download-1" / "x_1"
            source.mkdir(parents=True)
            (source / "setup.py").touch()
            raise InstallError("does not build as it is")
        assert (Path(words[-1]) / "ready").exists()

    monkeypatch.setattr(environments.venv, "create", lambda at, **_: Path(at).mkdir(parents=True))
    monkeypatch.setattr(environments, "_pip", pip)
    ready = lambda source: (source / "ready").touch()  # noqa: E731
    environment_of(Peer("x", "x.py", ("x==1",), prepare=ready), tmp_path)
    assert made == ["download", "install"]
    monkeypatch.setattr(environments, "_pip", lambda *_: None)
    with pytest.raises(InstallError, match="no source of y==1"):
        environment_of(Peer("y", "y.py", ("y==1",), prepare=ready), tmp_path)


def test_the_reason_is_the_error_of_pip() -> None:
    output = "collecting\nERROR: no matching distribution\nnotice: new pip\n"
    assert why(output) == "ERROR: no matching distribution"
    assert why("killed\n") == "killed"
    assert why("") == "pip failed silently"
