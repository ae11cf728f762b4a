"""The libraries: what pip installs beside ours for each, pinned, and the script that uses it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from azumaya.benchmarks.peers.catalogue import Peer

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "scripts"
TORCH = "torch==2.13.0"
CORE = ("numpy", "gymnasium", "pettingzoo", "numba")
"""What the core install depends on."""


@dataclass(frozen=True)
class Library:
    """A library that takes our environments.

    Attributes:
        name: short, as `python -m tests.integrations NAME` takes it.
        title: as its authors write it.
        pins: its requirement and those of what it needs beside itself; the first is its own.
        script: in `scripts/`.
        shows: what the script does, for the table in the documentation.
        adapter: what of the library takes our environments, for the same table.
        packages: the versions to report besides its own and our core dependencies.
        torch: whether it needs torch.
    """

    name: str
    title: str
    pins: tuple[str, ...]
    script: str
    adapter: str
    shows: str
    packages: tuple[str, ...] = ()
    torch: bool = True

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return self.pins[0].partition("==")[2]

    @property
    def reported(self) -> tuple[str, ...]:
        """The packages whose versions belong to a result."""
        own = self.pins[0].partition("==")[0].partition("[")[0]
        return (own, *self.packages, *CORE)

    def environment(self) -> Peer:
        """Its virtual environment: the library and ours, resolved by pip together."""
        # ours is named with its bounds, so that an environment made for others is made anew
        ours = ("-e", str(ROOT), *dependencies())
        first = (TORCH,) if self.torch else ()
        return Peer(self.name, self.script, (*ours, *first, *self.pins), first)


def dependencies() -> tuple[str, ...]:
    """What our core install asks for, with bounds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return tuple(project["dependencies"])


LIBRARIES = {
    library.name: library
    for library in (
        Library(
            "torchrl",
            "TorchRL",
            ("torchrl==0.14.1",),
            "torchrl_reinforce.py",
            "`PettingZooWrapper`, `GymEnv`, `GymWrapper`",
            "masked REINFORCE for both seats, masked rollouts of one seat, a batch of games",
            ("tensordict", "torch"),
        ),
        Library(
            "rllib",
            "RLlib",
            ("ray[rllib]==2.60.0",),
            "rllib_masked_ppo.py",
            "`PettingZooEnv` and a wrapper of 20 lines",
            "masked PPO, one policy for both seats",
            ("torch",),
        ),
        Library(
            "tianshou",
            "Tianshou",
            ("tianshou==2.0.1",),
            "tianshou_dqn.py",
            "`DummyVectorEnv` over `SingleAgentEnv`; `PettingZooEnv`",
            "masked DQN for one seat, then both seats by that policy",
            ("torch",),
        ),
        Library(
            "agilerl",
            "AgileRL",
            ("agilerl==2.58.0", "peft==0.21.2"),  # which it imports and does not require
            "agilerl_dqn.py",
            "`gymnasium.make_vec` of single seats",
            "masked DQN for one seat",
            ("tensordict", "torch"),
        ),
        Library(
            "supersuit",
            "SuperSuit",
            ("supersuit==3.11.0",),
            "supersuit_frames.py",
            "wrappers of the AEC environment",
            "stacked frames as float32, masked random games",
            torch=False,
        ),
        Library(
            "textarena",
            "TextArena",
            ("textarena==0.7.4",),
            "textarena_games.py",
            "`textarena_env`",
            "all games between scripted models, with second tries",
            torch=False,
        ),
    )
}
"""By name, in the order in which they run."""
