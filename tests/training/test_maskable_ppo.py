"""MaskablePPO on a tiny budget: its own files, learning rate and signals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from azumaya.baselines.agents.trusted import UntrustedFileError, load_sb3_zip
from azumaya.baselines.training.maskable_ppo import PROGRAM, Config, main
from azumaya.baselines.training.run_folder import RunError
from tests.processes import PATIENCE, eventually
from tests.training.run_helpers import TINY_WORDS, curve_of, lines_of, tiny_run

RATE = "train/learning_rate"


def tiny(folder: Path, **changes: object) -> Config:
    """A configuration that trains in half a second."""
    return tiny_run(folder, **{"steps": 96, **changes})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    scores = main(tiny(folder))
    assert [(s.second, s.games) for s in scores] == [("random", 6), ("greedy", 6)]
    return folder


def test_the_learning_rate_falls_to_its_last_share(tmp_path: Path) -> None:
    """Also if the last of the rollouts goes far beyond the steps."""
    main(tiny(tmp_path, steps=33, learning_rate=0.01, final_share=0.1))
    rates = [line[RATE] for line in lines_of(tmp_path) if RATE in line]
    assert rates == pytest.approx([0.001 + 0.009 / 33, 0.001])


def test_resuming_keeps_the_hyperparameters(run: Path) -> None:
    kept = Config.read(run)
    assert None not in (kept.width, kept.depth, kept.learning_rate, kept.shaping)
    assert kept.recipe == tiny(run).recipe
    assert kept.network == tiny(run).network_kind


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
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"):
            same = load_sb3_zip(run / "model.zip", trusted=True)
    finally:
        torch.set_default_dtype(torch.float32)
    for one, other in zip(model.policy.parameters(), same.policy.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_signal_saves_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    """In the middle of training, as a batch system ends it."""
    command = [sys.executable, "-m", "azumaya.baselines.training.maskable_ppo", *TINY_WORDS]
    with subprocess.Popen(
        [*command, "--steps=10000000", f"--output={tmp_path}"],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        eventually(lambda: len(curve_of(tmp_path)) > 1)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=PATIENCE)
    saved = Config.run_at(tmp_path).steps()
    assert saved > 0
    assert process.returncode == 128 + signal.SIGTERM
    assert f"Saved after {saved:,} steps. To resume: " in output
    assert f"-m {PROGRAM} --output {tmp_path} --resume" in output
    main(tiny(tmp_path, steps=saved + 64, resume=True))
    assert json.loads((tmp_path / "policy.json").read_text())["notes"]["steps"] == saved + 64
