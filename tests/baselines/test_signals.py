"""Signals that come while LLVM compiles end the process, too."""

from __future__ import annotations

import functools
import signal
import sys
from pathlib import Path

import pytest

from azumaya.baselines.system.signals import INTERRUPTED
from tests.processes import python

posix = pytest.mark.skipif(sys.platform == "win32", reason="exit codes of signals are POSIX")


run = functools.partial(python, "-c", timeout=60)


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
    done = python("-m", module, "--help", environment={"PYTHONPATH": str(tmp_path)})
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
    done = run(program, int(number))
    assert done.returncode == code, done
    assert "not ended" not in done.stdout
    assert "Exception ignored" not in done.stderr


INSTALLED = """
import atexit, signal, threading, time
from azumaya.baselines.system.signals import end_on_signals
end_on_signals()
"""


@posix
@pytest.mark.parametrize(
    "where",
    [
        pytest.param("_raw_object_cache_notify", id="as in llvmlite"),
        pytest.param("create_module", id="as where importlib loads an extension module"),
    ],
)
def test_a_signal_that_is_sent_again_ends_what_the_main_thread_waits_for(where: str) -> None:
    """Such as the lock of the compile cache, which another process may hold for a minute."""
    program = (
        f"def {where}():  # where exceptions are lost\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        f"{where}()\n"
        "threading.Event().wait(1000)\n"
    )
    done = run(INSTALLED + program)
    assert done.returncode == 128 + signal.SIGTERM
    assert "Exception ignored" not in done.stderr


SAVING = """
def save():
    time.sleep(0.5)
    print('saved')
atexit.register(save)
def work():
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        time.sleep(0.5)
        print('cleaned')
work()
"""
THINKING = """
from azumaya.baselines.agents.asking import ask
class Waiting:
    def act(self, positions, keys):
        signal.raise_signal(signal.SIGTERM)
        return []
try:
    ask(Waiting(), [], [], "x")
finally:
    print("saved")
"""


@posix
@pytest.mark.parametrize(
    ("program", "printed"),
    [
        pytest.param(SAVING, ["cleaned", "saved"], id="what runs at the end is not interrupted"),
        pytest.param(THINKING, ["saved"], id="it is no failure of an agent that is thinking"),
    ],
)
def test_what_a_signal_ends_is_saved(program: str, printed: list[str]) -> None:
    done = run(INSTALLED + program)
    assert done.returncode == 128 + signal.SIGTERM
    assert (done.stdout.split(), done.stderr) == (printed, "")


def test_a_foreign_handler_of_ctrl_c_stays() -> None:
    program = (
        "import signal; from azumaya.baselines.system.signals import interrupt_anywhere\n"
        "for handler in (signal.SIG_IGN, print):\n"
        "    signal.signal(signal.SIGINT, handler); interrupt_anywhere()\n"
        "    assert signal.getsignal(signal.SIGINT) is handler\n"
    )
    assert run(program).returncode == 0


def test_handlers_come_back() -> None:
    program = """
import signal
from azumaya.baselines.system.signals import ENDING, ended_by_signals
numbers = [n for n in (*ENDING, signal.SIGINT) if signal.getsignal(n) is not signal.SIG_IGN]
before = [signal.getsignal(number) for number in numbers]
with ended_by_signals():
    assert all(signal.getsignal(n) is not b for n, b in zip(numbers, before, strict=True))
assert [signal.getsignal(number) for number in numbers] == before
"""
    done = run(program)
    assert done.returncode == 0, done.stderr
