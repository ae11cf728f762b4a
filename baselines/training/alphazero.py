"""Train an agent by AlphaZero: a network learns what a search that it guides finds.

    python -m azumaya.baselines.training.alphazero --game sudoku_moyo --seed 1
    python -m azumaya.baselines.training.alphazero --game sudoku_moyo --seed 1 --device cuda

In each update, many games are played to their ends at once. For every move the network guides a
tree search (`BatchPUCT`) of a few simulations, whose leaves in all games it evaluates together; the
tree below the move is kept for the next one. The policy learns the shares of the root's visits, the
value learns the result. What the search proves counts as it is: the value of a position then is
exact, and its policy the moves that keep that.

Positions are learned from several times, drawn from the last ones played, each time as seen through
another symmetry of the game.

This file contains, from top to bottom: the hyperparameters of learning, memory, learning, and the
loop, `train`. `alphazero_games.py` has those of playing, and the games; `policy.py` has how
networks are asked and how they learn; `run.py` has what surrounds the loop: measuring, saving,
stopping, the final evaluation and the learning curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import nn

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.checkpoint import build
from azumaya.baselines.agents.evaluator import NetworkEvaluator
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.agents.search import BatchPUCTAgent
from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.training import state as states
from azumaya.baselines.training.alphazero_games import Lessons, PlayConfig, SelfPlay
from azumaya.baselines.training.asked import Asked, on
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES, Numbers, Positive, Share
from azumaya.baselines.training.network_config import agent_files
from azumaya.baselines.training.policy import Descent, Seen, Threads, adam_of, copy_of
from azumaya.baselines.training.run import Run, run_training
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.saves import MOST_BYTES
from azumaya.baselines.training.views import View, views
from azumaya.envs import OptionError, Position, make_vec

PROGRAM = "azumaya.baselines.training.alphazero"

# ---- the hyperparameters ----

MOST_GRADIENT = 1.0
"""The norm to which longer gradients are cut."""
PART = 64
"""Positions that a thread evaluates at once: there are few at a time."""


@dataclass(frozen=True)
class Config(PlayConfig):
    """Every hyperparameter of a run; `PlayConfig` has those of playing."""

    script = Script(PROGRAM, agent_files, AGENT_FILES, prefix="alphazero-")
    added: ClassVar[Mapping[str, Any]] = {**PlayConfig.added, "bfloat16": None}

    device: Literal["cpu", "cuda"] = "cpu"
    """Where the network is. Trees grow on the CPU, in `threads` threads."""
    bfloat16: bool | None = None
    """Whether the network computes with bfloat16; its weights stay float32. By default on a GPU."""
    steps: Annotated[int, Numbers(0, 10**15)] = 0
    """Total positions to play; the last games are always completed. 0: as many as the time allows
    if `time` is given, otherwise 200,000 on a CPU, 10 million on a GPU."""
    measure_every: Annotated[int, Numbers(0)] = 0
    """Positions between two evaluations for the learning curve; 0: a tenth of the run."""
    memory: Annotated[int, Numbers(0, 10**8)] = 0
    """Positions that are kept to learn from; 0: 50,000 on a CPU, a million on a GPU."""
    reuse: Positive | None = None
    """How often a position is learned from, on average; the default depends on the network."""
    batch: Annotated[int, Numbers(0)] = 0
    """Positions in a minibatch; 0: 256 on a CPU, 4,096 on a GPU."""
    final_share: Share = 0.1
    """Fraction of the learning rate left at the end; it decreases linearly."""
    value: Positive = 1.0
    """Weight of the value loss."""
    symmetries: bool = True
    """Whether positions are learned from as seen through random symmetries of the game."""

    @property
    def usual_steps(self) -> int:
        """As `RunConfig.usual_steps`."""
        return 10_000_000 if self.on_gpu else 200_000

    def completed(self) -> Self:
        """As `PlayConfig.completed`; also checks the size of a save."""
        config, on_gpu = super().completed(), self.on_gpu
        config = replace(
            config,
            games=config.games or (4096 if on_gpu else 128),
            memory=config.memory or (1_000_000 if on_gpu else 50_000),
            batch=config.batch or (4096 if on_gpu else 256),
        )
        position = Lessons.room(config, Position(config.game, **config.options), 1)
        size = config.memory * sum(each.nbytes for each in position.arrays)
        if size > MOST_BYTES // 2:  # the rest is more than enough for a network
            raise OptionError(
                f"--memory {config.memory}: with --simulations {config.simulations} a save would "
                f"have {size:,} bytes; the most is {MOST_BYTES // 2:,}"
            )
        return config


# ---- memory ----


@dataclass
class Memory:
    """The last positions played, in a ring.

    Attributes:
        lessons: room for them.
        added: how many were ever added.
    """

    lessons: Lessons
    added: int = 0

    def add(self, lessons: Lessons) -> None:
        """Add positions in place of the oldest ones."""
        size = len(self.lessons.values)
        rows = (self.added + np.arange(len(lessons.values))) % size
        for kept, new in zip(self.lessons.arrays, lessons.arrays, strict=True):
            kept[rows[-size:]] = new[-size:]
        self.added += len(rows)

    def sample(self, count: int, rng: np.random.Generator) -> Lessons:
        """Draw positions with replacement."""
        rows = rng.integers(min(self.added, len(self.lessons.values)), size=count)
        return self.lessons.at(rows)


# ---- learning ----


class Learner:
    """Learns from memory.

    Args:
        state: has the network, its optimizer and the memory.
        config: the options.
        threads: what evaluates the network.
        device: where it is.
    """

    def __init__(
        self, state: State, config: Config, threads: Threads, device: torch.device
    ) -> None:
        self.network, self.memory, self.config = state.network, state.memory, config
        self.threads, self.device = threads, device
        self.descent = Descent(state.network, state.adam, threads, MOST_GRADIENT, self._losses)
        start = Position(config.game, **config.options)
        self.views = views(start, device) if config.symmetries else []
        self.rows = torch.arange(config.batch, device=device)

    def improve(self, new: int, update: int) -> dict[str, float]:
        """Learn after some new positions were added; returns the mean losses."""
        config, rng = self.config, np.random.default_rng((self.config.seed, update, 1))
        count = max(1, round(config.recipe.reuse * new / config.batch))
        for _ in range(count):
            drawn = self.memory.sample(config.batch, rng).arrays
            view = self.views[rng.integers(len(self.views))] if self.views else ()
            self.descent.step(self.rows, *on(self.device, *drawn), *view)
        return self.descent.means(count * config.batch)

    def _losses(
        self, rows: torch.Tensor, observation: torch.Tensor, action_mask: torch.Tensor,
        actions: torch.Tensor, shares: torch.Tensor, values: torch.Tensor, *view: torch.Tensor,
    ) -> dict[str, torch.Tensor]:  # fmt: skip
        """The losses of a minibatch's rows, summed."""
        planes, masks = self.threads.unpacked(Seen(observation[rows], action_mask[rows]))
        targets = torch.zeros(masks.shape, device=self.device)
        targets.scatter_add_(1, actions[rows].long(), shares[rows])
        if view:
            seen = View(*view)
            planes, masks = seen.see(planes, masks)
            targets = targets.index_select(1, seen.action_from)
        found = self.threads.evaluate(self.network, planes, masks)
        policy_loss = -(targets * found.log_probs()).sum()
        value_loss = (found.values - values[rows]).square().sum()
        loss = policy_loss + self.config.value * value_loss
        return {"loss": loss, "policy": policy_loss, "value": value_loss}


