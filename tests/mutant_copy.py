"""A pytest plugin for copies of the library: one cache of compiled kernels serves all of them.

The cache keeps the kernels of a tree of sources apart from those of every other tree. A mutant
changes one function, so nearly all kernels of its copy are those of the copy before. Here the
second layer of the cache's key is relied on alone: it covers what each kernel is compiled from
(`azumaya/envs/kernels/cache_key.py`).

Also sees that the copy is what is tested, and limits the memory that a mutant can take.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

MOST_MEMORY = 6 << 30

with contextlib.suppress(ImportError):
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))

sys.path.insert(0, os.environ["AZUMAYA_COPY"])

import azumaya  # noqa: E402 - found only now

if not Path(azumaya.__file__ or "").is_relative_to(os.environ["AZUMAYA_COPY"]):
    raise RuntimeError(f"{azumaya.__file__} is tested, not the copy in AZUMAYA_COPY")

from azumaya.envs.kernels.compile import INTERPRETED  # noqa: E402

if not INTERPRETED:
    from azumaya.envs.kernels import cache_key

    cache_key.tree_digest = lambda package: f"{package} in a copy"  # type: ignore[assignment]
