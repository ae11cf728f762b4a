"""Train a MaskablePPO agent (sb3-contrib) on a game, then evaluate it against the baselines.

    python -m azumaya.baselines.training.maskable_ppo --game sudoku_moyo --seed 1

This file contains, from top to bottom: the hyperparameters (those that other scripts share are in
`config.py`); the policy, which puts our network into SB3's algorithm; and training, in an
environment that plays the random and greedy opponents itself. Measuring, saving, stopping, the
final evaluation and the learning curve are in `session.py`, which all training scripts share.

A run has a folder of its own: `config.json`; `resume.safetensors` (a save: everything that
`--resume` needs); `policy.safetensors` and `.json` (the agent); `progress.json` (metrics, one JSON
object per line) and TensorBoard's event files; `curve.json`; and after training `model.zip` (the
model in SB3's own format), `evaluation.json`, `learning_curve.png`, and `ladder.json` and `.png`.
Ctrl-C saves and ends; `--resume` continues as if the run had never been stopped. An existing run is
left untouched unless `--resume` or `--overwrite` is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from azumaya.baselines.agents.network import NETWORKS
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.arena.matches import Score
from azumaya.baselines.training.checks import Share, check_minibatches
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES, PPOConfig, agent_files
from azumaya.baselines.training.run_folder import RunFolder, Script
from azumaya.baselines.training.saved_parts import agent_note, check_weights
from azumaya.baselines.training.saves import Save
from azumaya.baselines.training.sb3_run import (
    TOTAL,
    make_logger,
    pending_of,
    restore,
    snapshot,
    write_now,
    zip_of,
)
from azumaya.baselines.training.session import Learner, Overseer, run_training
from azumaya.envs import find_game
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
        check_minibatches(config.batch, config.games, config.rollout)
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
    first, last = config.recipe.learning_rate, config.recipe.learning_rate * config.final_share
    return MaskablePPO(
        NetworkPolicy,
        env,
        # SB3's `left` is below 0 where the last rollout goes beyond --steps
        learning_rate=lambda left: last + (first - last) * max(left, 0.0),
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


# ---- training ----


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


class Reporter(BaseCallback):
    """Tells the overseer where SB3's loop is."""

    def __init__(self, overseer: Overseer) -> None:
        super().__init__()
        self.overseer = overseer

    def _on_rollout_start(self) -> None:
        self.overseer.between_updates()

    def _on_step(self) -> bool:
        self.overseer.display.advance(self.num_timesteps)
        return True


class MaskableLearner(Learner):
    """SB3's algorithm in a training session."""

    def __init__(self, config: Config) -> None:
        self.config, self.env = config, make_env(config)
        self.model = make_model(config, self.env)
        self.actions = int(self.env.action_space.n)

    @property
    def network(self) -> nn.Module:
        """Our network inside the model."""
        return network_of(self.model)

    @property
    def steps(self) -> int:
        """The number of actions taken so far."""
        return self.model.num_timesteps

    @property
    def goal(self) -> int:
        """The number of actions after the last rollout."""
        return self.config.whole_rollouts(self.steps)

    def agent(self) -> PolicyAgent:
        """The agent as trained so far."""
        return PolicyAgent(self.network.eval())

    def snapshot(self, curve: list[dict[str, float]], lines: int) -> Save:
        """Copy everything needed to resume the run."""
        kept = snapshot(self.model, self.network, curve, lines)
        kept.notes["agent"] = agent_note(self.config.sidecar(self.actions, steps=kept.steps))
        return kept

    def restore(self, save: Save) -> None:
        """Continue from a save."""
        pending_of(save)
        restore(self.model, self.network, save)

    def begin(self, run: RunFolder, save: Save | None) -> None:
        """Open the logs."""
        self.logger = make_logger(run, save)
        self.model.set_logger(self.logger)

    def check(self) -> None:
        """Check that all weights are finite."""
        check_weights(self.network, self.steps)

    def measured(self, rates: Mapping[str, float]) -> None:
        """Log the win rates."""
        values = {f"eval/{name}": rate for name, rate in rates.items()}
        write_now(self.logger, values, self.steps)

    def learn(self, overseer: Overseer) -> None:
        """Update until all steps are done."""
        left = self.config.steps - self.steps
        try:
            self.model.learn(left, Reporter(overseer), reset_num_timesteps=False)
        except ValueError:
            self.check()  # NaN logits raise a ValueError, too
            raise

    def complete(self) -> None:
        """Log what the last update has recorded."""
        self.logger.record(TOTAL, self.steps, exclude="tensorboard")
        self.logger.dump(self.steps)

    def trained(self, run: RunFolder) -> None:
        """Write the model in SB3's own format."""
        run.write("model.zip", zip_of(self.model))

    def close(self) -> None:
        """End the games, and close the logs if they are open."""
        self.env.close()
        if hasattr(self, "logger"):
            self.logger.close()


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, MaskableLearner)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
