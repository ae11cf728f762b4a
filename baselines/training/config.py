"""The configuration of a training run: every hyperparameter, what is left open, how it is kept.

`Config` is what the command line says. `settled` checks it and fills in what suits the network;
`stored_form` and `read_config` are the way to a run's `config.json` and back.
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
    game_name,
    game_options,
    pairs,
)
from azumaya.baselines.training.run_folder import PLACE, RunError, RunFolder, Script
from azumaya.baselines.training.saves import Save
from azumaya.envs import OptionError, find_game


@dataclass(frozen=True)
class Recipe:
    """What hangs on the kind of network; the training guide says what was tried."""

    width: int
    depth: int
    learning_rate: float
    shaping: float


SUITED = {
    "numbers": Recipe(width=8, depth=1, learning_rate=1e-2, shaping=0.0),
    "board": Recipe(width=32, depth=3, learning_rate=2e-3, shaping=0.1),
    "plain": Recipe(width=256, depth=2, learning_rate=1e-3, shaping=0.1),
}
"""What suits each kind of network."""


PROGRAM = "azumaya.baselines.training.maskable_ppo"
AGENT_FILES = ("policy.safetensors", "policy.json")
CHANGEABLE = (
    "steps", "minutes", "threads", "measure_every", "measure_starts", "final_starts",
)  # fmt: skip
"""What may be other than before when a run goes on."""
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
    """Options of the game, as NAME VALUE pairs: `--options max_plies 100 tiebreak marbles`."""
    seed: Annotated[int, Numbers(0, 2**32 - 1)] = 1
    """Seeds the games, the network and the learner."""
    steps: Annotated[int, Numbers(1, 10**15)] = 250_000
    """Actions of the learner in all; the last rollout is played to its end."""
    minutes: Weight = 0.0
    """Stop training after so many minutes, done or not; 0 for no limit."""
    output: Path | None = None
    """The folder of the run; by default runs/GAME-SEED."""
    resume: bool = False
    """Go on with the run in the output folder, by its own configuration; only `steps`, `minutes`,
    `threads`, `measure_every`, `measure_starts` and `final_starts` may be given anew."""
    overwrite: bool = False
    """Begin anew in a folder that holds a run, whose files are deleted."""
    games: Annotated[int, Numbers(1, 1_000_000)] = 64
    """Games played at once."""
    rollout: Annotated[int, Numbers(1, 1_000_000)] = 64
    """Actions in each game between two updates."""
    batch: Annotated[int, Numbers(2)] = 256
    """Actions in a minibatch."""
    epochs: Count = 4
    """Passes over the rollout in an update."""
    learning_rate: Annotated[float, Numbers(0, 1, above=True)] | None = None
    """Adam's step size at the start; by default what suits the network."""
    final_share: Share = 0.1
    """Share of the step size that is left at the end; it falls linearly."""
    discount: Share = 1.0
    """The worth of a reward one own move later."""
    gae_lambda: Share = 0.95
    """Generalised advantage estimation: 0 trusts the value network, 1 the games."""
    clip: Positive = 0.2
    """PPO's clip range."""
    entropy: Weight = 0.001
    """Weight of the entropy bonus."""
    value: Weight = 0.5
    """Weight of the value loss."""
    random_share: Share = 0.5
    """Share of training games against the random agent; the others are against greedy."""
    shaping: Annotated[float, Numbers(0, 1_000_000)] | None = None
    """What a gain by the game's own evaluation is worth beside winning, see `AzumayaVecEnv`; by
    default what suits the network."""
    network: str = ""
    """`numbers`, `board` or `plain`; by default what fits the game."""
    width: Count | None = None
    """Width of the network; by default what suits its kind."""
    depth: Count | None = None
    """Depth of the network; by default what suits its kind."""
    threads: Annotated[int, Numbers(1, 1024)] = 1
    """Threads of torch. More than one helps on an idle machine and hurts badly on a busy one."""
    measure_every: Count = 25_000
    """Actions between two measurements for the learning curve."""
    measure_starts: Annotated[int, Numbers(1, 1_000_000)] = 50
    """Starts of such a measurement, each played in both seats against each baseline."""
    final_starts: Annotated[int, Numbers(1, 1_000_000)] = 500
    """Starts of the evaluation at the end, each played in both seats against each baseline."""

    @property
    def run(self) -> RunFolder:
        """The folder of the run."""
        return run_at(self.output or Path("runs") / f"{self.game}-{self.seed}")

    @property
    def network_kind(self) -> str:
        """The network's key in `NETWORKS`."""
        return self.network or default_network(find_game(self.game))

    @property
    def recipe(self) -> Recipe:
        """What the options say, and where they say nothing, what suits the network."""
        suited = asdict(SUITED[self.network_kind])
        given = {name: getattr(self, name) for name in suited}
        return Recipe(**{name: suited[name] if g is None else g for name, g in given.items()})

    def sidecar(self, num_actions: int, **notes: Any) -> checkpoint.Sidecar:
        """What a checkpoint of this run says about itself."""
        return checkpoint.describe(
            find_game(self.game),
            num_actions,
            self.network_kind,
            {"width": self.recipe.width, "depth": self.recipe.depth},
            options=dict(self.options),
            notes={"seed": self.seed, **notes},
        )


