"""The command line of the benchmarks."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azumaya.benchmarks import __main__ as command
from azumaya.benchmarks import networks, report
from azumaya.benchmarks.plan import Budget
from azumaya.envs.errors import DeviceError
from tests.benchmarks.conftest import WIDTH
from tests.cases import YARDSTICK

GAME = YARDSTICK.name
runner = CliRunner()


def test_bench_writes_rows_report_and_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = Budget("tiny", 0.001, 1, (4,), ("packed",), starts=0, copies=4, learners=0)
    monkeypatch.setitem(command.BUDGETS, "quick", tiny)
    monkeypatch.setattr(networks, "WIDTH", WIDTH)
    words = ["--quick", "--game", GAME, "--output", str(tmp_path)]
    assert runner.invoke(command.app, words).exit_code == 0
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"rows.jsonl", "report.md", "games.svg", "batch-sizes.svg"}
    page = tmp_path / "page.md"
    page.write_text("\n".join(["mine", *report.marks(report.BENCH), ""]))
    done = runner.invoke(command.app, ["report", str(tmp_path), "--into", str(page)])
    assert done.exit_code == 0
    assert page.read_text().startswith("mine\n")
    assert f"| {GAME} |" in page.read_text()


def test_bad_arguments_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "run", None)  # nothing is measured or installed, whatever happens
    monkeypatch.setattr(command.compare, "compare", None)
    for words, reason in (
        (["--quick", "--full"], "exclude"),
        (["--device", "tpu"], "cpu, cuda"),
        (["--game", "nim", "--output", str(tmp_path)], "no such game"),
        (["report", str(tmp_path / "none")], "rows.jsonl"),
        (["peers", "--peer", "nobody"], "nobody"),
        (["peers", "--only", "go,"], "only='go,': a word is empty"),
        (["peers", "--only", " "], "only=' ': a word is empty"),
        (["peers", "--python", "no/python"], "python='no/python': there is no such program"),
        (["--game", GAME, "--output", str(tmp_path), "peers"], "has no effect before peers"),
        (["--quick", "report", str(tmp_path)], "--quick: has no effect before report"),
    ):
        done = runner.invoke(command.app, words)
        assert done.exit_code == 2
        assert reason in " ".join(done.output.replace("│", " ").split())


def test_a_stopped_run_says_how_it_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another day the default folder would be another one."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("azumaya.benchmarks.run._run_all", stop)
    monkeypatch.setattr("azumaya.benchmarks.peers.compare._one", stop)
    folder = Path("benchmarks", "results", command.machine.short_name())
    for words, name in (
        (["--quick", "--game", GAME, "--game", "abalone"], folder),
        (["peers", "--peer", "bitbully", "--only", "go, hex", "--repeats", "2"], f"{folder}-peers"),
    ):
        done = runner.invoke(command.app, words)
        assert done.exit_code == 130
        again = shlex.join([*words, "--output", str(name)])
        assert f"stopped; this continues from here: azumaya bench {again}\n" in done.output
        done = runner.invoke(command.app, [*words, "--output", f"{words[0]} mine"])
        assert f"--output '{words[0]} mine'\n" in done.output


ROWS = '{"machine": {"cpu": "abacus"}, "settings": "tiny"}\n'


def test_bad_output_folders_are_refused_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    monkeypatch.setattr("azumaya.benchmarks.run._run_all", None)
    monkeypatch.setattr("azumaya.benchmarks.peers.compare._one", None)
    for words in (["--quick"], ["peers", "--peer", next(iter(known_peers()))]):
        for place in (file, file / "inner"):
            done = runner.invoke(command.app, [*words, "--output", str(place)])
            assert done.exit_code == 2
            assert "give another --output" in " ".join(done.output.replace("│", " ").split())
    done = runner.invoke(command.app, ["peers", "--place", str(file)])
    assert done.exit_code == 2
    assert "--place" in done.output
    assert file.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [file]


def known_peers() -> list[str]:
    return [peer.name for peer in command.catalogue.PEERS]


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        (None, "No such file"),
        ("", "Is a directory"),
        ("nothing here", "the page needs one line"),
    ],
)
def test_a_page_without_place_for_the_report_is_refused_first(
    page: str | None, problem: str, tmp_path: Path
) -> None:
    run, into = tmp_path / "run", tmp_path / "page.md"
    run.mkdir()
    (run / "rows.jsonl").write_text(ROWS)
    if page:
        into.write_text(page)
    elif page == "":
        into.mkdir()
    done = runner.invoke(command.app, ["report", str(run), "--into", str(into)])
    assert done.exit_code == 2
    assert "--into" in done.output
    assert problem in " ".join(done.output.replace("│", " ").split())
    assert [file.name for file in run.iterdir()] == ["rows.jsonl"]
    assert not page or into.read_text() == page


@pytest.mark.parametrize("content", ["3\n", '{"machine": {}}\n', ROWS + "[]\n", "\xff", ""])
def test_a_report_of_other_files_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(content.encode("latin-1"))
    done = runner.invoke(command.app, ["report", str(tmp_path)])
    assert done.exit_code == 2
    assert "not rows of a benchmark run" in " ".join(done.output.replace("│", " ").split())
    assert [file.name for file in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(ROWS)
    (tmp_path / "report.md").mkdir()
    done = runner.invoke(command.app, ["report", str(tmp_path)])
    assert done.exit_code == 2
    assert "the report could not be written" in " ".join(done.output.replace("│", " ").split())


def test_without_a_gpu_nothing_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def none() -> None:
        raise DeviceError("no GPU is there")

    monkeypatch.setattr(command.device, "about", none)
    done = runner.invoke(command.app, ["--device", "cuda", "--output", str(tmp_path / "out")])
    assert done.exit_code == command.NO_GPU
    assert "no GPU is there" in done.output
    assert not (tmp_path / "out").exists()
