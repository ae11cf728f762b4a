"""Measures all games on a GPU by processes that compile side by side and measure in turns.

    python -m tests.cuda.in_turns FOLDER [OPTIONS OF azumaya bench]

Compiling takes longer than measuring and keeps one core busy in each process. Measuring begins
when a line comes in, so that other work can end first. All results go to one folder.
"""

from __future__ import annotations

import subprocess
import sys

from azumaya.benchmarks import device
from azumaya.benchmarks.__main__ import app
from azumaya.envs.registry import GAMES

SMALL, BRIEF = 256, 1e-3


def prepare(name: str) -> None:
    """Compile everything that is measured of a game."""
    game = GAMES[name]
    device.bare(game, SMALL, BRIEF, 1)
    for form in device.FORMS:
        device.batch(game, form, SMALL, BRIEF, 1)


def take_turn(name: str, words: list[str]) -> None:
    """Compile, say so, and measure when a line comes in."""
    prepare(name)
    print("ready", flush=True)
    if sys.stdin.readline():
        app(["--device", "cuda", "--game", name, *words])


def main(folder: str, *options: str) -> int:
    """Measure all games; returns how many could not be measured."""
    words = ["--output", folder, *options]
    turns = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.cuda.in_turns", "--turn", name, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in GAMES
    ]
    for turn in turns:
        assert turn.stdout is not None
        turn.stdout.readline()  # also returns when the process has ended
    sys.stdin.readline()
    for turn in turns:
        print(turn.communicate("measure\n")[0], flush=True)
    return sum(turn.returncode != 0 for turn in turns)


if __name__ == "__main__":
    if sys.argv[1] == "--turn":
        take_turn(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main(*sys.argv[1:]))
