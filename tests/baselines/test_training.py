"""The training script on a tiny budget: its files, resuming, and seeding."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from azumaya.baselines.agents.network import NETWORKS
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.agents.trusted import UntrustedFileError, load_sb3_zip
from azumaya.baselines.training.config import RECIPES, Recipe
from azumaya.baselines.training.maskable_ppo import PROGRAM, Config, main
from azumaya.baselines.training.run_folder import RunError
from tests.baselines.run_helpers import TINY_WORDS, tiny_run
from tests.processes import PATIENCE, eventually

RATE = "train/learning_rate"


def read_curve(folder: Path) -> list[dict[str, float]]:
    return Config.run_at(folder).curve()


def tiny(folder: Path, **changes: object) -> Config:
    """A configuration that trains in half a second."""
    return tiny_run(folder, **{"steps": 96, **changes})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    scores = main(tiny(folder))
    assert [(s.second, s.games) for s in scores] == [("random", 6), ("greedy", 6)]
    return folder


def test_a_run_writes_all_files(run: Path) -> None:
    names = {path.name for path in run.iterdir()}
    assert {
        "config.json", "policy.safetensors", "policy.json", "resume.safetensors", "model.zip",
        "progress.json", "curve.json", "evaluation.json", "learning_curve.png",
    } <= names  # fmt: skip
    assert any("tfevents" in name for name in names)
    assert (run / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert all(json.loads(line) for line in (run / "progress.json").read_text().splitlines())
    assert [e["second"] for e in json.loads((run / "evaluation.json").read_text())] == [
        "random",
        "greedy",
    ]
    assert PolicyAgent.load(run / "policy").name == "policy"


def test_the_same_seed_gives_the_same_weights(run: Path, tmp_path: Path) -> None:
    main(tiny(tmp_path))
    ours, theirs = (load_file(f / "policy.safetensors") for f in (run, tmp_path))
    assert all((ours[name] == theirs[name]).all() for name in ours)
    main(tiny(tmp_path / "other", seed=2))
    other = load_file(tmp_path / "other" / "policy.safetensors")
    assert any((ours[name] != other[name]).any() for name in ours)


def logged(folder: Path) -> list[dict[str, float]]:
    """The metrics of a run, line by line."""
    return [json.loads(line) for line in (folder / "progress.json").read_text().splitlines()]


def test_the_learning_rate_falls_to_its_last_share(tmp_path: Path) -> None:
    """Also if the last of the rollouts goes far beyond the steps."""
    main(tiny(tmp_path, steps=33, learning_rate=0.01, final_share=0.1))
    rates = [line[RATE] for line in logged(tmp_path) if RATE in line]
    assert rates == pytest.approx([0.001 + 0.009 / 33, 0.001])


def test_win_rates_are_logged_with_the_steps_they_were_measured_at(run: Path) -> None:
    """So is what each update has recorded, once."""
    rates = [line for line in logged(run) if "eval/random" in line]
    curve = [{"steps": line["time/total_timesteps"], "random": line["eval/random"],
              "greedy": line["eval/greedy"]} for line in rates]  # fmt: skip
    assert curve == read_curve(run)
    assert [line["time/total_timesteps"] for line in logged(run) if RATE in line] == [32, 64, 96]


def test_overwriting_removes_the_previous_run(tmp_path: Path) -> None:
    main(tiny(tmp_path))
    steps = [point["steps"] for point in read_curve(tmp_path)]
    metrics = (tmp_path / "progress.json").read_text().splitlines()
    (tmp_path / "own.txt").write_text("not of the run")
    main(tiny(tmp_path, seed=2, overwrite=True))
    assert [point["steps"] for point in read_curve(tmp_path)] == steps
    assert len((tmp_path / "progress.json").read_text().splitlines()) == len(metrics)
    assert len(list(tmp_path.glob("events*"))) == 1
    assert (tmp_path / "own.txt").exists()


def test_a_run_can_be_resumed(run: Path, tmp_path: Path) -> None:
    main(tiny(tmp_path))
    lines = (tmp_path / "progress.json").read_text().splitlines()
    main(tiny(tmp_path, steps=160, resume=True))
    assert (tmp_path / "progress.json").read_text().splitlines()[: len(lines)] == lines
    logged = [json.loads(line) for line in (tmp_path / "progress.json").read_text().splitlines()]
    assert logged[-1]["time/total_timesteps"] == 160, "metrics go on"
    assert json.loads((tmp_path / "policy.json").read_text())["notes"]["steps"] == 160
    resumed = load_file(tmp_path / "resume.safetensors")["adam.0.step"]
    before = load_file(run / "resume.safetensors")["adam.0.step"]
    assert resumed > before, "Adam's counters go on"
    steps = [point["steps"] for point in json.loads((tmp_path / "curve.json").read_text())]
    assert steps == sorted(steps)


@pytest.mark.parametrize("kind", NETWORKS)
def test_defaults_depend_on_the_network(kind: str) -> None:
    """Each network has its default hyperparameters; values from the user, even 0, override them."""
    assert Config(network=kind).recipe == RECIPES[kind]
    own = Recipe(width=7, depth=3, learning_rate=0.5, shaping=0.0)
    assert Config(network=kind, **asdict(own)).recipe == own


def test_resuming_keeps_the_hyperparameters(run: Path) -> None:
    """A resumed run does not use defaults that changed in the meantime."""
    kept = Config.read(run)
    assert None not in (kept.width, kept.depth, kept.learning_rate, kept.shaping)
    assert kept.recipe == tiny(run).recipe
    assert kept.network == tiny(run).network_kind


def test_a_finished_run_can_be_resumed(run: Path, tmp_path: Path) -> None:
    """With nothing left to train, the agent is evaluated again and does not change."""
    main(tiny(tmp_path))
    curve, kept = read_curve(tmp_path), load_file(tmp_path / "policy.safetensors")
    assert len(main(tiny(tmp_path, resume=True))) == 2
    again = load_file(tmp_path / "policy.safetensors")
    assert read_curve(tmp_path) == curve
    assert all((again[name] == kept[name]).all() for name in kept)


def test_configurations_of_other_versions_are_refused(run: Path, tmp_path: Path) -> None:
    stored = json.loads((run / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**stored, "final_learning_rate": 0.1}))
    with pytest.raises(RunError, match="differs in the options final_learning_rate"):
        main(tiny(tmp_path, resume=True))


def test_sb3_files_need_trust(run: Path) -> None:
    with pytest.raises(UntrustedFileError, match="trusted=True"):
        load_sb3_zip(run / "model.zip")
    model = load_sb3_zip(run / "model.zip", trusted=True)
    assert model.num_timesteps == 96


def test_training_does_not_depend_on_the_defaults_of_torch(run: Path, tmp_path: Path) -> None:
    model = load_sb3_zip(run / "model.zip", trusted=True)
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"):
            main(tiny(tmp_path / "run"))
            same = load_sb3_zip(run / "model.zip", trusted=True)
        assert torch.get_default_dtype() == torch.bfloat16
    finally:
        torch.set_default_dtype(torch.float32)
    weights = load_file(run / "policy.safetensors")
    again = load_file(tmp_path / "run" / "policy.safetensors")
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    for one, other in zip(model.policy.parameters(), same.policy.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, 128 + signal.SIGTERM, id="batch system"),
    ],
)
def test_a_signal_saves_and_the_run_can_be_resumed(tmp_path: Path, number: int, code: int) -> None:
    """In the middle of training; the exit codes are the usual ones of programs so ended."""
    command = [sys.executable, "-m", "azumaya.baselines.training.maskable_ppo", *TINY_WORDS]
    with subprocess.Popen(
        [*command, "--steps=10000000", f"--output={tmp_path}"],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        eventually(lambda: len(read_curve(tmp_path)) > 1)
        process.send_signal(number)
        output, _ = process.communicate(timeout=PATIENCE)
    saved = Config.run_at(tmp_path).steps()
    assert saved > 0
    assert process.returncode == code
    assert f"Saved after {saved:,} steps. To resume: " in output
    assert f"-m {PROGRAM} --output {tmp_path} --resume" in output
    main(tiny(tmp_path, steps=saved + 64, resume=True))
    assert json.loads((tmp_path / "policy.json").read_text())["notes"]["steps"] == saved + 64
