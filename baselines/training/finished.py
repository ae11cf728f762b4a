"""Runs that something else needs complete: a study, a benchmark. Each is trained once, and kept.

What is in the folder of a run says nothing of the options that were left out of its command. So
beside the folder `NAME` lie two notes with the whole command: `NAME.begun` while it is trained, and
`NAME.done` when it is complete.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from filelock import FileLock

from azumaya.baselines.system.files import write_whole
from azumaya.baselines.system.signals import INTERRUPTED, ended_by_signals
from azumaya.baselines.training.logs import METRICS
from azumaya.baselines.training.run_folder import CURVE, SAVED, RunError

EXAM = "eval/exam"
"""The share of won positions of the exam that an agent kept, among the metrics of its run."""


def trained(
    script: str, run: Path, words: Sequence[str], command: Sequence[str], resumed: bool = True
) -> list[dict[str, float]]:
    """Train a run to its end, unless it is complete, and return its measurements.

    Who needs the same run waits until it is trained. A run that a signal ends is saved.

    Args:
        script: a module of `azumaya.baselines.training`.
        run: the run's folder.
        words: the options of the script.
        command: what is noted; another one is another run.
        resumed: whether a run that was broken off goes on where it was. If not, it begins again, as
            one must whose time is limited.

    Raises:
        RunError: the folder holds another run, or the run failed.
        KeyboardInterrupt: on Ctrl-C; the run is saved.
    """
    run.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(run.with_name(f"{run.name}.lock")), ended_by_signals():
        _train(script, run, words, [*command], resumed)
    return curve_of(run)


def _train(script: str, run: Path, words: Sequence[str], command: list[str], resumed: bool) -> None:
    """Train a run to its end, unless it is complete; see `trained`."""
    begun, mark = _notes(run)
    module = import_module(f"azumaya.baselines.training.{script}")
    folder = module.Config.run_at(run)
    saved = (run / SAVED).exists()
    for note in (mark, begun) if saved else (mark,):
        if note.exists() and _noted(note) != command:
            raise RunError(f"{run}: holds another run; choose another --output")
    if mark.exists():
        return
    if folder.files() and not begun.exists():
        raise RunError(f"{run}: holds a run that no study has begun; choose another --output")
    resumed = resumed and saved
    if not resumed:  # an option left out of a command would keep its value in a resumed run
        if not saved:
            folder.saved()  # which refuses to overwrite an agent whose save is missing
        write_whole(begun, json.dumps(command).encode())
    code = module.run_words([*words, "--resume" if resumed else "--overwrite"])
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code:
        raise RunError(f"{run}: the run failed")
    write_whole(mark, json.dumps(command).encode())


def _notes(run: Path) -> tuple[Path, Path]:
    """The notes beside a run's folder: that it was begun, and that it is complete."""
    return run.with_name(f"{run.name}.begun"), run.with_name(f"{run.name}.done")


def _noted(note: Path) -> list[str]:
    """The command in a note; in those of earlier versions its time is a number of minutes."""
    words = map(str, json.loads(note.read_text("utf-8")))
    return [
        f"--time={float(word.partition('=')[2]):g}min" if word.startswith("--minutes=") else word
        for word in words
    ]


def curve_of(run: Path) -> list[dict[str, float]]:
    """The measurements of a run, with the exam if it was taken."""
    curve: list[dict[str, float]] = json.loads((run / CURVE).read_text("utf-8"))
    lines = map(json.loads, (run / METRICS).read_text("utf-8").splitlines())
    exams = {line["time/total_timesteps"]: line[EXAM] for line in lines if EXAM in line}
    for point in curve:
        if point["steps"] in exams:
            point[EXAM] = exams[point["steps"]]
    return curve


def minutes_of(run: Path) -> float:
    """How long a complete run took, its measurements and pauses included."""
    begun, mark = _notes(run)
    return (mark.stat().st_mtime - begun.stat().st_mtime) / 60
