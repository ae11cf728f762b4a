"""Train a MaskablePPO agent (sb3-contrib) on a game, then measure it against the baselines.

    python -m azumaya.baselines.training.maskable_ppo --game sudoku_moyo --seed 1

In the order in which things happen: the configuration; the policy, which puts our network under
SB3's algorithm; the environment, in which random and greedy opponents are played inside the
batch; training, in which a callback measures, saves and stops; evaluation, over games whose
starts are played in both seats; the learning curve.

A run has a folder of its own: `config.json`, `policy.safetensors` and `.json` (the agent),
`resume.safetensors` and `.json` (the optimiser and counters, for `--resume`), `model.zip` (the
same in SB3's own format), `progress.json` (metrics, a JSON object a line), TensorBoard's event
files, `evaluation.json` and `learning_curve.png`. Ctrl-C saves and ends; `--resume` goes on.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from azumaya.baselines.agents import GreedyAgent, RandomAgent, checkpoint
from azumaya.baselines.agents.network import NETWORKS, default_network
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.arena.matches import Score, play_pairing
from azumaya.baselines.arena.report import learning_curve, score_table
from azumaya.envs import OptionError, find_game
from azumaya.wrappers.sb3 import AzumayaVecEnv

BASELINES = (RandomAgent, GreedyAgent)
EVALUATION_SEED = 1_000_000
"""Evaluation draws its starts from here on, away from the seeds of training."""


# ---- configuration ----


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


@dataclass(frozen=True)
class Config:
    """Every hyperparameter of a run."""

    game: str = "sudoku_moyo"
    """The game's name."""
    options: dict[str, str] = field(default_factory=dict)
    """Options of the game, as NAME VALUE pairs."""
    seed: int = 1
    """Seeds the games, the network and the learner."""
    steps: int = 250_000
    """Actions of the learner in all."""
    minutes: float = 0.0
    """Stop training after so many minutes, done or not; 0 for no limit."""
    output: Path | None = None
    """The folder of the run; by default runs/GAME-SEED."""
    resume: bool = False
    """Go on with the run in the output folder, by its own configuration and this `steps`."""
    games: int = 64
    """Games played at once."""
    rollout: int = 64
    """Actions in each game between two updates."""
    batch: int = 256
    """Actions in a minibatch."""
    epochs: int = 4
    """Passes over the rollout in an update."""
    learning_rate: float | None = None
    """Adam's step size at the start; by default what suits the network."""
    final_share: float = 0.1
    """Share of the step size that is left at the end; it falls linearly."""
    discount: float = 1.0
    """The worth of a reward one own move later."""
    gae_lambda: float = 0.95
    """Generalised advantage estimation: 0 trusts the value network, 1 the games."""
    clip: float = 0.2
    """PPO's clip range."""
    entropy: float = 0.001
    """Weight of the entropy bonus."""
    value: float = 0.5
    """Weight of the value loss."""
    random_share: float = 0.5
    """Share of training games against the random agent; the others are against greedy."""
    shaping: float | None = None
    """What a gain by the game's own evaluation is worth beside winning, see `AzumayaVecEnv`; by
    default what suits the network."""
    network: str = ""
    """`numbers`, `board` or `plain`; by default what fits the game."""
    width: int | None = None
    """Width of the network; by default what suits its kind."""
    depth: int | None = None
    """Depth of the network; by default what suits its kind."""
    threads: int = 1
    """Threads of torch. More than one helps on an idle machine and hurts badly on a busy one."""
    measure_every: int = 25_000
    """Actions between two measurements for the learning curve."""
    measure_starts: int = 50
    """Starts of such a measurement, each played in both seats against each baseline."""
    final_starts: int = 500
    """Starts of the evaluation at the end, each played in both seats against each baseline."""

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self.output or Path("runs") / f"{self.game}-{self.seed}"

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


def read_config(folder: Path) -> Config:
    """The configuration of the run in a folder.

    Raises:
        OptionError: it is of another version of this script.
    """
    stored = json.loads((folder / "config.json").read_text("utf-8"))
    known = {item.name for item in fields(Config)}
    if set(stored) != known:
        raise OptionError(
            f"{folder / 'config.json'}: was written by another version of this script; it differs "
            f"in {', '.join(sorted(set(stored) ^ known))}"
        )
    return Config(**{**stored, "output": folder})


