"""The folder of a training run: its files, and the checks for starting or resuming a run.

All training scripts share it. Everything needed to resume a run is in one file,
`resume.safetensors`, which is replaced in one step (`saves.py`). The agent and the learning curve,
which others read, are made from it after each save and again when the run is resumed, so it does
not matter when a run is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azumaya.baselines.system.command_line import copyable, flag
from azumaya.baselines.system.files import (
    MOST_TEXT,
    flush_folder,
    locked,
    read_json,
    remove_partial,
    shown,
    write_together,
    write_whole,
)
from azumaya.baselines.training.logs import METRICS, Logs
from azumaya.baselines.training.saves import Save, read_save

CONFIG, SAVED, CURVE = "config.json", "resume.safetensors", "curve.json"
RESULTS = ("evaluation.json", "learning_curve.png", "ladder.json", "ladder.png")
"""What is written after training; the first is the final evaluation."""
LOCK = ".lock"
"""An empty file, locked by the process that trains in the folder. It is never deleted, because
another process may be about to lock it."""
EVENTS = "events.out.tfevents.*"
"""TensorBoard's files."""
PLACE = ("output", "resume", "overwrite")
"""Options that say where and how to run; they are not stored with the run."""


class RunError(ValueError):
    """A folder in which a run can be neither started nor resumed as asked."""


@dataclass(frozen=True)
class Script:
    """What a run folder needs to know about the script that trains in it.

    Attributes:
        program: the module, as `python -m` takes it.
        agent: makes the agent's files from a save, their contents by name.
        files: the names of those files, and of any others that the script writes.
        prefix: what the names of its run folders begin with, unless `--output` is given.
    """

    program: str
    agent: Callable[[Save], Mapping[str, bytes]]
    files: tuple[str, ...]
    prefix: str = ""


