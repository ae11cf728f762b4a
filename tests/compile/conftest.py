"""A small copy of the library in a temporary folder, so that tests can edit its sources."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import azumaya.envs

ENVS = Path(azumaya.envs.__file__).resolve().parent
COPIED = ("compile.py", "cache.py", "cache_key.py", "code.py")
FOLDERS = ("geometry", "games", "kernels")

GEOMETRY = """
import numpy as np
from numba.extending import register_jitable

STRIDE = 9
TABLE = np.arange(4)

@register_jitable
def hidden(x):
    return x + 100
"""

TOY = """
import numpy as np
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.geometry import board
from azumaya.envs.geometry.board import STRIDE, TABLE, hidden

@kernel
def inner(x):
    '''A callee.'''
    return x * STRIDE

@kernel
def outer(x):
    '''Called from Python.'''
    return inner(x) + TABLE[x & 3]

@kernel
def through_module(x):
    return x + board.STRIDE

@kernel
def through_hidden(x):
    return hidden(x)

@kernel
def pick(values, i):
    return values[i]

@kernel
def wrong(x):
    return x.no_such_thing

def make(n):
    @kernel
    def plus(x):
        return x + n
    return plus

def make_caller(callee):
    @kernel
    def call(x):
        return callee(x) * 2
    return call
"""

PREAMBLE = """
import json, os, sys, warnings
import numpy as np
from azumaya.envs.kernels import cache
from azumaya.envs.kernels import cache_key
from azumaya.envs.games import toy
def misses(*kernels):
    return sum(sum(k.stats.cache_misses.values()) for k in kernels)
def hits(*kernels):
    return sum(sum(k.stats.cache_hits.values()) for k in kernels)
def answer(*values):
    print(json.dumps([v.item() if hasattr(v, "item") else v for v in values]))
"""

FORKING = """
import json, os, signal, sys, traceback
import filelock, numba, numpy, platformdirs
numba.njit(lambda x: x + 1)(1)
for line in sys.stdin:
    code, environment, folder = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(120)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.path.insert(0, environment["PYTHONPATH"])
        for number, name in (1, "out"), (2, "err"):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        status = 0
        try:
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process that has imported numba, and runs what it is told in processes forked from it.

Importing numba and preparing its first compilation takes a second, most of the time of a test."""


def environment_of(root: Path, cache: Path) -> dict[str, str]:
    """The environment of processes that use a copy of the library."""
    drop = ("NUMBA_", "AZUMAYA_", "XDG_", "PYTHONPATH", "PYTHONWARNINGS")
    base = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    # Python's own cache does not notice an edit within a second that keeps the size.
    base |= {"PYTHONPATH": str(root / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
    return base | {"AZUMAYA_CACHE_DIR": str(cache), "NUMBA_NUM_THREADS": "1"}


class Tree:
    """A copied library and its cache folder; runs code that uses both.

    Args:
        root: the folder of the copy.
        forking: a process that runs `FORKING`.
    """

    def __init__(self, root: Path, forking: subprocess.Popen[str]) -> None:
        self.root, self.cache, self._forking = root, root / "cache", forking
        self.envs = root / "lib" / "azumaya" / "envs"
        for folder in FOLDERS:
            (self.envs / folder).mkdir(parents=True)
        for path in (self.envs.parent, self.envs, *(self.envs / name for name in FOLDERS)):
            (path / "__init__.py").touch()
        for name in COPIED:
            shutil.copy(ENVS / "kernels" / name, self.envs / "kernels")
        (self.envs / "geometry" / "board.py").write_text(GEOMETRY)
        (self.envs / "games" / "toy.py").write_text(TOY)

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text in a source of the copy."""
        path = self.envs / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def entries(self, pattern: str = "*.kernel") -> list[Path]:
        """The files in the cache."""
        return sorted(self.cache.glob(f"kernels-*/{pattern}"))

    def start(self, code: str, **env: str) -> subprocess.Popen[str]:
        """Start a process that runs PREAMBLE and the code; keywords are environment variables."""
        return subprocess.Popen(
            [sys.executable, "-c", PREAMBLE + code],
            env=self._environment(env),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str, **env: str) -> list:
        """The values passed to `answer`; warnings are in `self.stderr`.

        The process is forked, unless there are settings of numba, which reads them at its import.
        """
        if any(name.startswith("NUMBA_") for name in env):
            process = self.start(code, **env)
            try:
                out, self.stderr = process.communicate(timeout=120)
            finally:
                process.kill()
            status = process.returncode
        else:
            words = [PREAMBLE + code, self._environment(env), str(self.root)]
            print(json.dumps(words), file=self._forking.stdin, flush=True)
            status = int(self._forking.stdout.readline())
            out, self.stderr = ((self.root / name).read_text() for name in ("out", "err"))
        assert status == 0, self.stderr
        return json.loads(out.splitlines()[-1])

    def _environment(self, env: dict[str, str]) -> dict[str, str]:
        whole = environment_of(self.root, self.cache) | env
        return {name: value for name, value in whole.items() if value != "unset"}

    def warned(self) -> int:
        """How often the last run warned that it has no cache."""
        return self.stderr.count("RuntimeWarning: kernels are compiled anew")


@pytest.fixture(scope="session")
def forking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """A process from which those of copies are forked."""
    root = tmp_path_factory.mktemp("forking")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    words = [sys.executable, "-c", FORKING]
    with subprocess.Popen(words, env=environment_of(root, root), text=True, **pipes) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def tree(tmp_path: Path, forking: subprocess.Popen[str]) -> Tree:
    """A fresh copy with an empty cache."""
    return Tree(tmp_path, forking)


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory, forking: subprocess.Popen[str]) -> Path:
    """The cache of a copy that called `outer`; it is valid for every unedited copy."""
    tree = Tree(tmp_path_factory.mktemp("warm"), forking)
    tree.run("answer(toy.outer(5))")
    return tree.cache


@pytest.fixture
def warm_tree(tree: Tree, warm_cache: Path) -> Tree:
    """A fresh copy whose cache holds `outer` and `inner`."""
    shutil.copytree(warm_cache, tree.cache)
    return tree