def write_config(config: Config) -> None:
    """Keep the configuration in the run's folder."""
    config.folder.mkdir(parents=True, exist_ok=True)
    stored = {**asdict(config), "output": str(config.folder), "resume": False}
    (config.folder / "config.json").write_text(json.dumps(stored, indent=2) + "\n", "utf-8")


# ---- the policy ----


class NetworkFeatures(BaseFeaturesExtractor):
    """Our network as SB3's features: logits for all actions, then the value."""

    def __init__(self, observation_space: Any, network: str, game: str, **sizes: int) -> None:
        actions = sizes.pop("num_actions")
        super().__init__(observation_space, actions + 1)
        self.network = NETWORKS[network](find_game(game), actions, **sizes)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """From planes `(B, C, rows, columns)` to `(B, A + 1)`."""
        logits, value = self.network(observations)
        return torch.cat((logits, value[:, None]), dim=1)


class Part(nn.Module):
    """A slice of the features: what SB3 expects of a head, when the network has its own heads."""

    def __init__(self, part: slice) -> None:
        super().__init__()
        self.part = part

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """The slice."""
        return features[:, self.part]


class NetworkPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with the network's own heads."""

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = Part(slice(0, -1))  # type: ignore[assignment]
        self.value_net = Part(slice(-1, None))  # type: ignore[assignment]
        self.optimizer = self.optimizer_class(
            self.parameters(), **{"lr": lr_schedule(1), **self.optimizer_kwargs}
        )


def make_model(config: Config, env: AzumayaVecEnv) -> MaskablePPO:
    """MaskablePPO over our network."""
    first, last = config.recipe.learning_rate, config.recipe.learning_rate * config.final_share
    return MaskablePPO(
        NetworkPolicy,
        env,
        learning_rate=lambda left: last + (first - last) * left,
        n_steps=config.rollout,
        batch_size=config.batch,
        n_epochs=config.epochs,
        gamma=config.discount,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        vf_coef=config.value,
        seed=config.seed,
        device="cpu",
        policy_kwargs={
            "net_arch": [],
            "normalize_images": False,
            "ortho_init": False,
            "features_extractor_class": NetworkFeatures,
            "features_extractor_kwargs": {
                "network": config.network_kind,
                "game": config.game,
                "num_actions": int(env.action_space.n),
                "width": config.recipe.width,
                "depth": config.recipe.depth,
            },
        },
    )


def network_of(model: MaskablePPO) -> nn.Module:
    """Our network inside the model."""
    network: nn.Module = model.policy.features_extractor.network  # type: ignore[assignment]
    return network


# ---- keeping and resuming ----


def save_run(config: Config, model: MaskablePPO) -> None:
    """Write the agent, and what `--resume` needs."""
    actions = int(model.action_space.n)  # type: ignore[attr-defined]
    sidecar = config.sidecar(actions, steps=model.num_timesteps)
    weights = network_of(model).state_dict()
    checkpoint.save(config.folder / "policy", weights, sidecar)
    tensors = {f"policy.{name}": tensor for name, tensor in model.policy.state_dict().items()}
    for index, moments in model.policy.optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{name}": tensor for name, tensor in moments.items()}
    checkpoint.save(config.folder / "resume", tensors, sidecar)
    model.save(config.folder / "model.zip")


def restore_run(config: Config, model: MaskablePPO) -> None:
    """Put a saved run's network, optimiser and counters into a fresh model."""
    tensors, sidecar = checkpoint.load(config.folder / "resume")
    policy = {k.removeprefix("policy."): v for k, v in tensors.items() if k.startswith("policy.")}
    model.policy.load_state_dict(policy)
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith("adam."):
            _, index, name = key.split(".")
            moments.setdefault(int(index), {})[name] = tensor
    optimizer = model.policy.optimizer
    optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
    model.num_timesteps = int(sidecar.notes["steps"])


# ---- training ----


