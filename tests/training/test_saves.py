"""Saves and logs are whole whatever fails or is killed; failures of the machine are one line."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import stat
import sys
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from azumaya.baselines.system import files
from azumaya.baselines.training import run_folder
from azumaya.baselines.training.logs import Logs
from azumaya.baselines.training.maskable_ppo import Config, main, run_words
from azumaya.baselines.training.run_folder import LOCK, RunError, RunFolder, Script
from azumaya.baselines.training.saves import Save
from tests.library import ROOT
from tests.processes import python
from tests.training.run_helpers import (
    SCRIPTS,
    TINY_WORDS,
    curve_of,
    differing,
    lines_of,
    results,
    tiny_run,
)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("unbroken")
    main(tiny_run(folder))
    return results(folder)


def left_behind(folder: Path) -> list[str]:
    hidden = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    return [name for name in hidden if name != LOCK]


# ---- Ctrl-C, the clock ----


Place = tuple[CodeType, int]
"""A line of Python."""


@contextlib.contextmanager
def ctrl_c_at_a_new_place(seen: set[Place]) -> Iterator[None]:
    """Raise what Ctrl-C raises before the first line of Python that is not yet among those seen."""

    def trace(frame: FrameType, event: str, _: object) -> Any:
        place = frame.f_code, frame.f_lineno
        if event == "line" and place not in seen:
            seen.add(place)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def test_ctrl_c_anywhere_while_metrics_are_written_harms_no_log(tmp_path: Path) -> None:
    """Interrupted at each line in turn, also of TensorBoard's; what is written later is there."""
    seen: set[Place] = set()
    for number in itertools.count():
        run = small_run(tmp_path / str(number))
        run.begin({}, None, resume=False)
        log, places = run.logs, len(seen)
        with contextlib.suppress(KeyboardInterrupt), ctrl_c_at_a_new_place(seen):
            log.write({"loss": 1.0}, 10)

        def go_on(log: Logs = log) -> None:
            log.write({"loss": 2.0}, 20)

        going_on = threading.Thread(target=go_on, daemon=True)  # so that it may hang
        going_on.start()
        going_on.join(60)
        assert not going_on.is_alive(), "the interrupt has left a lock locked"
        run.close()
        assert losses(run.path)[-1] == (20, 2.0)
        assert lines_of(run.path)[-1]["loss"] == 2
        if len(seen) == places:
            break
    assert len(seen) > 10


def losses(folder: Path) -> list[tuple[int, float]]:
    """The steps and values of a metric, as TensorBoard shows them."""
    events = EventAccumulator(str(folder))  # type: ignore[no-untyped-call]
    events.Reload()  # type: ignore[no-untyped-call]
    return [(event.step, event.value) for event in events.Scalars("loss")]  # type: ignore[no-untyped-call]


def test_events_after_the_last_save_are_not_shown(tmp_path: Path) -> None:
    for saved, value in ((None, 1.0), (None, 2.0), (0, 3.0), (10, 4.0)):
        log = Logs(tmp_path, saved)
        for steps in range(0 if saved is None else saved + 10, 40, 10):
            log.write({"loss": value}, steps)
        log.close()
    assert losses(tmp_path) == [(0, 2.0), (10, 3.0), (20, 4.0), (30, 4.0)]


# ---- a save that fails at any system call ----


class Crash(BaseException):
    """The program dies: nothing it does after this reaches the disk."""


class FailingSystem:
    """The module `os` with one failing call.

    Args:
        fail_at: the number of the call that fails.
        error: the error it raises. After a `Crash` all later calls fail too, even those that clean
            up.
        half: whether a failing write has written half of its data.
    """

    COUNTED = ("open", "write", "fsync", "replace", "unlink")

    def __init__(self, fail_at: int, error: type[BaseException] | OSError, half: bool) -> None:
        self.fail_at, self.error, self.half, self.calls = fail_at, error, half, 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self.COUNTED:
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            dead = self.error is Crash and self.calls > self.fail_at
            if self.calls == self.fail_at or dead:
                if name == "write" and self.half and not dead:
                    real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                raise self.error
            return real(*arguments, **named)

        return call


FULL = OSError(errno.ENOSPC, "No space left on device")


