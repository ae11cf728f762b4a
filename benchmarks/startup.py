"""Start-up: the time of a fresh process from its first line to the first step.

Each probe is a process of its own. A cold start has an empty compile cache; what it takes longer
than a warm start is the time of compilation.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from typing import Any

from azumaya.benchmarks.child import run_child
from azumaya.envs.game import Game

TIME_LIMIT_S = 600.0

_PROBE = """
import json, sys, time
begin = time.perf_counter(), time.process_time()
import azumaya.envs
imported = time.process_time()
from numba.core.event import install_recorder
name, form = sys.argv[1:]
with install_recorder("numba:compile") as recorded:
    if form == "aec":
        env = azumaya.envs.raw(name)
        env.reset(seed=0)
        observation, *_ = env.last()
        env.step(int(observation["action_mask"].argmax()))
        env.last()
    else:
        env = azumaya.envs.make_vec(name, 64, threads=1)
        observations, _ = env.reset(seed=0)
        env.step(observations["action_mask"].argmax(1))
end = time.process_time()
print(json.dumps({"import": imported - begin[1], "value": end - begin[1],
                  "wall": time.perf_counter() - begin[0], "process": end,
                  "compiled": sum(event.is_start for _, event in recorded.buffer)}))
"""


def probe(game: Game, form: str, cache: str) -> dict[str, float]:
    """CPU seconds of one process: for the import, until the first step, and in total.

    `wall` is seconds of wall time until the first step, `compiled` the number of compilations.

    Args:
        game: the game.
        form: `"aec"` or `"batch"`.
        cache: the folder of the compile cache.

    Raises:
        RuntimeError: the process failed.
    """
    environment = {**os.environ, "AZUMAYA_CACHE_DIR": cache}
    begin = time.perf_counter()
    done = run_child([sys.executable, "-c", _PROBE, game.name, form], TIME_LIMIT_S, environment)
    if done.returncode:
        raise RuntimeError(f"start-up of {game.name} failed: {done.stderr.strip()[-400:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {**figures, "process_wall": time.perf_counter() - begin}


def measure_start(game: Game, form: str, repeats: int) -> dict[str, Any]:
    """Seconds from the first line to the first step: one cold start, the median of warm starts."""
    with tempfile.TemporaryDirectory(prefix="azumaya-bench-") as cache:
        cold = probe(game, form, cache)
        warm = [probe(game, form, cache) for _ in range(repeats)]
    row: dict[str, Any] = {
        name: round(statistics.median(each[name] for each in warm), 3) for name in warm[0]
    }
    row["low"] = round(min(each["value"] for each in warm), 3)
    row["high"] = round(max(each["value"] for each in warm), 3)
    row["cold"] = round(cold["value"], 2)
    row["cold_wall"] = round(cold["wall"], 2)
    row["cold_compiled"] = cold["compiled"]
    row["compile"] = round(cold["value"] - row["value"], 2)
    return {**row, "unit": "CPU seconds"}
