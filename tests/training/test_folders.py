"""Folders of runs: which are left alone, resumed or refused, and what is said."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.agents.trusted import load_sb3_zip
from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.system import command_line
from azumaya.baselines.training import run as run_module
from azumaya.baselines.training import run_folder
from azumaya.baselines.training.logs import Display
from azumaya.baselines.training.maskable_ppo import PROGRAM, Config, main, run_words
from azumaya.baselines.training.run_folder import RunError, RunFolder
from azumaya.baselines.training.saves import read_save
from tests.training.run_helpers import SCRIPTS, TINY_WORDS, curve_of, lines_of


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    assert run_words(["--output", str(folder), "--steps", "64", *TINY_WORDS]) == 0
    return folder


@pytest.fixture
def run(here: Path, finished: Path) -> Path:
    """A finished run of 64 steps, in `run`."""
    shutil.copytree(finished, here / "run")
    return here / "run"


def refused(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one-line error for some arguments."""
    capsys.readouterr()
    before = contents(Path.cwd())
    assert run_words(words.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert contents(Path.cwd()) == before
    return said.err


# ---- a folder with a run ----


def test_a_finished_run_is_left_alone(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results that it does not have, as after Ctrl-C in the last evaluation, are not named."""
    said = refused("--output run --steps 64", capsys)
    for part in (
        "a finished run of 64 steps", "(see run/evaluation.json, run/learning_curve.png)",
        "--overwrite", "--output run --resume --steps 128", "--output FOLDER",
    ):  # fmt: skip
        assert part in said, part
    (run / "evaluation.json").unlink()
    said = refused("--output run", capsys)
    assert "(see run/learning_curve.png)" in said
    assert f"To evaluate it: {Config.run_at(Path('run')).resume_command}. To train" in said
    (run / "learning_curve.png").unlink()
    assert "a finished run of 64 steps; nothing was changed" in refused("--output run", capsys)


def test_a_stopped_run_is_left_alone(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**stored, "steps": 5000}))
    said = refused("--output run", capsys)
    assert "a run, 64 of 5,000 steps done" in said
    assert f"To resume: {Config.run_at(Path('run')).resume_command}. " in said
    (run / "config.json").write_text("{")
    assert "files of a run (config.json, resume.safetensors" in refused("--output run", capsys)


# ---- resuming ----


def test_resuming_keeps_the_steps_unless_given(run: Path) -> None:
    stored = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**stored, "steps": 96}))
    assert run_words(["--output", "run", "--resume"]) == 0
    assert Config.run_at(run).steps() == 96
    assert run_words(["--output", "run", "--resume", "--steps", "128", "--final-starts", "1"]) == 0
    assert Config.run_at(run).steps() == 128
    assert (Config.read(run).steps, Config.read(run).final_starts) == (128, 1)
    assert json.loads((run / "evaluation.json").read_text())[0]["steps"] == 128


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--steps 32", "--steps 32: the run in run has already done 64"),
        ("--width 5 --clip 0.3", "be resumed with --width 5 (it has 4), --clip 0.3 (it has 0.2)"),
        ("--game abalone", "cannot be resumed with --game abalone (it has sudoku_moyo)"),
        ("--seed 2", "cannot be resumed with --seed 2 (it has 1)"),
        ("--options scoring points", "cannot be resumed with --options"),
        ("--overwrite", "--resume and --overwrite"),
    ],
)
def test_runs_are_resumed_with_their_arguments(
    run: Path, words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refused(f"--output run --resume {words}", capsys)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"{"), ("config.json", b"[]"), ("config.json", b" " * (1 << 21)),
        ("resume.safetensors", b"none"),
    ],
)  # fmt: skip
def test_broken_runs_are_not_resumed(
    run: Path, name: str, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).write_bytes(content)
    assert name in refused("--output run --resume --steps 96", capsys)


@pytest.mark.parametrize("where", [100, -1])
def test_a_damaged_save_is_refused(
    run: Path, where: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A single changed bit is found, in the weights or in the counters."""
    content = bytearray((run / "resume.safetensors").read_bytes())
    where = content.index(b"steps") + 10 if where > 0 else where
    content[where] ^= 1
    (run / "resume.safetensors").write_bytes(content)
    assert "resume.safetensors: " in refused("--output run --resume --steps 96", capsys)


@pytest.mark.parametrize("left", ["policy.safetensors", "curve.json", "model.zip"])
def test_a_run_without_its_save_is_not_restarted(
    run: Path, left: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Starting from 0 would overwrite the trained agent."""
    for path in run.iterdir():
        if path.name not in ("config.json", left):
            path.unlink()
    (run / left).touch()
    assert f"has no resume.safetensors, but {left}" in refused("--output run --resume", capsys)


def test_other_files_are_made_again_from_the_save(run: Path) -> None:
    """A run killed between its save and the files made from it can be resumed.

    Also one killed before it wrote the model in SB3's own format, which differs in its times.
    """
    names = ("policy.safetensors", "policy.json", "curve.json")
    before = [(run / name).read_bytes() for name in names]
    for name in names:
        (run / name).write_text("{")
    (run / "model.zip").unlink()
    assert run_words(["--output", "run", "--resume"]) == 0
    assert [(run / name).read_bytes() for name in names] == before
    assert load_sb3_zip(run / "model.zip", trusted=True).num_timesteps == 64


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked")
def test_a_run_that_began_in_the_meantime_is_not_overwritten(
    here: Path, finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that another process has begun, and ended, after the folder was found to be free."""
    lock = RunFolder.lock

    def late(self: RunFolder) -> None:
        shutil.copytree(finished, self.path, dirs_exist_ok=True)
        lock(self)

    monkeypatch.setattr(RunFolder, "lock", late)
    assert run_words(["--output", "run", "--steps", "96", *TINY_WORDS]) == 2
    assert "holds a finished run of 64 steps" in capsys.readouterr().err
    kept = {path.name: path.read_bytes() for path in finished.iterdir()}
    assert {path.name: path.read_bytes() for path in (here / "run").iterdir()} == kept


def test_a_drive_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where no folder above it is there either."""
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    with pytest.raises(RunError, match="--output elsewhere: there is no "):
        Config.run_at(Path("elsewhere")).check_place()


def test_the_command_to_resume_is_quoted_for_the_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goes_on = f"-m {PROGRAM} --output {{}} --resume"
    assert Config.run_at(Path("my run")).resume_command.endswith(goes_on.format("'my run'"))
    windows = SimpleNamespace(platform="win32", executable=r"C:\Python 3\python.exe")
    monkeypatch.setattr(run_folder, "sys", windows)
    monkeypatch.setattr(command_line, "sys", windows)
    said = Config.run_at(Path("my run")).resume_command
    assert said == r'"C:\Python 3\python.exe" ' + goes_on.format('"my run"')


def test_broken_options_are_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**stored, "epochs": "four"}))
    assert "--epochs four: must be a whole number" in refused("--output run --resume", capsys)


def test_metrics_after_the_last_save_are_replaced(run: Path) -> None:
    """As are lines that cannot be read."""
    curve, metrics = curve_of(run), run / "progress.json"
    (run / "curve.json").write_text(json.dumps([*curve, {**curve[-1], "steps": 80}]))
    lines = metrics.read_text()
    with metrics.open("ab") as file:
        file.write(b'{"time/total_timesteps": 80}\n{"time/total_timesteps": 1, "\xff\n{"time/tot')
    assert run_words(["--output", "run", "--resume", "--steps", "96"]) == 0
    assert [point["steps"] for point in curve_of(run)] == [0, 64, 96]
    assert metrics.read_text().startswith(lines + '{"')
    logged = [line["time/total_timesteps"] for line in lines_of(run)]
    assert sorted(set(logged)) == [0, 32, 64, 96]


def test_a_run_that_saved_nothing_starts(run: Path) -> None:
    for path in run.iterdir():
        if path.name != "config.json":
            path.unlink()
    assert run_words(["--output", "run", "--resume"]) == 0
    assert Config.run_at(run).steps() == 64


@pytest.mark.parametrize(
    ("script", "field", "value"),
    [
        ("td_value", "features", "board 1"),
        ("ppo", "planes", ["own", "other"]),
        ("maskable_ppo", "network", "plain"),
    ],
)
def test_a_save_whose_numbers_mean_something_else_is_not_resumed(
    script: str, field: str, value: object, tmp_path: Path
) -> None:
    """Of another version, with other features, planes or networks; nothing is changed."""
    main, tiny = SCRIPTS[script]
    folder = tmp_path / "run"
    main(tiny(folder, steps=32))
    save = read_save(folder / "resume.safetensors")
    note = save.notes["agent"]
    (note["notes"] if field == "features" else note)[field] = value
    (folder / "resume.safetensors").write_bytes(save.contents())
    before = contents(folder)
    with pytest.raises(CheckpointError, match=f"was saved with azumaya .*, for other {field} than"):
        main(tiny(folder, steps=10_000, resume=True))
    assert contents(folder) == before


# ---- output ----


def test_without_a_terminal_lines_are_printed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each measurement is a line; the last rollout is completed."""
    main(Config(output=here, steps=33, minutes=5, games=4, rollout=8, batch=16, epochs=1, width=4,
                measure_every=32, measure_starts=1, final_starts=1, ladder_starts=0))  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split(" steps")[0] for line in lines if " steps, " in line]
    assert shown[0] == "0 of 33"
    assert shown[-1] == "64 of 33"
    assert "evaluating: 2 games against each baseline" in lines


def test_a_terminal_has_a_bar_and_no_lines() -> None:
    shown = io.StringIO()
    display = Display(Console(file=shown, force_terminal=True, width=100))
    display.start(64)
    display.measured(64, [Score("one", "two", 1)])
    display.advance(64, 1.0)
    display.stop()
    assert "training (two 100%)" in shown.getvalue()
    assert "64 of 64 steps" in shown.getvalue()
    assert "steps, " not in shown.getvalue()


def test_a_run_ended_by_its_time_limit_says_how_to_resume(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_words(["--output", "run", "--steps", "5000", "--time", "1ms", *TINY_WORDS]) == 0
    said = capsys.readouterr().out
    assert "of 5,000 steps are done. To resume: " in said
    assert f"-m {PROGRAM} --output run --resume\n" in said


def test_ctrl_c_in_the_ladder_says_how_to_go_on(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "final_ladder", interrupted)
    assert run_words(["--output", "run", "--resume", "--ladder-starts", "1"]) == 130
    command = Config.run_at(Path("run")).resume_command
    assert f"The agent is saved. To evaluate it: {command}\n" in capsys.readouterr().out
