"""Train an agent by self-play with PPO in plain torch, then evaluate it against the baselines.

    python -m azumaya.baselines.training.ppo --game sudoku_moyo --seed 1

One network plays both seats of many games at once and learns from the moves of both. In a share of
the games one seat belongs to an earlier version of the network, drawn from a pool of snapshots; the
network learns from the moves of the other seat only.

This file contains, from top to bottom: hyperparameters (`config.py` has those that MaskablePPO
shares), opponents, playing, learning, and the loop, `train`. `policy.py` has the policy over legal
actions; `run.py` has measuring, saving, stopping, the final evaluation and the learning curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import torch
from torch import nn

from azumaya.baselines.agents.checkpoint import build
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.arena.matches import Score
from azumaya.baselines.training import state as states
from azumaya.baselines.training.checks import Count, Numbers, Share, check_sizes
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES, PPOConfig, agent_files
from azumaya.baselines.training.policy import Threads, copy_of, parts_of, policy
from azumaya.baselines.training.run import Run, run_training
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.saves import MOST_BYTES
from azumaya.envs import OptionError, make_vec
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.adapters.duel.shaping import Shaping

PROGRAM = "azumaya.baselines.training.ppo"

# ---- the hyperparameters ----

MOST_GRADIENT = 0.5
"""The norm to which longer gradients are cut."""


@dataclass(frozen=True)
class Config(PPOConfig):
    """Every hyperparameter of a run."""

    script = Script(PROGRAM, agent_files, AGENT_FILES, prefix="ppo-")

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
        size = 4 * parameters * (3 + config.pool)  # bytes; the network has Adam's moments, too
        if size > MOST_BYTES:
            raise OptionError(
                f"--pool {config.pool}: with networks of {parameters:,} parameters a save would "
                f"have {size:,} bytes; the most is {MOST_BYTES:,}"
            )
        return config


# ---- opponents from the past ----


@dataclass
class Past:
    """The pool of earlier versions, and the games against them.

    The first `n` games are played against the pool. In each the opponent and its seat are drawn
    when an episode begins. If the opponent leaves the pool, another one goes on.

    Attributes:
        versions: the networks in the pool.
        opponent: the index of the opponent in each of these games, `(n,)` int64.
        seat: the opponent's seat, `(n,)` int64.
    """

    versions: list[nn.Module] = field(metadata={"name": "past"})
    opponent: np.ndarray = field(metadata={"name": "past_opponent"})
    seat: np.ndarray = field(metadata={"name": "past_seat"})

    @classmethod
    def new(cls, config: Config, network: nn.Module) -> Past:
        """A pool that has only this network."""
        count = max(round(config.past_share * config.games), int(config.past_share > 0))
        past = cls([copy_of(network)], np.zeros(count, np.int64), np.zeros(count, np.int64))
        past.draw(np.ones(count, np.bool_))
        return past

    def add(self, network: nn.Module, most: int) -> None:
        """Add a copy of the network; if there are `most`, it replaces a random version.

        Games against that one go on against another one of the pool, if there is any.
        """
        count = place = len(self.versions)
        if count >= most:
            place = int(torch.randint(count, ()))
            rows = np.flatnonzero(self.opponent == place)
            drawn = torch.randint(max(count - 1, 1), (len(rows),)).numpy()
            self.opponent[rows] = (place + 1 + drawn) % count  # itself only where it is alone
        self.versions[place : place + 1] = [copy_of(network)]

    def draw(self, begun: np.ndarray) -> None:
        """Draw opponents and seats for the games that begin, a mask `(n,)`."""
        rows = np.flatnonzero(begun)
        self.opponent[rows] = torch.randint(len(self.versions), (len(rows),)).numpy()
        self.seat[rows] = torch.randint(2, (len(rows),)).numpy()

    def turns(self, to_move: np.ndarray) -> list[tuple[nn.Module, np.ndarray]]:
        """The versions to move, and in which games, `(k,)` each; `to_move` is of all games."""
        rows = np.flatnonzero(to_move[: len(self.seat)] == self.seat)
        games = [rows[self.opponent[rows] == index] for index in range(len(self.versions))]
        return [pair for pair in zip(self.versions, games, strict=True) if pair[1].size]


# ---- playing ----


class Rollout:
    """What happened in `T` steps of `n` games.

    Values and rewards are those of player 0; player 1 has the same with the opposite sign.

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


