"""Measurements of what learns: training scripts, torch networks, and torch itself as the limit.

This module needs the extra `train`; `plan` imports it only when a row is measured.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import nn

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.checkpoint import build
from azumaya.baselines.agents.evaluator import NetworkEvaluator
from azumaya.baselines.agents.network import default_network
from azumaya.baselines.agents.search import BatchPUCTAgent
from azumaya.baselines.training import ppo
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.logs import Display
from azumaya.baselines.training.network_config import PPOConfig
from azumaya.baselines.training.run import Run
from azumaya.baselines.training.state import State
from azumaya.baselines.values.learning import view_all_kernel
from azumaya.baselines.values.network import LEAK, features_of, scratch_words
from azumaya.baselines.values.value import KIND
from azumaya.benchmarks import networks, search, signature
from azumaya.benchmarks.timing import Meter, measure
from azumaya.envs.game import Game

SEED = 1
UPDATES: dict[str, dict[str, int]] = {"td_value": {"games": 32}, "expert_iteration": {"games": 4}}
"""Shorter updates than those of these learners; everything else is their default."""
WAYS: dict[str, dict[str, Any]] = {"ppo": {"symmetries": False, "opening": 0, "past_share": 0.2}}
"""`ppo.py` as when the stored results were measured: without symmetries it has the network of
`maskable_ppo.py`, beside which it is shown; without openings the first updates learn as much as
others."""
ENDLESS = 10**12
"""More steps than are learned here, so that the learning rate stays that of the start."""

LEARNED = "one step learned from: game, search if there is one, update and logs; one thread"
EVALUATED = "one position evaluated from its planes by torch, in a call for {size}; one thread"
PASSED = (
    "one position's forward and backward pass by torch, in batches of {size}, without games, loss "
    "terms and optimizer; one thread"
)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread, and as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# ---- training scripts ----


Watch = Callable[[Any, State, Callable[[], Agent]], Iterator[None]]
"""Watches a run, given its options, state and what makes its agent; yields before each update."""


class Watched(Run[Any]):
    """A run that is neither evaluated nor saved, but watched.

    Args:
        config: the options of the run.
        watch: says how many updates are made, and looks at them.
    """

    def __init__(self, config: RunConfig, watch: Watch) -> None:
        super().__init__(config)
        self.watch = watch

    def updates(
        self, state: State, agent: Callable[[], Agent], *_: object, **__: object
    ) -> Iterator[int]:
        """The numbers of the updates."""
        self.state = state
        self.folder.begin(self.config.stored_form(), None)
        for _update in self.watch(self.config, state, agent):
            yield state.updates


def watch_training(module: Any, watch: Watch, **given: Any) -> Any:
    """Train in one thread by a script, with some of its options; returns all of them."""
    given = {"seed": SEED, "steps": ENDLESS, "threads": 1, **given}
    with (
        tempfile.TemporaryDirectory() as folder,
        one_thread(),
        Watched(module.Config(**given, output=Path(folder) / "run"), watch) as run,
    ):
        run.display = Display(Console(quiet=True))
        module.train(run)
    return run.config


def learned(game: Game, name: str, seconds: float, repeats: int) -> dict[str, Any]:
    """Steps that a learner learns from; its agent is asked after the first update."""
    script, options = networks.LEARNERS[name]
    module: Any = import_module(f"azumaya.baselines.training.{script}")
    meter: Meter
    plays: str

    def watch(_: RunConfig, state: State, agent: Callable[[], Agent]) -> Iterator[None]:
        nonlocal meter, plays
        yield
        plays = signature.of_agent(game, agent())
        meter = Meter(seconds, repeats)
        while meter.goes_on():
            before = state.steps
            yield
            meter.count(state.steps - before)

    given = {"game": game.name, **options, **WAYS.get(name, {}), **UPDATES.get(name, {})}
    config = watch_training(module, watch, **given)
    network = config.network_kind if isinstance(config, PPOConfig) else KIND
    sizes = config.sizes if isinstance(config, PPOConfig) else {"width": config.width}
    more = {"network": network, "sizes": sizes, "plays": plays}
    return {**meter.rates.fields(), "includes": LEARNED, **more}


# ---- torch networks ----


def policy_of(game: Game) -> nn.Module:
    """The game's network of `ppo.py` as it is measured, untrained."""
    torch.manual_seed(SEED)
    config = ppo.Config(game=game.name, **WAYS["ppo"]).completed()
    return build(config.sidecar(game.options.num_actions(game.options.defaults))).eval()


