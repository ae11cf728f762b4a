"""Settings for the whole suite: one thread, hypothesis profiles, and the `slow` marker."""

from __future__ import annotations

import gc
import os
import signal

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
# so that processes started by tests also find the yardstick by name
os.environ.setdefault("AZUMAYA_GAMES", "azumaya.benchmarks.yardstick.connect_four")

import pytest
from hypothesis import HealthCheck, settings

# A job in the background of a shell ignores Ctrl-C, and one under `nohup` a closed terminal. So
# would processes that tests start; a handler is not inherited.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if os.name == "posix" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)

# What is collected lives until the end. Searching it for garbage again and again took a third of
# the time in which tests are collected, so it is searched neither then nor later.
gc.disable()

settings.register_profile(
    "suite", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("slow", parent=settings.get_profile("suite"), max_examples=1000)
settings.load_profile(os.environ.get("AZUMAYA_HYPOTHESIS", "suite"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests marked slow, unless `-m` is given."""
    if config.getoption("markexpr"):
        return
    slow = [item for item in items if "slow" in item.keywords]
    items[:] = [item for item in items if "slow" not in item.keywords]
    config.hook.pytest_deselected(items=slow)


def pytest_collection_finish() -> None:
    """Leave what was collected out of later searches for garbage."""
    gc.freeze()
    gc.enable()
