"""The configuration of a training run: options, their defaults and their file.

A script's own `Config` inherits from one of these classes and adds the script's own options:
`RunConfig` has what every run needs, `NetworkConfig` adds a network of `NETWORKS`, and `PPOConfig`
the hyperparameters of PPO. `completed` checks the options and fills in defaults; `stored_form` and
`read` convert to and from a run's `config.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import torch

from azumaya.baselines.agents import checkpoint
from azumaya.baselines.agents.network import default_network
from azumaya.baselines.agents.sidecar import SHAPING, Sidecar, describe, sidecar_of
from azumaya.baselines.arena.game_options import game_named
from azumaya.baselines.system.command_line import Words
from azumaya.baselines.training.checks import (
    Count,
    Numbers,
    Positive,
    Share,
    Weight,
    check_network,
    check_sizes,
    check_update,
    check_values,
    game_options,
    pairs,
)
from azumaya.baselines.training.run_folder import PLACE, SAVED, RunError, RunFolder, Script
from azumaya.baselines.training.saves import Save
from azumaya.envs import OptionError, find_game

AGENT_FILES = ("policy.safetensors", "policy.json")
CHANGEABLE = (
    "steps", "minutes", "threads", "measure_every", "measure_starts", "final_starts",
    "ladder_starts", "workers", "ray", "device",
)  # fmt: skip
"""Options that may change when a run is resumed."""
PAIRS = Words(
    read=pairs,
    write=lambda given: [str(part) for pair in given.items() for part in pair],
    metavar="NAME VALUE ...",
)


@dataclass(frozen=True)
class RunConfig:
    """The options of every run."""

    script: ClassVar[Script]
    """The script that the options belong to."""
    added: ClassVar[Mapping[str, Any]] = {}
    """Options that runs of earlier versions lack, with what they did without them."""

    game: str = "sudoku_moyo"
    """The game's name."""
    options: Annotated[dict[str, Any], PAIRS] = field(default_factory=dict)
    """The game's options, as NAME VALUE pairs: `--options max_plies 100 tiebreak marbles`."""
    seed: Annotated[int, Numbers(0, 2**32 - 1)] = 1
    """Seed of the games, the network and the learner."""
    steps: Annotated[int, Numbers(1, 10**15)] = 250_000
    """Total actions of the learner; the last rollout is always completed."""
    minutes: Weight = 0.0
    """Stop training after this many minutes, even if incomplete; 0 means no limit."""
    output: Path | None = None
    """The run's folder; the default is a folder in runs/ with the game and the seed in its name."""
    resume: bool = False
    """Resume the run in the output folder with its own configuration; only `steps`, `minutes`,
    `threads`, `workers`, `ray`, and the numbers of measurements and starts may be changed."""
    overwrite: bool = False
    """Start a new run in a folder that already holds one, and delete the old run's files."""
    threads: Annotated[int, Numbers(1, 1024)] = 1
    """Torch threads; more than one is faster on an idle machine but much slower on a busy one."""
    measure_every: Count = 25_000
    """Actions between two evaluations for the learning curve."""
    measure_starts: Annotated[int, Numbers(1, 1_000_000)] = 50
    """Starts in each of these evaluations, played in both seats against each baseline."""
    final_starts: Annotated[int, Numbers(1, 1_000_000)] = 500
    """Starts in the final evaluation, played in both seats against each baseline."""
    ladder_starts: Annotated[int, Numbers(0, 1_000_000)] = 20
    """Starts for each agent of the ladder that searches; 0 for no ladder."""

    @property
    def run(self) -> RunFolder:
        """The run's folder."""
        name = f"{self.script.prefix}{self.game}-{self.seed}"
        return self.run_at(self.output or Path("runs") / name)

    @classmethod
    def run_at(cls, path: Path) -> RunFolder:
        """A folder for a run of this script."""
        return RunFolder(path, cls.script)

    @property
    def continues(self) -> bool:
        """Whether a save is resumed; it holds what the run began with."""
        return self.resume and os.path.lexists(self.run.path / SAVED)

    def completed(self) -> Self:
        """Check every option and fill in the defaults that depend on other options.

        Raises:
            OptionError: an option has an invalid value.
        """
        check_values(self)
        game = game_named(self.game).name
        return replace(self, game=game, options=game_options(game, self.options))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The configuration of the run in a folder.

        Raises:
            RunError: it is missing, malformed or from another version of this script.
        """
        try:
            return cls(**cls.stored_in(folder), output=folder, resume=True).completed()
        except OptionError as error:
            raise RunError(f"{folder / 'config.json'} is malformed: {error}") from error

    @classmethod
    def stored_in(cls, folder: Path) -> dict[str, Any]:
        """The options of the run in a folder, as they were stored; raises as `read`."""
        names = {item.name for item in fields(cls)} - set(PLACE)
        return cls.run_at(folder).options(names, cls.added)

    def goal(self, done: int) -> int:
        """The number of steps after the last update of a run that has done some."""
        return self.steps

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar | None:
        """The sidecar of this run's checkpoints; None if its agents are stored in another way."""
        return None

    def stored_form(self) -> dict[str, Any]:
        """The content of `config.json` for this configuration."""
        stored = {name: value for name, value in asdict(self).items() if name not in PLACE}
        form: dict[str, Any] = json.loads(json.dumps(stored))
        return form

    def ready(self) -> Self:
        """Check and complete the configuration, and check that its folder can be used.

        Raises:
            OptionError: an option has an invalid value.
            RunError: the folder already holds a run, or has none to resume.
            CheckpointError: the save cannot be read.
        """
        config = replace(self, game=game_named(self.game).name)
        run = config.run
        run.check_place()
        if not config.resume:
            config = config.completed()
            if not config.overwrite:
                run.check_free()
            return config
        if config.overwrite:
            raise RunError("--resume and --overwrite: one continues a run, the other deletes it")
        before = self.read(run.path)
        run.check_same({"game": before.game}, {"game": config.game})
        config = config.completed()
        run.check_resumable(before.stored_form(), config.stored_form(), CHANGEABLE)
        return config


