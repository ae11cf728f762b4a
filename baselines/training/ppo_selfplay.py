"""Train an agent by self-play with PPO in plain torch, then evaluate it against the baselines.

    python -m azumaya.baselines.training.ppo_selfplay --game sudoku_moyo --seed 1

One network plays both seats of many games at once and learns from the moves of both. In a share of
the games one seat belongs to an earlier version of the network, drawn from a pool of snapshots; the
network learns from the moves of the other seat only.

This file contains, from top to bottom: the hyperparameters (those that other scripts share are in
`config.py`); the network, evaluated by several threads; the opponents; playing; learning; and the
state of a run. Measuring, saving, stopping, the final evaluation and the learning curve are in
`session.py`, which all training scripts share.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self, TypeVar

import numpy as np
import torch
from torch import nn

from azumaya.baselines.agents.checkpoint import build
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.arena.matches import Score
from azumaya.baselines.training.checks import Count, Numbers, Share, check_sizes
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES, PPOConfig, agent_files
from azumaya.baselines.training.loop import LoggedLearner
from azumaya.baselines.training.randomness import generators, restore_generators
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.saved_parts import (
    GAMES,
    NETWORK,
    adam_arrays,
    agent_note,
    check_weights,
    game_arrays,
    game_layouts,
    restore_adam,
    restore_weights,
    saved_count,
    saved_games,
    weight_arrays,
)
from azumaya.baselines.training.saves import MOST_BYTES, Save
from azumaya.baselines.training.session import run_training
from azumaya.envs import OptionError, make_vec
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.adapters.duel.shaping import Shaping
from azumaya.envs.setup import prepare

PROGRAM = "azumaya.baselines.training.ppo_selfplay"

# ---- the hyperparameters ----

PART = 256
"""Positions that a thread evaluates at once. With fewer, calling torch takes a larger share of the
time; with more, fewer threads have something to do."""
MOST_GRADIENT = 0.5
"""The norm to which longer gradients are cut."""
PAST, OPPONENT, SEAT = "past", "past_opponent", "past_seat"
"""Names of arrays in a save: the pool's weights by number, and who plays the games against it."""


