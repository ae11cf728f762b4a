"""The command line of the benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azumaya.baselines.commands import app as outer
from azumaya.benchmarks import __main__ as command
from azumaya.benchmarks import report
from azumaya.benchmarks.plan import Budget
from azumaya.envs.errors import DeviceError
from azumaya.envs.registry import GAMES

GAME = next(iter(GAMES))
runner = CliRunner()
MAIN = "from azumaya.baselines.cli import main; main()"


def test_bench_writes_rows_report_and_pictures(tmp_path: Path) -> None:
    tiny = Budget("tiny", 0.001, 1, (4,), ("packed",), starts=0, copies=4)
    command.BUDGETS["quick"], before = tiny, command.BUDGETS["quick"]
    try:
        words = ["--quick", "--game", GAME, "--output", str(tmp_path)]
        assert runner.invoke(command.app, words).exit_code == 0
    finally:
        command.BUDGETS["quick"] = before
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"rows.jsonl", "results.json", "report.md", "games.svg", "batch-sizes.svg"}
    page = tmp_path / "page.md"
    page.write_text("\n".join(["mine", *report.marks(report.BENCH), ""]))
    done = runner.invoke(command.app, ["report", str(tmp_path), "--into", str(page)])
    assert done.exit_code == 0
    assert page.read_text().startswith("mine\n")
    assert f"| {GAME} |" in page.read_text()


def test_bad_words_are_refused(tmp_path: Path) -> None:
    for words, reason in (
        (["--quick", "--full"], "exclude"),
        (["--device", "tpu"], "cpu, cuda"),
        (["--game", "nim", "--output", str(tmp_path)], "no such game"),
        (["report", str(tmp_path / "none")], "rows.jsonl"),
        (["peers", "--peer", "nobody"], "nobody"),
    ):
        done = runner.invoke(command.app, words)
        assert done.exit_code == 2
        assert reason in done.output


def test_without_a_gpu_nothing_is_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def none() -> None:
        raise DeviceError("no GPU is there")

    monkeypatch.setattr(command.device, "about", none)
    done = runner.invoke(command.app, ["--device", "cuda", "--output", str(tmp_path / "out")])
    assert done.exit_code == command.NO_GPU
    assert "no GPU is there" in done.output
    assert not (tmp_path / "out").exists()


def test_azumaya_bench_passes_words_and_exit_code_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "bench", "--nonsense"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--nonsense" in done.stderr
    assert "bench" in runner.invoke(outer, ["--help"]).output