# ---- the loop ----


@dataclass(kw_only=True)
class State(states.State):
    """Everything that an update changes."""

    network: nn.Module
    adam: torch.optim.Adam
    memory: Memory


def initial_state(config: Config, start: Position, device: torch.device) -> State:
    """The state before the first update; seeds torch's generator."""
    torch.manual_seed(config.seed)
    network = config.begin(build(config.sidecar(start.num_actions))).to(device)
    adam = adam_of(network, config.recipe.learning_rate)
    lessons = Lessons.room(config, start, config.memory)
    return State(network=network, adam=adam, memory=Memory(lessons))


def train(run: Run[Config]) -> None:
    """Play games, learn from the last ones, until all steps are done."""
    config, rate = run.config, run.config.recipe.learning_rate
    torch.set_num_threads(1)  # the threads share the positions instead
    env: Any = make_vec(
        config.game, 1, device=config.device, observation="packed", **config.options
    )
    device = torch.device("cpu") if config.device == "cpu" else env.games.device.place
    threads = Threads(config.threads, env.unpack, config.device, PART, config.computes_in_bfloat16)
    with closing(env), closing(threads):
        state = initial_state(config, Position(config.game, **config.options), device)
        network, learner = state.network, Learner(state, config, threads, device)
        games = SelfPlay(config, Asked(network, threads, device, config.games))

        def searching(milliseconds: float) -> Agent:
            evaluator = NetworkEvaluator(copy_of(network).cpu())
            return BatchPUCTAgent(evaluator, milliseconds=milliseconds)

        def agent() -> Agent:
            return PolicyAgent(copy_of(network))

        for update in run.updates(state, agent, searching, exam=True):
            learner.descent.set_rate(rate * (1 + (config.final_share - 1) * run.progress))
            played = games.play(update)
            for lessons in played:
                state.memory.add(lessons)
            plies = [len(lessons.values) for lessons in played]
            losses = learner.improve(sum(plies), update)
            run.learned(sum(plies), {**losses, "plies": float(np.mean(plies))})


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, train)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
