"""The version of the library that is installed."""

from __future__ import annotations

import importlib.metadata
import sys


def version() -> str:
    """The version from the metadata of the installed package; `unknown` if there is none.

    Not `from azumaya import __version__`: with an editable install, Python started in the folder
    above a clone named `azumaya` takes the clone itself for the package, which has no such name.
    """
    try:
        return importlib.metadata.version("azumaya")
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules.get("azumaya"), "__version__", "unknown"))
