"""Optional packages: imported where they are used, with an error that names the extra."""

from __future__ import annotations

import importlib
from types import ModuleType


class MissingExtraError(ImportError):
    """A feature was used whose optional package is not installed."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra of azumaya brings it.

    Raises:
        MissingExtraError: the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise MissingExtraError(
            f"this needs the package {module!r}: pip install 'azumaya[{extra}]'"
        ) from error