def small_save(number: int) -> Save:
    arrays = {"network.a": np.full(100, number, np.float32), "chance": np.arange(5) + number}
    return Save(number, [{"steps": number, "random": 0.5}], 0, {"number": number}, arrays)


def small_run(folder: Path) -> RunFolder:
    """A run whose agent consists of two files."""

    def agent(save: Save) -> dict[str, bytes]:
        return {"agent.bin": save.arrays["network.a"].tobytes(), "agent.json": b"%d" % save.steps}

    return RunFolder(folder, Script("a.program", agent, ("agent.bin", "agent.json")))


def saved_steps(folder: Path) -> int:
    """The steps of the save in a folder; asserts that all files belong to it."""
    run = small_run(folder)
    save = run.saved()
    assert save is not None
    run.begin({}, save, resume=True)
    run.close()
    assert np.array_equal(save.arrays["network.a"], np.full(100, save.steps, np.float32))
    assert save.notes == {"number": save.steps}
    assert (folder / "agent.bin").read_bytes() == save.arrays["network.a"].tobytes()
    assert (folder / "agent.json").read_bytes() == b"%d" % save.steps
    assert curve_of(folder) == save.curve
    assert left_behind(folder) == []
    return save.steps


@pytest.mark.parametrize(("first", "half"), [(False, False), (False, True), (True, True)])
@pytest.mark.parametrize("error", [Crash, FULL], ids=["crash", "full"])
def test_a_save_is_whole_whatever_fails(
    error: Any, first: bool, half: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever call fails, the old save or the new one is complete; both occur.

    Before its first save a run starts again, and is never refused.
    """
    seen: list[int] = []
    for fail_at in itertools.count(1):
        folder = tmp_path / str(fail_at)
        run, system = small_run(folder), FailingSystem(fail_at, error, half)
        run.begin({}, None, resume=False)
        if not first:
            run.save(small_save(1))
        try:
            with monkeypatch.context() as patch:
                patch.setattr(files, "os", system)
                run.save(small_save(2))
        except (Crash, OSError):
            if error is FULL:
                assert left_behind(folder) == [], "a full disk leaves nothing behind"
        run.close()
        if system.calls < fail_at:
            break
        seen.append(0 if small_run(folder).saved() is None else saved_steps(folder))
    assert len(seen) > (10 if first else 15), "every call was made to fail"
    assert seen == sorted(seen)
    assert set(seen) == ({0, 2} if first else {1, 2})


# ---- kill -9 ----

KILLER = """
import os, random, signal, sys, threading
from pathlib import Path
import torch._dynamo  # which the first optimizer of each run would import, for seconds
from azumaya.baselines.training.run import Run
from tests.training.run_helpers import SCRIPTS

def train(script, folder, updates=None, delay=0.0):
    '''Train in a process of its own, or go on; returns how it ended.

    It dies `delay` seconds after update number `updates`, or at its end, if that comes first:
    what it did during the delay before an earlier death may have left fewer updates.
    '''
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    death = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL))
    seen, keep_record = [], Run.keep_record

    def counted(self):
        keep_record(self)
        seen.append(self)
        if len(seen) == updates:
            death.start()

    Run.keep_record = counted
    if updates == 0:
        death.start()
    main, tiny_run = SCRIPTS[script]
    main(tiny_run(folder, resume=(folder / "config.json").exists()))
    if updates is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0)

top, runs = Path(sys.argv[1]), int(sys.argv[2])
for script in sys.argv[3:]:
    assert train(script, top / script / "unbroken") == 0, script
    delays = random.Random(1)
    for number in range(runs):
        folder = top / script / f"killed-{number}"
        for updates in (0, 1, 2, 1):
            assert train(script, folder, updates, delays.uniform(0, 0.1)) == signal.SIGKILL, script
        assert train(script, folder) == 0, script
