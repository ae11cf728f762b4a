"""Build the wheel, install it, and check its types and that it works.

mypy does not see packages through an editable install with mapped folders, so types are checked on
an installed wheel. mypy and pyright also check a small program of the kind that users write. Then
each game plays a step and is drawn as text in a virtual environment with only the core install
(numpy, gymnasium, pettingzoo, numba, filelock, platformdirs).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
USER_PROGRAM = ROOT / "tests" / "typing" / "user_program.py"
PLAY = """
from azumaya.envs import GAMES, make
for name in GAMES:
    env = make(name, render_mode="ansi")
    env.reset(seed=0)
    env.step(env.unwrapped.position.legal_actions()[0])
    print(env.render().splitlines()[0])
    assert len(env.render().splitlines()) > 6, name
"""


def run(*command: object, cwd: Path = ROOT, **environment: str) -> None:
    """Run a command with added environment variables and print its output when it has ended.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    words = [str(part) for part in command]
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(f"$ {' '.join(words)}\n{done.stdout}", end="", flush=True)
    done.check_returncode()


def build(kind: str, out: Path) -> None:
    """Build the `wheel` or the `sdist` of the tree."""
    # setuptools packs what an earlier build left there, even if its source is gone
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    run(sys.executable, "-m", "build", f"--{kind}", "--outdir", out)


def check_types(wheel: Path, site: Path) -> None:
    """Install the wheel in `site` and check the types of its package and modules with mypy."""
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel)
    settings = ROOT / "pyproject.toml"  # strict, except for annotations that kernels cannot have
    modules = (site / "azumaya", *site.glob("*.py"))
    run(sys.executable, "-m", "mypy", "--config-file", settings, *modules, cwd=site)


def check_user_program(wheel: Path, scratch: Path) -> None:
    """Check a user's program against the wheel with mypy and pyright in strict mode."""
    site = scratch / "site"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, wheel)
    shutil.copy(USER_PROGRAM, scratch)
    mypy = (sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent")
    run(*mypy, USER_PROGRAM.name, cwd=scratch, MYPYPATH=str(site))
    settings = {
        "include": [USER_PROGRAM.name],
        "extraPaths": [str(site), sysconfig.get_path("purelib")],
        "typeCheckingMode": "strict",
    }
    (scratch / "pyrightconfig.json").write_text(json.dumps(settings))
    run(sys.executable, "-m", "basedpyright", "-p", scratch)  # pyright, bundled with Node.js


def check_core_install(wheel: Path, place: Path) -> None:
    """Play every game in a virtual environment with the wheel and its dependencies alone."""
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel)
    run(python, "-c", PLAY)  # from the root: the sources there must not be imported instead


def main() -> int:
    """Build the wheel and run all checks at the same time; returns 1 if one failed."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        build("wheel", scratch / "dist")
        wheel = next((scratch / "dist").glob("*.whl"))
        (scratch / "user").mkdir()
        with ThreadPoolExecutor() as pool:
            checks = [
                pool.submit(check_types, wheel, scratch / "site"),
                pool.submit(check_core_install, wheel, scratch / "core"),
                pool.submit(check_user_program, wheel, scratch / "user"),
            ]
        errors = [error for check in checks if (error := check.exception())]
    for error in errors:
        print(error)
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(main())
