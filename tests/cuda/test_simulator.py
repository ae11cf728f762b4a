"""Runs `simulated.py`, the tests of the environment for devices, in numba's simulator."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from azumaya.envs.position import Position
from tests.cases import TESTED, Case, cases_of, random_line

ROOT = Path(__file__).parents[2]
BEFORE = 5
"""How many moves before their end games begin."""
HERE = Path(__file__).parent
SIMULATOR = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}


def near_the_end(case: Case) -> dict[str, Any]:
    """Options with which a game begins a few moves before its end."""
    line = random_line(case.position(seed=1), random.Random(3))[:-1]
    options = {**case.options, "position": str(line[-BEFORE:][0])}
    Position(case.game, **options)  # fails if no game can begin there
    return options


@pytest.mark.slow
def test_in_the_simulator() -> None:
    starts = {game.name: near_the_end(cases_of(game)[0]) for game in TESTED.values()}
    environment = {**os.environ, **SIMULATOR, "AZUMAYA_TEST_STARTS": json.dumps(starts)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:xdist", str(HERE / "simulated.py")],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize(
    ("environment", "before", "reason"),
    [
        ({}, "import sys; sys.modules['torch'] = None; ", "'torch', which is not installed"),
        pytest.param(
            {"CUDA_VISIBLE_DEVICES": ""}, "", "DeviceError: device='cuda': ", marks=pytest.mark.slow
        ),
        pytest.param(
            {"NUMBA_ENABLE_CUDASIM": "1"}, "", "DeviceError: the CUDA simulator needs",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {},
            "import numpy, torch; numpy.__version__ = '2.5.1'; "
            "torch.cuda.is_available = lambda: True; ",
            "NumPy 2.5.1; pip install 'numpy<2.5.0'" if find_spec("numba_cuda") else "DeviceError",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["no torch", "no device", "simulator", "NumPy"],
)  # fmt: skip
def test_the_error_says_what_is_missing(
    environment: dict[str, str], before: str, reason: str
) -> None:
    """Also with a simulator but compiled kernels, and with a NumPy too new for numba-cuda."""
    line = f"from azumaya.envs import make_vec; make_vec({next(iter(TESTED))!r}, 2, device='cuda')"
    done = subprocess.run(
        [sys.executable, "-c", before + line],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert reason in done.stderr
