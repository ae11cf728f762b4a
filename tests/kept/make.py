"""Make a file of every kind that the library writes, for later versions to read.

    python -m tests.kept.make FOLDER

`files.zip` has what this made on 2026-11-26, and the run of AlphaZero of 2026-11-27. Files are
added to it, and never exchanged for those of a newer version: users have the old ones.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import numpy as np

from azumaya.baselines.arena import play_pairing
from azumaya.envs import make_vec
from tests.commands import azumaya
from tests.training.run_helpers import SCRIPTS

GAME, DRAWS = "vierer_dominari", "sudoku_tiles"
FILES = Path(__file__).with_name("files.zip")
STEPS = 192
SUBMISSION = "def act(position):\n    return position.legal_moves()[{}]\n"
GRADE = (
    "--pairs", 1, "--classmates", 1, "--seed", 4, "--opponent", "random", "--opponent", "greedy",
)  # fmt: skip
PICTURES = (".png", ".html")
"""Made anew from other files."""


def make(folder: Path) -> None:
    """Write all files to a folder."""
    folder.mkdir(parents=True)
    for name, (train, tiny) in SCRIPTS.items():
        train(tiny(folder / name, steps=STEPS, game=GAME))
    league = folder / "league.jsonl"
    agents = ("random", "greedy", "uct:5")
    assert azumaya(
        "league", *agents, "--game", GAME, "--pairs", 3, "--seed", 2, "--results", league
    ).exit_code == 0  # fmt: skip
    class_folder = folder / "submissions"
    class_folder.mkdir()
    for i, name in enumerate(("ada", "bob")):
        (class_folder / f"{name}.py").write_text(SUBMISSION.format(i - 1))
    marks = ("--output", folder / "marks", *GRADE)
    assert azumaya("class", "grade", GAME, class_folder, *marks).exit_code == 0
    for game in (GAME, DRAWS):
        play_pairing(game, "greedy", "random", starts=2, seed=1, record=folder / f"{game}.jsonl")
        vector = make_vec(game, 4, autoreset_mode="SameStep")
        vector.reset(seed=1)
        vector.rollout(30)
        states, series = vector.get_state()
        texts = [str(vector.position(i)) for i in range(4)]
        np.savez(folder / f"{game}.npz", states=states, series=series, texts=texts)


def pack(folder: Path) -> None:
    """Write the files of a folder to `files.zip`, without what nobody reads."""
    with zipfile.ZipFile(FILES, "w", zipfile.ZIP_LZMA) as packed:
        for file in sorted(folder.rglob("*")):
            seen = file.suffix in PICTURES or ".tfevents." in file.name or file.name == ".lock"
            if file.is_file() and not seen:
                packed.write(file, file.relative_to(folder))


if __name__ == "__main__":
    make(Path(sys.argv[1]))
    pack(Path(sys.argv[1]))
