"""Signals that come while LLVM compiles end the process, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from azumaya.baselines.agents.asking import AgentFailedError, ask
from azumaya.baselines.system.signals import INTERRUPTED

posix = pytest.mark.skipif(sys.platform == "win32", reason="exit codes of signals are POSIX")


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program in a process of its own."""
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


AT_AN_IMPORT = """
import signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""


@posix
@pytest.mark.parametrize("module", ["azumaya", "azumaya.baselines.training.value"])
def test_ctrl_c_during_imports_says_nothing(module: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(AT_AN_IMPORT)
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "")


COMPILING = """
import signal, sys, threading
import numba
from numba.core import codegen
from azumaya.baselines.system.signals import end_on_signals, interrupt_anywhere

{install}
number = signal.Signals(int(sys.argv[1]))
compiled = codegen.JITCodeLibrary._object_compiled_hook

def signalled(module, code):
    signal.raise_signal(number)  # as if it had come while LLVM was at work
    compiled(module, code)

codegen.JITCodeLibrary._object_compiled_hook = signalled
numba.njit(lambda x: x + 1)(1)
print("compiled", flush=True)
threading.Event().wait(1000)
print("not ended")
"""


@posix
@pytest.mark.parametrize(
    ("install", "number", "code"),
    [
        ("end_on_signals()", signal.SIGTERM, 128 + signal.SIGTERM),
        ("end_on_signals()", signal.SIGINT, -signal.SIGINT),
        ("interrupt_anywhere()", signal.SIGINT, -signal.SIGINT),
    ],
)
def test_a_signal_during_compilation_is_not_lost(install: str, number: int, code: int) -> None:
    program = COMPILING.replace("{install}", install)
    done = run(program, str(int(number)))
    assert done.returncode == code, done
    assert "not ended" not in done.stdout
    assert "Exception ignored" not in done.stderr


@posix
def test_a_signal_that_is_sent_again_ends_what_the_main_thread_waits_for() -> None:
    """Such as the lock of the compile cache, which another process may hold for a minute."""
    program = (
        "import signal, threading; from azumaya.baselines.system.signals import end_on_signals\n"
        "end_on_signals()\n"
        "def _raw_object_cache_notify():  # as in llvmlite, where exceptions are lost\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        "_raw_object_cache_notify()\n"
        "threading.Event().wait(1000)\n"
    )
    done = run(program)
    assert done.returncode == 128 + signal.SIGTERM


@posix
@pytest.mark.parametrize(
    ("number", "code"), [("SIGTERM", 128 + signal.SIGTERM), ("SIGINT", -signal.SIGINT)]
)
def test_a_signal_in_a_callback_of_a_weak_reference_is_not_lost(number: str, code: int) -> None:
    program = (
        "import signal, threading, weakref\n"
        "from azumaya.baselines.system.signals import end_on_signals, interrupt_anywhere\n"
        "end_on_signals(); interrupt_anywhere()\n"
        "class Thing: pass\n"
        "thing = Thing()\n"
        f"kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.{number}))\n"
        "del thing\n"
        "threading.Event().wait(1000)\n"
    )
    done = run(program)
    assert done.returncode == code
    assert "Exception ignored" not in done.stderr


def test_other_exceptions_that_can_only_be_printed_still_are() -> None:
    program = (
        "from azumaya.baselines.system.signals import interrupt_anywhere\n"
        "interrupt_anywhere()\n"
        "class Thing:\n"
        "    def __del__(self): raise SystemExit(143)\n"
        "Thing()\n"
    )
    done = run(program)
    assert done.returncode == 0
    assert "Exception ignored" in done.stderr


def test_a_foreign_handler_of_ctrl_c_stays() -> None:
    program = (
        "import signal; from azumaya.baselines.system.signals import interrupt_anywhere\n"
        "for handler in (signal.SIG_IGN, print):\n"
        "    signal.signal(signal.SIGINT, handler); interrupt_anywhere()\n"
        "    assert signal.getsignal(signal.SIGINT) is handler\n"
    )
    assert run(program).returncode == 0


@posix
def test_a_signal_is_not_lost_in_code_that_catches_everything() -> None:
    """As some packages do while they are imported."""
    program = (
        "import signal, threading; from azumaya.baselines.system.signals import end_on_signals\n"
        "end_on_signals()\n"
        "def careless():\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "    except:\n"
        "        pass\n"
        "careless()\n"
        "threading.Event().wait(1000)\n"
    )
    done = run(program)
    assert done.returncode == 128 + signal.SIGTERM


@posix
def test_what_runs_at_the_end_is_not_interrupted() -> None:
    program = (
        "import atexit, signal, time; from azumaya.baselines.system.signals import end_on_signals\n"
        "end_on_signals()\n"
        "def save():\n"
        "    time.sleep(0.5)\n"
        "    print('saved')\n"
        "atexit.register(save)\n"
        "def work():\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "    finally:\n"
        "        time.sleep(0.5)\n"
        "        print('cleaned')\n"
        "work()\n"
    )
    done = run(program)
    assert done.returncode == 128 + signal.SIGTERM
    assert (done.stdout.split(), done.stderr) == (["cleaned", "saved"], "")


class Leaving:
    """An agent that wants to end the program."""

    def act(self, positions: object, keys: object) -> list[int]:
        """Nothing."""
        raise SystemExit(3)


def test_an_agent_that_wants_to_end_the_program_fails() -> None:
    with pytest.raises(AgentFailedError, match="agent x: act failed: SystemExit: 3"):
        ask(Leaving(), [], [], "x")


@posix
def test_a_signal_that_comes_while_an_agent_thinks_is_no_failure_of_it() -> None:
    program = """
import signal
from azumaya.baselines.agents.asking import ask
from azumaya.baselines.system.signals import end_on_signals
class Waiting:
    def act(self, positions, keys):
        signal.raise_signal(signal.SIGTERM)
        return []
end_on_signals()
try:
    ask(Waiting(), [], [], "x")
finally:
    print("saved")
"""
    done = run(program)
    assert done.returncode == 128 + signal.SIGTERM
    assert (done.stdout.split(), done.stderr) == (["saved"], "")
