"""Signals end a run and its processes; a full disk loses no row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azumaya.benchmarks.__main__ import app
from azumaya.benchmarks.results import Results, read_run
from azumaya.envs.registry import GAMES
from tests.processes import PATIENCE, eventually, running_with, start

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and process groups are POSIX")
GAME = next(iter(GAMES))


def measured(folder: Path) -> bool:
    """Whether there is a row after the header."""
    rows = folder / "rows.jsonl"
    return rows.exists() and rows.read_bytes().count(b"\n") > 1


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
    ],
)
def test_a_signal_to_the_command_alone_ends_the_run(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    process = start("bench", "--quick", "--game", GAME, "--output", folder, start_new_session=True)
    try:
        eventually(lambda: measured(folder) or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        assert running_with(str(folder)) == [process.pid]
        process.send_signal(number)
        # It may first wait for a compilation, its own or that of another test; with an empty cache
        # on a busy machine that takes minutes.
        out, err = process.communicate(timeout=300)
        assert process.returncode == code, (out, err)
        assert "Traceback" not in err
        assert running_with(str(folder)) == []
        assert len(read_run(folder)[1]) > 0
    finally:
        for left in {process.pid, *running_with(str(folder))}:
            try:
                os.kill(left, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.wait()


STARTS_ONE = """
import subprocess, sys, time
from pathlib import Path
from azumaya.baselines.system.signals import end_on_signals
from azumaya.benchmarks.child import run_child
end_on_signals()
word, body, ready, how = sys.argv[1:]

def communicate(self, timeout):
    while not Path(ready).exists():
        time.sleep(0.02)
    raise subprocess.TimeoutExpired(self.args, timeout)

if how == "late":
    subprocess.Popen.communicate = communicate
grandchild = (
    "import subprocess, sys; "
    f"subprocess.run([sys.executable, '-c', {word!r} + sys.argv[1], {word!r}])"
)
run_child([sys.executable, "-c", grandchild, body, word], 300)
"""
"""A program whose time is up, if it is to be late, as soon as its grandchild is ready."""


@pytest.mark.parametrize(("number", "stubborn"), [(signal.SIGTERM, True), (None, False)])
def test_all_descendants_end_with_the_run(
    number: signal.Signals | None, stubborn: bool, tmp_path: Path
) -> None:
    """They also end when their time is up."""
    word, ready = f"'{tmp_path}';", tmp_path / "ready"
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " if stubborn else ""
    body = f"{deaf}open({str(ready)!r}, 'w').close(); import time; time.sleep(300)"
    how = "stopped" if number else "late"
    process = subprocess.Popen(
        [sys.executable, "-c", STARTS_ONE, word, body, str(ready), how],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        if number:
            eventually(ready.exists)
            assert len(running_with(word)) == 3
            process.send_signal(number)
        assert process.wait(PATIENCE) != 0
        assert ready.exists()
        eventually(lambda: running_with(word) == [])
    finally:
        for left in running_with(word):
            os.kill(left, signal.SIGKILL)
        process.communicate()


def test_a_full_disk_loses_no_row(tmp_path: Path) -> None:
    results = Results(tmp_path, "tiny")
    for number in range(5):
        results.add({"key": f"row {number}", "kind": "bare", "note": "x" * 100})
    before = (tmp_path / "rows.jsonl").read_bytes()
    code = (
        "import sys; from pathlib import Path; from azumaya.benchmarks.results import *\n"
        "results = Results(Path(sys.argv[1]), 'tiny')\n"
        "try:\n    results.add({'key': 'new', 'kind': 'bare', 'note': 'y' * 5000})\n"
        "except ResultsError as error:\n    print(error)\n"
    )
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before)},) * 2)\n"
    done = subprocess.run(
        [sys.executable, "-c", limited + code, str(tmp_path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "rows.jsonl could not be written: File too large; once it can be" in done.stdout
    assert len(read_run(tmp_path)[1]) == 5
    assert len(Results(tmp_path, "tiny").rows) == 5


@pytest.mark.parametrize("name", ["x" * 5000, "[/b]", ":smile:"])
def test_impossible_folder_names_and_markup(name: str, tmp_path: Path) -> None:
    for words in (
        ("report", tmp_path / "none" / name),
        ("peers", "--place", "/dev/null", "--output", tmp_path / name),
        ("peers", "--place", tmp_path / "none" / name, "--peer", "nobody"),
        ("--output", Path("/dev/null") / name),
    ):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 2, (words, result.output)
        assert isinstance(result.exception, SystemExit)
    if len(name) < 100:
        (tmp_path / name).mkdir(parents=True)
        header = {"machine": {"cpu": "abacus"}, "settings": "tiny"}
        (tmp_path / name / "rows.jsonl").write_text(json.dumps(header) + "\n")
        result = CliRunner().invoke(app, ["report", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
        assert name in "".join(result.stdout.split())
