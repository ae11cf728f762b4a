"""Train an agent by self-play with PPO in plain torch, then evaluate it against the baselines.

    python -m azumaya.baselines.training.ppo --game sudoku_moyo --seed 1
    python -m azumaya.baselines.training.ppo --game sudoku_moyo --seed 1 --device cuda

One network plays both seats of many games at once and learns from the moves of both. Games begin
with a few random moves. With `--past-share` one seat of some games belongs to an earlier version of
the network, from a pool of snapshots, and only the moves of the other seat are learned from. With
`--device cuda` games, networks and learning are all on a GPU, which is waited for only between
playing and learning and at the end of an update.

This file contains, from top to bottom: the hyperparameters of learning (`network_config.py` has
those that MaskablePPO shares), learning, and the loop, `train`. `ppo_games.py` has the
hyperparameters of playing, the games and the opponents; `policy.py` has how networks act and learn;
`run.py` has what surrounds the loop: measuring, saving, stopping, the final evaluation and the
learning curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from torch import nn

from azumaya.baselines.agents.checkpoint import build
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.training import state as states
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES, Count, Numbers, check_values
from azumaya.baselines.training.network_config import agent_files, check_sizes
from azumaya.baselines.training.policy import (
    Descent,
    Graph,
    Policy,
    Seen,
    Threads,
    adam_of,
    copy_of,
    parts_of,
)
from azumaya.baselines.training.ppo_games import Games, Past, PlayConfig, Rollout
from azumaya.baselines.training.run import Run, run_training
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.saves import MOST_BYTES
from azumaya.baselines.training.views import View, views
from azumaya.envs import OptionError, Position

PROGRAM = "azumaya.baselines.training.ppo"

# ---- the hyperparameters ----

WARM_UP = 10
"""Updates until the learning rate is whole. Without them, the first ones left one network of ten
(`numbers`) without a gradient for good."""
MOST_GRADIENT = 0.5
"""The norm to which longer gradients are cut."""


@dataclass(frozen=True)
class Config(PlayConfig):
    """Every hyperparameter of a run; `PlayConfig` has those of playing."""

    script = Script(PROGRAM, agent_files, AGENT_FILES, prefix="ppo-")
    plies: ClassVar[int] = 1
    added: ClassVar[Mapping[str, Any]] = {
        **PlayConfig.added, "device": "cpu", "opening": 0, "symmetries": False, "bfloat16": None,
    }  # fmt: skip

    steps: Annotated[int, Numbers(0, 10**15)] = 0
    """Total actions to learn from; the last rollout is always completed. 0: as many as the time
    allows if `time` is given, otherwise 1.5 million on a CPU, 100 million on a GPU."""
    batch: Annotated[int, Numbers(0)] = 0
    """Actions in a minibatch; 0: 512 on a CPU, 4,096 on a GPU."""
    epochs: Count = 1
    """Passes over the rollout per update."""
    symmetries: bool | None = None
    """Whether actions are learned from as seen through random symmetries of the game; by default
    with the network `lines`."""
    pool: Annotated[int, Numbers(1, 1000)] = 4
    """The number of earlier versions to play against."""
    pool_every: Count = 10
    """Updates between two additions to the pool; a full pool loses a random version for each."""

    @property
    def usual_steps(self) -> int:
        """As `RunConfig.usual_steps`."""
        return 100_000_000 if self.on_gpu else 1_500_000

    def completed(self) -> Self:
        """As `PlayConfig.completed`; also checks the size of a save."""
        check_values(self)  # before the defaults, which are computed from them
        on_gpu = self.on_gpu
        config = replace(
            self,
            games=self.games or (8192 if on_gpu else 512),
            batch=self.batch or (4096 if on_gpu else 512),
            shaping=0.0 if on_gpu and self.shaping is None else self.shaping,
        )
        config = super(Config, config).completed()
        parameters = check_sizes(config.network, config.game, config.options, **config.sizes)
        size = 4 * parameters * (3 + config.pool)  # bytes; the network has Adam's moments, too
        if size > MOST_BYTES:
            raise OptionError(
                f"--pool {config.pool}: with networks of {parameters:,} parameters a save would "
                f"have {size:,} bytes; the most is {MOST_BYTES:,}"
            )
        if on_gpu and config.shaping:
            raise OptionError(f"--device cuda: needs --shaping 0, not {config.shaping:g}")
        return config


# ---- learning ----


def advantages(rollout: Rollout, discount: float, gae_lambda: float) -> torch.Tensor:
    """Generalised advantage estimates for the players who moved, `(T, n)`.

    They are computed for player 0, so no sign changes between moves; only the result takes the
    sign of the mover. A game cut off without a result ends with the value of its last position.
    """
    following = rollout.values[1:].masked_fill(rollout.decided, 0)
    deltas = rollout.rewards + discount * following - rollout.values[:-1]
    factors = discount * gae_lambda * ~rollout.over
    result, after = torch.empty_like(deltas), torch.zeros_like(deltas[0])
    for t in reversed(range(len(deltas))):
        after = deltas[t] + factors[t] * after
        result[t] = after
    return rollout.signs * result


def estimate(rollout: Rollout, config: Config) -> None:
    """Set what is learned from a rollout, its `advantages` and `returns`."""
    assert config.discount is not None  # as completed
    found = advantages(rollout, config.discount, config.gae_lambda)
    rollout.returns.copy_(found + rollout.signs * rollout.values[:-1])
    share = rollout.learned / rollout.learned.sum().clamp(1)
    centred = found - (found * share).sum()
    rollout.advantages.copy_(centred / ((centred.square() * share).sum().sqrt() + 1e-8))


class Batch(NamedTuple):
    """Actions, `(B,)`, with their observations, as in `Rollout`, all steps one after another."""

    seen: Seen
    actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor

    @classmethod
    def of(cls, rollout: Rollout) -> Batch:
        """All actions of a rollout, in the same memory."""
        parts = rollout.actions, rollout.log_probs, rollout.advantages, rollout.returns
        seen = Seen(*(each.flatten(0, 1) for each in rollout.seen))
        return cls(seen, *(each.flatten(0, 1) for each in parts))

    def at(self, rows: torch.Tensor) -> Batch:
        """Some of the actions."""
        seen, *others = self
        return Batch(seen.at(rows), *(each.index_select(0, rows) for each in others))


def losses(found: Policy, batch: Batch, config: Config) -> dict[str, torch.Tensor]:
    """PPO's loss and its parts, summed over a batch; `kl` and `clipped` are only for the log."""
    log_probs, entropies = found.judge(batch.actions)
    change = log_probs - batch.log_probs
    ratio = change.exp()
    near = ratio.clamp(1 - config.clip, 1 + config.clip)
    policy_loss = -torch.minimum(ratio * batch.advantages, near * batch.advantages).sum()
    value_loss = (found.values - batch.returns).square().sum()
    entropy = entropies.sum()
    return {
        "loss": policy_loss + config.value * value_loss - config.entropy * entropy,
        "policy": policy_loss,
        "value": value_loss,
        "entropy": entropy,
        "kl": (ratio - 1 - change).sum(),
        "clipped": (ratio != near).sum(),
    }