class RunFolder:
    """The folder of a run. Nothing is created before `begin`.

    Args:
        path: the folder, which need not exist yet.
        script: the script that trains in it.
    """

    logs: Logs
    """The logs of the run, from `begin` on."""

    def __init__(self, path: Path, script: Script) -> None:
        self.path, self.script = path, script
        self._lock: int | None = None

    # ---- what is there ----

    @property
    def names(self) -> tuple[str, ...]:
        """The names of a run's files except TensorBoard's; the configuration comes first."""
        return (CONFIG, SAVED, *self.script.files, METRICS, CURVE, *RESULTS)

    def files(self) -> list[Path]:
        """The files of a run that exist."""
        named = [self.path / name for name in self.names if os.path.lexists(self.path / name)]
        return [*named, *self.path.glob(EVENTS)]

    def saved(self) -> Save | None:
        """The last save; None before the first.

        Raises:
            RunError: it is missing, although other files show that there was one.
            CheckpointError: it cannot be read.
        """
        if os.path.lexists(self.path / SAVED):
            return read_save(self.path / SAVED)
        results = (*self.script.files, CURVE, *RESULTS)  # exist only after a save
        left = [name for name in results if os.path.lexists(self.path / name)]
        if left:
            raise RunError(
                f"{self.path} has no {SAVED}, but {', '.join(left)} of a saved run, which training "
                f"from the start would replace. Put {SAVED} back, or start over with --overwrite"
            )
        return None

    def steps(self) -> int:
        """The number of actions up to the last save; 0 before the first.

        Raises:
            RunError, CheckpointError: as `saved`.
        """
        saved = self.saved()
        return saved.steps if saved else 0

    def options(self, names: Collection[str], added: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the run, as it was last started or resumed.

        Args:
            names: the options of the script, without those in `PLACE`.
            added: options that the file may lack, with what they are then.

        Raises:
            RunError: there is no run, or its `config.json` is malformed or has other options.
        """
        file = self.path / CONFIG
        self.check_place()
        try:
            stored = {**added, **read_json(file)}
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(
                f"{self.path} holds no run: there is no {CONFIG}; name the folder of a run with "
                "--output, or leave out --resume"
            ) from None
        except (OSError, TypeError, ValueError) as error:
            raise RunError(f"{file} cannot be read: {error}") from error
        stored = {name: value for name, value in stored.items() if name not in PLACE}
        other = sorted(set(stored) ^ set(names))
        if other:
            raise RunError(
                f"{file}: written by another script than {self.script.program}, or by another "
                f"version of it, which differs in the options {', '.join(other)}; "
                "resume it by its own (azumaya train --algorithm)"
            )
        return stored

    # ---- checks ----

    def check_place(self) -> None:
        """Check that the folder exists or can be created.

        Raises:
            RunError: it cannot.
        """
        given = f"--output {shown(self.path)}"
        parents = (self.path, *self.path.absolute().parents)
        place = next((p for p in parents if os.path.exists(p)), None)
        if place is None:
            raise RunError(f"{given}: there is no {parents[-1]}")  # a drive that is not there
        if not place.is_dir():
            raise RunError(f"{given}: {place} is a file; name a folder")
        if not os.access(place, os.W_OK | os.X_OK):
            raise RunError(f"{given}: {place} is not writable; name another folder")
        try:
            for path in (place / max(self.path.absolute().parts, key=len), self.path):
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    os.lstat(path)
        except (OSError, ValueError) as error:  # it is too long, or has a null byte
            reason = getattr(error, "strerror", error)
            raise RunError(f"{given}: no folder can have this path: {reason}") from error

    def check_free(self) -> None:
        """Check that the folder holds no run.

        Raises:
            RunError: it holds one; the error says what can be done.
        """
        if not self.files():
            return
        try:
            stored, steps = read_json(self.path / CONFIG, MOST_TEXT), self.steps()
            goal = int(stored["steps"])
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            said, more = f"files of a run ({', '.join(p.name for p in self.files())})", ""
        else:
            done = f"{steps:,} of {goal:,} steps done" if goal else f"{steps:,} steps done"
            said, more = f"a run, {done}", f"To resume: {self.resume_command}. "
            if 0 < goal <= steps:
                results = [path for name in RESULTS if (path := self.path / name).exists()]
                see = f" (see {', '.join(map(str, results))})" if results else ""
                said = f"a finished run of {steps:,} steps{see}"
                more = (
                    f"To train it further: {self.resume_command} --steps {2 * max(goal, steps)}. "
                )
                if not (self.path / RESULTS[0]).exists():
                    more = f"To evaluate it: {self.resume_command}. {more}"
        raise RunError(
            f"{self.path} holds {said}; nothing was changed. {more}To start another run: "
            "--output FOLDER or another --seed. To start over in its place: --overwrite."
        )

    @property
    def resume_command(self) -> str:
        """The command that resumes the run."""
        python = sys.executable
        if shutil.which("python") == python:
            python = "python"
        elif Path(python).is_relative_to(Path.cwd()):
            python = os.path.relpath(python)
        return copyable([python, "-m", self.script.program, "--output", self.path, "--resume"])

    def check_same(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Check that the options equal those of the run.

        Raises:
            RunError: some options differ.
        """
        other = [name for name in now if now[name] != before[name]]
        if other:
            given = ", ".join(f"{flag(name)} {now[name]} (it has {before[name]})" for name in other)
            raise RunError(
                f"--resume: the run in {self.path} cannot be resumed with {given}; leave that out, "
                "or start another run with --output"
            )

    # ---- beginning and ending ----

    def lock(self) -> None:
        """Keep other processes out of the folder until `close`, or until this process ends.

        Raises:
            RunError: another process is training in it.
            OSError: the file to lock cannot be opened.
        """
        if self._lock is not None:
            return
        # A file open for writing: NFS does not pass locks on folders to other machines.
        self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        if not locked(self._lock):
            self.close()
            raise RunError(f"{self.path}: another process is training in this folder")

    def begin(
        self,
        options: Mapping[str, Any],
        saved: Save | None,
        *,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Make the folder ready for training.

        Args:
            options: the content of `config.json`.
            saved: the save to resume from.
            resume: whether a run is resumed.
            overwrite: whether the files of an earlier run are deleted.

        Raises:
            RunError: another process is training in the folder, or it holds a run and is to be
                neither resumed nor overwritten.
            OSError: a file cannot be written.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        self.lock()
        if overwrite:
            self._clear()
        elif not resume:
            self.check_free()  # a run may have begun, and even ended, since the last check
        remove_partial(self.path, self.names)
        self.write(CONFIG, json.dumps(options, indent=2) + "\n")
        if saved:
            self.publish(saved)
        steps, lines = (saved.steps, saved.metrics) if saved else (None, 0)
        self.logs = Logs(self.path, steps, lines)

    def _clear(self) -> None:
        """Delete the files of a run, `config.json` first: without it no run can be resumed."""
        for file in self.files():
            file.unlink()
            flush_folder(self.path)

    def close(self) -> None:
        """Close the logs and release the lock."""
        if hasattr(self, "logs"):
            self.logs.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # ---- writing ----

    def save(self, save: Save) -> None:
        """Write a save, then the agent and the learning curve made from it.

        Raises:
            OSError: a file cannot be written; the earlier save is intact, or this one.
        """
        self.logs.flush()
        write_whole(self.path / SAVED, save.contents())
        self.publish(save)

    def publish(self, save: Save) -> None:
        """Write the files that others read: the agent and the learning curve of a save."""
        agent = self.script.agent(save)
        write_together({self.path / name: content for name, content in agent.items()})
        self.write_curve(save.curve)

    def write_curve(self, curve: list[dict[str, float]]) -> None:
        """Write the learning curve."""
        self.write(CURVE, json.dumps(curve) + "\n")

    def write(self, name: str, content: str | bytes) -> None:
        """Replace a file in one step."""
        write_whole(self.path / name, content.encode() if isinstance(content, str) else content)
