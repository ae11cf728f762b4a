"""A small copy of the library in a temporary folder, so that tests can edit its sources."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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


class Tree:
    """A copied library and its cache folder; runs code that uses both."""

    def __init__(self, root: Path) -> None:
        self.root, self.cache = root, root / "cache"
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
        drop = ("NUMBA_", "AZUMAYA_", "XDG_", "PYTHONPATH", "PYTHONWARNINGS")
        base = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        # Python's own cache does not notice an edit within a second that keeps the size.
        base |= {"PYTHONPATH": str(self.root / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
        base |= {"AZUMAYA_CACHE_DIR": str(self.cache), "NUMBA_NUM_THREADS": "1"}
        return subprocess.Popen(
            [sys.executable, "-c", PREAMBLE + code],
            env={k: v for k, v in (base | env).items() if v != "unset"},
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str, **env: str) -> list:
        """The values passed to `answer`; warnings are in `self.stderr`."""
        process = self.start(code, **env)
        try:
            out, self.stderr = process.communicate(timeout=120)
        finally:
            process.kill()
        assert process.returncode == 0, self.stderr
        return json.loads(out.splitlines()[-1])

    def warned(self) -> int:
        """How often the last run warned that it has no cache."""
        return self.stderr.count("RuntimeWarning: kernels are compiled anew")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A fresh copy with an empty cache."""
    return Tree(tmp_path)


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of a copy that called `outer`; it is valid for every unedited copy."""
    tree = Tree(tmp_path_factory.mktemp("warm"))
    tree.run("answer(toy.outer(5))")
    return tree.cache


@pytest.fixture
def warm_tree(tree: Tree, warm_cache: Path) -> Tree:
    """A fresh copy whose cache holds `outer` and `inner`."""
    shutil.copytree(warm_cache, tree.cache)
    return tree
