"""The configuration of a training run: its hyperparameters, their defaults and their file.

`Config` holds the command line's options. `completed` checks them and fills in the network's
defaults; `stored_form` and `read_config` convert to and from a run's `config.json`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro

from azumaya.baselines.agents import checkpoint
from azumaya.baselines.agents.network import default_network
from azumaya.baselines.game_options import game_named
from azumaya.baselines.training.checks import (
    Count,
    Numbers,
    Positive,
    Share,
    Weight,
    check_batch,
    check_network,
    check_numbers,
    check_sizes,
    game_options,
    pairs,
)
from azumaya.baselines.training.run_folder import PLACE, RunError, RunFolder, Script
from azumaya.baselines.training.saves import Save
from azumaya.envs import OptionError, find_game


@dataclass(frozen=True)
class Recipe:
    """Defaults that depend on the network; the training guide lists what was tried."""

    width: int
    depth: int
    learning_rate: float
    shaping: float


SUITED = {
    "numbers": Recipe(width=8, depth=1, learning_rate=1e-2, shaping=0.0),
    "board": Recipe(width=32, depth=3, learning_rate=2e-3, shaping=0.1),
    "plain": Recipe(width=256, depth=2, learning_rate=1e-3, shaping=0.1),
}
"""The defaults for each kind of network."""


PROGRAM = "azumaya.baselines.training.maskable_ppo"
AGENT_FILES = ("policy.safetensors", "policy.json")
CHANGEABLE = (
    "steps", "minutes", "threads", "measure_every", "measure_starts", "final_starts",
)  # fmt: skip
"""Options that may change when a run is resumed."""
PAIRS = tyro.constructors.PrimitiveConstructorSpec[dict[str, Any]](
    nargs="*",
    metavar="[NAME VALUE ...]",
    instance_from_str=pairs,
    is_instance=lambda value: isinstance(value, dict),
    str_from_instance=lambda given: [str(part) for pair in given.items() for part in pair],
)


@dataclass(frozen=True)
class Config:
    """Every hyperparameter of a run."""

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
    """The run's folder; by default runs/GAME-SEED."""
    resume: bool = False
    """Resume the run in the output folder with its own configuration; only `steps`, `minutes`,
    `threads`, `measure_every`, `measure_starts` and `final_starts` may be changed."""
    overwrite: bool = False
    """Start a new run in a folder that already holds one, and delete the old run's files."""
    games: Annotated[int, Numbers(1, 1_000_000)] = 64
    """Games played in parallel."""
    rollout: Annotated[int, Numbers(1, 1_000_000)] = 64
    """Actions per game between two updates."""
    batch: Annotated[int, Numbers(2)] = 256
    """Actions in a minibatch."""
    epochs: Count = 4
    """Passes over the rollout per update."""
    learning_rate: Annotated[float, Numbers(0, 1, above=True)] | None = None
    """Adam's initial learning rate; the default depends on the network."""
    final_share: Share = 0.1
    """Fraction of the learning rate left at the end; it decreases linearly."""
    discount: Share = 1.0
    """Discount factor per move of the learner."""
    gae_lambda: Share = 0.95
    """Lambda of generalised advantage estimation: 0 relies on the value network, 1 on the games."""
    clip: Positive = 0.2
    """PPO's clip range."""
    entropy: Weight = 0.001
    """Weight of the entropy bonus."""
    value: Weight = 0.5
    """Weight of the value loss."""
    random_share: Share = 0.5
    """Fraction of training games against the random agent; the others are against greedy."""
    shaping: Annotated[float, Numbers(0, 1_000_000)] | None = None
    """Weight of gains in the game's own evaluation relative to winning (see `AzumayaVecEnv`); the
    default depends on the network."""
    network: str = ""
    """`numbers`, `board` or `plain`; the default depends on the game."""
    width: Count | None = None
    """Width of the network; the default depends on its kind."""
    depth: Count | None = None
    """Depth of the network; the default depends on its kind."""
    threads: Annotated[int, Numbers(1, 1024)] = 1
    """Torch threads; more than one is faster on an idle machine but much slower on a busy one."""
    measure_every: Count = 25_000
    """Actions between two evaluations for the learning curve."""
    measure_starts: Annotated[int, Numbers(1, 1_000_000)] = 50
    """Starts in each of these evaluations, played in both seats against each baseline."""
    final_starts: Annotated[int, Numbers(1, 1_000_000)] = 500
    """Starts in the final evaluation, played in both seats against each baseline."""

    @property
    def run(self) -> RunFolder:
        """The run's folder."""
        return run_at(self.output or Path("runs") / f"{self.game}-{self.seed}")

    @property
    def network_kind(self) -> str:
        """The network's key in `NETWORKS`."""
        return self.network or default_network(find_game(self.game))

    @property
    def recipe(self) -> Recipe:
        """The given options of a recipe, with the network's defaults for the others."""
        suited = asdict(SUITED[self.network_kind])
        given = {name: getattr(self, name) for name in suited}
        return Recipe(**{name: suited[name] if g is None else g for name, g in given.items()})

    def sidecar(self, num_actions: int, **notes: Any) -> checkpoint.Sidecar:
        """The sidecar of this run's checkpoints."""
        return checkpoint.describe(
            find_game(self.game),
            num_actions,
            self.network_kind,
            {"width": self.recipe.width, "depth": self.recipe.depth},
            options=dict(self.options),
            notes={"seed": self.seed, **notes},
        )


