"""The machine that a run was measured on. Every result names it."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from azumaya.envs.adapters.batch.workers import available_cores

PACKAGES = ("numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "azumaya")


def cpu_model() -> str:
    """The name of the CPU as reported by the system."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def commit() -> str:
    """The commit of the checkout that contains this code, with `+` if it was changed; or none."""
    folder = Path(__file__).parent
    try:
        head = _git(folder, "rev-parse", "--short=12", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return head + ("+" if changed else "")


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def load() -> float | None:
    """The load average over the last minute; None where the system does not report it."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def describe() -> dict[str, Any]:
    """The machine, the versions, the commit and the time."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "none"
    return {
        "cpu": cpu_model(),
        "cores": available_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **versions,
        "commit": commit(),
        "started": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "load": load(),
    }


def short_name(gpu: str | None = None) -> str:
    """The date and the CPU, or the measured GPU, as a folder name."""
    if gpu is not None:
        slug = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
        return f"{datetime.date.today().isoformat()}-{slug}"
    cpu = re.sub(r"\(.*?\)|@.*|\b(cpu|processor)\b", " ", cpu_model().lower())
    slug = re.sub(r"[^a-z0-9]+", "-", cpu).strip("-")
    return f"{datetime.date.today().isoformat()}-{slug}-{available_cores()}-cores"
