"""The versions of the library and of other packages that are installed."""

from __future__ import annotations

import importlib.metadata
import sys


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
