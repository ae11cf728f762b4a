"""Train a value by self-play, everything compiled, then evaluate its agent.

    python -m azumaya.baselines.training.value --game sudoku_moyo --seed 1

A small network estimates who will win from a position (`azumaya.baselines.values`). It plays games
against itself, some of its moves being random, and learns TD(lambda) returns: a position's value is
moved towards a mixture of the values that followed it and the result. There are two ways to choose
moves and find values:

- TD(lambda), by default: it draws a few moves at random and plays the one that leads to the
  position it values most.
- Expert iteration, with `--nodes 300`: alpha-beta with the network at the horizon searches so many
  positions for each move. Searching makes a value better, and so the network learns what the search
  found. With `--exact-nodes` it also learns which moves are right near the end: from the last
  position backwards, the solver finds the exact value of every move, as far as it can.

Without search the network learns faster at first, so begin expert iteration where that ended:

    python -m azumaya.baselines.training.value --nodes 300 --start runs/value-sudoku_moyo-1/policy

The agent that comes out plays by one step of lookahead, over all moves; search uses the same value
at full speed: `azumaya evaluate alphabeta:10ms:PATH uct:10ms`.

This file contains the hyperparameters of learning, then the loop, `train`. `value_games.py` has
those of playing, and who plays in both ways. In `azumaya.baselines.values` are `self_play.py`, how
a game is played and its returns, `network.py`, the value, and `learning.py`, the gradient and Adam.
`run.py` has what surrounds the loop: measuring, saving, stopping, the final evaluation and the
learning curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.sidecar import Sidecar, describe, sidecar_of
from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.training import state as states
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import (
    AGENT_FILES,
    Count,
    Numbers,
    Share,
    check_begun,
    check_exact,
)
from azumaya.baselines.training.run import Run, run_training
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.saves import Save
from azumaya.baselines.training.value_games import PlayConfig, Players
from azumaya.baselines.values.champion import (
    SEARCH,
    SearchKind,
    searcher,
    value_to_begin_with,
)
from azumaya.baselines.values.learning import (
    Choices,
    Examples,
    Learner,
    learn_kernel,
    update_average,
)
from azumaya.baselines.values.lessons import Moves, prefer_kernel
from azumaya.baselines.values.network import features_of
from azumaya.baselines.values.value import (
    KIND,
    Value,
    ValueAgent,
    untrained,
    value_files,
)
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.position import episode_key

PROGRAM = "azumaya.baselines.training.value"

# ---- the hyperparameters ----


def agent_files(save: Save) -> dict[str, bytes]:
    """The agent in a save, as the files of a checkpoint called `policy`."""
    return value_files("policy", save.arrays["weights"], sidecar_of(save.notes.get("agent")))


WIDTH = 16
"""Hidden units of a network that begins with nothing."""


@dataclass(frozen=True)
class Config(PlayConfig):
    """Every hyperparameter of a run; `PlayConfig` has those of playing."""

    script = Script(PROGRAM, agent_files, AGENT_FILES, prefix="value-")
    added: ClassVar[Mapping[str, Any]] = {
        "nodes": 0, "exact_nodes": 0, "start": "", "most_moves": 16,
    }  # fmt: skip

    steps: Annotated[int, Numbers(0, 10**15)] = 0
    """Total plies to learn from; the last games are always completed. 0: as many as the time allows
    if `time` is given, otherwise 5 million, or 500,000 with `nodes`."""
    measure_every: Annotated[int, Numbers(0)] = 0
    """Plies between two evaluations for the learning curve; 0: a tenth of the run."""
    start: str = ""
    """The checkpoint of a compiled value to begin with, or `champion`; the default is to begin with
    small random weights and the game's own evaluation. It also sets `width` and `features`."""
    learning_rate: Annotated[float, Numbers(0, 1, above=True)] = 0.002
    """Adam's initial learning rate."""
    final_share: Share = 0.05
    """The learning rate at the end, as a fraction of the initial one."""
    batch: Count = 64
    """Positions in a batch."""
    averaging: Share = 0.98
    """How much of the agent's weights stays after each update; the rest are the weights just
    learned. With 0 the agent has the last weights."""
    search: SearchKind = "alphabeta"
    """The search that the agent plays best with; it is stored with the agent. In games with hidden
    draws it has no effect: there agents search by PUCT."""

    @property
    def usual_steps(self) -> int:
        """As `RunConfig.usual_steps`."""
        return 500_000 if self.nodes else 5_000_000

    def completed(self) -> Self:
        """As `RunConfig.completed`; also takes the sizes from the network to begin with.

        A run that is resumed has begun: it keeps its sizes, whatever `start` is by now.

        Raises:
            OptionError: also if other sizes were given, or if nothing can be exact.
        """
        config = super().completed()
        check_exact(config.exact_nodes, config.game)
        if config.exact_nodes and not config.nodes:
            raise OptionError(
                f"--exact-nodes {config.exact_nodes}: only games of a search are examined; give "
                "--nodes, too"
            )
        config = replace(config, games=config.games or (32 if config.nodes else 128))
        if not config.start:
            sizes = dict[str, Any](width=WIDTH, features="shared")
        elif config.continues:
            sizes = self.stored_in(self.folder.path)
        else:
            value = value_to_begin_with(config.start, find_game(config.game), config.options)
            sizes = {"width": value.width, "features": "plain" if value.plain else "shared"}
            check_begun(config, sizes)
        width, features = config.width or sizes["width"], config.features or sizes["features"]
        return replace(config, width=width, features=features)

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar:
        """The sidecar of this run's checkpoints."""
        game = find_game(self.game)
        kind = features_of(game, self.plain).kind
        notes = {"features": kind, "seed": self.seed, SEARCH: self.search, **notes}
        sizes = {"width": self.width}
        return describe(game, num_actions, KIND, sizes, options=dict(self.options), notes=notes)


