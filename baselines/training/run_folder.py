"""The folder of a training run: what lies in it, what may begin in it, and what goes on from it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import JSONOutputFormat, Logger, TensorBoardOutputFormat

from azumaya.baselines.agents import checkpoint
from azumaya.baselines.training.checks import flag

PROGRAM = "azumaya.baselines.training.maskable_ppo"
RESULTS = ("evaluation.json", "learning_curve.png")
FILES = (
    "config.json", "policy.safetensors", "policy.json", "resume.safetensors", "resume.json",
    "model.zip", "progress.json", "curve.json", *RESULTS,
)  # fmt: skip
EVENTS = "events.out.tfevents.*"
"""All that a run leaves; TensorBoard's files go by their beginning."""
PLACE = ("output", "resume", "overwrite")
"""Options that say where and how to run, and are no part of what is run."""


class RunError(ValueError):
    """A folder in which a run cannot begin, or from which none can go on."""


class RunFolder:
    """The folder of a run. Nothing is made before `begin`.

    Args:
        path: where it is, or is to be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    # ---- what is there ----

    def files(self) -> list[Path]:
        """The files of a run that are there."""
        named = [self.path / name for name in FILES if (self.path / name).exists()]
        return [*named, *self.path.glob(EVENTS)]

    def steps(self) -> int:
        """Actions that the run has behind it: 0 before anything was saved.

        Raises:
            CheckpointError: what was saved cannot be read.
        """
        if not (self.path / "resume.json").exists():
            return 0
        notes = checkpoint.read_sidecar(self.path / "resume").notes
        if not _is_count(notes.get("steps")):
            file = self.path / "resume.json"
            raise checkpoint.CheckpointError(f"checkpoint {file}: malformed: notes without steps")
        return int(notes["steps"])

    def options(self, names: Collection[str]) -> dict[str, Any]:
        """The options that the run was begun with, or went on with.

        Args:
            names: those that there must be; what else the file says of where it was is left out.

        Raises:
            RunError: there is no run, or its `config.json` is malformed or of other options.
        """
        file = self.path / "config.json"
        try:
            stored = json.loads(file.read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(
                f"{self.path} holds no run: there is no config.json; name the folder of a run by "
                "--output, or leave out --resume"
            ) from None
        except (OSError, ValueError) as error:
            raise RunError(f"{file} cannot be read: {error}") from error
        if not isinstance(stored, dict):
            raise RunError(f"{file} is malformed: an object with the options of a run is needed")
        stored = {name: value for name, value in stored.items() if name not in PLACE}
        other = sorted(set(stored) ^ set(names))
        if other:
            raise RunError(
                f"{file}: was written by another version of this script; it differs in "
                f"{', '.join(other)}"
            )
        return stored

    def curve(self) -> list[dict[str, float]]:
        """The measurements so far.

        Raises:
            RunError: they cannot be read.
        """
        file = self.path / "curve.json"
        try:
            curve: list[dict[str, float]] = json.loads(file.read_text("utf-8"))
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise RunError(f"{file} cannot be read: {error}") from error
        if not isinstance(curve, list) or not all(map(_is_measurement, curve)):
            raise RunError(
                f"{file} is malformed: a list of measurements is needed, each with its steps and "
                "rates as numbers"
            )
        return curve

    # ---- beginning ----

    def check_place(self) -> None:
        """Make sure that the folder is there or can be made.

        Raises:
            RunError: it cannot.
        """
        place = next(p for p in (self.path, *self.path.absolute().parents) if os.path.exists(p))
        if not place.is_dir():
            raise RunError(f"--output {self.path}: {place} is a file; a folder is needed")
        if not os.access(place, os.W_OK | os.X_OK):
            raise RunError(f"--output {self.path}: {place} cannot be written to")

    def check_free(self) -> None:
        """Make sure that no run is there; else say what can be done.

        Raises:
            RunError: there is one.
        """
        if not self.files():
            return
        try:
            stored = json.loads((self.path / "config.json").read_text("utf-8"))
            steps, goal = self.steps(), int(stored["steps"])
        except (OSError, ValueError, KeyError, TypeError):
            said, more = f"files of a run ({', '.join(p.name for p in self.files())})", ""
        else:
            said, more = f"a run, {steps:,} of {goal:,} steps done", f"To go on: {self.goes_on}. "
            if steps >= goal:
                results = [str(self.path / name) for name in RESULTS]
                said = f"a finished run of {steps:,} steps (see {' and '.join(results)})"
                more = f"To train it further: {self.goes_on} --steps {2 * max(goal, steps)}. "
        raise RunError(
            f"{self.path} holds {said}; nothing was changed. {more}To begin another run: "
            "--output FOLDER or another --seed. To begin anew in its place: --overwrite."
        )

    @property
    def goes_on(self) -> str:
        """The command that goes on with the run."""
        python = sys.executable
        if shutil.which("python") == python:
            python = "python"
        elif Path(python).is_relative_to(Path.cwd()):
            python = os.path.relpath(python)
        words = [python, "-m", PROGRAM, "--output", str(self.path), "--resume"]
        return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)

    def check_same(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Make sure that options are those that the run has.

        Raises:
            RunError: some are not.
        """
        other = [name for name in now if now[name] != before[name]]
        if other:
            given = ", ".join(f"{flag(name)} {now[name]} (it has {before[name]})" for name in other)
            raise RunError(
                f"--resume: the run in {self.path} cannot go on with {given}; leave that out, or "
                "begin another run with --output"
            )

    def check_steps(self, steps: int) -> None:
        """Make sure that a run with so many steps in all has something left to do.

        Raises:
            RunError: it has not.
            CheckpointError: what was saved cannot be read.
        """
        done = self.steps()
        if steps <= done:
            raise RunError(
                f"--steps {steps}: the run in {self.path} has {done:,} steps behind it; give more, "
                "or leave --steps out to evaluate it again"
            )

    def begin(self, options: Mapping[str, Any], resume: bool) -> None:
        """Make the folder, clear it of an earlier run unless that goes on, keep the options."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not resume:
            for file in self.files():
                file.unlink()
        self.write("config.json", json.dumps(options, indent=2) + "\n")

    def write(self, name: str, text: str) -> None:
        """Write a file whole: a reader sees the one before or this one."""
        temporary = self.path / f".{name}.tmp"
        temporary.write_text(text, "utf-8")
        temporary.replace(self.path / name)

    def logger(self, steps: int) -> Logger:
        """Metrics for `progress.json` and TensorBoard; those of a run that goes on stay.

        Args:
            steps: from where it goes on; what a killed run wrote beyond its last save is dropped.
        """
        kept = [point for point in self.curve() if point["steps"] <= steps]
        self.write("curve.json", json.dumps(kept) + "\n")
        metrics = self.path / "progress.json"
        text = metrics.read_text("utf-8", "replace") if metrics.exists() else ""
        lines = text.splitlines()
        self.write(metrics.name, "".join(f"{line}\n" for line in lines if _is_before(line, steps)))
        formats = [Metrics(metrics), TensorBoardOutputFormat(str(self.path))]
        return Logger(str(self.path), formats)

    # ---- saving and going on ----

    def save(
        self, model: MaskablePPO, weights: dict[str, torch.Tensor], sidecar: checkpoint.Sidecar
    ) -> None:
        """Write the agent, and what going on needs."""
        checkpoint.save(self.path / "policy", weights, sidecar)
        tensors = {f"policy.{name}": tensor for name, tensor in model.policy.state_dict().items()}
        for index, moments in model.policy.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{name}": tensor for name, tensor in moments.items()}
        checkpoint.save(self.path / "resume", tensors, sidecar)
        model.save(self.path / "model.zip")

    def restore(self, model: MaskablePPO) -> None:
        """Put the saved network, optimiser and counters into a fresh model.

        Raises:
            CheckpointError: what was saved cannot be read, or does not fit the model.
            RunError: likewise its measurements.
        """
        self.curve()
        model.num_timesteps = self.steps()
        if not model.num_timesteps:
            return
        tensors = checkpoint.load(self.path / "resume")[0]
        moments: dict[int, dict[str, torch.Tensor]] = {}
        policy = {}
        for key, tensor in tensors.items():
            kind, name = key.split(".", 1)
            if kind == "policy":
                policy[name] = tensor
            else:
                index, name = name.split(".")
                moments.setdefault(int(index), {})[name] = tensor
        optimizer = model.policy.optimizer
        try:
            model.policy.load_state_dict(policy)
            optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        except (RuntimeError, ValueError) as error:
            raise checkpoint.CheckpointError(
                f"checkpoint {self.path / 'resume'}: {error}"
            ) from error


class Metrics(JSONOutputFormat):
    """SB3's JSON lines, added to what is there: SB3's own format begins the file anew."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("a", encoding="utf-8")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_measurement(point: Any) -> bool:
    """Whether a point of the curve has its steps, and rates that can be drawn."""
    if not isinstance(point, dict) or not _is_count(point.get("steps")):
        return False
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in point.values())


def _is_before(line: str, steps: int) -> bool:
    """Whether a line of metrics is whole and not of later than these steps."""
    try:
        return int(json.loads(line)["time/total_timesteps"]) <= steps
    except (ValueError, KeyError, TypeError):
        return False
