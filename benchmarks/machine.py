"""The machine that a run was measured on. Every result names it."""

from __future__ import annotations

import datetime
import os
import platform
import re
from typing import Any

from azumaya.baselines.system.machine import commit, cpu_model, installed
from azumaya.envs.engine.workers import available_cores

MEASURED = (
    "numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "torch", "stable-baselines3",
    "sb3-contrib", "azumaya",
)  # fmt: skip
"""The packages that rows depend on: those of one run must all have the same versions."""


def load() -> float | None:
    """The load average over the last minute; None where the system does not report it."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def describe() -> dict[str, Any]:
    """The machine, the versions, the commit and the time."""
    return {
        "cpu": cpu_model(),
        "cores": available_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: installed(package) or "none" for package in MEASURED},
        "commit": commit(),
        "started": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "load": load(),
    }


def short_name(gpu: str | None = None) -> str:
    """The date and the CPU, or the measured GPU, as a folder name."""
    what = gpu
    if what is None:
        cpu = re.sub(r"\(.*?\)|@.*|\b(cpu|processor)\b", " ", cpu_model().lower())
        what = f"{cpu} {available_cores()} cores"
    slug = re.sub(r"[^a-z0-9]+", "-", what.lower()).strip("-")
    return f"{datetime.date.today().isoformat()}-{slug}"
