"""A pytest plugin for copies of the library.

It sees that the copy is what is tested, limits the memory that a mutant can take, and, where
coverage is measured, says which test runs and how each test ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

import pytest

MOST_MEMORY = 6 << 30

with contextlib.suppress(ImportError):
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))

sys.path.insert(0, os.environ["AZUMAYA_COPY"])

import azumaya  # noqa: E402 - found only now

if not Path(azumaya.__file__ or "").is_relative_to(os.environ["AZUMAYA_COPY"]):
    raise RuntimeError(f"{azumaya.__file__} is tested, not the copy in AZUMAYA_COPY")

if (COVERED := Path("covered").resolve()).is_dir():
    import coverage

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(item: pytest.Item) -> None:
        """What runs from here on is run by this test."""
        if (measured := coverage.Coverage.current()) is not None:
            if type(sys.gettrace()).__name__ != "CTracer":  # a test may have ended the tracing
                measured.stop()
                measured.start()
            measured.switch_context(item.nodeid)

    def pytest_runtest_logreport(report: pytest.TestReport) -> None:
        """Append how long a part of a test took. Reports of workers reach the first process."""
        if "PYTEST_XDIST_WORKER" not in os.environ:
            row = json.dumps([report.nodeid, report.outcome, report.duration])
            with (COVERED / "told.jsonl").open("a") as told:
                told.write(row + "\n")
