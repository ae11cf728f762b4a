"""Who plays the games from which `value.py` learns: by one step of lookahead, or by search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np

from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of, payoff_bound, without_hidden_draws
from azumaya.baselines.training.config import Numbers, RunConfig, Share
from azumaya.baselines.values.examples import Choices, Games, joined
from azumaya.baselines.values.lessons import (
    Examiner,
    Questions,
    study_kernel,
    viewed,
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
    """What can be learned from some games; choices only if the solver was asked."""

    games: Games
    choices: Choices | None = None


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
        self._games = Games.room(self.game, self.shape, self.PART, plies)
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
        played = [self.play_game(key) for key in keys]
        games = joined([each.games for each in played])
        return Played(games, joined_choices(played))

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
        games = Games(*seen, np.array([plies]), result)
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
        begun = np.zeros(len(counts), np.float32)
        counts[running], begun[running] = seen.counts, seen.begun
        return Choices(
            counts, begun, questions.targets, seen.found, questions.counts, questions.right,
            questions.again,
        )  # fmt: skip


def joined_choices(played: Sequence[Played]) -> Choices | None:
    """The choices of all games; None if the solver was not asked or found nothing."""
    choices = [each.choices for each in played if each.choices is not None]
    found = joined(choices) if choices else None
    return found if found is not None and len(found.moves) else None
