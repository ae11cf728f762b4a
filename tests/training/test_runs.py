"""What holds for the runs of every training script, however they are stopped."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from azumaya.baselines import find_agent
from azumaya.baselines.training import alphazero, maskable_ppo, ppo, ppo_games, value
from azumaya.baselines.training.alphazero_games import SelfPlay
from azumaya.baselines.training.command import exit_code
from azumaya.baselines.training.logs import Display
from azumaya.baselines.training.policy import Threads
from azumaya.baselines.training.run import Run
from azumaya.baselines.training.run_folder import RunError, RunFolder
from azumaya.baselines.training.saves import read_save
from azumaya.baselines.training.value_games import Players
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.cases import YARDSTICK, nightly
from tests.training.run_helpers import (
    SCRIPTS,
    as_words,
    curve_of,
    differing,
    lines_of,
    results,
)

FILES = {
    "config.json", "curve.json", "evaluation.json", "learning_curve.png", "policy.json",
    "policy.safetensors", "progress.json", "resume.safetensors",
}  # fmt: skip
every_script = pytest.mark.parametrize("script", SCRIPTS)
some_scripts = pytest.mark.parametrize(
    "script", nightly(SCRIPTS, ("td_value", "alphazero")), indirect=True
)
"""For what the scripts share; all of them only in the slow tests."""


@pytest.fixture(scope="module", params=SCRIPTS)
def script(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def unbroken(script: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing has interrupted."""
    main, tiny = SCRIPTS[script]
    folder = tmp_path_factory.mktemp(script)
    scores = main(tiny(folder))
    assert [(s.second, s.games) for s in scores][:2] == [("random", 6), ("greedy", 6)]  # type: ignore[attr-defined]
    return folder


