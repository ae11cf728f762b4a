"""Train a MaskablePPO agent (sb3-contrib) on a game, then evaluate it against the baselines.

    python -m azumaya.baselines.training.maskable_ppo --game sudoku_moyo --seed 1

The hyperparameters are in `config.py` beside this file. This file contains, from top to bottom: the
policy, which puts our network into SB3's algorithm; training, in an environment that plays the
random and greedy opponents itself, with a callback that measures, saves and stops; evaluation, in
which every start is played in both seats; and the learning curve.

A run has a folder of its own: `config.json`; `resume.safetensors` (a save: everything that
`--resume` needs); `policy.safetensors` and `.json` (the agent); `progress.json` (metrics, one JSON
object per line) and TensorBoard's event files; `curve.json`; and after training `model.zip` (the
model in SB3's own format), `evaluation.json` and `learning_curve.png`. Ctrl-C saves and ends;
`--resume` continues as if the run had never been stopped. An existing run is left untouched unless
`--resume` or `--overwrite` is given.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
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

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.agents.network import NETWORKS
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.arena.matches import Score, play_pairing
from azumaya.baselines.arena.report import learning_curve, score_table
from azumaya.baselines.game_options import game_named
from azumaya.baselines.training.command import exit_code, run_script
from azumaya.baselines.training.config import (
    PROGRAM,
    Config,
    read_config,
    ready,
    stored_form,
)
from azumaya.baselines.training.display import Display
from azumaya.baselines.training.run_folder import RunFolder
from azumaya.baselines.training.saves import Save
from azumaya.baselines.training.sb3_run import (
    check_weights,
    make_logger,
    moment,
    pending_of,
    restore,
    threads_quiet,
    zip_of,
)
from azumaya.envs import find_game
from azumaya.wrappers.sb3 import AzumayaVecEnv

BASELINES = (RandomAgent, GreedyAgent)
EVALUATION_SEED = 1_000_000
"""The first seed of evaluation starts, far from the training seeds."""


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
    """A slice of the features, in place of SB3's heads: the network has heads of its own."""

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


# ---- training ----


class TimeUpError(Exception):
    """The time limit of training has passed."""


class Overseer(BaseCallback):
    """Measures, saves and stops, always between two rollouts.

    Only between rollouts can the whole state of a run be recorded. So it is recorded before each
    rollout, and saves write that record; a resumed run repeats the rollout in which it was stopped.
    """

    def __init__(self, config: Config, run: RunFolder, display: Display, save: Save | None) -> None:
        super().__init__()
        self.config, self.run, self.display = config, run, display
        self.moment, self.began = save, save.steps if save else 0
        self.curve = list(save.curve) if save else []

    @property
    def network(self) -> nn.Module:
        """Our network inside the model."""
        return network_of(self.model)  # type: ignore[arg-type]

    def _on_training_start(self) -> None:
        self.display.start(self.num_timesteps, whole_rollouts(self.config, self.num_timesteps))

    def _on_rollout_start(self) -> None:
        self.num_timesteps = self.model.num_timesteps
        check_weights(self.network, self.num_timesteps)
        due = not self.curve or self.since_measured >= self.config.measure_every
        if due:
            self.measure()
        self.keep_moment()
        if due:
            self.save()
        if self.time_is_up:
            raise TimeUpError

    def _on_step(self) -> bool:
        self.display.advance(self.num_timesteps)
        return True

    @property
    def since_measured(self) -> int:
        """Steps since the last measurement."""
        return self.num_timesteps - int(self.curve[-1]["steps"])

    @property
    def time_is_up(self) -> bool:
        """Whether to stop; a resumed run always plays at least one rollout."""
        limit, progress = self.config.minutes, self.num_timesteps > self.began
        return bool(limit) and progress and self.display.minutes >= limit

    def measure(self) -> None:
        """Evaluate against the baselines and log the win rates."""
        scores = evaluate(self.config, self.network, self.config.measure_starts)
        self.display.measured(self.num_timesteps, scores)
        for score in scores:
            self.logger.record(f"eval/{score.second}", score.rate)
        rates = {score.second: score.rate for score in scores}
        self.curve.append({"steps": self.num_timesteps, **rates})

    def keep_moment(self) -> None:
        """Record the run's state, to be saved now or when training stops."""
        kept = moment(self.model, self.network, self.curve, self.run.metrics)  # type: ignore[arg-type]
        actions = int(self.model.action_space.n)  # type: ignore[attr-defined]
        sidecar = asdict(self.config.sidecar(actions, steps=kept.steps))
        kept.notes["agent"] = json.loads(json.dumps(sidecar, default=os.fspath))
        self.moment = kept

    def save(self) -> None:
        """Save the recorded state, if there is one."""
        if self.moment:
            self.run.save(self.moment)

    def finish(self) -> None:
        """After the last step: evaluate once more, log pending metrics, and save."""
        check_weights(self.network, self.num_timesteps)
        self.measure()
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(self.num_timesteps)
        self.keep_moment()
        self.save()

    def pause(self) -> None:
        """When time is up: save, then show a last evaluation, which is not saved."""
        self.save()
        if self.since_measured:
            self.measure()
            self.run.write_curve(self.curve)


