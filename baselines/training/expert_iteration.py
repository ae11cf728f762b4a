"""Train a value by expert iteration: search teaches the network that it searches with.

    python -m azumaya.baselines.training.expert_iteration --game sudoku_moyo --seed 1

A small network estimates who wins a position (`azumaya.baselines.values`). It plays games against
itself, and alpha-beta with the network at the horizon chooses the moves. Searching makes a value
better, and so the network learns what the search found: each position of a game is moved towards a
mixture of the value that its search found, the values that followed it, and the result. With
`--exact-nodes` it also learns which moves are right near the end: from the last position backwards,
the solver finds the exact value of every move, as far as it can.

Without search the network learns faster at first, so begin where `td_value` ended:

    python -m azumaya.baselines.training.expert_iteration --start runs/td_value-sudoku_moyo-1/policy

The agent that comes out plays by one step of lookahead; search uses the same value at full speed:
`azumaya evaluate alphabeta:10ms:PATH uct:10ms`.

This file contains, from top to bottom: the hyperparameters; playing games; and learning.
`questions.py` has what the solver finds out about a game, `players.py` the threads and workers, and
`value_run.py` what else the scripts share that train a compiled value. Measuring, saving, stopping,
the final evaluation and the learning curve are in `session.py`, which all training scripts share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Annotated, Any, Self

import numpy as np

from azumaya.baselines.arena.matches import Score
from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import (
    kernels_of,
    payoff_bound,
    without_hidden_draws,
)
from azumaya.baselines.training.checks import Count, Numbers, flag
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.session import run_training
from azumaya.baselines.training.value_config import ValueConfig
from azumaya.baselines.training.value_run import (
    ValueRun,
    value_agent_files,
)
from azumaya.baselines.values.champion import CHAMPION, champion_value
from azumaya.baselines.values.feature_sets import features_of
from azumaya.baselines.values.joined import offsets_of
from azumaya.baselines.values.lessons import (
    imagine_kernel,
    move_kernel,
    study_kernel,
    view_all_kernel,
)
from azumaya.baselines.values.network import scratch_words
from azumaya.baselines.values.questions import Examiner, Questions
from azumaya.baselines.values.value import MOST_WIDTH, Value, load_value, shape_of
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.game import RUNNING
from azumaya.envs.setup import prepare

PROGRAM = "azumaya.baselines.training.expert_iteration"

# ---- the hyperparameters ----


@dataclass(frozen=True)
class Config(ValueConfig):
    """Every hyperparameter of a run; `ValueConfig` has those that other scripts share."""

    script = Script(PROGRAM, value_agent_files, AGENT_FILES, prefix="expert_iteration-")

    steps: Annotated[int, Numbers(1, 10**15)] = 500_000
    """Total plies to learn from; the last games are always completed."""
    measure_every: Count = 50_000
    """Plies between two evaluations for the learning curve."""
    games: Annotated[int, Numbers(1, 100_000)] = 32
    """Games played between two updates."""
    start: str = ""
    """The checkpoint of a compiled value to begin with, or `champion`; the default is to begin with
    small random weights and the game's own evaluation. It also sets `width` and `features`."""
    width: Annotated[int, Numbers(0, MOST_WIDTH)] = 0
    """Hidden units of the network; 0 means those of `start`, or 16 without one."""
    nodes: Annotated[int, Numbers(1, 10**9)] = 300
    """Positions that the teacher's search visits for each move; it completes at least one ply."""
    exact_nodes: Annotated[int, Numbers(0, 10**9)] = 0
    """Positions that the solver visits at most for each position; 0 means that it is not asked, as
    in games with hidden draws."""

    def completed(self) -> Self:
        """As `RunConfig.completed`; also takes the sizes from the network to begin with.

        A run that is resumed has begun: it keeps its sizes, whatever `start` is by now.

        Raises:
            OptionError: also if other sizes were given, or if nothing can be exact.
        """
        config = super().completed()
        if config.exact_nodes and find_game(config.game).rules.resample is not None:
            raise OptionError(
                f"--exact-nodes {config.exact_nodes}: in {config.game} draws are hidden, so no "
                "value is exact; leave --exact-nodes out"
            )
        if not config.start:
            return replace(config, width=config.width or ValueConfig.width)
        if config.continues:
            stored = self.stored_in(self.run.path)
            features = self.features or stored["features"]
            return replace(config, width=config.width or stored["width"], features=features)
        value = start_value(config)
        sizes = dict[str, Any](width=value.width, features="plain" if value.plain else "shared")
        for name, size in sizes.items():
            given = getattr(self, name)
            if given and given != size:
                raise OptionError(
                    f"{flag(name)} {given}: start={self.start!r} has {size}; leave {flag(name)} out"
                )
        return replace(config, **sizes)


