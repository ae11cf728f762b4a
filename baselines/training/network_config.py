"""The configuration of scripts that train a network: `NetworkConfig`, and for PPO `PPOConfig`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from inspect import signature
from typing import Annotated, Any, ClassVar, Self

import torch
from torch import nn

from azumaya.baselines.agents import checkpoint
from azumaya.baselines.agents.champion_net import (
    CHAMPION_NET,
    ChampionNetAgent,
    champion_net_file,
)
from azumaya.baselines.agents.checkpoint import load_network
from azumaya.baselines.agents.network import (
    NETWORKS,
    NUMBERED,
    OversizeError,
    can_play,
    check_size,
    default_network,
)
from azumaya.baselines.agents.sidecar import SHAPING, Sidecar, describe, sidecar_of
from azumaya.baselines.system.command_line import flag
from azumaya.baselines.training.config import (
    Count,
    Numbers,
    Positive,
    RunConfig,
    Share,
    Weight,
    check_begun,
)
from azumaya.baselines.training.saves import Save
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.errors import did_you_mean
from azumaya.envs.setup import prepare

MOST_ACTIONS = 1 << 24
"""The most actions in an update."""
DISCOUNTS = {"abalone": 0.99}
"""Discount factors per ply other than 1. Marbles can go back and forth for ever: where a later win
counts as much, players learn to draw."""


@dataclass(frozen=True)
class Recipe:
    """Defaults that depend on the network; docs/results/archive/learners.md has what was tried."""

    width: int
    depth: int
    learning_rate: float
    shaping: float
    reuse: float = 6.0
    symmetries: bool = False


RECIPES = {
    "numbers": Recipe(width=8, depth=1, learning_rate=1e-2, shaping=0.0),
    "board": Recipe(width=32, depth=3, learning_rate=2e-3, shaping=0.1),
    "boards": Recipe(width=16, depth=3, learning_rate=2e-3, shaping=0.1),
    "lines": Recipe(
        width=32, depth=3, learning_rate=2e-3, shaping=0.1, reuse=24.0, symmetries=True
    ),
    "plain": Recipe(width=256, depth=2, learning_rate=1e-3, shaping=0.1),
    "houses": Recipe(width=16, depth=4, learning_rate=1e-3, shaping=0.0),
}
"""The defaults for each kind of network."""


@dataclass(frozen=True)
class NetworkConfig(RunConfig):
    """The options of a run that trains a network with a policy and a value."""

    added: ClassVar[Mapping[str, Any]] = {"start": ""}

    network: str = ""
    """`numbers`, `houses`, `boards`, `lines`, `board` or `plain`; the default suits the game."""
    width: Count | None = None
    """Width of the network; the default depends on its kind."""
    depth: Count | None = None
    """Depth of the network; the default depends on its kind."""
    learning_rate: Annotated[float, Numbers(0, 1, above=True)] | None = None
    """Adam's initial learning rate; the default depends on the network."""
    start: str = ""
    """The checkpoint of a network to begin with, or `champion-net`; the default is to begin with
    random weights. It also sets `network`, `width` and `depth`."""

    @property
    def network_kind(self) -> str:
        """The network's key in `NETWORKS`; the default depends on game, device and symmetries."""
        device, symmetries = getattr(self, "device", "cpu"), getattr(self, "symmetries", False)
        allowed = symmetries is not False  # None: the network decides
        return self.network or default_network(find_game(self.game), device, allowed)

    @property
    def on_gpu(self) -> bool:
        """Whether the network is on a GPU."""
        return bool(getattr(self, "device", "cpu") == "cuda")

    @property
    def computes_in_bfloat16(self) -> bool:
        """Whether the network computes with bfloat16: as was chosen, by default on a GPU."""
        chosen: bool | None = getattr(self, "bfloat16", None)
        return self.on_gpu if chosen is None else chosen

    @property
    def recipe(self) -> Recipe:
        """The network's recipe, with the options that were given in place of its defaults."""
        recipe = RECIPES[self.network_kind]
        given = ((name, getattr(self, name, None)) for name in asdict(recipe))
        return replace(recipe, **{name: value for name, value in given if value is not None})

    @property
    def sizes(self) -> dict[str, int]:
        """The network's `width` and `depth`."""
        return {"width": self.recipe.width, "depth": self.recipe.depth}

    def completed(self) -> Self:
        """As `RunConfig.completed`; also checks that the network can be built.

        Raises:
            OptionError: also if a network to begin with does not fit the other options.
            CheckpointError: it cannot be read.
        """
        config = super().completed()
        check_network(config.network, config.game)
        if config.start and config.continues:
            stored = self.stored_in(self.folder.path)
            begun = {n: getattr(config, n) or stored[n] for n in ("network", *config.sizes)}
            config = replace(config, **begun)
        elif config.start:
            _, sizes = network_to_begin_with(config.start, config.game, config.options)
            check_begun(config, sizes)
            config = replace(config, **sizes)
        names = {item.name for item in fields(config)}
        recipe = {name: value for name, value in asdict(config.recipe).items() if name in names}
        config = replace(config, network=config.network_kind, **recipe)
        if config.network == "numbers" and (config.on_gpu or config.computes_in_bfloat16):
            raise OptionError(
                "--network numbers: finds its candidates on a CPU and computes with float32; "
                "choose another one for --device cuda or --bfloat16"
            )
        check_sizes(config.network, config.game, config.options, **config.sizes)
        return config

    def begin(self, network: nn.Module) -> nn.Module:
        """Give a new network the weights that `start` has, if learning begins with any."""
        if self.start and not self.continues:
            first, _ = network_to_begin_with(self.start, self.game, self.options)
            network.load_state_dict(first.state_dict())
        return network

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar:
        """The sidecar of this run's checkpoints."""
        return describe(
            find_game(self.game),
            num_actions,
            self.network_kind,
            self.sizes,
            options=dict(self.options),
            notes={"seed": self.seed, **notes},
        )