class Games:
    """The games in progress, all at once."""

    def __init__(self, config: Config) -> None:
        self.env: AzumayaVectorEnv = make_vec(
            config.game, config.games, threads=config.threads, copy=False,
            autoreset_mode="SameStep", **config.options,
        )  # fmt: skip
        self.shaping = Shaping(self.env.game, self.env.setup, config.recipe.shaping)
        self.seats = np.zeros(config.games, np.int64)  # player 0, from whom rewards are seen
        self.look(*self.env.reset(seed=config.seed))
        self.worths = self.worth(np.zeros(config.games, np.int64))
        self.rollout = Rollout(config.rollout, self.planes, self.masks)

    def get_state(self) -> dict[str, np.ndarray]:
        """The states of the games by name."""
        return dict(zip(("states", "series"), self.env.get_state(), strict=True))

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Continue such games; raises `OptionError` if the environment refuses them."""
        self.look(*self.env.set_state((state["states"], state["series"])))
        self.worths = self.worth(np.zeros_like(self.worths))

    def look(self, seen: dict[str, np.ndarray], infos: dict[str, Any]) -> None:
        """Note the positions and who is to move."""
        self.planes = torch.from_numpy(seen["observation"])
        self.masks = torch.from_numpy(seen["action_mask"])
        self.to_move = infos["to_move"]

    def worth(self, before: np.ndarray) -> np.ndarray:
        """The game's own evaluation of every position for player 0; `before` without shaping."""
        if not self.shaping:
            return before
        return self.shaping.evaluations(self.env.games.states, self.seats, before)

    @torch.no_grad()
    def play(self, network: nn.Module, past: Past, threads: Threads) -> Rollout:
        """Play a rollout, in which an action of an earlier version counts as not learned."""
        rollout = self.rollout
        for t in range(len(rollout.actions)):
            turns = past.turns(self.to_move)
            questions = [(network, self.planes, self.masks)]
            questions += [(one, self.planes[rows], self.masks[rows]) for one, rows in turns]
            (actions, chances, values), *others = threads.act(questions)
            rollout.learned[t] = True
            for (_, rows), (theirs, *_) in zip(turns, others, strict=True):
                actions[rows] = theirs
                rollout.learned[t, rows] = False
            rollout.planes[t], rollout.masks[t] = self.planes, self.masks
            rollout.actions[t], rollout.chances[t] = actions, chances
            rollout.signs[t] = signs_of(self.to_move)
            rollout.values[t] = rollout.signs[t] * values
            past.draw(self.step(rollout, t, network)[: len(past.seat)])
        rollout.following[:-1] += torch.where(rollout.over[:-1], 0, rollout.values[1:])
        [(*_, last)] = threads.act([(network, self.planes, self.masks)])
        rollout.following[-1] += torch.where(rollout.over[-1], 0, signs_of(self.to_move) * last)
        return rollout

    def step(self, rollout: Rollout, t: int, network: nn.Module) -> np.ndarray:
        """Take the actions of step `t`, note what came of them, and say which games have ended."""
        seen, _, ended, cut, infos = self.env.step(rollout.actions[t].numpy())
        over, before, rewards = ended | cut, self.worths, infos["rewards"][:, 0]
        self.look(seen, infos)
        self.worths = self.worth(before)
        # the step that ends a game is not shaped: `worths` are then of the next game
        gains = np.where(over, 0.0, self.shaping.gains(before, self.worths))
        rollout.rewards[t] = torch.from_numpy(rewards + gains)
        rollout.over[t] = torch.from_numpy(over)
        rollout.following[t] = 0
        undecided = cut & (rewards == 0)  # a limit may give a result: nothing follows that
        if undecided.any():
            planes = np.stack([seen["observation"] for seen in infos["final_obs"][undecided]])
            _, values = network(torch.from_numpy(planes))
            signs = signs_of(infos["final_info"]["to_move"][undecided])
            rollout.following[t, undecided] = signs * values
        return over


