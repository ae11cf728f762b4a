"""Replay all playthroughs; as plain Python with `NUMBA_DISABLE_JIT=1`.

    python -m tests.golden.replay

In plain Python starts are read from their texts, because preparing thousands of puzzles is slow
there. With `--seeds` they are drawn by their seeds all the same.
"""

from __future__ import annotations

import argparse

from azumaya.envs.kernels.compile import INTERPRETED
from tests.cases import TESTED
from tests.golden import playthrough


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", action="store_true")
    parser.add_argument("--plies", type=int, default=10**9, help="the most plies per game")
    args = parser.parse_args()
    plies = 0
    for name in TESTED:
        for file in playthrough.files_of(name):
            played = playthrough.read_playthrough(file)
            played.replay(args.seeds or not INTERPRETED, args.plies)
            plies += min(args.plies, len(played.plies))
    kind = "interpreted" if INTERPRETED else "compiled"
    print(f"{plies} plies replayed, {kind}")


if __name__ == "__main__":
    main()