# ---- PPO ----


@dataclass(frozen=True)
class PPOConfig(NetworkConfig):
    """The options of a run that trains such a network by PPO."""

    games: Annotated[int, Numbers(1, 1_000_000)] = 64
    """Games played in parallel."""
    rollout: Annotated[int, Numbers(1, 1_000_000)] = 64
    """Actions per game between two updates."""
    batch: Annotated[int, Numbers(2)] = 256
    """Actions in a minibatch."""
    epochs: Count = 4
    """Passes over the rollout per update."""
    final_share: Share = 0.1
    """Fraction of the learning rate left at the end; it decreases linearly."""
    discount: Share | None = None
    """Discount factor: per move of the learner in MaskablePPO, per ply of the game in self-play.
    The default is 1, and in Abalone 0.99 for each ply."""
    gae_lambda: Share = 0.95
    """Lambda of generalised advantage estimation: 0 relies on the value network, 1 on the games."""
    clip: Positive = 0.2
    """PPO's clip range."""
    entropy: Weight = 0.001
    """Weight of the entropy bonus."""
    value: Weight = 0.5
    """Weight of the value loss."""
    shaping: Weight | None = None
    """Weight of gains in the game's own evaluation relative to winning (see `AzumayaVecEnv`); the
    default depends on the network."""

    plies: ClassVar[int] = 2
    """The plies between two actions that the learner chooses."""

    def completed(self) -> Self:
        """As `NetworkConfig.completed`; also checks the size of an update."""
        config = super().completed()
        if config.discount is None:
            config = replace(config, discount=DISCOUNTS.get(config.game, 1.0) ** config.plies)
        if config.games * config.rollout > MOST_ACTIONS:
            raise OptionError(
                f"--games {config.games} by --rollout {config.rollout}: an update would have "
                f"{config.games * config.rollout:,} actions; the most is {MOST_ACTIONS:,}"
            )
        return config

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar:
        """The sidecar of this run's checkpoints."""
        return super().sidecar(num_actions, **{SHAPING: self.recipe.shaping, **notes})


def agent_files(save: Save) -> dict[str, bytes]:
    """The agent in a save, as the files of a checkpoint called `policy`."""
    sidecar = sidecar_of(save.notes.get("agent"))
    weights = {name: torch.from_numpy(array) for name, array in save.part("network").items()}
    return checkpoint.contents("policy", weights, sidecar)


# ---- what learning begins with ----


def network_to_begin_with(
    start: str, game: str, options: Mapping[str, Any]
) -> tuple[nn.Module, dict[str, Any]]:
    """A checkpoint's network, or that of `champion-net`, and its `network`, `width` and `depth`.

    Raises:
        OptionError: it is of another game or of other actions, or no network ships for the game.
        CheckpointError: the file cannot be read.
    """
    record = find_game(game)
    position = Position(record, **options)
    if start == CHAMPION_NET:
        ChampionNetAgent().check(position)
    network, sidecar = load_network(champion_net_file(record) if start == CHAMPION_NET else start)
    if (sidecar.game, sidecar.num_actions) != (record.id, position.num_actions):
        raise OptionError(
            f"start={start!r}: is of {sidecar.game} with {sidecar.num_actions} actions, not "
            f"{record.id} with {position.num_actions}"
        )
    parameters = signature(NETWORKS[sidecar.network]).parameters
    sizes = {name: parameters[name].default for name in ("width", "depth")}
    return network, {"network": sidecar.network, **sizes, **sidecar.sizes}


# ---- checks ----


def check_network(network: str, game: str) -> None:
    """Check that a network exists and can play the game; an empty name is always accepted.

    Raises:
        OptionError: the network is unknown or cannot play the game.
    """
    if network not in ("", *NETWORKS):
        known, hint = ", ".join(NETWORKS), did_you_mean(network, NETWORKS)
        raise OptionError(f"--network {network}: must be one of {known}{hint}")
    record = find_game(game)
    if network and not can_play(network, record):
        needs = {
            "numbers": "with candidates, in which every number on every cell is an action",
            **dict.fromkeys(NUMBERED, "with planes of numbers"),
        }
        others = ", ".join(name for name in NETWORKS if can_play(name, record))
        raise OptionError(
            f"--network {network}: needs a game {needs[network]}, unlike {game}; choose {others}"
        )


def check_sizes(network: str, game: str, options: Mapping[str, Any], **sizes: int) -> int:
    """Check that a network of this `width` and `depth` can be built; returns its parameters.

    Raises:
        OptionError: the sizes are too large.
    """
    record = find_game(game)
    actions = prepare(record, dict(options)).num_actions
    try:
        return check_size(network, record, actions, sizes)
    except OversizeError as error:
        said = " ".join(f"{flag(name)} {size}" for name, size in sizes.items())
        raise OptionError(f"{said}: {error}") from error