class Overseer(BaseCallback):
    """Shows progress, measures for the learning curve, saves, and stops in time."""

    def __init__(self, config: Config, console: Console) -> None:
        super().__init__()
        self.config = config
        self.curve = read_curve(config.folder) if config.resume else []
        self.began = time.monotonic()
        self.next_measure = 0
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        self.task = self.bar.add_task("training", total=config.steps)

    def _on_training_start(self) -> None:
        self.next_measure = self.num_timesteps + self.config.measure_every
        self.bar.start()
        if not self.curve:
            self.measure()

    def _on_step(self) -> bool:
        self.bar.update(self.task, completed=self.num_timesteps)
        limit = 60 * self.config.minutes
        return not limit or time.monotonic() - self.began < limit

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self.next_measure:
            self.next_measure = self.num_timesteps + self.config.measure_every
            self.measure()

    def measure(self) -> None:
        """Play against the baselines, log the rates, and save."""
        scores = evaluate(self.config, network_of(self.model), self.config.measure_starts)  # type: ignore[arg-type]
        point: dict[str, float] = {"steps": self.num_timesteps}
        for score in scores:
            point[score.second] = score.rate
            self.logger.record(f"eval/{score.second}", score.rate)
        self.curve.append(point)
        write_curve(self.config.folder, self.curve)
        rates = ", ".join(f"{score.second} {score.rate:.0%}" for score in scores)
        self.bar.update(self.task, description=f"training ({rates})")
        save_run(self.config, self.model)  # type: ignore[arg-type]

    def _on_training_end(self) -> None:
        self.bar.stop()


def read_curve(folder: Path) -> list[dict[str, float]]:
    """The measurements of a run so far."""
    with contextlib.suppress(FileNotFoundError):
        curve: list[dict[str, float]] = json.loads((folder / "curve.json").read_text("utf-8"))
        return curve
    return []


def write_curve(folder: Path, curve: list[dict[str, float]]) -> None:
    """Keep the measurements of a run."""
    temporary = folder / ".curve.json.tmp"
    temporary.write_text(json.dumps(curve) + "\n", "utf-8")
    temporary.replace(folder / "curve.json")


@contextlib.contextmanager
def training_env(config: Config) -> Iterator[AzumayaVecEnv]:
    """The games of the learner, with its opponents inside."""
    env = AzumayaVecEnv(
        config.game,
        config.games,
        opponent={"random": config.random_share, "greedy": 1 - config.random_share},
        seat="alternating",
        seed=config.seed,
        shaping=config.recipe.shaping,
        **dict[str, Any](config.options),
    )
    try:
        yield env
    finally:
        env.close()


def train(config: Config, console: Console) -> nn.Module:
    """Train, or go on training; returns the network. Ctrl-C saves first."""
    with training_env(config) as env:
        model = make_model(config, env)
        model.set_logger(configure(str(config.folder), ["json", "tensorboard"]))
        if config.resume:
            restore_run(config, model)
        overseer = Overseer(config, console)
        left = config.steps - model.num_timesteps
        try:
            if left > 0:
                model.learn(left, overseer, reset_num_timesteps=False)
                overseer.measure()
        except KeyboardInterrupt:
            overseer.bar.stop()
            save_run(config, model)
            console.print(f"Saved after {model.num_timesteps:,} steps; --resume goes on.")
            raise
        return network_of(model)


# ---- evaluation ----


def evaluate(
    config: Config, network: nn.Module, starts: int, bar: Progress | None = None
) -> list[Score]:
    """The agent against each baseline, the same starts in both seats."""
    network.train(False)
    agent, scores = PolicyAgent(network), []
    for baseline in BASELINES:
        opponent = baseline()
        task = bar and bar.add_task(f"against {opponent.name}", total=2 * starts)
        advance = (lambda n, task=task: bar.advance(task, n)) if bar is not None else None
        scores.append(
            play_pairing(
                config.game, agent, opponent, starts, EVALUATION_SEED, config.options, advance
            )
        )
    network.train(True)
    return scores


def final_evaluation(config: Config, network: nn.Module, console: Console) -> list[Score]:
    """Evaluate at length, print the table, and keep it."""
    with Progress(console=console) as bar:
        scores = evaluate(config, network, config.final_starts, bar)
    console.print(score_table(scores, f"{config.game} after training"))
    results = [{**asdict(s), "rate": s.rate, "interval": s.interval()} for s in scores]
    (config.folder / "evaluation.json").write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    return scores


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw."""
    console = Console()
    if config.resume:
        config = replace(read_config(config.folder), steps=config.steps, resume=True)
    config = replace(config, network=config.network_kind, **asdict(config.recipe))
    write_config(config)
    torch.set_num_threads(config.threads)
    began = time.monotonic()
    network = train(config, console)
    trained = time.monotonic()
    scores = final_evaluation(config, network, console)
    learning_curve(read_curve(config.folder), config.folder / "learning_curve.png", config.game)
    console.print(
        f"Trained in {(trained - began) / 60:.1f} minutes, evaluated in "
        f"{(time.monotonic() - trained) / 60:.1f}. The run is in {config.folder}/"
    )
    return scores


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(tyro.cli(Config, description=__doc__))
