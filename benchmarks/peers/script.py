"""What the peers' scripts share: options, one core, rows on standard output.

It runs in the peers' environments, which lack our package. `timing.py`, which needs the standard
library alone, is loaded by its path, so that all libraries are measured by the same code.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DEVICE = os.environ.setdefault("JAX_PLATFORMS", "cpu")
"""`cpu`, measured by CPU time, or `cuda`, measured by wall time."""
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # ours is on the same GPU


def _load_timing() -> Any:
    path = Path(__file__).resolve().parents[1] / "timing.py"
    spec = importlib.util.spec_from_file_location("azumaya_timing", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


timing = _load_timing()


class Script:
    """One peer's script: its options, and the rows that it prints.

    Args:
        title: the description that `--help` prints.
    """

    def __init__(self, title: str | None) -> None:
        parser = argparse.ArgumentParser(description=title)
        parser.add_argument("--seconds", type=float, default=0.5, help="of each repeat")
        parser.add_argument("--repeats", type=int, default=3)
        parser.add_argument("--only", default="", help="games whose name contains one of these")
        options = parser.parse_args()
        self.seconds, self.repeats = options.seconds, options.repeats
        self._only = [word.strip() for word in options.only.lower().split(",")]
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    def wants(self, game: str) -> bool:
        """Whether a game is to be measured."""
        return any(part in game.lower() for part in self._only)

    def row(
        self, game: str, config: str, beside: str, includes: str, chunk: Callable[[], int]
    ) -> None:
        """Measure `chunk` and print its row."""
        if DEVICE == "cpu":
            rates = timing.measure(chunk, self.seconds, self.repeats)
        else:
            chunk()
            meter = timing.Meter(self.seconds, self.repeats, stretch=1.0)
            while meter.goes_on():
                meter.count(chunk())
            rates = timing.Rates(meter.rates.wall, meter.rates.wall)
        self.rates(game, config, beside, includes, rates)

    def rates(self, game: str, config: str, beside: str, includes: str, rates: Any) -> None:
        """Print a row of rates."""
        what = {"game": game, "config": config, "beside": beside, "includes": includes}
        print(json.dumps({**what, **rates.fields()}), flush=True)

    @contextmanager
    def attempt(self, game: str, config: str = "") -> Iterator[None]:
        """If an error occurs, print a row that names it, and continue."""
        try:
            yield
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:300]
            print(json.dumps({"game": game, "config": config, "error": reason}), flush=True)
