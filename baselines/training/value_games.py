"""The games from which `value.py` learns: who plays them, how, and in which threads or processes.

`Player` plays by one step of lookahead, `Teacher` by search; `Players` has one for each thread or
worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of, payoff_bound, without_hidden_draws
from azumaya.baselines.training.config import Numbers, RunConfig, Share
from azumaya.baselines.training.crews import crew_of
from azumaya.baselines.values.learning import Choices, GameExamples, joined, viewed
from azumaya.baselines.values.lessons import (
    Examiner,
    Questions,
    study_kernel,
)
from azumaya.baselines.values.network import F32, Shape
from azumaya.baselines.values.self_play import (
    Habits,
    Workspace,
    look_back,
    move_kernel,
    self_play_kernel,
)
from azumaya.baselines.values.value import MOST_WIDTH, Value, shape_of
from azumaya.envs import Position, find_game
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.rng import random_word
from azumaya.envs.setup import prepare

# ---- the hyperparameters ----


@dataclass(frozen=True)
class PlayConfig(RunConfig):
    """The options of a run that say how games are played, and by what network."""

    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that play games. Results do not depend on their number."""
    features: Literal["shared", "plain"] | None = None
    """Whether numbers, cells and patterns that are alike share weights, or no bit shares any; the
    default is `shared`."""
    width: Annotated[int, Numbers(0, MOST_WIDTH)] = 0
    """Hidden units of the network; 0 means those of `start`, or 16 without one."""
    games: Annotated[int, Numbers(0, 100_000)] = 0
    """Games played between two updates; 0 means 128, or 32 with `nodes`."""
    most_plies: Annotated[int, Numbers(1, 100_000)] = 400
    """A game that lasts longer counts with the value of its last position. One that the game's own
    limit ends counts with its result, which may be a draw, as in search."""
    explore: Share = 0.1
    """Fraction of moves that are random."""
    random_seats: Share = 0.0
    """Fraction of seats, drawn for each game, whose player makes only random moves, so that more
    positions are met in which something can be won."""
    most_moves: Annotated[int, Numbers(0, 1_000_000)] = 16
    """Moves judged in a position without search, drawn at random; with 0 all are."""
    nodes: Annotated[int, Numbers(0, 10**9)] = 0
    """Positions that a search visits for each move; it completes at least one ply. With 0 there is
    no search."""
    exact_nodes: Annotated[int, Numbers(0, 10**9)] = 0
    """Positions that the solver visits at most for each position; 0 means that it is not asked, as
    in games with hidden draws and without search."""
    decay: Share = 0.8
    """TD(lambda)'s lambda: 1 learns from results alone, 0 from the next value alone."""
    workers: Annotated[int, Numbers(0, 1024)] = 0
    """Processes that play games; 0 means threads of this process. Results do not depend on it."""
    ray: str = ""
    """The address of a Ray cluster that plays games, or `local` to start one here."""

    @property
    def plain(self) -> bool:
        """Whether the features are plain."""
        return self.features == "plain"

    @property
    def shape(self) -> Shape:
        """The network's sizes."""
        return shape_of(find_game(self.game), self.width, self.plain)


# ---- players ----


class Played(NamedTuple):
    """What can be learned from some games; choices only if the solver found any."""

    games: GameExamples
    choices: Choices | None = None

    @classmethod
    def joined(cls, parts: Sequence[Played]) -> Played:
        """All parts, of which there is at least one, as one."""
        choices = [part.choices for part in parts if part.choices and len(part.choices.moves)]
        games = joined([part.games for part in parts])
        return cls(games, joined(choices) if choices else None)


class Player:
    """Plays games by one step of lookahead; `Players` has one for each thread or worker."""

    PART: ClassVar[int] = 8
    """Games that a thread or worker plays at a time."""

    def __init__(self, config: PlayConfig) -> None:
        self.config, self.game, self.shape = config, find_game(config.game), config.shape
        self.setup = prepare(self.game, config.options)
        plies = min(config.most_plies, self.game.options.max_steps(self.setup.settings))
        self.habits = Habits(
            config.explore, config.random_seats, config.most_moves or self.setup.num_actions,
            F32(config.decay),
        )  # fmt: skip
        self.space = Workspace.new(self.game, self.shape, self.setup.num_actions, plies)
        self._games = GameExamples.room(self.game, self.shape, self.PART, plies)
        self._starts = self.game.new_states(self.PART)

    def play_games(self, keys: np.ndarray, weights: np.ndarray) -> Played:
        """Play a game for each key; the result depends on keys and weights alone.

        Args:
            keys: the keys of the games, `(G,)` uint64, with `G <= PART`.
            weights: the network's parameters.
        """
        for g, key in enumerate(keys):
            self.game.rules.reset(self._starts, g, self.setup.starts, key)
        play = self_play_kernel(self.game, self.shape)
        play(self._starts, keys, self.habits, weights, self.space, self._games)
        return Played(self._games.first(len(keys)))


HIDDEN = 1 << 40
"""The draws of a game's key that draw what is hidden."""
MEGABYTES = 4
"""Memory for the table of each thread's search; it fits in a core's cache."""