def start_value(config: Config) -> Value:
    """The network to begin with.

    Raises:
        OptionError: it is of another game or of other payoffs, or there is no champion.
        CheckpointError: the file cannot be read.
    """
    game = find_game(config.game)
    value = champion_value(game) if config.start == CHAMPION else load_value(config.start)
    if value.game is not game:
        raise OptionError(f"start={config.start!r}: is of {value.game.id}, not {game.id}")
    here = payoff_bound(Position(game, **config.options))
    there = value.weights[value.shape.bound]
    if here != there:
        raise OptionError(
            f"start={config.start!r}: learned fractions of a payoff of {there:g}, but with these "
            f"options the largest is {here}"
        )
    return value


# ---- playing ----

PART = 2
"""Games that a thread or worker plays at a time."""
MEGABYTES = 4
"""Memory for the table of each thread's search; it fits in a core's cache."""


@dataclass(frozen=True)
class Lessons:
    """What can be learned from one game.

    Attributes:
        states: its positions, `(plies,)` states.
        values: their values for player_0, `(plies,)` float32, as fractions of the largest payoff.
        questions: those near its end.
        result: player_0's payoff.
    """

    states: np.ndarray
    values: np.ndarray
    questions: Questions
    result: int


class Teacher:
    """Plays games and finds out what can be learned; `Players` has one for each thread or worker.

    Games with hidden draws are searched as if they had none, in a world in which these are drawn
    anew. What a search proves there is no exact value of the game, and the solver is not asked.
    """

    def __init__(self, config: Config) -> None:
        self.config, self.game = config, find_game(config.game)
        shape = shape_of(self.game, config.width, config.plain)
        self.weights = np.zeros(shape.size, np.float32)
        value = Value(self.game, config.width, self.weights, plain=config.plain)
        self.setup = prepare(self.game, config.options)
        start = Position(self.game, **config.options)
        self.bound, kernels = payoff_bound(start), kernels_of(start)
        self.hidden = kernels.hidden_draws
        kernels = without_hidden_draws(kernels)
        self.room = Room(kernels, MEGABYTES, value.evaluation())
        self.memory = self.room.memory
        self.study = study_kernel(kernels, shape)
        self.imagine, self.move = imagine_kernel(self.game), move_kernel(kernels)
        self.now, self.world = self.game.new_states(1), self.game.new_states(1)
        self.words = np.zeros(kernels.words, np.uint64)
        asks = config.exact_nodes and not self.hidden
        self.examiner = Examiner(start, config.exact_nodes) if asks else None

    def play_games(self, keys: np.ndarray, weights: np.ndarray) -> list[Lessons]:
        """Play a game for each key; the result depends on keys and weights alone."""
        self.weights[:] = weights
        return [self.lessons(key) for key in keys]

    def lessons(self, key: np.uint64) -> Lessons:
        """Play a game with the weights as they are."""
        self.game.rules.reset(self.now, 0, self.setup.starts, key)
        path, values, fixed = self.play(key)
        over, result = self.now["over"][0] != RUNNING, int(self.now["payoff"][0])
        last = result / self.bound if over else values[-1]
        returns = self.look_back(values, fixed, last)
        return Lessons(np.concatenate(path), returns, self.questions(key, path), result)

    def play(self, key: np.uint64) -> tuple[list[np.ndarray], list[float], list[bool]]:
        """Play a game from `now` on.

        Returns:
            Its positions; their values for player_0; and whether these are final, because they are
            proven or because a random move followed.
        """
        config, now, world = self.config, self.now, self.world
        path: list[np.ndarray] = []
        values, fixed = [], []
        while now["over"][0] == RUNNING and len(path) < config.most_plies:
            t = len(path)
            path.append(now.copy())
            self.imagine(now, world, key, t)
            self.room.forget(int(key) ^ t)
            action, value, proven = self.study(world, config.nodes, self.bound, self.memory)
            random = self.move(now, action, key, t, config.explore, config.random_seats, self.words)
            values.append(value)
            fixed.append(random or (proven and not self.hidden))
        return path, values, fixed

    def questions(self, key: np.uint64, path: list[np.ndarray]) -> Questions:
        """The questions of a game, if the solver is to be asked."""
        if self.examiner is None:
            return Questions.none(self.game)
        return self.examiner.ask(path, int(key))

    def look_back(self, values: list[float], fixed: list[bool], last: float) -> np.ndarray:
        """The TD(lambda) returns of a game, `(plies,)` float32; `last` is the value of its end."""
        decay, behind = self.config.decay, last
        returns = np.zeros(len(values), np.float32)
        for t in reversed(range(len(values))):
            if fixed[t]:
                behind = values[t]
            elif t < len(values) - 1:
                behind = decay * behind + (1 - decay) * values[t]
            returns[t] = behind
        return returns