# ---- the loop ----

QUESTIONS = 16
"""Questions in a batch."""


@dataclass(kw_only=True)
class State(states.State):
    """Everything that an update changes.

    Attributes:
        average: the agent's parameters, an average over the last updates; rows of features that
            have never occurred are zero, or as in the network that learning began with.
        latest: the parameters that learn, and with which games are played.
        mean, square, batches: what Adam keeps, see `Learner`.
    """

    learning = "latest"

    average: np.ndarray = field(metadata={"name": "weights"})
    latest: np.ndarray = field(metadata={"name": "weights.latest"})
    mean: np.ndarray = field(metadata={"name": "adam.mean"})
    square: np.ndarray = field(metadata={"name": "adam.square"})
    batches: np.ndarray = field(metadata={"name": "adam.steps"})


def initial_state(config: Config) -> tuple[State, Learner]:
    """The state before the first update, and the learner that shares its arrays."""
    game, shape = find_game(config.game), config.shape
    if config.start and not config.continues:
        latest = value_to_begin_with(config.start, game, config.options).weights.copy()
        average = latest.copy()
    else:
        value = untrained(game, config.width, config.seed, config.options, config.plain)
        latest, average = value.weights, value.weights.copy()
        shape.first_layer(average)[:] = 0  # until something has been learned from a row
    learner = Learner.new(shape, latest)
    state = State(
        average=average, latest=latest, mean=learner.mean, square=learner.square,
        batches=learner.steps,
    )  # fmt: skip
    return state, learner


def train(run: Run[Config]) -> None:
    """Play games, learn from them once, until all steps are done."""
    config, game = run.config, find_game(run.config.game)
    state, learner = initial_state(config)
    value = Value(game, config.width, state.average, plain=config.plain)
    position, learn = Position(game, **config.options), learn_kernel(value.shape)

    def searching(milliseconds: float) -> Agent:
        return searcher(value, position, config.search, milliseconds=milliseconds)

    with closing(Players(config)) as players:
        for update in run.updates(state, lambda: ValueAgent(value), searching, exam=True):
            keys = [episode_key(config.seed, g, update) for g in range(config.games)]
            games, choices = players.play(np.array(keys, np.uint64), state.latest)
            rate = config.learning_rate * (1 - (1 - config.final_share) * run.progress)
            order = np.random.default_rng((config.seed, update)).permutation(len(games.targets))
            error = learn(order, config.batch, rate, Examples.of(games), learner)
            metrics = {
                "error": float(error),
                "plies": float(games.lengths.mean()),
                "player_0": float(np.sign(games.results).mean()),
            }
            if choices:
                metrics["right"] = learn_choices(choices, config, update, rate, learner)
            if config.nodes:
                metrics["questions"] = len(choices.moves) / config.games if choices else 0.0
            updates, most = state.updates + 1, config.averaging
            update_average(state.average, learner, config.shape, updates, most)
            run.learned(len(order), metrics)


def learn_choices(
    choices: Choices, config: Config, update: int, rate: float, learner: Learner
) -> float:
    """Learn once which moves are right; returns how often the best-valued one was, 0 to 1."""
    order = np.random.default_rng((config.seed, update)).permutation(len(choices.moves))
    prefer = prefer_kernel(config.shape)
    return float(prefer(order, QUESTIONS, rate, Moves.of(choices), Examples.of(choices), learner))


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, train)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    # under the name that workers import, so that what they are sent has that name, too
    run_script(import_module(PROGRAM).run_words)