def signs_of(to_move: np.ndarray) -> torch.Tensor:
    """1 where player 0 is to move, else -1; values of the mover times it are those of player 0."""
    return torch.from_numpy(np.where(to_move == 0, np.float32(1), np.float32(-1)))


# ---- learning ----


def advantages(rollout: Rollout, discount: float, gae_lambda: float) -> torch.Tensor:
    """Generalised advantage estimates for the players who moved, `(T, n)`.

    They are computed for player 0, so no sign changes between moves; only the result takes the
    sign of the mover. A game cut off without a result ends with the value of its last position.
    """
    deltas = rollout.rewards + discount * rollout.following - rollout.values
    result, after = torch.zeros_like(deltas), torch.zeros(deltas.shape[1])
    for t in reversed(range(len(deltas))):
        after = deltas[t] + torch.where(rollout.over[t], 0, discount * gae_lambda * after)
        result[t] = after
    return rollout.signs * result


class Batch(NamedTuple):
    """Actions, `(B,)`, with their observations.

    Attributes:
        planes, masks, actions, chances: as in `Rollout`, all steps one after another.
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
        return Batch(*(part.index_select(0, rows) for part in self))


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


def improve(
    state: State, batch: Batch, learned: torch.Tensor, config: Config, threads: Threads
) -> dict[str, float]:
    """Improve the network by some rows of a batch; returns the mean losses per action."""
    network, total = state.network, dict[str, float]()
    for _ in range(config.epochs):
        for rows in parts_of(learned[torch.randperm(len(learned))], config.batch):
            state.adam.zero_grad()
            found = threads.gradients(lambda p: losses(network, batch.at(p), config), network, rows)
            for name, loss in found.items():
                total[name] = total.get(name, 0.0) + loss / (len(learned) * config.epochs)
            nn.utils.clip_grad_norm_(network.parameters(), MOST_GRADIENT)
            state.adam.step()
    return total


# ---- the loop ----


@dataclass(kw_only=True)
class State(states.State):
    """Everything that an update changes."""

    network: nn.Module
    adam: torch.optim.Adam
    past: Past
    games: Games
    chance: states.Chance = field(default_factory=states.Chance)

    def check(self) -> None:
        """Check that games are played against versions of the pool."""
        opponent, seat, count = self.past.opponent, self.past.seat, len(self.past.versions)
        known = (opponent >= 0) & (opponent < count) & (seat >= 0) & (seat < 2)
        if not (count and known.all()):
            raise CheckpointError("past_opponent, past_seat: must be seats, and versions in past")


def begun(config: Config, games: Games) -> State:
    """The state before the first update; seeds the generators."""
    torch.manual_seed(config.seed)
    np.random.seed(config.seed)
    network = build(config.sidecar(games.masks.shape[1]))
    adam = torch.optim.Adam(network.parameters(), eps=1e-5, fused=True)
    return State(network=network, adam=adam, past=Past.new(config, network), games=games)


def train(run: Run[Config]) -> None:
    """Play a rollout, learn from it, until all steps are done."""
    config, rate = run.config, run.config.recipe.learning_rate
    torch.set_num_threads(1)  # the threads share the positions instead
    games = Games(config)
    with closing(games.env), closing(Threads(config.threads)) as threads:
        state = begun(config, games)
        network, past = state.network, state.past
        for update in run.updates(state, lambda: PolicyAgent(network)):
            for group in state.adam.param_groups:
                group["lr"] = rate + (rate * config.final_share - rate) * run.progress
            if update and update % config.pool_every == 0:
                past.add(network, config.pool)
            batch, learned = batch_of(games.play(network, past, threads), config)
            run.learned(len(learned), improve(state, batch, learned, config, threads))


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, train)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