# ---- learning ----

CHUNK = 4096
"""Positions whose features are kept at a time."""


class ExpertLearner(ValueRun):
    """Expert iteration in a training session."""

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__(config, Teacher, PART)
        if config.start and not config.continues:
            self.weights[:] = self.average[:] = start_value(config).weights
        self._view_all = view_all_kernel(self.game, self.shape)
        self._scratch = np.zeros(scratch_words(self.game, self.shape), np.uint64)
        self._rows = (
            np.zeros(CHUNK * features_of(self.game, config.plain).room, np.int32),
            np.zeros(CHUNK + 1, np.int64),
            np.zeros(CHUNK, np.float32),
            np.zeros(CHUNK, np.float32),
        )

    def play_and_learn(self) -> tuple[int, dict[str, float]]:
        """Play games and learn from them once; returns the plies learned from, and metrics."""
        played = self.players.play(self.keys(), self.weights)
        games = [game for part in played for game in part]
        states = np.concatenate([game.states for game in games])
        values = np.concatenate([game.values for game in games])
        questions = Questions.joined([game.questions for game in games])
        order = np.random.default_rng((self.config.seed, self.updates)).permutation(len(states))
        error = 0.0
        for at in range(0, len(order), CHUNK):
            rows = order[at : at + CHUNK]
            error += self.learn_from(states[rows], values[rows])
        metrics = {
            "error": error / len(states),
            "plies": len(states) / len(games),
            "questions": len(questions.counts) / len(games),
            "player_0": float(np.mean([np.sign(game.result) for game in games])),
        }
        if len(questions.counts):
            metrics["right"] = self.learn_choices(questions)
        return len(states), metrics

    def learn_from(self, states: np.ndarray, values: np.ndarray) -> float:
        """Learn from up to `CHUNK` positions, `(n,)`; returns the sum of the squared errors."""
        self._view_all(states, values, self.weights, self._scratch, *self._rows)
        return len(states) * self.fit(np.arange(len(states)), *self._rows)

    def learn_choices(self, questions: Questions) -> float:
        """Learn from questions which moves are right; returns how often the best-valued one was."""
        total = len(questions.states)
        counts, begun = np.zeros(total, np.int64), np.zeros(total, np.float32)
        found, offsets, starts, _ = self._rows
        features, running = [found[:0]], questions.running
        for at in range(0, len(running), CHUNK):
            rows = running[at : at + CHUNK]
            states, values, n = questions.states[rows], questions.values[rows], len(rows)
            self._view_all(states, values, self.weights, self._scratch, *self._rows)
            counts[rows], begun[rows] = np.diff(offsets[: n + 1]), starts[:n]
            features.append(found[: offsets[n]].copy())
        return self.prefer(
            questions.firsts, questions.right, questions.again, np.concatenate(features),
            offsets_of(counts), begun, questions.targets,
        )  # fmt: skip


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, ExpertLearner)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    # under the name that workers import, so that what they are sent has that name, too
    run_script(import_module(PROGRAM).run_words)
