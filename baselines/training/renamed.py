"""Earlier names of scripts: they warn, and run the script with folders of the earlier name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.run_folder import Script


def script(now: Script, program: str) -> Script:
    """The script of an earlier name, whose runs are found where they were."""
    return replace(now, program=program, prefix=f"{program.rpartition('.')[2]}-")


def commands(
    config: Any, now: ModuleType
) -> tuple[Callable[[Any], list[Score]], Callable[[Sequence[str] | None], int]]:
    """The `main` and `run_words` of an earlier name, with its `Config`; warns."""
    program = config.script.program
    if config.__module__ == program:  # not in `__main__`, which imports it as well
        warnings.warn(f"{program} is now {now.__name__}", FutureWarning, stacklevel=3)

    def run_words(words: Sequence[str] | None = None) -> int:
        return exit_code(lambda: now.main(read_words(config, words, now.__doc__)))

    return now.main, run_words


def run(program: str) -> NoReturn:
    """Run an earlier name; workers import its options from the module, not from `__main__`."""
    run_script(import_module(program).run_words)
