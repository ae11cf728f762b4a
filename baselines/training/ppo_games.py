"""The games from which `ppo.py` learns: the network against itself and earlier versions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import torch
from torch import nn

from azumaya.baselines.training.config import Numbers, Share
from azumaya.baselines.training.network_config import PPOConfig
from azumaya.baselines.training.policy import Seen, Threads, copy_of
from azumaya.envs import make_vec
from azumaya.envs.adapters.duel.shaping import Shaping

# ---- the hyperparameters ----


@dataclass(frozen=True)
class PlayConfig(PPOConfig):
    """The options of a run that say how games are played."""

    device: Literal["cpu", "cuda"] = "cpu"
    """Where everything is computed. A run may be resumed on the other device, but its random draws
    are then others."""
    bfloat16: bool | None = None
    """Whether the network computes with bfloat16; its weights stay float32. By default on a GPU."""
    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that evaluate the network on a CPU. Results do not depend on their number."""
    games: Annotated[int, Numbers(0, 1_000_000)] = 0
    """Games played in parallel; 0: 512 on a CPU, 8,192 on a GPU."""
    rollout: Annotated[int, Numbers(1, 1_000_000)] = 32
    """Actions per game, of both players, between two updates."""
    past_share: Share = 0.0
    """Fraction of games against earlier versions of the network; above 0 it is at least one."""
    opening: Annotated[int, Numbers(0, 10_000)] = 20
    """The most random moves with which a game begins; each game draws a number from 0 to that. They
    are not learned from."""


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
        advantages: those of the actions for the players who moved, normalised over the actions
            that are learned from, `(T, n)`.
        returns: the values to predict, for the players who moved, `(T, n)`.
    """

    def __init__(self, steps: int, seen: Seen) -> None:
        shape, new = (steps, len(seen.action_mask)), seen.action_mask.new_zeros
        self.seen = Seen(*(new(steps, *each.shape) for each in seen))
        self.actions = new(shape)
        floats = [new(shape, dtype=torch.float32) for _ in range(5)]
        self.log_probs, self.signs, self.rewards, self.advantages, self.returns = floats
        self.values = new(steps + 1, shape[1], dtype=torch.float32)
        self.learned, self.over, self.decided = (new(shape, dtype=torch.bool) for _ in range(3))


class Games:
    """The games in progress, all at once.

    With `past_share` the first games are against earlier versions, which have the seat of player 0
    in every other one of them and that of player 1 in the rest.
    """

    def __init__(self, config: PlayConfig) -> None:
        on_cpu = config.device == "cpu"
        self.env: Any = make_vec(
            config.game, config.games, device=config.device, observation="packed", copy=False,
            threads=config.threads if on_cpu else None, **config.options,
        )  # fmt: skip
        self.device = torch.device("cpu") if on_cpu else self.env.games.device.place
        self.opening = config.opening
        self.shaping = Shaping(self.env.game, self.env.setup, config.recipe.shaping)
        past = max(round(config.past_share * config.games), int(config.past_share > 0))
        self.past_seats = torch.arange(past, device=self.device) % 2
        self.players = np.zeros(config.games, np.int64)  # player 0, from whom rewards are seen
        self.over = torch.zeros(config.games, dtype=torch.bool, device=self.device)
        self.random = torch.zeros(config.games, dtype=torch.int64, device=self.device)
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
        self.seen = Seen(*(torch.as_tensor(seen[name]).view(torch.int64) for name in Seen._fields))
        self.to_move = torch.as_tensor(infos["to_move"])

    def draw(self) -> torch.Tensor:
        """Draw a number of random moves for every game, `(n,)` int64."""
        return torch.randint(self.opening + 1, self.over.shape, device=self.device)

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
        rollout.decided[t] = ended | (cut & (rewards != 0))  # a limit may give a result
        if self.shaping:
            self.worths = self.worth(before)
            gains = torch.from_numpy(self.shaping.gains(before, self.worths))
            # a result is not shaped, and where a game begins the change is between two games
            rewards = rewards + gains.masked_fill(rollout.decided[t] | begins, 0)
        rollout.rewards[t] = rewards
