"""A virtual environment for each peer, because their pinned dependencies conflict."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

from azumaya.benchmarks.child import run_child
from azumaya.benchmarks.peers.catalogue import Peer
from azumaya.envs.kernels.cache import cache_root

TIME_LIMIT_S = 1800.0
_DONE = "installed"


class InstallError(Exception):
    """A peer cannot be installed here; the message says why."""


def default_place() -> Path:
    """The default folder of the environments: `peers` in the user's cache folder."""
    return cache_root() / "peers"


def environment_of(peer: Peer, place: Path) -> Path:
    """The Python of a peer's environment, which is created if it does not exist.

    Raises:
        InstallError: a package cannot be installed.
    """
    wanted = repr((peer.first, peer.packages, sys.version_info[:2]))
    name = f"{peer.name}-{hashlib.blake2b(wanted.encode(), digest_size=4).hexdigest()}"
    folder = (place / name).absolute()
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / _DONE).exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
        if peer.first:
            _pip(python, ["install", *peer.first])
        if peer.prepare is None:
            _pip(python, ["install", *peer.packages])
        else:
            _install_source(python, peer, folder / "source")
        (folder / _DONE).write_text(wanted + "\n")
    return python


def _install_source(python: Path, peer: Peer, room: Path) -> None:
    """Let pip unpack a package's source, prepare it and install it."""
    room.mkdir()
    (package,) = peer.packages
    # pip downloads and unpacks the source, but fails to build it; `--no-clean` keeps it
    refused = ""
    try:
        _pip(
            python,
            ["download", "--no-clean", "--no-deps", "--no-build-isolation", "--no-binary",
             package.partition("==")[0], "-d", str(room), package],
            {"TMPDIR": str(room), "NO_TRAIN": "1", "NO_OCEAN": "1"},
        )  # fmt: skip
    except InstallError as error:
        refused = str(error)
    found = sorted(room.glob("pip-download-*/*/setup.py"))
    if not found or peer.prepare is None:
        raise InstallError(f"no source of {package}: {refused}")
    peer.prepare(found[0].parent)
    _pip(python, ["install", "--no-build-isolation", str(found[0].parent)], {"NO_TRAIN": "1"})
    shutil.rmtree(room)


def _pip(python: Path, words: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
    command = [str(python), "-m", "pip", words[0], "-q", "--disable-pip-version-check", *words[1:]]
    environment = {**os.environ, **(variables or {})}
    try:
        done = run_child(command, TIME_LIMIT_S, environment)
    except subprocess.TimeoutExpired:
        raise InstallError(f"pip took more than {TIME_LIMIT_S:.0f} s") from None
    if done.returncode:
        raise InstallError(why(done.stderr))


def why(output: str) -> str:
    """The most informative lines of pip's output: its errors, or else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return " / ".join(dict.fromkeys(errors[-3:] or lines[-1:]))[:400] or "pip failed silently"
