"""The peers: what to install for each, pinned, and the script that measures it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

JAX = "jax[cpu]==0.10.2"


@dataclass(frozen=True)
class Peer:
    """A library to compare with.

    Attributes:
        name: the short name of the library.
        script: the file in this folder that measures it.
        packages: what pip installs into its environment.
        connect_four: what its script calls Connect Four, which is compared with ours; empty if
            the library does not have it.
        first: what pip must install first, because the packages need it to build.
        prepare: for a package that is published only as source and does not build unchanged:
            prepares its unpacked source.
        cuda: what pip installs to measure it on a GPU; empty if it does not run on one.
    """

    name: str
    script: str
    packages: tuple[str, ...]
    connect_four: str = ""
    first: tuple[str, ...] = ()
    prepare: Callable[[Path], None] | None = None
    cuda: tuple[str, ...] = ()


def _pufferlib_offline(source: Path) -> None:
    """Let PufferLib build without what its `setup.py` would fetch from GitHub.

    It fetches libraries for the web and Box2D unless their folders are there; of its environments
    only `impulse_wars` needs Box2D.
    """
    for folder in ("raylib-5.5_webassembly", "box2d-web", "box2d-linux-amd64"):
        (source / folder).mkdir(exist_ok=True)
    shutil.rmtree(source / "pufferlib" / "ocean" / "impulse_wars", ignore_errors=True)


PEERS = (
    Peer("pettingzoo", "pettingzoo_aec.py", ("pettingzoo[classic]==1.27.0",), "connect_four_v3"),
    Peer("open_spiel", "open_spiel_loops.py", ("open_spiel==2.0.2",), "connect_four"),
    Peer("bitbully", "bitbully_solver.py", ("bitbully==0.0.79",), "connect_four"),
    Peer(
        "pgx", "pgx_scan.py", ("pgx==2.6.0", JAX), "connect_four",
        cuda=("pgx==2.6.0", "jax[cuda13]==0.10.2"),
    ),
    Peer("jumanji", "jumanji_sudoku.py", ("jumanji==1.1.2", JAX)),
    Peer("envpool", "envpool_sync.py", ("envpool==1.2.5",), "ConnectFour-v1"),
    Peer(
        "pufferlib",
        "pufferlib_ocean.py",
        ("pufferlib==3.0.0",),
        "connect4",
        ("numpy==1.26.4", "setuptools==79.0.1", "gymnasium==0.29.1", "gym==0.23",
         "pettingzoo==1.24.1", "wheel==0.48.0", "cython==3.3.1", "torch==2.13.0"),
        _pufferlib_offline,
    ),
)  # fmt: skip