def evaluations(game: Game, size: int, seconds: float, repeats: int) -> dict[str, Any]:
    """Positions evaluated by the policy network, `size` in each call."""
    _, seen = networks.running_games(game, max(size, networks.FEW))
    planes, masks = seen["observation"], seen["action_mask"].astype(bool)
    evaluator = NetworkEvaluator(policy_of(game))
    starts = range(0, len(planes), size)
    parts = [(planes[at : at + size], masks[at : at + size]) for at in starts]
    with one_thread():
        chunk = networks.calls(lambda part: evaluator.evaluate(*part), parts, size)
        rates = measure(chunk, seconds, repeats)
    text = EVALUATED.format(size=size)
    return {**rates.fields(), "network": default_network(game), "includes": text}


def passes(game: Game, form: str, size: int, seconds: float, repeats: int) -> dict[str, Any]:
    """Forward and backward passes of a network in plain torch: the limit of what learns by it."""
    made, inputs = (value_pass if form == "value" else policy_pass)(game, size)

    def chunk() -> int:
        made.zero_grad()
        sum(out.sum() for out in made(*inputs)).backward()
        return size

    with one_thread():
        rates = measure(chunk, seconds, repeats)
    network = KIND if form == "value" else default_network(game)
    return {**rates.fields(), "network": network, "includes": PASSED.format(size=size)}


def policy_pass(game: Game, size: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The policy network, and planes for it."""
    _, seen = networks.running_games(game, size)
    return policy_of(game), (torch.from_numpy(seen["observation"]),)


class ValueTwin(nn.Module):
    """The compiled value in torch: the rows of a position's features are summed.

    Args:
        rows: rows of the first layer.
        width: hidden units.
    """

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.rows = nn.EmbeddingBag(rows, width, mode="sum", sparse=True)
        self.bias, self.share = nn.Parameter(torch.zeros(width)), nn.Parameter(torch.ones(()))
        self.second = nn.Linear(width, 1)

    def forward(
        self, found: torch.Tensor, starts: torch.Tensor, heuristic: torch.Tensor
    ) -> tuple[torch.Tensor]:
        """Values, `(B,)`, from the features in turn, where each position begins, and heuristics."""
        hidden = nn.functional.leaky_relu(self.rows(found, starts) + self.bias, float(LEAK))
        return (torch.tanh(self.second(hidden)[:, 0] + self.share * heuristic),)

    def load(self, weights: np.ndarray) -> None:
        """Take over the parameters of a compiled value, `(size,)`."""
        rows, width = self.rows.weight.shape
        sizes = [rows * width, width, width, 1, 1]
        parts = torch.split(torch.from_numpy(weights.copy())[: sum(sizes)], sizes)
        second = self.second.weight, self.second.bias
        into = (self.rows.weight, self.bias, *second, self.share)
        with torch.no_grad():
            for parameter, part in zip(into, parts, strict=True):
                parameter.copy_(part.view(parameter.shape))


def value_pass(game: Game, size: int) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """The compiled value in torch, and the features of positions for it."""
    value, (states, _) = networks.value_of(game), networks.running_games(game, size)
    scratch = np.zeros(scratch_words(game, value.shape), np.uint64)
    found, offsets = np.zeros(size * features_of(game).room, np.int32), np.zeros(size + 1, np.int64)
    heuristic = np.zeros(size, np.float32)
    view_all_kernel(game, value.shape)(states, value.weights, scratch, found, offsets, heuristic)
    twin = ValueTwin(value.shape.rows, value.width)
    twin.load(value.weights)
    given = found[: offsets[-1]], offsets[:-1], heuristic
    return twin, tuple(torch.from_numpy(array) for array in given)


def self_play(game: Game, seconds: float, repeats: int) -> dict[str, Any]:
    """Moves of self-play by PUCT with the policy network, whose leaves are evaluated in batches."""
    evaluator = NetworkEvaluator(policy_of(game))
    agent = BatchPUCTAgent(evaluator, networks.SIMULATIONS, batch=search.GAMES, threads=1)
    with one_thread():
        row = search.self_play(game, agent, seconds, repeats)
    return {**row, "network": default_network(game), "search": agent.name}