def agent_files(save: Save) -> dict[str, bytes]:
    """The agent of a save, as a checkpoint called `policy`."""
    sidecar = checkpoint.sidecar_of(save.notes.get("agent"))
    weights = {name: torch.from_numpy(array) for name, array in save.part("network").items()}
    return checkpoint.contents("policy", weights, sidecar)


def run_at(path: Path) -> RunFolder:
    """A run of this script, in a folder."""
    script = Script(PROGRAM, agent_files, (*AGENT_FILES, "model.zip", "resume.json"))
    return RunFolder(path, script)


def settled(config: Config) -> Config:
    """The configuration with every option checked, and settled where it was left open.

    Raises:
        OptionError: an option has a value it cannot take.
    """
    check_numbers(config)
    check_batch(config.batch, config.games, config.rollout)
    game = game_name(config.game)
    check_network(config.network, game)
    config = replace(config, game=game, options=game_options(game, config.options))
    config = replace(config, network=config.network_kind, **asdict(config.recipe))
    check_sizes(config.network, game, config.options, width=config.width, depth=config.depth)
    return config


def read_config(folder: Path) -> Config:
    """The configuration of the run in a folder.

    Raises:
        RunError: there is none, or it is malformed or of another version of this script.
    """
    names = {item.name for item in fields(Config)} - set(PLACE)
    stored = run_at(folder).options(names)
    try:
        return settled(Config(**stored, output=folder))
    except OptionError as error:
        raise RunError(f"{folder / 'config.json'} is malformed: {error}") from error


def stored_form(config: Config) -> dict[str, Any]:
    """What `config.json` holds of a configuration."""
    stored = {name: value for name, value in asdict(config).items() if name not in PLACE}
    form: dict[str, Any] = json.loads(json.dumps(stored))
    return form


def ready(config: Config) -> Config:
    """The configuration settled, once it is clear that the folder is one for it.

    Raises:
        OptionError: an option has a value it cannot take.
        RunError: the folder holds a run, or none to go on with.
        CheckpointError: what was saved cannot be read.
    """
    config = replace(config, game=game_name(config.game))
    run = config.run
    run.check_place()
    if not config.resume:
        config = settled(config)
        if not config.overwrite:
            run.check_free()
        return config
    if config.overwrite:
        raise RunError("--resume and --overwrite: one goes on with a run, the other deletes it")
    before = read_config(run.path)
    run.check_same({"game": before.game}, {"game": config.game})
    config = settled(config)
    run.check_goes_on(stored_form(before), stored_form(config), CHANGEABLE)
    return config
