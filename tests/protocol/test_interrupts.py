"""What is kept of a table that is stopped while it is made."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from azumaya.baselines.system.signals import INTERRUPTED
from azumaya.baselines.training.logs import METRICS
from azumaya.baselines.training.run_folder import SAVED
from azumaya.baselines.training.saves import read_save
from tests.processes import PATIENCE, eventually, start

GAME = "vierer_dominari"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_training_that_a_signal_ends_is_saved(number: int, code: int, tmp_path: Path) -> None:
    run = tmp_path / f"1M/value-{GAME}-1"
    words = ["benchmark", "value", "--track", "1M", "--game", GAME, "--seeds", "1"]
    with start(*words, "--output", tmp_path, start_new_session=True) as process:
        metrics = run / METRICS
        # before the first measurement, which saves, but late enough for a record after a slow one
        eventually(lambda: metrics.exists() and metrics.read_text().count("train/error") > 80)
        to = os.killpg if number == signal.SIGINT else os.kill  # as a terminal, and a batch system
        to(process.pid, number)
        assert process.wait(PATIENCE) == code
    assert read_save(run / SAVED).steps > 0
