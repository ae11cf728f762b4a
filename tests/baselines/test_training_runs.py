"""The training script: arguments refused before anything is written, and resuming."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from azumaya.baselines.agents import checkpoint
from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.agents.trusted import load_sb3_zip
from azumaya.baselines.arena.matches import Score
from azumaya.baselines.training import run as run_module
from azumaya.baselines.training import run_folder
from azumaya.baselines.training.display import Display
from azumaya.baselines.training.maskable_ppo import PROGRAM, Config, main, run_words
from azumaya.baselines.training.run_folder import RunError, RunFolder
from azumaya.baselines.training.saves import read_save
from azumaya.envs import OptionError
from tests.baselines.run_helpers import SCRIPTS, TINY_WORDS, as_words


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


# ---- options ----


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--game nope", "game 'nope': no such game; there are"),
        ("--network foo", "--network foo: must be one of numbers, board, plain"),
        ("--game abalone --network numbers", "--network numbers: needs a game"),
        ("--games 0", "--games 0: must be a whole number from 1"),
        ("--rollout 0", "--rollout 0: must be a whole number from 1"),
        ("--epochs 0", "--epochs 0: must be a whole number from 1"),
        ("--batch 0", "--batch 0: must be a whole number from 2"),
        ("--batch 4095", "--batch 4095: an update of 4,096 actions"),
        ("--threads 0", "--threads 0: must be a whole number from 1 to 1,024"),
        ("--width 0", "--width 0: must be a whole number from 1"),
        ("--depth -1", "--depth -1: must be a whole number from 1"),
        ("--steps -5", "--steps -5: must be a whole number from 1"),
        ("--width 999999999999", "--width 999999999999 --depth 1: a network with width"),
        ("--depth 1000000", "a network with depth 1000000 is too large; the most is 256"),
        ("--network board --width 8192", "parameters; the most is 268,435,456"),
        ("--games 99999999999", "--games 99999999999: must be a whole number from 1 to 1,000,000"),
        ("--games 1000000 --rollout 1000", "an update would have 1,000,000,000 actions"),
        (f"--steps {10**400}", ": must be a whole number from 1 to"),
        ("--learning-rate 2", "--learning-rate 2.0: must be a number above 0 to 1"),
        (f"--output {'x' * 300}", "no folder can have this path: File name too long"),
        (f"--output new/{'x' * 300}", "no folder can have this path: File name too long"),
        (f"--output {'x/' * 2500}", "no folder can have this path: File name too long"),
        (f"--output {'x/' * 2500} --resume", "no folder can have this path: File name too long"),
        ("--seed -1", "--seed -1: must be a whole number from 0 to 4,294,967,295"),
        ("--seed 4294967296", "--seed 4294967296: must be a whole number from 0"),
        ("--measure-every 0", "--measure-every 0: must be a whole number from 1"),
        ("--measure-starts 0", "--measure-starts 0: must be a whole number from 1"),
        ("--final-starts 0", "--final-starts 0: must be a whole number from 1"),
        ("--minutes -1", "--minutes -1.0: must be a number from 0"),
        ("--minutes inf", "--minutes inf: must be a number from 0"),
        ("--random-share 2", "--random-share 2.0: must be a number from 0 to 1"),
        ("--final-share -0.1", "--final-share -0.1: must be a number from 0 to 1"),
        ("--discount 5", "--discount 5.0: must be a number from 0 to 1"),
        ("--gae-lambda 1.1", "--gae-lambda 1.1: must be a number from 0 to 1"),
        ("--clip -1", "--clip -1.0: must be a number above 0"),
        ("--clip nan", "--clip nan: must be a number above 0"),
        ("--learning-rate 0", "--learning-rate 0.0: must be a number above 0"),
        ("--entropy -1", "--entropy -1.0: must be a number from 0"),
        ("--value -1", "--value -1.0: must be a number from 0"),
        ("--shaping -1", "--shaping -1.0: must be a number from 0 to 1,000,000"),
        ("--options nope 3", "--options: unexpected keyword argument 'nope': "),
        ("--game abalone --options max_plies -5", "--options: max_plies=-5: "),
        ("--output FILE", "--output FILE: FILE is a file"),
        ("--output FILE/run", "FILE is a file; name a folder"),
        ("--resume --output nonexist", "nonexist holds no run"),
        ("--resume --output FILE", "FILE is a file; name a folder"),
    ],
)
def test_impossible_arguments_are_refused_in_one_line(
    here: Path, words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "FILE").write_text("")
    assert told in refused(words, capsys)
    assert [path.name for path in here.iterdir()] == ["FILE"], "no folder is left behind"


def test_a_module_of_games_that_cannot_be_imported_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AZUMAYA_GAMES", "not_there")
    message = "game 'nope': AZUMAYA_GAMES=not_there: cannot be imported"
    assert message in refused("--game nope", capsys)
    assert message in refused("--game nope --resume", capsys)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"search": "nope"}, "--search nope: must be one of alphabeta, puct, puct\\+rollouts"),
        ({"features": "plian"}, "--features plian: must be one of shared, plain"),
        ({"ray": 5}, "--ray 5: must be a text"),
        ({"game": 5}, "--game 5: must be a text"),
    ],
)
def test_values_that_no_command_line_would_give_are_refused(
    here: Path, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(OptionError, match=told):
        SCRIPTS["td_value"][1](here / "run", **changes).completed()


@pytest.mark.parametrize("words", ["--options max_plies", "--options a 1 a 2", "--steps many"])
def test_unreadable_arguments_are_refused(here: Path, words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run_words(words.split())
    assert ended.value.code == 2
    assert not list(here.iterdir())


def test_options_of_games_have_their_types(here: Path) -> None:
    """Numbers and pairs keep their types in the environment, the run and the agent."""
    given = {
        "abalone": (["max_plies", "20", "tiebreak", "marbles"], {"max_plies": 20}),
        "sudoku_moyo": (["handicap", "(1, 2)", "scoring", "points"], {"handicap": (1, 2)}),
    }
    for game, (words, typed) in given.items():
        assert run_words(["--game", game, "--steps", "32", *TINY_WORDS, "--options", *words]) == 0
        folder = here / "runs" / f"{game}-1"
        options = Config.read(folder).options
        assert typed.items() <= options.items()
        sidecar = checkpoint.load(folder / "policy")[1]
        assert sidecar.options == json.loads(json.dumps(options))
        assert run_words(["--game", game, "--resume", "--options", *words]) == 0


# ---- a folder with a run ----


def test_a_finished_run_is_left_alone(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused("--output run --steps 64", capsys)
    for part in (
        "a finished run of 64 steps", "evaluation.json", "learning_curve.png", "--overwrite",
        "--output run --resume --steps 128", "--output FOLDER",
    ):  # fmt: skip
        assert part in said, part


def test_results_that_a_run_does_not_have_are_not_named(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after Ctrl-C in the last evaluation."""
    assert "(see run/evaluation.json, run/learning_curve.png)" in refused("--output run", capsys)
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
        ("config.json", b"{"), ("config.json", b"[]"), ("config.json", b"[" * 100_000),
        ("config.json", b" " * (1 << 21)), ("resume.safetensors", b"none"),
        ("resume.safetensors", (8).to_bytes(8, "little") + b"[[[[[[[["),
        ("resume.safetensors", (1 << 62).to_bytes(8, "little") + b"{}"),
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


