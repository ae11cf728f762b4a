"""Run examples of other libraries with our environments, each in its own virtual environment.

    python -m tests.integrations [NAME ...] [--place FOLDER] [--remove]

Without names all libraries of `catalogue.py` run. The first run makes a virtual environment for
each of them, by default in the user's cache folder; `--remove` removes it after the script. For
each library one JSON line is printed with versions and results, or with what failed. The exit
status is 1 if a library failed and 2 if a name is unknown.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from azumaya.baselines.system.signals import end_on_signals
from azumaya.benchmarks.child import run_child
from azumaya.benchmarks.peers.environments import InstallError, default_place, environment_of, why
from tests.integrations.catalogue import LIBRARIES, SCRIPTS, Library

TIME_LIMIT_S = 1200.0
VERSIONS = """
import json, sys
from importlib.metadata import version
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
"""


class ScriptError(Exception):
    """A script failed or printed no result; the message says why."""


def run_script(python: Path, *words: str) -> dict[str, Any]:
    """Run Python with arguments; returns the JSON object on the last line it printed.

    The working directory is the folder of the environment, which holds no modules.

    Raises:
        ScriptError: it failed, took too long, or did not print a JSON object.
    """
    try:
        done = run_child([str(python), "-P", *words], TIME_LIMIT_S, folder=python.parent)
    except subprocess.TimeoutExpired:
        raise ScriptError(f"it took more than {TIME_LIMIT_S:.0f} s") from None
    if done.returncode:
        raise ScriptError(f"exit code {done.returncode}: {why(done.stderr)}")
    try:
        result = json.loads(done.stdout.strip().rpartition("\n")[2])
    except ValueError:
        result = None
    if not isinstance(result, dict):
        raise ScriptError(f"no result on standard output: {done.stdout[-200:]!r}")
    return result


def run_library(library: Library, place: Path, remove: bool = False) -> dict[str, Any]:
    """Make a library's environment and run its script; returns its result or `{"error": ...}`."""
    result: dict[str, Any] = {"library": library.name}
    python = None
    try:
        python = environment_of(library.environment(), place)
        result["versions"] = run_script(python, "-c", VERSIONS, *library.reported)
        began = time.monotonic()
        result |= run_script(python, str(SCRIPTS / library.script))
        result["seconds"] = round(time.monotonic() - began, 1)
    except (InstallError, ScriptError) as error:
        result["error"] = str(error)
    finally:
        if remove and python is not None:
            shutil.rmtree(python.parents[1])
    return result


def main(words: Sequence[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(LIBRARIES))
    place = default_place().parent / "integrations"
    parser.add_argument("--place", type=Path, default=place, help="folder of the environments")
    parser.add_argument("--remove", action="store_true", help="remove each environment afterwards")
    chosen = parser.parse_args(words)
    unknown = [name for name in chosen.names if name not in LIBRARIES]
    if unknown:
        parser.error(f"{', '.join(unknown)}: there are {', '.join(LIBRARIES)}")
    end_on_signals()
    failed = 0
    for name in chosen.names or LIBRARIES:
        print(f"{name}: its environment and its script", file=sys.stderr, flush=True)
        result = run_library(LIBRARIES[name], chosen.place, chosen.remove)
        print(json.dumps(result), flush=True)
        failed += "error" in result
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