class Learner:
    """Learns from rollouts.

    Args:
        state: has the network and its optimizer.
        config: the options.
        threads: what evaluates the network.
    """

    def __init__(self, state: State, config: Config, threads: Threads) -> None:
        self.network, self.config, self.threads = state.network, config, threads
        self.descent = Descent(state.network, state.adam, threads, MOST_GRADIENT, self._losses)
        self.rollout, self.batch = state.games.rollout, Batch.of(state.games.rollout)
        device, start = state.games.device, Position(config.game, **config.options)
        self.views = views(start, device) if config.symmetries else []

    def improve(self) -> tuple[int, dict[str, float]]:
        """Learn from the rollout; returns from how many actions, and the mean losses."""
        learned, config = self.rollout.learned.flatten().nonzero()[:, 0], self.config
        for _ in range(config.epochs):
            mixed = learned[torch.randperm(len(learned), device=learned.device)]
            for rows in parts_of(mixed, config.batch):
                view = self.views[int(torch.randint(len(self.views), ()))] if self.views else ()
                self.descent.step(rows, *view)
        return len(learned), self.descent.means(len(learned) * config.epochs)

    def _losses(self, rows: torch.Tensor, *view: torch.Tensor) -> dict[str, torch.Tensor]:
        part = self.batch.at(rows)
        planes, masks = self.threads.unpacked(part.seen)
        if view:
            seen = View(*view)
            planes, masks = seen.see(planes, masks)
            part = part._replace(actions=seen.action_to[part.actions])
        return losses(self.threads.evaluate(self.network, planes, masks), part, self.config)


# ---- the loop ----


@dataclass(kw_only=True)
class State(states.State):
    """Everything that an update changes."""

    network: nn.Module
    adam: torch.optim.Adam
    past: Past
    games: Games
    chance: states.Chance


def initial_state(config: Config, games: Games) -> State:
    """The state before the first update; seeds the generators."""
    torch.manual_seed(config.seed)
    np.random.seed(config.seed)
    network = config.begin(build(config.sidecar(games.env.setup.num_actions))).to(games.device)
    adam = adam_of(network, config.recipe.learning_rate)
    past, chance = Past([copy_of(network)]), states.Chance(games.device.type)
    if games.opening:
        games.random.copy_(games.draw())
    return State(network=network, adam=adam, past=past, games=games, chance=chance)


def train(run: Run[Config]) -> None:
    """Play a rollout, learn from it, until all steps are done."""
    config, rate = run.config, run.config.recipe.learning_rate
    torch.set_num_threads(1)  # the threads share the positions instead
    games = Games(config)
    threads = Threads(
        config.threads, games.env.unpack, config.device, bfloat16=config.computes_in_bfloat16
    )
    with closing(games.env), closing(threads):
        state = initial_state(config, games)
        network, past, learner = state.network, state.past, Learner(state, config, threads)
        play = Graph(lambda: estimate(games.play(network, past, threads), config), games.device)
        for update in run.updates(state, lambda: PolicyAgent(copy_of(network)), exam=True):
            falling = 1 + (config.final_share - 1) * run.progress
            learner.descent.set_rate(rate * falling * min(1.0, (update + 1) / WARM_UP))
            if config.past_share and update and update % config.pool_every == 0:
                past.add(network, config.pool)
                play.forget()
            play()
            run.learned(*learner.improve())


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, train)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
