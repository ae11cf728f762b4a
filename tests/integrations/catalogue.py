"""The libraries: the pinned packages that pip installs beside ours, and the script for each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from azumaya.benchmarks.peers.catalogue import Peer

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "scripts"
TORCH = "torch==2.13.0"
CORE = ("numpy", "gymnasium", "pettingzoo", "numba", "filelock", "platformdirs")
"""The core dependencies."""


@dataclass(frozen=True)
class Library:
    """A library that takes our environments.

    Attributes:
        name: the short name that `python -m tests.integrations NAME` takes.
        title: the name as its authors write it.
        pins: pinned requirements, first its own, then those of packages that it needs.
        script: the file in `scripts/`.
        shows: what the script does, for the table in the documentation.
        adapter: the part of the library that takes our environments, for the same table.
        packages: packages whose versions are reported besides its own and our core dependencies.
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
        """The pinned version."""
        return self.pins[0].partition("==")[2]

    @property
    def reported(self) -> tuple[str, ...]:
        """The packages whose versions a result reports."""
        own = self.pins[0].partition("==")[0].partition("[")[0]
        return (own, *self.packages, *CORE)

    def environment(self) -> Peer:
        """Its virtual environment, with the library and ours resolved together by pip."""
        # our bounds are included, so that changing them makes the environment anew
        ours = ("-e", str(ROOT), *dependencies())
        first = (TORCH,) if self.torch else ()
        return Peer(self.name, self.script, (*ours, *first, *self.pins), first)


def dependencies() -> tuple[str, ...]:
    """The core dependencies with their bounds."""
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
            "`PettingZooEnv` over `FlatObservations`",
            "masked PPO, one policy for both seats, then games against the baselines",
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
            ("agilerl==2.58.0", "peft==0.21.2"),  # imported by AgileRL, but not required by it
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
            "minari",
            "Minari",
            ("minari==0.5.4", "h5py==3.16.0", "pillow==13.0.0", "msgspec==0.22.0"),
            "minari_games.py",
            "recorded games as `EpisodeBuffer`",
            "a dataset with an episode for each seat, written and read back",
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
        Library(
            "verifiers",
            "verifiers",
            ("verifiers==0.4.0",),
            "verifiers_games.py",
            "`azumaya-game`, `azumaya-exam`",
            "a scripted model plays all games and takes all exams",
            torch=False,
        ),
    )
}
"""The libraries by name, in the order in which they run."""