def test_a_run_leaves_an_agent_its_curve_and_its_metrics(script: str, unbroken: Path) -> None:
    names = {path.name for path in unbroken.iterdir()}
    assert names >= FILES
    assert any("tfevents" in name for name in names)
    assert ("model.zip" in names) == (script == "maskable_ppo")
    assert (unbroken / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert find_agent(str(unbroken / "policy")) is not None
    save = read_save(unbroken / "resume.safetensors")
    notes = json.loads((unbroken / "policy.json").read_text())["notes"]
    assert notes["steps"] == save.steps >= SCRIPTS[script][1](unbroken).steps
    curve = curve_of(unbroken)
    assert curve == save.curve
    assert [point["steps"] for point in curve] == sorted({point["steps"] for point in curve})
    measured = [line for line in lines_of(unbroken) if "eval/random" in line]
    assert [
        (line["time/total_timesteps"], line["eval/random"], line["eval/greedy"])
        for line in measured
    ] == [(point["steps"], point["random"], point["greedy"]) for point in curve]


@some_scripts
def test_another_seed_gives_another_agent_also_in_the_folder_of_a_run(
    script: str, unbroken: Path, tmp_path: Path
) -> None:
    """Overwriting leaves nothing of the earlier run, and files of the user as they are."""
    (main, tiny), over = SCRIPTS[script], tmp_path / "over"
    main(tiny(tmp_path / "other", seed=2))
    assert "policy.safetensors" in differing(results(unbroken), results(tmp_path / "other"))
    shutil.copytree(unbroken, over)
    (over / "own.txt").write_text("not of the run")
    main(tiny(over, seed=2, overwrite=True))
    assert differing(results(over), results(tmp_path / "other")) == []
    assert len(list(over.glob("events*"))) == 1
    assert (over / "own.txt").exists()


@some_scripts
def test_a_finished_run_is_evaluated_again_or_goes_on(
    script: str, unbroken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (main, tiny), folder = SCRIPTS[script], tmp_path / "run"
    shutil.copytree(unbroken, folder)
    main(tiny(folder, resume=True))
    assert f"{tiny(folder).game} after training" in capsys.readouterr().out
    assert differing(results(unbroken), results(folder)) == []
    before, steps = lines_of(folder), tiny(folder).steps + 200
    main(tiny(folder, resume=True, steps=steps))
    assert lines_of(folder)[: len(before)] == before
    assert json.loads((folder / "policy.json").read_text())["notes"]["steps"] >= steps
    counters = [read_save(each / "resume.safetensors").part("adam") for each in (unbroken, folder)]
    earlier, later = ({n: a for n, a in each.items() if "step" in n} for each in counters)
    assert earlier
    assert all((later[name] > earlier[name]).all() for name in earlier), "Adam's counters go on"


@some_scripts
def test_training_does_not_depend_on_the_defaults_of_torch(
    script: str, unbroken: Path, tmp_path: Path
) -> None:
    main, tiny = SCRIPTS[script]
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"):
            main(tiny(tmp_path))
        assert torch.get_default_dtype() == torch.bfloat16
    finally:
        torch.set_default_dtype(torch.float32)
    assert differing(results(unbroken), results(tmp_path)) == []


MANY: dict[str, dict[str, Any]] = {
    "ppo": {}, "alphazero": {"games": 40}, "td_value": {"games": 20, "steps": 600},
    "expert_iteration": {"games": 20},
}  # fmt: skip
"""Scripts whose games are played by threads, and settings with which all have some."""


@pytest.mark.parametrize("script", nightly(MANY, ("ppo", "alphazero", "td_value")))
def test_results_do_not_depend_on_threads(script: str, tmp_path: Path) -> None:
    main, tiny = SCRIPTS[script]
    for threads in (1, 3):
        main(tiny(tmp_path / str(threads), threads=threads, **MANY[script]))
    one, three = results(tmp_path / "1"), results(tmp_path / "3")
    assert differing(one, three) == ["config.json"]


# ---- stopped and resumed ----


PLAYING: dict[str, tuple[type, str, tuple[int, ...]]] = {
    "maskable_ppo": (AzumayaVecEnv, "step_wait", (25, 1, 8, 9, 16, 48)),
    "ppo": (ppo_games.Games, "play", (4, 1, 2)),
    "alphazero": (SelfPlay, "play", (3, 1)),
    "td_value": (Players, "play", (3, 1, 2)),
    "expert_iteration": (Players, "play", (3, 1)),
}
"""What plays games, and after which of its calls Ctrl-C is pressed."""


def pressing(play: Callable[..., Any], number: int) -> Callable[..., Any]:
    """A function whose call of some number is followed by Ctrl-C, when its games are played."""
    calls = []

    def played(*given: Any) -> Any:
        calls.append(given)
        found = play(*given)
        if len(calls) == number:
            raise KeyboardInterrupt
        return found

    return played


@pytest.mark.parametrize("places", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_a_run_stopped_by_ctrl_c_ends_like_any_other(
    places: int, script: str, unbroken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (main, tiny), (holder, name, numbers) = SCRIPTS[script], PLAYING[script]
    for number in numbers[:places]:
        folder = tmp_path / str(number)
        with monkeypatch.context() as patch:
            patch.setattr(holder, name, pressing(getattr(holder, name), number))
            with pytest.raises(KeyboardInterrupt):
                main(tiny(folder))
        main(tiny(folder, resume=True))
        assert differing(results(unbroken), results(folder)) == [], number


@some_scripts
def test_a_run_stopped_by_its_time_limit_ends_like_any_other(
    script: str, unbroken: Path, tmp_path: Path
) -> None:
    """Each part makes one update; the measurement at its end does not affect the resumed run."""
    main, tiny = SCRIPTS[script]
    main(tiny(tmp_path, minutes=1e-9))
    curve = curve_of(tmp_path)
    assert [point["steps"] > 0 for point in curve] == [False, True]
    for _ in range(3):
        main(tiny(tmp_path, minutes=1e-9, resume=True))
    main(tiny(tmp_path, resume=True, minutes=0.0))
    assert differing(results(unbroken), results(tmp_path)) == []


@some_scripts
def test_a_time_without_steps_is_a_budget(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Learning rate, measurements and the end follow the clock; here each update takes a minute."""
    clock, seen = [-1.0], []
    advance, progress = Display.advance, Run.progress_after

    def ticking(display: Display, *given: Any) -> None:
        clock[0] += 1
        advance(display, *given)

    def noted(run: Run[Any], steps: int) -> float:
        seen.append(progress(run, steps))
        return seen[-1]

    monkeypatch.setattr(Display, "advance", ticking)
    monkeypatch.setattr(Display, "minutes", property(lambda _: clock[0]))
    monkeypatch.setattr(Run, "progress_after", noted)
    main, tiny = SCRIPTS[script]
    main(tiny(tmp_path, steps=0, minutes=20, measure_every=0))
    assert sorted(seen) == seen
    assert set(seen[1:]) >= {update / 20 for update in range(20)}
    points = [point["steps"] for point in curve_of(tmp_path)]
    assert len(set(points)) == len(points) == 11
    said = capsys.readouterr().out
    assert f"{points[-1]:,} steps, 20.0 minutes" in said
    assert "To resume" not in said
    with pytest.raises(RunError, match=rf"holds a run, {points[-1]:,} steps done; .* To resume: "):
        main(tiny(tmp_path, steps=0, minutes=20))


@pytest.mark.parametrize("game", nightly(["abalone", "sudoku_tiles"], ("sudoku_tiles",)))
@pytest.mark.parametrize("script", nightly(["maskable_ppo", "ppo"], ("ppo",)))
def test_other_networks_can_be_resumed(script: str, game: str, tmp_path: Path) -> None:
    """With convolutions, shaping, games cut off and hidden tiles."""
    main, tiny = SCRIPTS[script]
    options = {"max_plies": 10} if game == "abalone" else {}
    more: dict[str, Any] = {"game": game, "options": options, "depth": 1, "steps": 96,
                            "measure_starts": 1, "final_starts": 1}  # fmt: skip
    main(tiny(tmp_path / "whole", **more))
    for resume in (False, True, True):
        main(tiny(tmp_path / "parts", minutes=1e-9, resume=resume, **more))
    main(tiny(tmp_path / "parts", resume=True, **more))
    assert differing(results(tmp_path / "whole"), results(tmp_path / "parts")) == []


def test_a_run_of_another_script_is_not_resumed(
    script: str, unbroken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = ppo if script == "maskable_ppo" else maskable_ppo
    assert other.run_words(["--output", str(unbroken), "--resume"]) == 2
    assert "written by another script" in capsys.readouterr().err


# ---- what goes wrong ----


def first_of(network: torch.nn.Module) -> torch.Tensor:
    return next(network.parameters()).data


LEARNING: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "maskable_ppo": (MaskablePPO, "train", lambda model: first_of(model.policy)),
    "ppo": (ppo.Learner, "improve", lambda learner: first_of(learner.network)),
    "alphazero": (alphazero.Learner, "improve", lambda learner, *_: first_of(learner.network)),
    "td_value": (value, "update_average", lambda _, learner, *given: learner.weights),
    "expert_iteration": (value, "update_average", lambda _, learner, *given: learner.weights),
}
"""What learns in an update, and the weights that it changes."""


@every_script
def test_diverged_weights_end_the_run_and_are_not_saved(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a division by 0 does to them; found before the next update."""
    (main, tiny), (holder, name, weights_of) = SCRIPTS[script], LEARNING[script]
    learn, calls = getattr(holder, name), list[object]()

    def spoil(*given: Any) -> Any:
        calls.append(given)
        found = learn(*given)
        if len(calls) == 3:
            weights_of(*given)[0] = float("nan")
        return found

    program = sys.modules[main.__module__]
    with monkeypatch.context() as patch:
        patch.setattr(holder, name, spoil)
        patch.setattr(program, "read_words", lambda *_: tiny(tmp_path))
        assert program.run_words([]) == 1
    said = capsys.readouterr().err
    assert "no longer finite; start another run" in said
    assert said.count("\n") == 1
    assert len(calls) == 3
    arrays = read_save(tmp_path / "resume.safetensors").arrays.values()
    assert all(np.isfinite(array).all() for array in arrays if array.dtype.kind == "f")


CLOSED = {
    "maskable_ppo": AzumayaVecEnv, "ppo": Threads, "alphazero": Threads, "td_value": Players,
    "expert_iteration": Players,
}  # fmt: skip
"""What holds games or threads while a script trains."""


@every_script
def test_threads_are_closed_even_if_no_run_begins(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs that were never opened are no second error."""
    holder: Any = CLOSED[script]
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


EARLIER = {"td_value": "value", "expert_iteration": "value", "ppo_selfplay": "ppo"}


@pytest.mark.parametrize("name", EARLIER)
def test_earlier_names_warn_and_run_the_script(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In folders of that name; the command to resume has it, too."""
    monkeypatch.chdir(tmp_path)
    game = YARDSTICK.name  # whose search compiles quickly
    program = f"azumaya.baselines.training.{name}"
    sys.modules.pop(program, None)
    with pytest.warns(FutureWarning, match=rf"{name} is now .*\.{EARLIER[name]}$"):
        module = import_module(program)
    given = {"game": game, "steps": 1, "games": 2, "width": 4, "most_plies": 20}
    given |= {"measure_starts": 1, "final_starts": 1, "ladder_starts": 0}
    if name == "ppo_selfplay":
        del given["most_plies"]
    assert module.run_words(as_words(given)) == 0
    run = tmp_path / "runs" / f"{name}-{game}-1"
    assert module.Config.read(run).steps == 1
    assert module.Config.run_at(run).resume_command.endswith(
        f"-m {program} --output {run} --resume"
    )
    stored = json.loads((run / "config.json").read_text())
    assert stored.get("nodes") == {"td_value": 0, "expert_iteration": 300}.get(name)


def test_a_gpu_without_enough_memory_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work() -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.\nGPU 0 has 139 GiB")

    assert exit_code(work) == 1
    assert capsys.readouterr().err == "error: CUDA out of memory. GPU 0 has 139 GiB\n"


FAULTS = """
import resource
import numpy as np
from azumaya.baselines.training.command import exit_code

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def work():
    np.ones(SIZE, np.uint8)
    before = faults()
    for _ in range(8):
        np.ones(SIZE, np.uint8)
    print(faults() - before)

exit_code(work)
""".replace("SIZE", str(1 << 27))


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or platform.libc_ver()[1] < "2.35",
    reason="keeps smaller blocks, or none",
)
def test_a_script_keeps_freed_memory() -> None:
    found = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, check=True)
    assert int(found.stdout) < 64  # one array has as many of the largest pages that are usual
