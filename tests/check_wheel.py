"""Build the wheel, install it by itself, and check its types and that it works.

mypy does not see packages through an editable install with mapped folders, so the types are
checked on an installed wheel. Then a virtual environment with the core install alone (numpy,
gymnasium, pettingzoo, numba) plays a step of every game and draws it as text.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLAY = """
from azumaya.envs import GAMES, make
for name in GAMES:
    env = make(name, render_mode="ansi")
    env.reset(seed=0)
    env.step(env.unwrapped.position.legal_actions()[0])
    print(env.render().splitlines()[0])
    assert len(env.render().splitlines()) > 6, name
"""


def run(*command: object, cwd: Path = ROOT) -> None:
    """Run a command, or end with its exit code."""
    print("$", *command, flush=True)
    done = subprocess.run([str(part) for part in command], cwd=cwd, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    """Build, install, check."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", scratch / "dist")
        wheel = next((scratch / "dist").glob("*.whl"))
        site = scratch / "site"
        run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel)
        settings = ROOT / "pyproject.toml"  # strict, but for what kernels cannot have
        run(sys.executable, "-m", "mypy", "--config-file", settings, site / "azumaya", cwd=site)
        venv.create(scratch / "core", with_pip=True)
        python = scratch / "core" / "bin" / "python"
        run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel)
        run(python, "-c", PLAY)  # where the source lies: it must not be in the way


if __name__ == "__main__":
    main()