@dataclass(frozen=True)
class Config(PPOConfig):
    """Every hyperparameter of a run."""

    script = Script(PROGRAM, agent_files, AGENT_FILES, prefix="ppo_selfplay-")

    steps: Annotated[int, Numbers(1, 10**15)] = 1_500_000
    """Total actions to learn from; the last rollout is always completed."""
    measure_every: Count = 150_000
    """Actions between two evaluations for the learning curve."""
    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that evaluate the network. Results do not depend on their number."""
    games: Annotated[int, Numbers(1, 1_000_000)] = 512
    """Games played in parallel."""
    rollout: Annotated[int, Numbers(1, 1_000_000)] = 32
    """Actions per game, of both players, between two updates."""
    batch: Annotated[int, Numbers(2)] = 512
    """Actions in a minibatch."""
    epochs: Count = 1
    """Passes over the rollout per update."""
    past_share: Share = 0.2
    """Fraction of games against earlier versions of the network; above 0 it is at least one."""
    pool: Annotated[int, Numbers(1, 1000)] = 4
    """The number of earlier versions to draw opponents from."""
    pool_every: Count = 10
    """Updates between two additions to the pool; a full pool loses a random version for each."""

    def completed(self) -> Self:
        """As `PPOConfig.completed`; also checks that a save of all versions could be read again."""
        config = super().completed()
        parameters = check_sizes(config.network, config.game, config.options, **config.sizes)
        size = np.dtype(np.float32).itemsize * parameters * (3 + config.pool)  # and Adam's moments
        if size > MOST_BYTES:
            raise OptionError(
                f"--pool {config.pool}: with networks of {parameters:,} parameters a save would "
                f"have {size:,} bytes; the most is {MOST_BYTES:,}"
            )
        return config


# ---- the network ----


@dataclass(frozen=True)
class Policy:
    """The legal actions of B positions, one after another, and how likely a network plays them.

    Only legal actions are computed with. They are few: in Sudoku Moyo one in thirty, and a loss
    over all of them took as long as the network.

    Attributes:
        actions: the actions, `(M,)` int64, of each position in ascending order.
        rows: their positions, `(M,)` int64, in ascending order.
        counts: how many each position has, `(B,)` int64.
        chances: the logarithms of their probabilities, `(M,)`.
    """

    actions: torch.Tensor
    rows: torch.Tensor
    counts: torch.Tensor
    chances: torch.Tensor

    def sample(self, uniform: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """An action of each position, and the logarithm of its probability, `(B,)` each.

        Args:
            uniform: random numbers from 0 to less than 1, `(B,)`. Each chooses the action in whose
                share of the probabilities, laid end to end, it falls.
        """
        ends, last = self.chances.double().exp().cumsum(0), self.counts.cumsum(0) - 1
        end = ends.index_select(0, last)
        begin = torch.cat((end.new_zeros(1), end[:-1]))
        found = torch.searchsorted(ends, begin + uniform * (end - begin), right=True)
        found = found.clamp(last + 1 - self.counts, last)  # where a sum was rounded
        return self.actions.index_select(0, found), self.chances.index_select(0, found)

    def chances_of(self, actions: torch.Tensor) -> torch.Tensor:
        """The logarithms of the probabilities of an action of each position, `(B,)`."""
        return self.chances[self.actions == actions.index_select(0, self.rows)]


def policy(
    network: nn.Module, planes: torch.Tensor, masks: torch.Tensor
) -> tuple[Policy, torch.Tensor]:
    """The policy of a network, and its values for the players to move, `(B,)`.

    Args:
        network: the network.
        planes: observations, `(B, C, rows, columns)` int8.
        masks: legal actions, `(B, A)` int8, at least one in each position.
    """
    logits, values = network(planes)
    # NumPy's function takes a fifth of the time of torch's.
    places = torch.from_numpy(np.flatnonzero(masks.view(torch.bool).numpy()))
    rows, actions = places // masks.shape[1], places % masks.shape[1]
    counts = torch.bincount(rows, minlength=len(masks))
    own = logits.flatten().index_select(0, places)
    own = own - torch.segment_reduce(own.detach(), "max", lengths=counts).index_select(0, rows)
    totals = torch.segment_reduce(own.exp(), "sum", lengths=counts)
    return Policy(actions, rows, counts, own - totals.log().index_select(0, rows)), values


def copy_of(network: nn.Module) -> nn.Module:
    """An independent copy of a network that is not trained."""
    return copy.deepcopy(network).requires_grad_(False)


def parts_of(tensor: torch.Tensor, size: int = PART) -> Sequence[torch.Tensor]:
    """A tensor in parts of `size` rows; the last may have fewer."""
    return [tensor[first : first + size] for first in range(0, len(tensor), size)]


Result = TypeVar("Result")
Question = tuple[nn.Module, torch.Tensor, torch.Tensor]
"""A network, and the planes and masks of positions in which it is to act."""


class Workers:
    """Threads that evaluate a network part by part; the one that calls is one of them.

    Parts have the same positions whatever the number of threads, and their results are put together
    in order, so results do not depend on it.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        # OpenMP counts threads for each calling thread, so each has to be told.
        self.pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    def share(self, work: Callable[..., Result], parts: Sequence[tuple[Any, ...]]) -> list[Result]:
        """What `work` returns for each part; every thread takes each n-th of them."""

        def some(first: int) -> list[Result]:
            return [work(*part) for part in parts[first :: self.threads]]

        others = [self.pool.submit(some, n) for n in range(1, min(self.threads, len(parts)))]
        found = [some(0), *(other.result() for other in others)]
        return [found[i % self.threads][i // self.threads] for i in range(len(parts))]

    def act(self, questions: Sequence[Question]) -> list[tuple[torch.Tensor, ...]]:
        """Ask several networks at once, each about positions of its own, at least one.

        Returns:
            For each question actions sampled from the policy, the logarithms of their
            probabilities, and values, `(B,)` each.
        """

        @torch.no_grad()
        def work(
            network: nn.Module, planes: torch.Tensor, masks: torch.Tensor, uniform: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            found, values = policy(network, planes, masks)
            return *found.sample(uniform), values

        parts, counts = list[tuple[Any, ...]](), list[int]()
        for network, *seen in questions:
            cut = list(zip(*map(parts_of, (*seen, torch.rand(len(seen[0])))), strict=True))
            parts += [(network, *part) for part in cut]
            counts.append(len(cut))
        found = iter(self.share(work, parts))
        return [
            tuple(map(torch.cat, zip(*itertools.islice(found, count), strict=True)))
            for count in counts
        ]

    def gradients(
        self, network: nn.Module, batch: Batch, rows: torch.Tensor, config: Config
    ) -> dict[str, float]:
        """Add the gradients of a minibatch's mean loss to the parameters; returns its losses."""
        parameters = list(network.parameters())

        def work(part: torch.Tensor) -> tuple[dict[str, float], Sequence[torch.Tensor]]:
            found = losses(network, batch.at(part), config)
            gradients = torch.autograd.grad(found["loss"] / len(rows), parameters)
            return {name: loss.item() for name, loss in found.items()}, gradients

        total = dict[str, float]()
        for found, gradients in self.share(work, [(part,) for part in parts_of(rows)]):
            for name, loss in found.items():
                total[name] = total.get(name, 0.0) + loss
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
        return total

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()


# ---- opponents from the past ----


class Past:
    """The pool of earlier versions, and the games against them.

    The first `count` games of the batch are played against the pool. In each the opponent and its
    seat are drawn when an episode begins. If the opponent leaves the pool, another one goes on.

    Attributes:
        versions: the networks in the pool.
        opponent: the index of the opponent in each of these games, `(count,)` int64.
        seat: the opponent's seat, `(count,)` int64.
    """

    def __init__(self, config: Config, network: nn.Module) -> None:
        share = config.past_share
        self.config, self.count = config, max(round(share * config.games), int(share > 0))
        self.versions: list[nn.Module] = []
        self.opponent = np.zeros(self.count, np.int64)
        self.seat = np.zeros(self.count, np.int64)
        self.add(network)
        self.draw(np.ones(self.count, np.bool_))

    def add(self, network: nn.Module) -> None:
        """Add a copy of the network; if the pool is full, it replaces a random version.

        Games against that version go on against another one of the pool, if there is any: in the
        other games the network plays against itself as it is now.
        """
        count = place = len(self.versions)
        if count == self.config.pool:
            place = int(torch.randint(count, ()))
            rows = np.flatnonzero(self.opponent == place)
            drawn = torch.randint(max(count - 1, 1), (len(rows),)).numpy()
            self.opponent[rows] = (place + 1 + drawn) % count  # itself only where it is alone
        self.versions[place : place + 1] = [copy_of(network)]

    def draw(self, begun: np.ndarray) -> None:
        """Draw opponents and seats for the games that begin, a mask `(count,)`."""
        rows = np.flatnonzero(begun)
        self.opponent[rows] = torch.randint(len(self.versions), (len(rows),)).numpy()
        self.seat[rows] = torch.randint(2, (len(rows),)).numpy()

    def turns(self, to_move: np.ndarray) -> list[tuple[nn.Module, np.ndarray]]:
        """The versions that are to move somewhere, and in which games, `(k,)` int64 for each.

        Args:
            to_move: the players to move, `(n,)`.
        """
        rows = np.flatnonzero(to_move[: self.count] == self.seat)
        games = [rows[self.opponent[rows] == index] for index in range(len(self.versions))]
        return [pair for pair in zip(self.versions, games, strict=True) if pair[1].size]

    def restore(self, save: Save, network: nn.Module) -> None:
        """Continue from a save; `network` is any of this shape.

        Raises:
            CheckpointError: the save holds no such pool.
        """
        count = saved_count(save, "versions")
        if not 1 <= count <= self.config.pool:
            raise CheckpointError(f"versions: must be 1 to {self.config.pool}, not {count}")
        self.versions = [copy_of(network) for _ in range(count)]
        for index, version in enumerate(self.versions):
            restore_weights(save, f"{PAST}.{index}", version)
        opponent, seat = (save.take(n, np.int64, (self.count,)) for n in (OPPONENT, SEAT))
        if not ((opponent >= 0) & (opponent < count) & (seat >= 0) & (seat < 2)).all():
            raise CheckpointError(f"{OPPONENT}, {SEAT}: must be versions in the pool and seats")
        self.opponent, self.seat = opponent.copy(), seat.copy()


# ---- playing ----


class Rollout:
    """What happened in `T` steps of `n` games.

    Values and rewards are those of player 0: in a zero-sum game player 1 has the same with the
    opposite sign.

    Attributes:
        planes: observations of the players to move, `(T, n, C, rows, columns)` int8.
        masks: their legal actions, `(T, n, A)` int8.
        actions: the actions taken, `(T, n)` int64.
        chances: their log-probabilities, where the network chose them, `(T, n)`.
        signs: 1 where player 0 was to move, otherwise -1, `(T, n)`.
        learned: whether the network chose the action, `(T, n)` bool.
        values: the network's values of the positions, `(T, n)`.
        rewards: the rewards of the step, `(T, n)`.
        following: the values of the positions that the step led to, `(T, n)`; 0 after the end.
        over: whether the step ended the game, `(T, n)` bool.
    """

    def __init__(self, steps: int, planes: torch.Tensor, masks: torch.Tensor) -> None:
        shape = steps, len(planes)
        self.planes = planes.new_zeros(steps, *planes.shape)
        self.masks = masks.new_zeros(steps, *masks.shape)
        self.actions = torch.zeros(shape, dtype=torch.int64)
        self.chances, self.signs, self.values = (torch.zeros(shape) for _ in range(3))
        self.rewards, self.following = (torch.zeros(shape) for _ in range(2))
        self.learned, self.over = (torch.zeros(shape, dtype=torch.bool) for _ in range(2))


class Table:
    """The games in progress and who plays them."""

    def __init__(self, config: Config, workers: Workers) -> None:
        self.config, self.workers = config, workers
        self.env: AzumayaVectorEnv = make_vec(
            config.game, config.games, threads=config.threads, copy=False,
            autoreset_mode="SameStep", **config.options,
        )  # fmt: skip
        setup = prepare(self.env.game, config.options)
        self.shaping = Shaping(self.env.game, setup, config.recipe.shaping)
        self.seats = np.zeros(config.games, np.int64)  # player 0, from whom rewards are seen
        self.look(*self.env.reset(seed=config.seed))
        self.worths = self.worth(np.zeros(config.games, np.int64))
        self.rollout = Rollout(config.rollout, self.planes, self.masks)

    def restore(self, games: dict[str, np.ndarray]) -> None:
        """Continue saved games.

        Raises:
            CheckpointError: the environment refuses their content.
        """
        try:
            self.look(*self.env.set_state((games["states"], games["series"])))
        except OptionError as error:
            raise CheckpointError(f"{GAMES}: {error}") from error
        self.worths = self.worth(np.zeros(self.config.games, np.int64))

    def look(self, seen: dict[str, np.ndarray], infos: dict[str, Any]) -> None:
        """Note the positions and who is to move."""
        self.planes = torch.from_numpy(seen["observation"])
        self.masks = torch.from_numpy(seen["action_mask"])
        self.to_move = infos["to_move"]

    def worth(self, before: np.ndarray) -> np.ndarray:
        """The game's own evaluation of every position for player 0."""
        if not self.shaping:
            return before
        return self.shaping.evaluations(self.env.get_state()[0], self.seats, before)

    @torch.no_grad()
    def play(self, network: nn.Module, past: Past) -> Rollout:
        """Play a rollout, in which an action of an earlier version counts as not learned."""
        rollout = self.rollout
        for t in range(self.config.rollout):
            turns = past.turns(self.to_move)
            questions = [(network, self.planes, self.masks)]
            questions += [(one, self.planes[rows], self.masks[rows]) for one, rows in turns]
            (actions, chances, values), *others = self.workers.act(questions)
            rollout.learned[t] = True
            for (_, rows), (theirs, *_) in zip(turns, others, strict=True):
                actions[rows] = theirs
                rollout.learned[t, rows] = False
            rollout.planes[t], rollout.masks[t] = self.planes, self.masks
            rollout.actions[t], rollout.chances[t] = actions, chances
            rollout.signs[t] = signs_of(self.to_move)
            rollout.values[t] = rollout.signs[t] * values
            self.step(rollout, t, network, past)
        rollout.following[:-1] += torch.where(rollout.over[:-1], 0, rollout.values[1:])
        [(*_, last)] = self.workers.act([(network, self.planes, self.masks)])
        last = signs_of(self.to_move) * last
        rollout.following[-1] += torch.where(rollout.over[-1], 0, last)
        return rollout

    def step(self, rollout: Rollout, t: int, network: nn.Module, past: Past) -> None:
        """Take the actions of step `t` and note what came of them.

        A step that ends a game, or cuts it off, is not shaped: `worths` are then of the next game.
        """
        seen, _, ended, cut, infos = self.env.step(rollout.actions[t].numpy())
        over, before, rewards = ended | cut, self.worths, infos["rewards"][:, 0]
        self.look(seen, infos)
        self.worths = self.worth(before)
        gains = np.where(over, 0.0, self.shaping.gains(before, self.worths))
        rollout.rewards[t] = torch.from_numpy(rewards + gains)
        rollout.over[t] = torch.from_numpy(over)
        rollout.following[t] = 0
        undecided = cut & (rewards == 0)  # a limit may give a result: nothing follows that
        if undecided.any():
            rollout.following[t, undecided] = self.values_beyond(undecided, network, infos)
        past.draw(over[: past.count])

    def values_beyond(
        self, cut: np.ndarray, network: nn.Module, infos: dict[str, Any]
    ) -> torch.Tensor:
        """The values for player 0 of the last positions of games cut off without a result."""
        planes = np.stack([seen["observation"] for seen in infos["final_obs"][cut]])
        _, values = network(torch.from_numpy(planes))
        return signs_of(infos["final_info"]["to_move"][cut]) * values


def signs_of(to_move: np.ndarray) -> torch.Tensor:
    """1 where player 0 is to move, otherwise -1.

    A value for the player to move, times its sign, is the value for player 0, and the reverse.
    """
    return torch.from_numpy(np.where(to_move == 0, np.float32(1), np.float32(-1)))


# ---- learning ----


def advantages(rollout: Rollout, discount: float, gae_lambda: float) -> torch.Tensor:
    """Generalised advantage estimates for the players who moved, `(T, n)`.

    They are computed for player 0, so no sign changes between moves; only the result takes the
    sign of the mover. A game that was cut off without a result ends with the value of its last
    position.
    """
    deltas = rollout.rewards + discount * rollout.following - rollout.values
    result, after = torch.zeros_like(deltas), torch.zeros(deltas.shape[1])
    for t in reversed(range(len(deltas))):
        after = deltas[t] + torch.where(rollout.over[t], 0, discount * gae_lambda * after)
        result[t] = after
    return rollout.signs * result


@dataclass(frozen=True)
class Batch:
    """Actions, `(B,)`, with their observations.

    Attributes:
        planes, masks, actions, chances: as in `Rollout`, with all steps one after another.
        gains: the advantages, normalised over the actions that are learned from.
        returns: the values to predict, for the players who moved.
    """

    planes: torch.Tensor
    masks: torch.Tensor
    actions: torch.Tensor
    chances: torch.Tensor
    gains: torch.Tensor
    returns: torch.Tensor

    def at(self, rows: torch.Tensor) -> Batch:
        """Some of the actions."""
        return Batch(*(getattr(self, item.name).index_select(0, rows) for item in fields(self)))


def batch_of(rollout: Rollout, config: Config) -> tuple[Batch, torch.Tensor]:
    """All actions of a rollout, without a copy, and the rows of those that are learned from."""
    gains = advantages(rollout, config.discount, config.gae_lambda)
    returns, own = gains + rollout.signs * rollout.values, gains[rollout.learned]
    gains = (gains - own.mean()) / (own.std(correction=0) + 1e-8)  # also of one action
    parts = rollout.planes, rollout.masks, rollout.actions, rollout.chances, gains, returns
    return Batch(*(part.flatten(0, 1) for part in parts)), rollout.learned.flatten().nonzero()[:, 0]


def losses(network: nn.Module, batch: Batch, config: Config) -> dict[str, torch.Tensor]:
    """PPO's loss and its parts, summed over a batch; `kl` and `clipped` are only for the log."""
    found, values = policy(network, batch.planes, batch.masks)
    change = found.chances_of(batch.actions) - batch.chances
    ratio = change.exp()
    near = ratio.clamp(1 - config.clip, 1 + config.clip)
    policy_loss = -torch.minimum(ratio * batch.gains, near * batch.gains).sum()
    value_loss = (values - batch.returns).square().sum()
    entropy = -(found.chances.exp() * found.chances).sum()
    return {
        "loss": policy_loss + config.value * value_loss - config.entropy * entropy,
        "policy": policy_loss,
        "value": value_loss,
        "entropy": entropy,
        "kl": (ratio - 1 - change).sum(),
        "clipped": (ratio != near).sum(),
    }


def update(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    learned: torch.Tensor,
    config: Config,
    workers: Workers,
) -> dict[str, float]:
    """Improve the network by some rows of a batch; returns the mean losses per action."""
    count, total = len(learned), dict[str, float]()
    for _ in range(config.epochs):
        for rows in parts_of(learned[torch.randperm(count)], config.batch):
            optimizer.zero_grad()
            for name, loss in workers.gradients(network, batch, rows, config).items():
                total[name] = total.get(name, 0.0) + loss / (count * config.epochs)
            nn.utils.clip_grad_norm_(network.parameters(), MOST_GRADIENT)
            optimizer.step()
    return total


# ---- the run ----


class SelfPlayLearner(LoggedLearner):
    """Self-play PPO in a training session."""

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        torch.set_num_threads(1)  # the workers share the positions instead
        torch.manual_seed(config.seed)
        np.random.seed(config.seed)
        self.workers = Workers(config.threads)
        self.table = Table(config, self.workers)
        self.actions = int(self.table.masks.shape[1])
        self.network = build(config.sidecar(self.actions))
        self.optimizer = torch.optim.Adam(self.network.parameters(), eps=1e-5, fused=True)
        self.past = Past(config, self.network)

    def agent(self) -> PolicyAgent:
        """The agent as trained so far."""
        return PolicyAgent(self.network)

    def check(self) -> None:
        """Check that all weights are finite."""
        check_weights(self.network, self.steps)

    def update(self) -> tuple[int, dict[str, float]]:
        """Play a rollout and learn from it; returns the actions learned from, and the losses."""
        rate = self.config.recipe.learning_rate
        for group in self.optimizer.param_groups:
            group["lr"] = rate + (rate * self.config.final_share - rate) * self.progress
        if self.updates and self.updates % self.config.pool_every == 0:
            self.past.add(self.network)
        batch, learned = batch_of(self.table.play(self.network, self.past), self.config)
        found = update(self.network, self.optimizer, batch, learned, self.config, self.workers)
        return len(learned), found

    def close(self) -> None:
        """End the games and the threads, and close the logs."""
        self.table.env.close()
        self.workers.close()
        super().close()

    # ---- saves ----

    def snapshot(self, curve: list[dict[str, float]], lines: int) -> Save:
        """Copy everything needed to resume the run."""
        games = self.games()
        arrays = weight_arrays(NETWORK, self.network) | adam_arrays(self.optimizer)
        for index, version in enumerate(self.past.versions):
            arrays |= weight_arrays(f"{PAST}.{index}", version)
        arrays |= {OPPONENT: self.past.opponent.copy(), SEAT: self.past.seat.copy()}
        arrays |= game_arrays(games) | generators()
        notes = {
            "updates": self.updates,
            "versions": len(self.past.versions),
            "layouts": game_layouts(games),
            "agent": agent_note(self.config.sidecar(self.actions, steps=self.steps)),
        }
        return Save(self.steps, curve, lines, notes, arrays)

    def games(self) -> dict[str, np.ndarray]:
        """The states of the games by name."""
        return dict(zip(("states", "series"), self.table.env.get_state(), strict=True))

    def restore(self, save: Save) -> None:
        """Continue from a save."""
        restore_weights(save, NETWORK, self.network)
        restore_adam(save, self.optimizer)
        self.past.restore(save, self.network)
        self.table.restore(saved_games(save, self.games()))
        self.done, self.updates = save.steps, saved_count(save, "updates")
        restore_generators(save)


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, SelfPlayLearner)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
