"""The peers: what to install for each, pinned, and the script that measures it."""

from __future__ import annotations

from dataclasses import dataclass

JAX = "jax[cpu]==0.10.2"


@dataclass(frozen=True)
class Peer:
    """A library to stand beside.

    Attributes:
        name: short.
        script: in this folder.
        packages: what pip installs into its environment.
        first: what pip installs before, for packages that need it to be built.
        flags: further flags of the last pip command.
    """

    name: str
    script: str
    packages: tuple[str, ...]
    first: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


PEERS = (
    Peer("pettingzoo", "pettingzoo_aec.py", ("pettingzoo[classic]==1.27.0",)),
    Peer("open_spiel", "open_spiel_loops.py", ("open_spiel==2.0.2",)),
    Peer("pgx", "pgx_scan.py", ("pgx==2.6.0", JAX)),
    Peer("jumanji", "jumanji_sudoku.py", ("jumanji==1.1.2", JAX)),
    Peer("envpool", "envpool_sync.py", ("envpool==1.2.5",)),
    Peer(
        "pufferlib",
        "pufferlib_ocean.py",
        ("pufferlib==3.0.0",),
        ("numpy<2", "setuptools<80", "gymnasium==0.29.1", "gym==0.23", "pettingzoo==1.24.1",
         "wheel", "cython", "torch==2.13.0"),
        ("--no-build-isolation",),
    ),
)  # fmt: skip