# ---- networks ----


@dataclass(frozen=True)
class Recipe:
    """Defaults that depend on the network; the training guide lists what was tried."""

    width: int
    depth: int
    learning_rate: float
    shaping: float


RECIPES = {
    "numbers": Recipe(width=8, depth=1, learning_rate=1e-2, shaping=0.0),
    "board": Recipe(width=32, depth=3, learning_rate=2e-3, shaping=0.1),
    "plain": Recipe(width=256, depth=2, learning_rate=1e-3, shaping=0.1),
    "houses": Recipe(width=16, depth=2, learning_rate=2e-3, shaping=0.0),
}
"""The defaults for each kind of network."""


@dataclass(frozen=True)
class NetworkConfig(RunConfig):
    """The options of a run that trains a network with a policy and a value."""

    network: str = ""
    """`numbers`, `houses`, `board` or `plain`; the default depends on the game."""
    width: Count | None = None
    """Width of the network; the default depends on its kind."""
    depth: Count | None = None
    """Depth of the network; the default depends on its kind."""
    learning_rate: Annotated[float, Numbers(0, 1, above=True)] | None = None
    """Adam's initial learning rate; the default depends on the network."""

    @property
    def network_kind(self) -> str:
        """The network's key in `NETWORKS`."""
        return self.network or default_network(find_game(self.game))

    @property
    def recipe(self) -> Recipe:
        """The network's recipe, with the options that were given in place of its defaults."""
        recipe = RECIPES[self.network_kind]
        given = ((name, getattr(self, name, None)) for name in asdict(recipe))
        return replace(recipe, **{name: value for name, value in given if value is not None})

    @property
    def sizes(self) -> dict[str, int]:
        """The network's `width` and `depth`."""
        return {"width": self.recipe.width, "depth": self.recipe.depth}

    def completed(self) -> Self:
        """As `RunConfig.completed`; also checks that the network can be built."""
        config = super().completed()
        check_network(config.network, config.game)
        names = {item.name for item in fields(config)}
        recipe = {name: value for name, value in asdict(config.recipe).items() if name in names}
        config = replace(config, network=config.network_kind, **recipe)
        check_sizes(config.network, config.game, config.options, **config.sizes)
        return config

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar:
        """The sidecar of this run's checkpoints."""
        return describe(
            find_game(self.game),
            num_actions,
            self.network_kind,
            self.sizes,
            options=dict(self.options),
            notes={"seed": self.seed, **notes},
        )


# ---- PPO ----


@dataclass(frozen=True)
class PPOConfig(NetworkConfig):
    """The options of a run that trains such a network by PPO."""

    games: Annotated[int, Numbers(1, 1_000_000)] = 64
    """Games played in parallel."""
    rollout: Annotated[int, Numbers(1, 1_000_000)] = 64
    """Actions per game between two updates."""
    batch: Annotated[int, Numbers(2)] = 256
    """Actions in a minibatch."""
    epochs: Count = 4
    """Passes over the rollout per update."""
    final_share: Share = 0.1
    """Fraction of the learning rate left at the end; it decreases linearly."""
    discount: Share = 1.0
    """Discount factor: per move of the learner in MaskablePPO, per ply of the game in self-play."""
    gae_lambda: Share = 0.95
    """Lambda of generalised advantage estimation: 0 relies on the value network, 1 on the games."""
    clip: Positive = 0.2
    """PPO's clip range."""
    entropy: Weight = 0.001
    """Weight of the entropy bonus."""
    value: Weight = 0.5
    """Weight of the value loss."""
    shaping: Annotated[float, Numbers(0, 1_000_000)] | None = None
    """Weight of gains in the game's own evaluation relative to winning (see `AzumayaVecEnv`); the
    default depends on the network."""

    def completed(self) -> Self:
        """As `NetworkConfig.completed`; also checks the size of an update."""
        config = super().completed()
        check_update(config.games, config.rollout)
        return config

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar:
        """The sidecar of this run's checkpoints."""
        return super().sidecar(num_actions, **{SHAPING: self.recipe.shaping, **notes})


def agent_files(save: Save) -> dict[str, bytes]:
    """The agent in a save, as the files of a checkpoint called `policy`."""
    sidecar = sidecar_of(save.notes.get("agent"))
    weights = {name: torch.from_numpy(array) for name, array in save.part("network").items()}
    return checkpoint.contents("policy", weights, sidecar)
