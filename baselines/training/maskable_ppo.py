"""Train a MaskablePPO agent (sb3-contrib) on a game, then measure it against the baselines.

    python -m azumaya.baselines.training.maskable_ppo --game sudoku_moyo --seed 1

The hyperparameters are those of `config.py` beside this file. Here, in the order in which things
happen: the policy, which puts our network under SB3's algorithm; the environment, in which random
and greedy opponents are played inside the batch; training, in which a callback measures, saves and
stops; evaluation, over games whose starts are played in both seats; the learning curve.

A run has a folder of its own: `config.json`, `policy.safetensors` and `.json` (the agent),
`resume.safetensors` and `.json` (the optimiser and counters, for `--resume`), `model.zip` (the
same in SB3's own format), `progress.json` (metrics, a JSON object a line), TensorBoard's event
files, `curve.json`, `evaluation.json` and `learning_curve.png`. Ctrl-C saves and ends; `--resume`
goes on. A run that is there is left alone unless you say `--resume` or `--overwrite`.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import torch
import tyro
from rich.console import Console
from rich.progress import Progress
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from azumaya.baselines.agents import GreedyAgent, RandomAgent, checkpoint
from azumaya.baselines.agents.network import NETWORKS
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.arena.matches import Score, play_pairing
from azumaya.baselines.arena.report import learning_curve, score_table
from azumaya.baselines.training.checks import game_name
from azumaya.baselines.training.config import (
    CHANGEABLE,
    Config,
    read_config,
    settled,
    stored_form,
)
from azumaya.baselines.training.display import Display
from azumaya.baselines.training.run_folder import PROGRAM, RunError
from azumaya.envs import OptionError, find_game
from azumaya.wrappers.sb3 import AzumayaVecEnv

BASELINES = (RandomAgent, GreedyAgent)
EVALUATION_SEED = 1_000_000
"""Evaluation draws its starts from here on, away from the seeds of training."""
REFUSALS = (OptionError, RunError, checkpoint.CheckpointError)
"""What is wrong with a command, said in a line."""


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


def save_run(config: Config, model: MaskablePPO) -> None:
    """Write the agent, and what `--resume` needs."""
    actions = int(model.action_space.n)  # type: ignore[attr-defined]
    sidecar = config.sidecar(actions, steps=model.num_timesteps)
    config.run.save(model, network_of(model).state_dict(), sidecar)


# ---- training ----


class Overseer(BaseCallback):
    """Measures for the learning curve, saves, and stops in time."""

    def __init__(self, config: Config, display: Display) -> None:
        super().__init__()
        self.config, self.display = config, display
        self.curve = config.run.curve()
        self.next_measure = 0

    def _on_training_start(self) -> None:
        self.next_measure = self.num_timesteps + self.config.measure_every
        self.display.start(self.num_timesteps, whole_rollouts(self.config, self.num_timesteps))
        if not self.curve:
            self.measure()

    def _on_step(self) -> bool:
        self.display.advance(self.num_timesteps)
        return not self.config.minutes or self.display.minutes < self.config.minutes

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
        self.config.run.write("curve.json", json.dumps(self.curve) + "\n")
        self.display.measured(self.num_timesteps, scores)
        save_run(self.config, self.model)  # type: ignore[arg-type]

    def finish(self) -> None:
        """Measure once more, and log what has not been logged yet."""
        self.measure()
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(self.num_timesteps)

    def _on_training_end(self) -> None:
        self.display.stop()


def whole_rollouts(config: Config, done: int) -> int:
    """How many steps there are in the end: a rollout that has begun is played to its end."""
    rollout = config.games * config.rollout
    return done + max(0, -(-(config.steps - done) // rollout)) * rollout


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


def train(config: Config, display: Display) -> MaskablePPO:
    """Train, or go on training. Ctrl-C saves first."""
    with training_env(config) as env:
        model, run = make_model(config, env), config.run
        if config.resume:
            run.restore(model)
        run.begin(stored_form(config), config.resume)  # all is well: now files may change
        model.set_logger(run.logger(model.num_timesteps))
        overseer, left = Overseer(config, display), config.steps - model.num_timesteps
        try:
            if left > 0:
                model.learn(left, overseer, reset_num_timesteps=False)
                overseer.finish()
        except KeyboardInterrupt:
            display.stop()
            save_run(config, model)
            display.say(f"Saved after {model.num_timesteps:,} steps. To go on: {run.goes_on}")
            raise
        finally:
            model.logger.close()
        return model


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


def final_evaluation(config: Config, model: MaskablePPO, display: Display) -> list[Score]:
    """Evaluate at length, print the table, and keep it."""
    try:
        with display.evaluating(2 * config.final_starts) as bar:
            scores = evaluate(config, network_of(model), config.final_starts, bar)
    except KeyboardInterrupt:
        display.say(f"The agent is saved. To evaluate it: {config.run.goes_on}")
        raise
    display.console.print(score_table(scores, f"{config.game} after training"))
    steps = {"steps": model.num_timesteps}
    results = [{**asdict(s), "rate": s.rate, "interval": s.interval(), **steps} for s in scores]
    config.run.write("evaluation.json", json.dumps(results, indent=2) + "\n")
    return scores


def ready(config: Config) -> Config:
    """The configuration settled, once it is clear that the folder is one for it."""
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
    fixed = {name: value for name, value in stored_form(config).items() if name not in CHANGEABLE}
    run.check_same(stored_form(before), fixed)
    if config.steps != before.steps:
        run.check_steps(config.steps)
    return config


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw.

    Raises:
        OptionError: an option has a value it cannot take; nothing was changed.
        RunError: the folder holds a run, or none to go on with; nothing was changed.
        CheckpointError: what was saved cannot be read; nothing was changed.
        KeyboardInterrupt: on Ctrl-C, after what there is was saved.
    """
    config = ready(config)
    run = config.run
    torch.set_num_threads(config.threads)
    display = Display(Console())
    model = train(config, display)
    trained = display.minutes
    scores = final_evaluation(config, model, display)
    learning_curve(run.curve(), run.path / "learning_curve.png", config.game)
    display.say(
        f"Trained in {trained:.1f} minutes, evaluated in {display.minutes - trained:.1f}. "
        f"The run is in {run.path}/"
    )
    if model.num_timesteps < config.steps:
        done = f"{model.num_timesteps:,} of {config.steps:,} steps are done"
        display.say(f"{done}. To go on: {run.goes_on}")
    return scores


# ---- the command line ----


def read_words(words: Sequence[str] | None = None) -> Config:
    """The configuration that a command line says; with `--resume` on top of that of the run.

    Raises:
        ValueError: there is no such run or game.
        SystemExit: the words cannot be read, or ask for help.
    """

    def read(default: Config) -> Config:
        return tyro.cli(
            Config, args=words, default=default, prog=f"python -m {PROGRAM}", description=__doc__
        )

    config = read(Config())
    if not config.resume:
        return config
    run = replace(config, game=game_name(config.game)).run
    return read(read_config(run.path))


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; 0, 2 if it asks for what cannot be, 130 after Ctrl-C."""
    try:
        main(read_words(words))
    except KeyboardInterrupt:
        return 130
    except REFUSALS as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(run_words())
