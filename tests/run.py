"""The tests as `make test` and CI run them, and the longer jobs of `make test-all`.

    python tests/run.py                 # the suite
    python tests/run.py all             # and what runs nightly, one job after another
    python tests/run.py boundscheck     # one of the jobs
    python tests/run.py core            # a short one, for other versions of the core dependencies

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

RULES = ["games", "golden", "contract/test_simulation.py::test_every_ply_of_a_random_game"]
PLAIN = ["golden", "property/test_bits.py", "property/test_lanes.py", "property/test_rng.py"]
CORE = [
    "contract/test_pettingzoo.py", "contract/test_simulation.py",
    "vector/test_vector_env.py", "vector/test_against_aec.py", "golden",
]  # fmt: skip

JOBS: dict[str, tuple[list[str], list[str], dict[str, str]]] = {
    "suite": ([""], [], {}),
    "boundscheck": (RULES, COMPILED, {"NUMBA_BOUNDSCHECK": "1"}),
    "interpreted": (PLAIN, [], {"NUMBA_DISABLE_JIT": "1"}),
    "slow": ([""], ["-m", "slow", "-rs"], {}),
    "hypothesis": ([""], ["-m", "hypothesis"], {"AZUMAYA_HYPOTHESIS": "slow"}),
    "core": (CORE, COMPILED, {}),
}
"""By name: the tests of a job, further arguments of pytest, and environment variables.

The tests of the rules run again with bounds checks in the kernels, the goldens as plain Python.
`slow` says which tests were skipped, such as those on Ray; `hypothesis` tries a thousand examples
of each property. `core` needs only the core install and pytest."""
NIGHTLY = ("suite", "boundscheck", "interpreted", "slow", "hypothesis")


def run(name: str, cache: str) -> bool:
    """Run one job; returns whether it passed."""
    tests, options, environment = JOBS[name]
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
    """Run the named jobs, or the suite; returns 1 if one failed."""
    parser = argparse.ArgumentParser(prog="tests/run.py")
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"all, {', '.join(JOBS)}")
    parser.add_argument("--cache", metavar="FOLDER", help="kernel cache (default: a temporary one)")
    arguments = parser.parse_args(words)
    if unknown := [name for name in arguments.jobs if name not in ("all", *JOBS)]:
        parser.error(f"unknown jobs {unknown}; there are all, {', '.join(JOBS)}")
    jobs = NIGHTLY if "all" in arguments.jobs else arguments.jobs or ["suite"]
    with tempfile.TemporaryDirectory() as temporary:
        cache = arguments.cache or temporary
        passed = [run(name, cache) for name in jobs]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