@pytest.mark.parametrize(
    "text", ["{", "[1]", '["steps"]', '[{"steps": "a"}]', '[{"steps": 0, "random": "a"}]',
             '[{"steps": 1e999}]', '[{"random": 0.5}]', "[" * 100_000],
)  # fmt: skip
def test_a_bad_curve_is_refused(run: Path, text: str) -> None:
    (run / "curve.json").write_text(text)
    with pytest.raises(RunError, match=r"curve\.json"):
        Config.run_at(run).curve()


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


def test_unreadable_metrics_are_dropped(run: Path) -> None:
    lines = (run / "progress.json").read_text()
    with (run / "progress.json").open("ab") as file:
        file.write(b'{"time/total_timesteps": 1, "\xff\n')
    assert run_words(["--output", "run", "--resume", "--steps", "96"]) == 0
    assert (run / "progress.json").read_text().startswith(lines + '{"')
    assert Config.run_at(run).steps() == 96


def test_the_command_to_resume_is_quoted_for_the_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goes_on = f"-m {PROGRAM} --output {{}} --resume"
    assert Config.run_at(Path("my run")).resume_command.endswith(goes_on.format("'my run'"))
    windows = SimpleNamespace(platform="win32", executable=r"C:\Python 3\python.exe")
    monkeypatch.setattr(run_folder, "sys", windows)
    said = Config.run_at(Path("my run")).resume_command
    assert said == r'"C:\Python 3\python.exe" ' + goes_on.format('"my run"')


def test_broken_options_are_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**stored, "epochs": "four"}))
    assert "--epochs four: must be a whole number" in refused("--output run --resume", capsys)


