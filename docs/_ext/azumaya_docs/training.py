"""Evaluations of agents after a short training of each game, stored in `docs/_data/training.json`.

    PYTHONPATH=docs/_ext python -m azumaya_docs.training runs/sudoku_moyo-1 runs/abalone-1

imports the evaluations of these run folders into the file; runs of other games stay in it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "_data" / "training.json"
KEPT = ("game", "seed", "steps", "minutes", "options")
"""The fields of a run's configuration that are stored."""


def read_all() -> dict[str, dict[str, Any]]:
    """The stored runs by game; empty if none was imported yet."""
    if not FILE.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text("utf-8"))
    return found


def of_run(folder: Path) -> dict[str, Any]:
    """What the file stores about a run folder."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    curve = json.loads((folder / "curve.json").read_text("utf-8"))
    scores = json.loads((folder / "evaluation.json").read_text("utf-8"))
    return {
        **{name: config[name] for name in KEPT},
        "learned": int(curve[-1]["steps"]),
        "scores": {score["second"]: score for score in scores},
    }


def main(folders: list[str]) -> None:
    """Import run folders."""
    runs = read_all()
    for folder in folders:
        run = of_run(Path(folder))
        runs[run["game"]] = run
    FILE.write_text(json.dumps(runs, indent=1) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
