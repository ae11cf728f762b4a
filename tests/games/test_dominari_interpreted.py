"""Vierer-, Revers- and Score-Dominari behave the same compiled and as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

GAMES = ("vierer_dominari", "revers_dominari", "score_dominari")
SCRIPT = """
import random, sys
from azumaya.envs.position import Position
for referee in (True, False):
    rng, position = random.Random(7), Position(sys.argv[1], seed=3, referee=referee)
    while not position.is_over:
        move = rng.choice(position.legal_moves())
        print(position, move, position.explain(move), position.observation(1).tobytes().hex())
        position.play(move)
    print(position, position.returns())
"""


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_compiled_and_interpreted_games_are_the_same(game: str) -> None:
    outputs = []
    for disable in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, game],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0].count("\n") > 20
    assert outputs[0] == outputs[1]