class Teacher(Player):
    """Plays games by search, and asks the solver about their ends.

    Games with hidden draws are searched as if they had none, in a world in which these are drawn
    anew. What a search proves there is no exact value of the game, and the solver is not asked.
    """

    PART = 2

    def __init__(self, config: PlayConfig) -> None:
        super().__init__(config)
        self.weights = np.zeros(self.shape.size, np.float32)
        value = Value(self.game, config.width, self.weights, plain=config.plain)
        start = Position(self.game, **config.options)
        self.bound, kernels = payoff_bound(start), kernels_of(start)
        self.hidden = kernels.hidden_draws
        kernels = without_hidden_draws(kernels)
        self.room = Room(kernels, MEGABYTES, value.evaluation())
        self.study = study_kernel(kernels, self.shape)
        self.move = move_kernel(self.game)
        asks = config.exact_nodes and not self.hidden
        self.examiner = Examiner(start, config.exact_nodes) if asks else None

    def play_games(self, keys: np.ndarray, weights: np.ndarray) -> Played:
        """As `Player.play_games`."""
        self.weights[:] = weights
        return Played.joined([self.play_game(key) for key in keys])

    def play_game(self, key: np.uint64) -> Played:
        """Play a game with the weights as they are."""
        now, notes = self.space.now, self.space.notes
        self.game.rules.reset(now, 0, self.setup.starts, key)
        path = self.search_through(key)
        plies, over = len(path), now["over"][0] != RUNNING
        result = now["payoff"][:1].astype(np.int64)
        last = F32(result[0] / self.bound) if over else notes[plies - 1, 1]
        targets = np.zeros(plies, np.float32)
        look_back(notes, plies, last, self.habits.decay, targets)
        seen = viewed(self.game, self.shape, np.concatenate(path), targets, self.weights)
        games = GameExamples(*seen, np.array([plies]), result)
        if self.examiner is None:
            return Played(games)
        return Played(games, self.choices(self.examiner.ask(path, int(key))))

    def search_through(self, key: np.uint64) -> list[np.ndarray]:
        """Play a game from `space.now` on, and write its notes; returns its running positions.

        A value is final if it is proven or if a random move followed.
        """
        habits, room = self.habits, self.space
        now, world, notes = room.now, room.trial, room.notes
        path: list[np.ndarray] = []
        while now["over"][0] == RUNNING and len(path) < len(notes):
            t = len(path)
            path.append(now.copy())
            world[:] = now
            if self.game.rules.resample is not None:
                drawn = np.uint64(random_word(key, HIDDEN + t))
                self.game.rules.resample(world[0], drawn)
            self.room.forget(int(key) ^ t)
            nodes, memory = self.config.nodes, self.room.memory
            action, value, proven = self.study(world, nodes, self.bound, memory)
            sign, legal = 1 - 2 * int(now["to_move"][0]), room.words[0]
            random = self.move(now, action, key, t, habits.explore, habits.random_seats, legal)
            notes[t] = sign, value, random or (proven and not self.hidden)
        return path

    def choices(self, questions: Questions) -> Choices:
        """Questions as the network sees them; a position that is over has no features."""
        running = questions.running
        states, targets = questions.states[running], questions.targets[running]
        seen = viewed(self.game, self.shape, states, targets, self.weights)
        counts = np.zeros(len(questions.states), np.int64)
        heuristic = np.zeros(len(counts), np.float32)
        counts[running], heuristic[running] = seen.counts, seen.heuristic
        return Choices(
            counts, heuristic, questions.targets, seen.features, questions.counts, questions.right,
            questions.again,
        )  # fmt: skip


# ---- all games of an update, in threads or by a crew ----


class Players:
    """Players in threads or workers; what they play does not depend on which of them plays it.

    Args:
        config: the options of the run.

    Raises:
        OptionError: both processes and Ray are asked for.
        MissingExtraError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """

    def __init__(self, config: PlayConfig) -> None:
        self._crew, self._config = crew_of(config.workers, config.ray), config
        self._make = Teacher if config.nodes else Player
        self._free: SimpleQueue[Player] = SimpleQueue()
        if self._crew is None:
            for _ in range(config.threads):
                self._free.put(self._make(config))
        self._pool = ThreadPoolExecutor(config.threads)

    def play(self, keys: np.ndarray, weights: np.ndarray) -> Played:
        """Play a game for each key with these weights; returns all, in the order of the keys.

        Raises:
            CrewError: workers keep dying.
        """
        size = self._make.PART  # Ctrl-C takes effect when the games of a part are over
        parts = [keys[at : at + size] for at in range(0, len(keys), size)]
        if self._crew is not None:
            task = self._make, self._config, weights
            return Played.joined(self._crew.run(work, task, parts))
        played = [self._pool.submit(self._play_part, part, weights) for part in parts]
        try:
            return Played.joined([part.result() for part in played])
        finally:
            for part in played:
                part.cancel()

    def _play_part(self, keys: np.ndarray, weights: np.ndarray) -> Played:
        player = self._free.get()
        try:
            return player.play_games(keys, weights)
        finally:
            self._free.put(player)

    def close(self) -> None:
        """End the threads and workers."""
        self._pool.shutdown()
        if self._crew is not None:
            self._crew.close()


# ---- in a worker ----


def work(task: tuple[type[Player], PlayConfig, np.ndarray], keys: np.ndarray) -> Played:
    """Play some games in a worker, which keeps its player until another run begins."""
    make, config, weights = task
    played: Played = kept_for(config, make).play_games(keys, weights)
    return played


def kept_for(config: PlayConfig, make: Callable[[Any], Any]) -> Any:
    """What a worker keeps while it plays for a run; made with the first job of that run."""
    run = make, config
    if not _KEPT or _KEPT[0][0] != run:
        _KEPT[:] = [(run, make(config))]
    return _KEPT[0][1]


_KEPT: list[tuple[tuple[Callable[[Any], Any], PlayConfig], Any]] = []
"""What is kept, after what it was made by and from; nothing before the first job."""
