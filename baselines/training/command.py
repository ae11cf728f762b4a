"""The command line of a training script: its options, its one-line errors and its exit codes."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn, TypeVar

import torch

from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.arena.game_options import game_named
from azumaya.baselines.system.command_line import read_options
from azumaya.baselines.system.signals import DONE, FAILED, INTERRUPTED, REFUSED, end_on_signals
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.run_folder import RunError
from azumaya.baselines.training.state import TrainingError
from azumaya.envs import OptionError
from azumaya.envs.errors import DeviceError
from azumaya.envs.extras import MissingExtraError

REFUSALS = (OptionError, RunError, CheckpointError, MissingExtraError, DeviceError)
"""Errors in a command, or in the run it names; or it needs a package that is not installed."""
FAILURES = (OSError, MemoryError, torch.cuda.OutOfMemoryError)
"""Failures of the machine: a full disk, a closed output, too little memory, also of a GPU."""
ALLOCATION = "can't allocate memory"
"""The text of torch's `RuntimeError` when memory of the CPU runs out."""
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt`, from `malloc.h`."""
KEPT = 1 << 30
"""Bytes of freed memory that a script keeps, and of the smallest block that is not kept."""
MOST = 1 << 25
"""The largest block that glibc before 2.35 can be told not to take from the system."""

C = TypeVar("C", bound=RunConfig)


def read_words(kind: type[C], words: Sequence[str] | None, description: str | None) -> C:
    """Parse a command line; with `--resume`, it is applied on top of the run's configuration.

    Args:
        kind: the script's configuration.
        words: the words; None: those of this process.
        description: what `--help` says about the script.

    Raises:
        ValueError: there is no such run or game.
        SystemExit: the words cannot be parsed, or ask for help.
    """

    def read(default: C) -> C:
        program = f"python -m {kind.script.program}"
        return read_options(default, words, program, description)

    config = read(kind())
    if not config.resume:
        return config
    folder = replace(config, game=game_named(config.game).name).folder
    return read(kind.read(folder.path))


def exit_code(work: Callable[[], object]) -> int:
    """Run a script and return its exit code; expected errors are reported in one line."""
    keep_freed_memory()
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


def keep_freed_memory() -> None:
    """Let the C library keep what is freed, where it can be told so (glibc, on Linux).

    By default it returns blocks of some megabytes to the system, which fills them with zeros before
    torch gets them again. Threads wait for each other there: PPO in Halma-Dominari spends a quarter
    of its time on it.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None and (mallopt(MMAP_THRESHOLD, KEPT) or mallopt(MMAP_THRESHOLD, MOST)):
            mallopt(TRIM_THRESHOLD, KEPT)  # alone it would end glibc's own raising of the other


def _told(message: str, code: int) -> int:
    with contextlib.suppress(OSError):
        print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


def run_script(work: Callable[[], int]) -> NoReturn:
    """Run a script and exit with its exit code.

    SIGTERM, which batch systems send, SIGHUP and SIGQUIT end it as Ctrl-C does: training is saved.
    If the output cannot be written, that is reported here, not by a traceback at Python's exit.
    """
    end_on_signals()
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