"""


def check_kills(folder: Path, runs: int, scripts: Collection[str]) -> None:
    """Kill runs of scripts with SIGKILL, four times each; all end like an uninterrupted run.

    Each kill comes a moment after an update, whatever the speed of the machine. Saves are rarer.

    The runs are forked from a process that has loaded torch and never calculated with it: threads
    do not survive a fork, and a run that inherits torch's sometimes waits for them forever.
    """
    done = python("-c", KILLER, folder, runs, *scripts, cwd=ROOT, timeout=1000 + 200 * runs)
    assert done.returncode == 0, done.stderr
    for script in scripts:
        whole = results(folder / script / "unbroken")
        for number in range(runs):
            killed = folder / script / f"killed-{number}"
            assert differing(whole, results(killed)) == [], killed
            assert left_behind(killed) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_run_ends_like_any_other(tmp_path: Path) -> None:
    """One script; that each keeps all that it needs is seen where they are stopped by Ctrl-C."""
    check_kills(tmp_path, 1, ["td_value"])


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_many_killed_runs_end_like_any_other(script: str, tmp_path: Path) -> None:
    check_kills(tmp_path, 25, [script])


# ---- files of killed runs, and other processes ----


def test_files_of_killed_runs_are_removed(tmp_path: Path) -> None:
    main(tiny_run(tmp_path, steps=32))
    names = (".policy.safetensors.4711.tmp", ".curve.json.tmp", ".resume.safetensors.1.tmp")
    for name in (*names, ".own.txt.tmp"):
        (tmp_path / name).write_text("half")
    main(tiny_run(tmp_path, steps=32, resume=True))
    assert left_behind(tmp_path) == [".own.txt.tmp"], "files of the user stay"
    for name in names:
        (tmp_path / name).write_text("half")
    main(tiny_run(tmp_path, steps=32, overwrite=True))
    assert left_behind(tmp_path) == [".own.txt.tmp"]


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    main(tiny_run(tmp_path, steps=32))
    before = results(tmp_path)
    other = Config.run_at(tmp_path)
    other.lock()
    for changes in ({"resume": True, "steps": 64}, {"overwrite": True}):
        with pytest.raises(RunError, match="another process is training"):
            main(tiny_run(tmp_path, **changes))
    assert differing(before, results(tmp_path)) == []
    other.close()
    main(tiny_run(tmp_path, steps=64, resume=True))


def test_what_is_locked_is_a_file_open_for_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS tells other machines only of such locks."""
    fcntl = pytest.importorskip("fcntl")
    found = []

    def look(descriptor: int) -> bool:
        found.append(os.fstat(descriptor).st_mode)
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_RDWR == os.O_RDWR

    monkeypatch.setattr(run_folder, "locked", look)
    with contextlib.closing(Config.run_at(tmp_path)) as run:
        run.lock()
    assert [stat.S_ISREG(mode) for mode in found] == [True]


def test_overwriting_deletes_the_configuration_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A half-deleted run has no configuration, so it is not mistaken for one to resume."""
    main(tiny_run(tmp_path, steps=32))
    deleted: list[str] = []
    unlink = Path.unlink

    def note(self: Path, missing_ok: bool = False) -> None:
        deleted.append(self.name)
        unlink(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", note)
    main(tiny_run(tmp_path, steps=32, overwrite=True))
    assert deleted[0] == "config.json"


# ---- failures of the machine ----


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """Of the run of `tiny_run`."""
    return [f"--output={tmp_path / 'run'}", "--steps=192", *TINY_WORDS]


@pytest.mark.parametrize("fail_at", [2, 20, 60])
def test_the_error_for_a_full_disk_is_one_line(
    fail_at: int, words: list[str], tmp_path: Path, unbroken: dict[str, object],
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(files, "os", FailingSystem(fail_at, FULL, half=True))
        assert run_words(words) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert re.search(r"No space left on device: '.*/run/", said)
    folder = tmp_path / "run"
    assert left_behind(folder) == []
    if (folder / "config.json").exists():
        words = [*words, "--resume"]
    assert run_words(words) == 0
    assert differing(unbroken, results(folder)) == []


def test_metrics_that_are_no_numbers_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The explained variance is NaN if all returns are equal. JSON, so a save, cannot have that."""
    train = MaskablePPO.train

    def undefined(self: MaskablePPO) -> None:
        train(self)
        self.logger.record("train/explained_variance", np.float32(np.nan))

    monkeypatch.setattr(MaskablePPO, "train", undefined)
    for name in ("whole", "parts"):
        main(tiny_run(tmp_path / name, minutes=1e-9 if name == "parts" else 0.0))
    main(tiny_run(tmp_path / "parts", resume=True, minutes=0.0))
    assert differing(results(tmp_path / "whole"), results(tmp_path / "parts")) == []
    assert "explained_variance" not in (tmp_path / "whole/progress.json").read_text()