def agent_files(save: Save) -> dict[str, bytes]:
    """The agent in a save, as the files of a checkpoint called `policy`."""
    sidecar = checkpoint.sidecar_of(save.notes.get("agent"))
    weights = {name: torch.from_numpy(array) for name, array in save.part("network").items()}
    return checkpoint.contents("policy", weights, sidecar)


def run_at(path: Path) -> RunFolder:
    """The folder of a run of this script."""
    script = Script(PROGRAM, agent_files, (*AGENT_FILES, "model.zip", "resume.json"))
    return RunFolder(path, script)


def completed(config: Config) -> Config:
    """Check every option and fill in the defaults that depend on other options.

    Raises:
        OptionError: an option has an invalid value.
    """
    check_numbers(config)
    check_batch(config.batch, config.games, config.rollout)
    game = game_named(config.game).name
    check_network(config.network, game)
    config = replace(config, game=game, options=game_options(game, config.options))
    config = replace(config, network=config.network_kind, **asdict(config.recipe))
    check_sizes(config.network, game, config.options, width=config.width, depth=config.depth)
    return config


def read_config(folder: Path) -> Config:
    """The configuration of the run in a folder.

    Raises:
        RunError: it is missing, malformed or from another version of this script.
    """
    names = {item.name for item in fields(Config)} - set(PLACE)
    stored = run_at(folder).options(names)
    try:
        return completed(Config(**stored, output=folder))
    except OptionError as error:
        raise RunError(f"{folder / 'config.json'} is malformed: {error}") from error


def stored_form(config: Config) -> dict[str, Any]:
    """The content of `config.json` for a configuration."""
    stored = {name: value for name, value in asdict(config).items() if name not in PLACE}
    form: dict[str, Any] = json.loads(json.dumps(stored))
    return form


def ready(config: Config) -> Config:
    """Check and complete the configuration, and check that its folder can be used.

    Raises:
        OptionError: an option has an invalid value.
        RunError: the folder already holds a run, or has none to resume.
        CheckpointError: the save cannot be read.
    """
    config = replace(config, game=game_named(config.game).name)
    run = config.run
    run.check_place()
    if not config.resume:
        config = completed(config)
        if not config.overwrite:
            run.check_free()
        return config
    if config.overwrite:
        raise RunError("--resume and --overwrite: one continues a run, the other deletes it")
    before = read_config(run.path)
    run.check_same({"game": before.game}, {"game": config.game})
    config = completed(config)
    run.check_resumable(stored_form(before), stored_form(config), CHANGEABLE)
    return config
