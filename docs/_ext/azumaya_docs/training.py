"""How agents do after a short training, game by game, kept in `docs/_data/training.json`.

    PYTHONPATH=docs/_ext python -m azumaya_docs.training runs/sudoku_moyo-1 runs/abalone-1

takes the evaluations of these run folders over into the file; runs of other games stay in it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "_data" / "training.json"
KEPT = ("game", "seed", "steps", "minutes", "options")
"""What is kept of a run's configuration."""


def read_all() -> dict[str, dict[str, Any]]:
    """The runs by game; none if nothing was taken over yet."""
    if not FILE.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text("utf-8"))
    return found


def of_run(folder: Path) -> dict[str, Any]:
    """What the file keeps of a run folder."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    curve = json.loads((folder / "curve.json").read_text("utf-8"))
    scores = json.loads((folder / "evaluation.json").read_text("utf-8"))
    return {
        **{name: config[name] for name in KEPT},
        "learned": int(curve[-1]["steps"]),
        "scores": {score["second"]: score for score in scores},
    }


def main(folders: list[str]) -> None:
    """Take run folders over."""
    runs = read_all()
    for folder in folders:
        run = of_run(Path(folder))
        runs[run["game"]] = run
    FILE.write_text(json.dumps(runs, indent=1) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
