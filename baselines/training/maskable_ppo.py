"""Train a MaskablePPO agent (sb3-contrib) on a game, then evaluate it against the baselines.

    python -m azumaya.baselines.training.maskable_ppo --game sudoku_moyo --seed 1

This file contains, from top to bottom: the hyperparameters (those that `ppo.py` shares are in
`network_config.py`); the policy, which puts our network into SB3's algorithm; and the loop, in an
environment that plays the random and greedy opponents itself. `run.py` has what surrounds the loop:
measuring, saving, stopping, the final evaluation and the learning curve.

A run has a folder of its own: `config.json`; `resume.safetensors` (a save: everything that
`--resume` needs); `policy.safetensors` and `.json` (the agent); `progress.json` (metrics, one JSON
object per line) and TensorBoard's event files; `curve.json`; and after training `model.zip` (the
model in SB3's own format), `evaluation.json`, `learning_curve.png`, and `ladder.json` and `.png`.
Ctrl-C saves and ends; `--resume` continues a run with `--steps` as if it had never been stopped. An
existing run is left untouched unless `--resume` or `--overwrite` is given.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from azumaya.baselines.agents.network import NETWORKS
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.training import state as states
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES, Share
from azumaya.baselines.training.network_config import PPOConfig, agent_files
from azumaya.baselines.training.run import Run, run_training
from azumaya.baselines.training.run_folder import Script
from azumaya.envs import OptionError, find_game
from azumaya.wrappers.sb3 import AzumayaVecEnv

PROGRAM = "azumaya.baselines.training.maskable_ppo"

# ---- the hyperparameters ----


@dataclass(frozen=True)
class Config(PPOConfig):
    """Every hyperparameter of a run."""

    script = Script(PROGRAM, agent_files, (*AGENT_FILES, "model.zip"))

    random_share: Share = 0.5
    """Fraction of training games against the random agent; the others are against greedy."""

    def completed(self) -> Self:
        """As `PPOConfig.completed`; also checks the sizes of minibatches."""
        config = super().completed()
        actions = config.games * config.rollout
        if actions % config.batch == 1:  # SB3 divides by the deviation of a minibatch's advantages
            raise OptionError(
                f"--batch {config.batch}: an update of {actions:,} actions (--games {config.games} "
                f"by --rollout {config.rollout}) would leave a minibatch of one; change one of the "
                "three"
            )
        return config


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
    assert config.discount is not None  # as completed
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
                **config.sizes,
            },
        },
    )


def network_of(model: MaskablePPO) -> nn.Module:
    """Our network inside the model."""
    network: nn.Module = model.policy.features_extractor.network  # type: ignore[assignment]
    return network


# ---- the loop ----


def make_env(config: Config) -> AzumayaVecEnv:
    """The environment, which plays the opponents' moves itself."""
    return AzumayaVecEnv(
        config.game,
        config.games,
        opponent={"random": config.random_share, "greedy": 1 - config.random_share},
        seat="alternating",
        seed=config.seed,
        shaping=config.recipe.shaping,
        **dict[str, Any](config.options),
    )


class Games:
    """The games in progress, and what the model has last seen of them."""

    def __init__(self, model: MaskablePPO, env: AzumayaVecEnv) -> None:
        self.model, self.env = model, env
        self.model._last_obs = env.reset()

    def get_state(self) -> dict[str, np.ndarray]:
        """The games; all opponents in training are compiled, so they are not part of it."""
        games = self.env.get_state()
        return {name: games[name] for name in games if name != "opponents"}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Continue such games; raises `OptionError` if the environment refuses them."""
        self.model._last_obs = self.env.set_state(state)


@dataclass(kw_only=True)
class State(states.State):
    """Everything that an update changes."""

    network: nn.Module
    adam: torch.optim.Optimizer
    games: Games
    episode_starts: np.ndarray
    chance: states.Chance = field(default_factory=states.Chance)


def train(run: Run[Config]) -> None:
    """Let SB3 collect a rollout and learn from it, until all steps are done."""
    config = run.config
    with closing(make_env(config)) as env:
        model = make_model(config, env)
        network, rollout = config.begin(network_of(model)), config.games * config.rollout
        games = Games(model, env)
        state = State(
            network=network, adam=model.policy.optimizer, games=games,
            episode_starts=np.ones(config.games, np.bool_),
        )  # fmt: skip
        model.set_logger(Logger(None, []))
        _, callback = model._setup_learn(config.steps, reset_num_timesteps=False)
        for update in run.updates(state, lambda: PolicyAgent(network.eval())):
            model.num_timesteps, model._n_updates = state.steps, update * config.epochs
            model._last_episode_starts = state.episode_starts
            model.collect_rollouts(
                env, callback, model.rollout_buffer, config.rollout, use_masking=True
            )
            model._current_progress_remaining = 1 - run.progress_after(rollout)
            model.train()
            state.episode_starts[:] = model._last_episode_starts
            run.learned(rollout, metrics_of(model))
        model.num_timesteps = state.steps  # also if nothing was left to do
        run.folder.write("model.zip", zip_of(model))


def metrics_of(model: MaskablePPO) -> dict[str, float]:
    """What the model has recorded of an update."""
    recorded = model.logger.name_to_value
    return {name.removeprefix("train/"): float(value) for name, value in recorded.items()}


def zip_of(model: MaskablePPO) -> bytes:
    """The model in SB3's own format."""
    content = io.BytesIO()
    model.save(content)
    return content.getvalue()


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, train)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
