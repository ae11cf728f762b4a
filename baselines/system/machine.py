"""The machine and the code that a result comes from."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

NONE = "none"
"""What stands for the commit of code that is in no repository, such as an installed wheel."""
CODE = (
    *(f":(top){folder}" for folder in ("baselines", "benchmarks", "envs", "src", "wrappers")),
    ":(top,exclude)benchmarks/results",
)
"""Git's patterns for all that results depend on; a run may write its own rows to the others."""


def cpu_model() -> str:
    """The name of the CPU as reported by the system."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def installed(package: str) -> str | None:
    """The version of a package; None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def version() -> str:
    """The version from the metadata of the installed package; `unknown` if there is none.

    Not `from azumaya import __version__`: with an editable install, Python started in the folder
    above a clone named `azumaya` takes the clone itself for the package, which has no such name.
    """
    otherwise = getattr(sys.modules.get("azumaya"), "__version__", "unknown")
    return installed("azumaya") or str(otherwise)


def commit() -> str:
    """The commit of the checkout that contains this code; `none` without one.

    If the code was changed since then, `+` and a digest of it follow: `41ca67e17c8a+9f3e5d20`. Of a
    package that pip has installed from a repository it is the one that was installed.
    """
    file = Path(__file__)
    try:
        # an installed package may lie inside another repository, whose commit says nothing of it
        _git(file.parent, "ls-files", "--error-unmatch", file.name)
        head = _git(file.parent, "rev-parse", "--short=12", "HEAD")
        changed = _git(file.parent, "status", "--porcelain", "--", *CODE)
        return f"{head}+{_digest(file.parent)}" if changed else head
    except (OSError, subprocess.CalledProcessError):
        return _installed()


def _installed() -> str:
    """The commit in what pip notes of the place that a package comes from (PEP 610)."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        note = importlib.metadata.distribution("azumaya").read_text("direct_url.json")
        found: str = json.loads(note or "{}").get("vcs_info", {}).get("commit_id", NONE)
        return found[:12]
    return NONE


def _digest(folder: Path) -> str:
    """A digest of the code as it is now, with files that git does not know yet."""
    listed = _git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *CODE)
    total = hashlib.sha256()
    for name in sorted(filter(None, listed.split("\0"))):
        file = folder / name
        if file.is_file():  # it may have been deleted
            total.update(f"{name}\0".encode())
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:8]


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True,
        errors="replace",
    )  # fmt: skip
    return done.stdout.strip()