def whole_rollouts(config: Config, done: int) -> int:
    """The total number of steps, rounded up to whole rollouts."""
    rollout = config.games * config.rollout
    return done + max(0, -(-(config.steps - done) // rollout)) * rollout


@contextlib.contextmanager
def training_env(config: Config) -> Iterator[AzumayaVecEnv]:
    """The learner's environment, which plays the opponents' moves itself."""
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


def train(config: Config, run: RunFolder, display: Display) -> MaskablePPO:
    """Train, or resume training. However training ends, the last recorded state is saved."""
    with training_env(config) as env, threads_quiet():
        model, save = make_model(config, env), None
        if config.resume:
            run.lock()
            save = run.saved()
        if save:
            pending_of(save)
            restore(model, network_of(model), save)
        run.begin(stored_form(config), save, config.resume)  # all was checked: now files may change
        model.set_logger(make_logger(run, save))
        overseer = Overseer(config, run, display, save)
        try:
            learn(config, model, overseer)
        except BaseException as error:
            display.stop()
            with contextlib.suppress(OSError):  # report the error that ended training instead
                overseer.save()
            if isinstance(error, KeyboardInterrupt) and overseer.moment:
                done = f"{overseer.moment.steps:,} steps"
                display.say(f"Saved after {done}. To resume: {run.resume_command}")
            raise
        finally:
            model.logger.close()
        return model


def learn(config: Config, model: MaskablePPO, overseer: Overseer) -> None:
    """Train until all steps are done or time is up.

    Raises:
        TrainingError: the numbers diverged.
    """
    left = config.steps - model.num_timesteps
    if left <= 0:
        return
    try:
        model.learn(left, overseer, reset_num_timesteps=False)
        overseer.finish()
    except TimeUpError:
        overseer.pause()
    except ValueError:
        check_weights(network_of(model), model.num_timesteps)  # NaN logits raise a ValueError, too
        raise
    overseer.display.stop()
    overseer.run.write("model.zip", zip_of(model))


# ---- evaluation ----


def evaluate(
    config: Config, network: nn.Module, starts: int, bar: Progress | None = None
) -> list[Score]:
    """Play the agent against each baseline, with the same plain starts in both seats."""
    network.train(False)
    agent, scores = PolicyAgent(network), []
    for baseline in BASELINES:
        opponent = baseline()
        task = bar and bar.add_task(f"against {opponent.name}", total=2 * starts)
        advance = (lambda n, task=task: bar.advance(task, n)) if bar is not None else None
        scores.append(
            play_pairing(
                config.game,
                agent,
                opponent,
                starts,
                EVALUATION_SEED,
                config.options,
                advance,
                balanced=False,  # so that rates stay comparable with those of earlier runs
            )
        )
    network.train(True)
    return scores


def final_evaluation(
    config: Config, run: RunFolder, model: MaskablePPO, display: Display
) -> list[Score]:
    """Run the final evaluation, print its table and save it."""
    try:
        with display.evaluating(2 * config.final_starts) as bar:
            scores = evaluate(config, network_of(model), config.final_starts, bar)
    except KeyboardInterrupt:
        display.say(f"The agent is saved. To evaluate it: {run.resume_command}")
        raise
    display.console.print(score_table(scores, f"{config.game} after training"))
    steps = {"steps": model.num_timesteps}
    results = [{**asdict(s), "rate": s.rate, "interval": s.interval(), **steps} for s in scores]
    run.write("evaluation.json", json.dumps(results, indent=2) + "\n")
    return scores


def draw_curve(run: RunFolder, title: str) -> None:
    """Draw the learning curve."""
    picture = io.BytesIO()
    learning_curve(run.curve(), picture, title)
    run.write("learning_curve.png", picture.getvalue())


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw.

    Raises:
        OptionError: an option has an invalid value; nothing was changed.
        RunError: the folder already holds a run, or has none to resume; nothing was changed.
        CheckpointError: the save cannot be read; nothing was changed.
        TrainingError: the numbers diverged; the last save is from before that.
        OSError: a file or the output cannot be written, as on a full disk; the last save is intact.
        KeyboardInterrupt: on Ctrl-C, after saving.
    """
    config = ready(config)
    torch.set_num_threads(config.threads)
    display, run = Display(Console()), config.run
    with contextlib.closing(run):
        model = train(config, run, display)
        trained = display.minutes
        scores = final_evaluation(config, run, model, display)
        draw_curve(run, config.game)
    display.say(
        f"Trained in {trained:.1f} minutes, evaluated in {display.minutes - trained:.1f}. "
        f"The run is in {run.path}/"
    )
    if model.num_timesteps < config.steps:
        done = f"{model.num_timesteps:,} of {config.steps:,} steps are done"
        display.say(f"{done}. To resume: {run.resume_command}")
    return scores


# ---- the command line ----


def read_words(words: Sequence[str] | None = None) -> Config:
    """Parse a command line; with `--resume`, it is applied on top of the run's configuration.

    Raises:
        ValueError: there is no such run or game.
        SystemExit: the words cannot be parsed, or ask for help.
    """

    def read(default: Config) -> Config:
        return tyro.cli(
            Config, args=words, default=default, prog=f"python -m {PROGRAM}", description=__doc__
        )

    config = read(Config())
    if not config.resume:
        return config
    run = replace(config, game=game_named(config.game).name).run
    return read(read_config(run.path))


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(words)))


if __name__ == "__main__":
    run_script(run_words)
