"""How a script that trains ends: one line for what is wrong, and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from azumaya.baselines.agents.checkpoint import CheckpointError
from azumaya.baselines.training.run_folder import RunError
from azumaya.envs import OptionError

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
"""Exit codes; the last as shells have it for what Ctrl-C has ended."""
REFUSALS = (OptionError, RunError, CheckpointError)
"""What is wrong with a command, or with the run it names."""
FAILURES = (OSError, MemoryError)
"""What the machine would not do: a full disk, a closed output, too little memory."""
ALLOCATION = "can't allocate memory"
"""What torch says in a `RuntimeError` where others raise `MemoryError`."""


class TrainingError(RuntimeError):
    """Training cannot go on: its numbers have run out of bounds."""


def exit_code(work: Callable[[], object]) -> int:
    """Do a script's work and return its exit code; errors that are foreseen are one line each."""
    try:
        work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except REFUSALS as error:
        return _told(str(error), REFUSED)
    except (*FAILURES, TrainingError) as error:
        return _told(str(error) or type(error).__name__, FAILED)
    except RuntimeError as error:
        if ALLOCATION not in str(error):
            raise
        return _told(f"not enough memory: {error}", FAILED)
    return DONE


def _told(message: str, code: int) -> int:
    with contextlib.suppress(OSError):
        print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


def run_script(work: Callable[[], int]) -> NoReturn:
    """Do a script's work and end the program with its exit code.

    An output that cannot be written to is told here, not in a traceback while Python shuts down.
    """
    code: int | str | None
    try:
        code = work()
    except SystemExit as ended:
        code = ended.code
    try:
        sys.stdout.flush()
    except OSError as error:
        if code in (DONE, None):
            code = _told(f"output: {error}", FAILED)
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
    sys.exit(code)
