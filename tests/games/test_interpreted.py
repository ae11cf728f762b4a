"""Every game is the same compiled and as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cases import TESTED

SCRIPT = """
import random, sys
from azumaya.envs.kernels.compile import INTERPRETED
from tests.cases import TESTED, cases_of
print(INTERPRETED)
for case in cases_of(TESTED[sys.argv[1]]):
    rng, position = random.Random(7), case.position(seed=3)
    for ply in range(400 if case.number == 0 else 5):
        if position.is_over:
            break
        move = rng.choice(position.legal_moves())
        print(position, move, position.explain(move), position.scene().notes)
        print(position.observation(0).tobytes().hex(), position.observation(1).tobytes().hex())
        if case.game.rules.resample is not None:
            print(position.resample_hidden(ply).state.tobytes().hex())
        position.play(move)
    print(position, position.returns() if position.is_over else "")
"""


@pytest.mark.slow
@pytest.mark.parametrize("game", TESTED)
def test_compiled_and_interpreted_games_are_the_same(game: str) -> None:
    outputs = []
    for disable in "01":
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT, game],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    compiled, interpreted = outputs
    assert (compiled[0], interpreted[0]) == ("False", "True")
    assert len(compiled) > 20
    assert compiled[1:] == interpreted[1:]
