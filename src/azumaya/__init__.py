"""Azumaya: two-player board games for reinforcement learning, most built on the Sudoku rule."""

from pathlib import Path

__version__ = "0.1.0"

if not Path(__file__).parent.is_dir():
    raise ImportError(
        f"azumaya cannot run from an archive ({Path(__file__).parents[1]}), because it reads its "
        "data and sources as files; unpack it into a folder, or install it with pip"
    )
