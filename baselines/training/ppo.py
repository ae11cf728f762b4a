"""Train an agent by self-play with PPO in plain torch, then evaluate it against the baselines.

    python -m azumaya.baselines.training.ppo --game sudoku_moyo --seed 1
    python -m azumaya.baselines.training.ppo --game sudoku_moyo --seed 1 --device cuda

One network plays both seats of many games at once and learns from the moves of both. In a share of
the games one seat belongs to an earlier version of the network, from a pool of snapshots; the
network learns from the moves of the other seat only. With `--device cuda` games, networks and
learning are all on a GPU, and nothing waits for it within an update.

This file contains, from top to bottom: hyperparameters (`config.py` has those that MaskablePPO
shares), opponents, playing, learning, and the loop, `train`. `policy.py` has the policy over legal
actions; `run.py` has measuring, saving, stopping, the final evaluation and the learning curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import torch
from torch import nn

from azumaya.baselines.agents.checkpoint import build
from azumaya.baselines.agents.network import default_network
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.arena.matches import Score
from azumaya.baselines.training import state as states
from azumaya.baselines.training.checks import Count, Numbers, Share, check_sizes, check_values
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES, PPOConfig, agent_files
from azumaya.baselines.training.graph import Graph
from azumaya.baselines.training.policy import (
    Descent,
    Policy,
    Seen,
    Threads,
    adam_of,
    copy_of,
    parts_of,
)
from azumaya.baselines.training.run import Run, run_training
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.saves import MOST_BYTES
from azumaya.envs import OptionError, find_game, make_vec
from azumaya.envs.adapters.duel.shaping import Shaping

PROGRAM = "azumaya.baselines.training.ppo"

# ---- the hyperparameters ----

WARM_UP = 10
"""Updates until the learning rate is whole. Without them, the first ones left one network of ten
(`numbers`) without a gradient for good."""
MOST_GRADIENT = 0.5
"""The norm to which longer gradients are cut."""


@dataclass(frozen=True)
class Config(PPOConfig):
    """Every hyperparameter of a run."""

    script = Script(PROGRAM, agent_files, AGENT_FILES, prefix="ppo-")
    added: ClassVar[Mapping[str, Any]] = {"device": "cpu", "opening": 0}

    device: Literal["cpu", "cuda"] = "cpu"
    """Where everything is computed. A run may be resumed on the other device, but its random draws
    are then others."""
    steps: Annotated[int, Numbers(0, 10**15)] = 0
    """Total actions to learn from; the last rollout is always completed. 0: 1.5 million on a CPU,
    100 million on a GPU."""
    measure_every: Annotated[int, Numbers(0)] = 0
    """Actions between two evaluations for the learning curve; 0: a tenth of the steps."""
    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that evaluate the network on a CPU. Results do not depend on their number."""
    games: Annotated[int, Numbers(0, 1_000_000)] = 0
    """Games played in parallel; 0: 512 on a CPU, 8,192 on a GPU."""
    rollout: Annotated[int, Numbers(1, 1_000_000)] = 32
    """Actions per game, of both players, between two updates."""
    batch: Annotated[int, Numbers(0)] = 0
    """Actions in a minibatch; 0: 512 on a CPU, 4,096 on a GPU."""
    epochs: Count = 1
    """Passes over the rollout per update."""
    past_share: Share = 0.2
    """Fraction of games against earlier versions of the network; above 0 it is at least one."""
    pool: Annotated[int, Numbers(1, 1000)] = 4
    """The number of earlier versions to play against."""
    pool_every: Count = 10
    """Updates between two additions to the pool; a full pool loses a random version for each."""
    opening: Annotated[int, Numbers(0, 10_000)] = 0
    """The most random moves with which a game begins; each game draws a number from 0 to that. They
    are not learned from."""

    @property
    def network_kind(self) -> str:
        """As in `PPOConfig`; the default also depends on the device."""
        return self.network or default_network(find_game(self.game), self.device)

    def completed(self) -> Self:
        """As `PPOConfig.completed`; also checks that a save of all versions could be read again."""
        check_values(self)  # before the defaults, which are computed from them
        on_gpu = self.device == "cuda"
        steps = self.steps or (100_000_000 if on_gpu else 1_500_000)
        config = replace(
            self,
            steps=steps,
            measure_every=self.measure_every or -(-steps // 10),
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
        if on_gpu and (config.shaping or config.network == "numbers"):
            raise OptionError(
                f"--device cuda: needs --shaping 0 and another network than numbers, which finds "
                f"its candidates on a CPU; --shaping {config.shaping} --network {config.network}"
            )
        return config


# ---- opponents from the past ----


@dataclass
class Past:
    """The pool of earlier versions.

    Attributes:
        versions: the networks in the pool.
    """

    versions: list[nn.Module] = field(metadata={"name": "past"})

    def add(self, network: nn.Module, most: int) -> None:
        """Add a copy of the network; if there are `most`, a random version becomes that."""
        if len(self.versions) < most:
            self.versions.append(copy_of(network))
        else:
            version = self.versions[int(torch.randint(most, ()))]
            version.load_state_dict(network.state_dict())

    def shares(self, games: int) -> list[tuple[nn.Module, slice]]:
        """The versions, each with an equal share of that number of games, except empty ones."""
        ends = [games * i // len(self.versions) for i in range(len(self.versions) + 1)]
        rows = map(slice, ends, ends[1:])
        pairs = zip(self.versions, rows, strict=True)
        return [(version, part) for version, part in pairs if part.stop > part.start]


# ---- playing ----


class Rollout:
    """What happened in `T` steps of `n` games.

    Values and rewards are those of player 0; player 1 has the same with the opposite sign.

    Attributes:
        seen: packed observations and masks of the players to move, `(T, n, W)` int64 each.
        actions: the actions taken, `(T, n)` int64.
        log_probs: the logarithms of their probabilities, where the network chose them, `(T, n)`.
        signs: 1 where player 0 was to move, otherwise -1, `(T, n)`.
        learned: whether the network chose the action, `(T, n)` bool. It did not where the game was
            over: there the step only begins another one.
        values: the network's values of the positions, also of the last ones, `(T + 1, n)`.
        rewards: the rewards of the step, `(T, n)`.
        over: whether the step ended the game, `(T, n)` bool.
        decided: whether it did so with a result, `(T, n)` bool: nothing follows that. Otherwise a
            game that was cut off counts as its last position.
        gains: for the players who moved, the advantages of their actions, normalised over the
            actions that are learned from, `(T, n)`.
        returns: the values to predict, for the players who moved, `(T, n)`.
    """

    def __init__(self, steps: int, seen: Seen) -> None:
        shape, new = (steps, len(seen.action_mask)), seen.action_mask.new_zeros
        self.seen = Seen(*(new(steps, *each.shape) for each in seen))
        self.actions = new(shape)
        floats = [new(shape, dtype=torch.float32) for _ in range(5)]
        self.log_probs, self.signs, self.rewards, self.gains, self.returns = floats
        self.values = new(steps + 1, shape[1], dtype=torch.float32)
        self.learned, self.over, self.decided = (new(shape, dtype=torch.bool) for _ in range(3))


class Games:
    """The games in progress, all at once.

    The first games are against earlier versions, which have the seat of player 0 in every other
    one of them and that of player 1 in the rest.
    """

    def __init__(self, config: Config) -> None:
        on_cpu = config.device == "cpu"
        self.env: Any = make_vec(
            config.game, config.games, device=config.device, observation="packed", copy=False,
            threads=config.threads if on_cpu else None, **config.options,
        )  # fmt: skip
        self.place = torch.device("cpu") if on_cpu else self.env.games.device.place
        self.opening = config.opening
        self.shaping = Shaping(self.env.game, self.env.setup, config.recipe.shaping)
        past = max(round(config.past_share * config.games), int(config.past_share > 0))
        self.past_seats = torch.arange(past, device=self.place) % 2
        self.players = np.zeros(config.games, np.int64)  # player 0, from whom rewards are seen
        self.over = torch.zeros(config.games, dtype=torch.bool, device=self.place)
        self.random = torch.zeros(config.games, dtype=torch.int64, device=self.place)
        self.look(*self.env.reset(seed=config.seed))
        self.worths = self.worth(self.players)
        self.rollout = Rollout(config.rollout, self.seen)

    def get_state(self) -> dict[str, np.ndarray]:
        """The states of the games by name."""
        named = dict(zip(("states", "series"), self.env.get_state(), strict=True))
        if self.opening:
            named["random"] = self.random.cpu().numpy()
        return named

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Continue such games; raises `OptionError` if the environment refuses them."""
        self.look(*self.env.set_state((state["states"], state["series"])))
        over = state["states"]["over"] != 0
        self.over.copy_(torch.from_numpy(over))
        if self.opening:
            self.random.copy_(torch.from_numpy(state["random"].copy()))
        self.worths = self.worth(np.zeros_like(self.worths))

    def look(self, seen: dict[str, Any], infos: dict[str, Any]) -> None:
        """Note the positions and who is to move."""
        self.seen = Seen(*(words(seen[name]) for name in Seen._fields))
        self.to_move = torch.as_tensor(infos["to_move"])

    def draw(self) -> torch.Tensor:
        """Draw a number of random moves for every game, `(n,)` int64."""
        return torch.randint(self.opening + 1, self.over.shape, device=self.place)

    def worth(self, before: np.ndarray) -> np.ndarray:
        """The game's own evaluation of every position for player 0; `before` without shaping."""
        if not self.shaping:
            return before
        return self.shaping.evaluations(self.env.games.states, self.players, before)

    def play(self, network: nn.Module, past: Past, threads: Threads) -> Rollout:
        """Play a rollout, in which an action of an earlier version counts as not learned."""
        rollout, count = self.rollout, len(self.past_seats)
        for t in range(len(rollout.actions)):
            others = [(one, self.seen.at(rows)) for one, rows in past.shares(count)]
            asked = threads.act([(network, self.seen), *others])
            actions, rollout.log_probs[t], values = asked[0]
            learned = ~self.over
            if count:
                theirs = self.to_move[:count] == self.past_seats
                found = torch.cat([action for action, *_ in asked[1:]])
                actions[:count] = torch.where(theirs, found, actions[:count])
                learned[:count] &= ~theirs
            if self.opening:
                drawn = (self.random > 0) & ~self.over
                random = torch.as_tensor(self.env.random_actions())
                actions, learned = torch.where(drawn, random, actions), learned & ~drawn
                left = torch.where(self.over, self.draw(), (self.random - 1).clamp(0))
                self.random.copy_(left)
            for kept, each in zip(rollout.seen, self.seen, strict=True):
                kept[t] = each
            rollout.actions[t], rollout.learned[t] = actions, learned
            rollout.signs[t] = 1 - 2 * self.to_move
            rollout.values[t] = rollout.signs[t] * values
            self.step(rollout, t)
        [(*_, values)] = threads.act([(network, self.seen)])
        rollout.values[-1] = (1 - 2 * self.to_move) * values
        return rollout

    def step(self, rollout: Rollout, t: int) -> None:
        """Take the actions of step `t` and note what came of them."""
        actions, before, begins = rollout.actions[t], self.worths, self.over.clone()
        seen, _, ended, cut, infos = self.env.step(actions if actions.is_cuda else actions.numpy())
        self.look(seen, infos)
        ended, cut = torch.as_tensor(ended), torch.as_tensor(cut)
        rewards = torch.as_tensor(infos["rewards"])[:, 0]
        rollout.over[t] = self.over.copy_(ended | cut)
        rollout.decided[t] = ended | (rewards != 0)  # a limit may give a result
        if self.shaping:
            self.worths = self.worth(before)
            gains = torch.from_numpy(self.shaping.gains(before, self.worths))
            # a result is not shaped, and where a game begins the change is between two games
            rewards = rewards + gains.masked_fill(self.over | begins, 0)
        rollout.rewards[t] = rewards


def words(array: Any) -> torch.Tensor:
    """Packed words, an array or a tensor, as a tensor of a type that torch can index."""
    return torch.as_tensor(array).view(torch.int64)


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
    """Set what is learned from a rollout, its `gains` and `returns`."""
    gains = advantages(rollout, config.discount, config.gae_lambda)
    rollout.returns.copy_(gains + rollout.signs * rollout.values[:-1])
    share = rollout.learned / rollout.learned.sum().clamp(1)
    centred = gains - (gains * share).sum()
    rollout.gains.copy_(centred / ((centred.square() * share).sum().sqrt() + 1e-8))


class Batch(NamedTuple):
    """Actions, `(B,)`, with their observations, as in `Rollout`, all steps one after another."""

    seen: Seen
    actions: torch.Tensor
    log_probs: torch.Tensor
    gains: torch.Tensor
    returns: torch.Tensor

    @classmethod
    def of(cls, rollout: Rollout) -> Batch:
        """All actions of a rollout, in the same memory."""
        parts = rollout.actions, rollout.log_probs, rollout.gains, rollout.returns
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
    policy_loss = -torch.minimum(ratio * batch.gains, near * batch.gains).sum()
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
        self.descent = Descent(state.network, state.adam, threads, MOST_GRADIENT)
        self.rollout, self.batch = state.games.rollout, Batch.of(state.games.rollout)
        self.step = Graph(lambda rows: self.descent.step(self._losses, rows), state.games.place)

    def improve(self) -> tuple[int, dict[str, float]]:
        """Learn from the rollout; returns from how many actions, and the mean losses."""
        learned, config = self.rollout.learned.flatten().nonzero()[:, 0], self.config
        for _ in range(config.epochs):
            mixed = learned[torch.randperm(len(learned), device=learned.device)]
            for rows in parts_of(mixed, config.batch):
                self.step(rows)
        return len(learned), self.descent.means(len(learned) * config.epochs)

    def _losses(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        part = self.batch.at(rows)
        return losses(self.threads.policy(self.network, part.seen), part, self.config)


# ---- the loop ----


@dataclass(kw_only=True)
class State(states.State):
    """Everything that an update changes."""

    network: nn.Module
    adam: torch.optim.Adam
    past: Past
    games: Games
    chance: states.Chance

    def check(self) -> None:
        """Check that there are versions of the past to play against."""
        if not self.past.versions:
            raise CheckpointError("past: there must be at least one version")


def begun(config: Config, games: Games) -> State:
    """The state before the first update; seeds the generators."""
    torch.manual_seed(config.seed)
    np.random.seed(config.seed)
    network = build(config.sidecar(games.env.setup.num_actions)).to(games.place)
    adam = adam_of(network, config.recipe.learning_rate)
    past, chance = Past([copy_of(network)]), states.Chance(games.place.type)
    if games.opening:
        games.random.copy_(games.draw())
    return State(network=network, adam=adam, past=past, games=games, chance=chance)


def train(run: Run[Config]) -> None:
    """Play a rollout, learn from it, until all steps are done."""
    config, rate = run.config, run.config.recipe.learning_rate
    torch.set_num_threads(1)  # the threads share the positions instead
    games = Games(config)
    with closing(games.env), closing(workers(config, games)) as threads:
        state = begun(config, games)
        network, past, learner = state.network, state.past, Learner(state, config, threads)
        play = Graph(lambda: estimate(games.play(network, past, threads), config), games.place)
        for update in run.updates(state, lambda: PolicyAgent(copy_of(network)), exam=True):
            falling = 1 + (config.final_share - 1) * run.progress
            learner.descent.set_rate(rate * falling * min(1.0, (update + 1) / WARM_UP))
            if update and update % config.pool_every == 0:
                past.add(network, config.pool)
                play.forget()
            play()
            run.learned(*learner.improve())


def workers(config: Config, games: Games) -> Threads:
    """The threads that evaluate networks: one where a GPU does it."""
    count = config.threads if config.device == "cpu" else 1
    return Threads(count, games.env.unpack, config.device)


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, train)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
