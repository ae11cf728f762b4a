"""The whole test suite as `make test` and CI run it: several jobs, one after another.

    python tests/run.py            # all jobs
    python tests/run.py suite      # some of them
    python tests/run.py core       # a short one, for other versions of the core dependencies

The jobs start with an empty kernel cache in a temporary folder, so nothing on the machine is
assumed. With `--cache FOLDER` they share a folder with other commands, as in CI.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
# without a plugin that takes a second to import, once in each process
PARALLEL = ["-n", str(min(2, os.cpu_count() or 1)), "--dist", "worksteal", "-p", "no:nbmake"]
COMPILED = ["-k", "not interpreted"]
"""Leaves out tests that start interpreted processes: other jobs run them, or need not."""

TOLD = "baselines/test_network.py::test_what_a_network_is_told"
RULES = ["games", "golden", "contract/test_simulation.py::test_every_ply_of_a_random_game", TOLD]
PLAIN = [
    "golden", "property/test_bits.py", "property/test_lanes.py", "property/test_rng.py",
    "values/test_sums.py", TOLD,
]  # fmt: skip
CORE = [
    "contract/test_pettingzoo.py", "contract/test_simulation.py",
    "vector/test_vector_env.py", "vector/test_against_aec.py", "golden",
]  # fmt: skip

JOBS: dict[str, tuple[list[str], list[str], dict[str, str]]] = {
    "suite": ([""], [], {}),
    "boundscheck": (RULES, COMPILED, {"NUMBA_BOUNDSCHECK": "1"}),
    "interpreted": (PLAIN, [], {"NUMBA_DISABLE_JIT": "1"}),
}
"""By name: the tests of a job, further arguments of pytest, and environment variables. After the
suite, tests of the rules run with bounds checks, and the goldens as plain Python."""

ON_REQUEST: dict[str, tuple[list[str], list[str], dict[str, str]]] = {
    "core": (CORE, COMPILED, {}),
}
"""Jobs that run only when they are named. `core` needs only the core install and pytest."""


def run(name: str, cache: str) -> bool:
    """Run one job; returns whether it passed."""
    tests, options, environment = {**JOBS, **ON_REQUEST}[name]
    arguments = [*PARALLEL, *(f"tests/{test}" for test in tests), *options]
    began = time.monotonic()
    print(f"== {name}: pytest {' '.join(arguments)} {environment or ''}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=ROOT,
        env={**os.environ, "AZUMAYA_CACHE_DIR": cache, **environment},
        check=False,
    )
    print(f"== {name}: exit {done.returncode} after {time.monotonic() - began:.0f} s", flush=True)
    return done.returncode == 0


def main(words: list[str]) -> int:
    """Run the named jobs, or those of `JOBS`; returns 1 if one failed."""
    parser = argparse.ArgumentParser(prog="tests/run.py")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join([*JOBS, *ON_REQUEST]))
    parser.add_argument("--cache", metavar="FOLDER", help="kernel cache (default: a temporary one)")
    arguments = parser.parse_args(words)
    known = [*JOBS, *ON_REQUEST]
    if unknown := [name for name in arguments.jobs if name not in known]:
        parser.error(f"unknown jobs {unknown}; there are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as temporary:
        cache = arguments.cache or temporary
        passed = [run(name, cache) for name in arguments.jobs or JOBS]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