def test_metrics_after_the_last_save_are_replaced(run: Path) -> None:
    """Metrics of steps after the last save of a killed run are replaced."""
    curve, metrics = Config.run_at(run).curve(), run / "progress.json"
    (run / "curve.json").write_text(json.dumps([*curve, {**curve[-1], "steps": 80}]))
    lines = metrics.read_text()
    metrics.write_text(lines + '{"time/total_timesteps": 80}\n{"time/tot')
    assert run_words(["--output", "run", "--resume", "--steps", "96"]) == 0
    assert [point["steps"] for point in Config.run_at(run).curve()] == [0, 64, 96]
    assert metrics.read_text().startswith(lines)
    logged = [json.loads(line)["time/total_timesteps"] for line in metrics.read_text().splitlines()]
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


CLOSED = {
    "maskable_ppo": "azumaya.wrappers.sb3.AzumayaVecEnv",
    "ppo": "azumaya.baselines.training.policy.Threads",
    "td_value": "azumaya.baselines.training.players.Players",
    "expert_iteration": "azumaya.baselines.training.players.Players",
}
"""What holds games or threads while a script trains."""


@pytest.mark.parametrize("script", SCRIPTS)
def test_threads_are_closed_even_if_no_run_begins(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs that were never opened are no second error."""
    module, _, name = CLOSED[script].rpartition(".")
    holder = getattr(import_module(module), name)
    closed, close = list[object](), holder.close

    def watched(self: object) -> None:
        close(self)
        closed.append(self)

    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(holder, "close", watched)
    monkeypatch.setattr(RunFolder, "begin", full)
    main, tiny = SCRIPTS[script]
    with pytest.raises(OSError, match="No space left"):
        main(tiny(tmp_path / "run"))
    assert len(closed) == 1


def test_without_a_terminal_lines_are_printed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each measurement is a line; the number of steps is rounded up to whole rollouts."""
    main(Config(output=here, steps=33, minutes=5, games=4, rollout=8, batch=16, epochs=1, width=4,
                measure_every=32, measure_starts=1, final_starts=1, ladder_starts=0))  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split(" steps")[0] for line in lines if " steps, " in line]
    assert shown[0] == "0 of 64"
    assert shown[-1] == "64 of 64"
    assert "evaluating: 2 games against each baseline" in lines


def test_a_terminal_has_a_bar_and_no_lines() -> None:
    shown = io.StringIO()
    display = Display(Console(file=shown, force_terminal=True, width=100))
    display.start(0, 64)
    display.measured(64, [Score("one", "two", 1)])
    display.advance(64)
    display.stop()
    assert "training (two 100%)" in shown.getvalue()
    assert "64/64" in shown.getvalue()
    assert "steps, " not in shown.getvalue()


def test_a_run_ended_by_its_time_limit_says_how_to_resume(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run_words(["--output", "run", "--steps", "5000", "--minutes", "0.000001", *TINY_WORDS]) == 0
    )
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


def test_help_names_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_words(["--help"])
    assert f"usage: python -m {PROGRAM}" in capsys.readouterr().out


EARLIER = {"td_value": "value", "expert_iteration": "value", "ppo_selfplay": "ppo"}


@pytest.mark.parametrize("name", EARLIER)
def test_earlier_names_warn_and_run_the_script(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In folders of that name; the command to resume has it, too."""
    program = f"azumaya.baselines.training.{name}"
    sys.modules.pop(program, None)
    with pytest.warns(FutureWarning, match=rf"{name} is now .*\.{EARLIER[name]}$"):
        module = import_module(program)
    given = {"game": "vierer_dominari", "steps": 1, "games": 2, "width": 4, "most_plies": 20}
    given |= {"measure_starts": 1, "final_starts": 1, "ladder_starts": 0}
    if name == "ppo_selfplay":
        del given["most_plies"]
    assert module.run_words(as_words(given)) == 0
    run = here / "runs" / f"{name}-vierer_dominari-1"
    assert module.Config.read(run).steps == 1
    assert module.Config.run_at(run).resume_command.endswith(
        f"-m {program} --output {run} --resume"
    )
    stored = json.loads((run / "config.json").read_text())
    assert stored.get("nodes") == {"td_value": 0, "expert_iteration": 300}.get(name)


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    missing = "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')"
    (tmp_path / "torch.py").write_text(missing)
    done = subprocess.run(
        [sys.executable, "-m", PROGRAM, "--help"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "'torch'" in done.stderr
    assert "[train]" in done.stderr
