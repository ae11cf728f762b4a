"""The whole test suite, as `make test` and CI run it: several jobs, one after the other.

    python tests/run.py            # all jobs
    python tests/run.py suite      # some of them
    python tests/run.py core       # a short one, for other versions of the core dependencies

Each job has a kernel cache of its own in a temporary folder, so that nothing on the machine is
assumed and the bounds-checked kernels start cold.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKERS = str(min(2, os.cpu_count() or 1))
SUITE = ["-n", WORKERS, "--dist", "loadfile"]

JOBS: dict[str, tuple[list[str], dict[str, str]]] = {
    "suite": ([*SUITE, "tests"], {}),
    "boundscheck": (
        [*SUITE, "tests/games", "tests/golden", "tests/contract/test_simulation.py"],
        {"NUMBA_BOUNDSCHECK": "1"},
    ),
    "interpreted": (["tests/golden", "-k", "not interpreted"], {"NUMBA_DISABLE_JIT": "1"}),
}
"""By name, pytest's arguments and the environment of a job."""

CORE = [
    "contract/test_pettingzoo.py", "contract/test_simulation.py",
    "vector/test_vector_env.py", "vector/test_against_aec.py", "golden",
]  # fmt: skip
ON_REQUEST: dict[str, tuple[list[str], dict[str, str]]] = {
    "core": ([*SUITE, *(f"tests/{name}" for name in CORE), "-k", "not interpreted"], {}),
}
"""Jobs that run only when they are named. `core` needs no more than the core install and pytest."""


def run(name: str) -> bool:
    """Run one job; returns whether it passed."""
    arguments, environment = {**JOBS, **ON_REQUEST}[name]
    began = time.monotonic()
    print(f"== {name}: pytest {' '.join(arguments)} {environment or ''}", flush=True)
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=ROOT,
            env={**os.environ, "AZUMAYA_CACHE_DIR": cache, **environment},
            check=False,
        )
    print(f"== {name}: exit {done.returncode} after {time.monotonic() - began:.0f} s", flush=True)
    return done.returncode == 0


def main(names: list[str]) -> int:
    """Run the jobs of these names, or all; 1 if one failed."""
    known = [*JOBS, *ON_REQUEST]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"unknown jobs {unknown}; there are {', '.join(known)}")
        return 2
    return int(not all([run(name) for name in names or JOBS]))  # noqa: C419 - run every job


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
