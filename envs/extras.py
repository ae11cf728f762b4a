"""What is imported where it is used: optional packages, modules of the user's, agents by name.

The error for a missing package names the extra.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from types import ModuleType
from typing import Any

from azumaya.envs.errors import OptionError

_DISTRIBUTIONS = {"PIL": "pillow", "pygame": "pygame-ce", "numba": "numba-cuda"}
"""Names of distributions that differ from the module's (`numba.cuda`: numba is always there)."""


class MissingExtraError(ImportError):
    """A feature was used whose optional package is not installed."""


def distribution_of(module: str) -> str:
    """The name of the distribution that contains a module."""
    top = module.partition(".")[0]
    return _DISTRIBUTIONS.get(top, top.replace("_", "-"))


def how_to_install(extra: str) -> str:
    """The command that installs an extra in a clone of the repository.

    It uses the pinned versions, except for the extra `cuda`, which needs torch with CUDA.
    """
    pins = "" if extra == "cuda" else "-c constraints.txt "
    return f'pip install {pins}-e ".[{extra}]"'


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module; if it is missing, the error says how to install it.

    Raises:
        MissingExtraError: the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise MissingExtraError(
            f"this needs the package {distribution_of(module)!r}, which is not installed; "
            f"in a clone of azumaya: {how_to_install(extra)}"
        ) from error


def import_own(module: str) -> ModuleType:
    """Import a module of the user's, which may be in the current folder.

    The folder stays on the path: the module may import its neighbours later.

    Raises:
        Exception: whatever the module's own code raises.
    """
    if (folder := os.getcwd()) not in sys.path[:1]:
        sys.path.insert(0, folder)
    return importlib.import_module(module)


FINDER = "azumaya.baselines:find_agent"
"""Makes agents from their names. An entry point, because imports point down only."""


def opponent_named(name: str) -> Any:
    """The agent with a name, for an argument `opponent`.

    Raises:
        OptionError: there is no agent of this name, or its class cannot be used.
        ValueError: its checkpoint cannot be used.
        MissingExtraError: it needs a package that is not installed.
    """
    try:
        return pkgutil.resolve_name(FINDER)(name)
    except OptionError as error:
        raise OptionError(f"opponent: {error}") from error
