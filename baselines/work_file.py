"""The old place of `WorkFileError`."""

from __future__ import annotations

import warnings
from typing import Any


def __getattr__(name: str) -> Any:
    if name != "WorkFileError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from azumaya.baselines.system.work import WorkFileError  # noqa: PLC0415 - with the warning

    warnings.warn(
        "azumaya.baselines.work_file has moved; import WorkFileError from "
        "azumaya.baselines.system.work",
        FutureWarning,
        stacklevel=2,
    )
    return WorkFileError
