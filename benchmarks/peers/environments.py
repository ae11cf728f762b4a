"""A virtual environment for each peer, as what they pin does not go together."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from azumaya.benchmarks.peers.catalogue import Peer
from azumaya.envs.kernel_cache import default_root

PATIENCE = 1800.0
_DONE = "installed"


class InstallError(Exception):
    """A peer cannot be installed here; the message says why."""


def default_place() -> Path:
    """Where the environments lie unless told: `peers` in the user's cache folder."""
    return default_root() / "peers"


def environment_of(peer: Peer, place: Path) -> Path:
    """The Python of a peer's environment, which is made if it is not there yet.

    Raises:
        InstallError: a package cannot be installed.
    """
    wanted = repr((peer.first, peer.packages, peer.flags, sys.version_info[:2]))
    name = f"{peer.name}-{hashlib.blake2b(wanted.encode(), digest_size=4).hexdigest()}"
    folder = (place / name).absolute()
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / _DONE).exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
        if peer.first:
            _pip(python, peer.first)
        _pip(python, [*peer.flags, *peer.packages])
        (folder / _DONE).write_text(wanted + "\n")
    return python


def _pip(python: Path, words: Sequence[str]) -> None:
    command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False,
            env={**os.environ, "NO_TRAIN": "1"},  # PufferLib: build the environments alone
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InstallError(f"pip took more than {PATIENCE:.0f} s") from None
    if done.returncode:
        raise InstallError(why(done.stderr))


def why(output: str) -> str:
    """The lines of what pip printed that tell most: its errors, else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return " / ".join(dict.fromkeys(errors[-3:] or lines[-1:]))[:400] or "pip failed silently"
