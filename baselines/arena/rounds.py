"""Games between two agents, held as state records and played in rounds, and their score."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.agents.asking import ask, ask_on_states, name_of
from azumaya.baselines.agents.base import GameStates, acts_on_states
from azumaya.baselines.arena.game_options import by_default
from azumaya.baselines.arena.intervals import of_pairs, wilson
from azumaya.baselines.arena.kernels import play_kernel, rows_to_move, views_kernel
from azumaya.baselines.arena.starts import balanced_starts
from azumaya.envs import IllegalActionError, OptionError, Position
from azumaya.envs.adapters.duel.opponents import Opponent
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.notation import GameRecord, record_actions
from azumaya.envs.position import episode_key
from azumaya.envs.registry import find_game
from azumaya.envs.setup import POSITION, Setup, prepare
from azumaya.envs.whole import as_whole

AT_ONCE = 4096
"""The most moves in one call of a compiled agent, so that Ctrl-C is soon noticed."""


class WrongMoveError(IllegalActionError):
    """A move of an agent that is illegal or no move at all.

    Attributes:
        which: 0 if it was the first agent's, 1 if the second's.
    """

    def __init__(self, message: str, which: int = 0) -> None:
        super().__init__(message)
        self.which = which


@dataclass(frozen=True)
class StartSet:
    """The starts of a match: start number `n` is the same for every pair of agents.

    Attributes:
        setup: the prepared options of the game.
        texts: the positions of the game's book; empty if the starts are plain.
        seed: start `n` is drawn by seed `seed + n`; the order of the book depends on it, too.
    """

    game: Game
    setup: Setup
    texts: tuple[str, ...]
    seed: int

    @property
    def balanced(self) -> bool:
        """Whether the starts come from a book of balanced starts."""
        return bool(self.texts)

    def at_most(self, starts: int) -> int:
        """A number of starts, but no more than there are different ones in the book."""
        return min(starts, len(self.texts)) if self.texts else starts

    def different(self, starts: int) -> int:
        """How many different states the first `starts` starts have; plain ones may all be equal."""
        return len({*self.alike(starts)})

    def alike(self, starts: int) -> list[int]:
        """The numbers of the states of the first `starts` starts; equal states have the same."""
        states, found = self.game.new_states(starts), dict[bytes, int]()
        for number in range(starts):
            self.put(number, states, number)
        return [found.setdefault(state.tobytes(), len(found)) for state in states]

    def put(self, number: int, states: np.ndarray, i: int) -> None:
        """Make `states[i]` the start of a number."""
        setup = self.setup
        if self.texts:
            setup = prepare(
                self.game, {**setup.given, POSITION: self._order[number % len(self._order)]}
            )
        key = episode_key(self.seed + number, 0, 0)
        self.game.rules.reset(states, i, setup.starts, key)

    @functools.cached_property
    def _order(self) -> tuple[str, ...]:
        """The book, shuffled; all starts are used once before any is used again."""
        order = np.random.default_rng(self.seed).permutation(len(self.texts))
        return tuple(self.texts[place] for place in order)


def start_set(
    game: Game | str, options: Mapping[str, Any] | None = None, seed: int = 0, balanced: bool = True
) -> StartSet:
    """The starts of a game: balanced ones if there is a book for these options, else plain ones.

    Raises:
        OptionError: there is no such game, or an option has an invalid value.
        PositionError: the option `position` is malformed, impossible or over.
    """
    game = find_game(game)
    setup = prepare(game, options or {})
    covered = balanced and by_default(game, options or {})
    texts = balanced_starts(game.name) if covered else ()
    return StartSet(game, setup, texts, seed)


class Rounds:
    """Games that two agents play at the same time.

    In each round first the first agent moves in every game in which it is to move, then the second.

    Args:
        starts: where the games start.
        numbers: the number of each game's start, `(n,)`.
        first_seats: the seat of the first agent in each game, `(n,)`.
        recorded: whether to keep the moves, from which `records` makes records.

    Attributes:
        states: the games, `(n,)` state records.
        running: the indices of the games that are not over.
        plies: the number of moves made in all games.
    """

    def __init__(
        self,
        starts: StartSet,
        numbers: Sequence[int],
        first_seats: Sequence[int],
        recorded: bool = False,
    ) -> None:
        self.game, self._setup = starts.game, starts.setup
        self._seed = np.uint64(starts.seed)
        self._numbers = np.array(numbers, np.int64)
        self.first_seats = np.array(first_seats, np.int64)
        self.states = self.game.new_states(len(self._numbers))
        for i, number in enumerate(numbers):
            if i and numbers[i - 1] == number:
                self.states[i] = self.states[i - 1]
            else:
                starts.put(number, self.states, i)
        self._starts = self.states.copy()
        self._words = np.zeros(word_count(self._setup.num_actions), np.uint64)
        self._rows = np.empty(len(self._numbers), np.int64)
        self.running = np.arange(len(self._numbers))
        self.turn = self.plies = 0
        self._played: list[tuple[np.ndarray, np.ndarray]] | None = [] if recorded else None

    def play_round(self, agents: Sequence[Opponent], names: Sequence[str]) -> int:
        """Play a round; returns the number of games that have ended in it.

        Raises:
            WrongMoveError: an agent's move is illegal, or it gave too many or too few.
        """
        before = len(self.running)
        for which, agent in enumerate(agents):
            count = rows_to_move(self.states, self.running, self.first_seats, which, self._rows)
            rows = self._rows[:count].copy()
            size = AT_ONCE if acts_on_states(agent) else max(count, 1)
            for first in range(0, count, size):
                self._move(rows[first : first + size], agent, names[which], which)
        self.running = self.running[self.states["over"][self.running] == RUNNING]
        self.turn += 1
        return before - len(self.running)

    def gains(self) -> np.ndarray:
        """What the first agent has gained in each game, `(n,)`."""
        return self.states["payoff"].astype(np.int64) * (1 - 2 * self.first_seats)

    def halves(self) -> np.ndarray:
        """The first agent's half points in each pair of games of `both_seats`, `(n / 2,)`."""
        # by points more than one can be gained
        halves: np.ndarray = np.sign(self.gains()).reshape(-1, 2).sum(axis=1) + 2
        return halves

    def position(self, i: int, state: np.ndarray | None = None) -> Position:
        """Game `i` as a position, or another state of this game."""
        state = self.states[i : i + 1] if state is None else state
        return Position.of_states(self.game, self._setup, state, self._starts[i : i + 1])

    def records(self, names: tuple[str, str]) -> Iterator[GameRecord]:
        """The records of all games, whose moves have been kept; `names` are those of the agents."""
        assert self._played is not None
        rows, actions = (np.concatenate(each) for each in zip(*self._played, strict=True))
        order = np.argsort(rows, kind="stable")  # game by game, the moves of each in their order
        ends = np.searchsorted(rows[order], np.arange(1, len(self.states)))
        for i, moves in enumerate(np.split(actions[order], ends)):
            start = self.position(i, self._starts[i : i + 1])
            players = (names[1], names[0]) if self.first_seats[i] else names
            yield record_actions(start, moves, players)

    def _move(self, rows: np.ndarray, agent: Opponent, name: str, which: int) -> None:
        views, keys = self.game.new_states(len(rows)), np.empty(len(rows), np.uint64)
        views_kernel(self.game)(
            self.states, rows, self._numbers, self.first_seats, self._seed, self.turn, which, views,
            keys,
        )  # fmt: skip
        actions = self._ask(agent, rows, views, keys, name, which)
        size = self._setup.num_actions
        done = play_kernel(self.game)(self.states, rows, actions, self._words, size)
        self.plies += done
        if done < len(rows):
            self._refuse(int(rows[done]), int(actions[done]), name, which)
        if self._played is not None:
            self._played.append((rows, actions))

    def _ask(
        self, agent: Opponent, rows: np.ndarray, views: np.ndarray, keys: np.ndarray,
        name: str, which: int,
    ) -> np.ndarray:  # fmt: skip
        if acts_on_states(agent):
            looks = GameStates(self.game, self._setup.num_actions, views)
            given = ask_on_states(agent, looks, keys, name)
            if given.shape == (len(rows),) and given.dtype.kind in "iu":
                return given.astype(np.int64)
            raise WrongMoveError(
                f"{name}: act_states gave an array of shape {given.shape} and type {given.dtype}; "
                f"({len(rows)},) whole numbers are needed", which,
            )  # fmt: skip
        positions = [self.position(int(i), views[r : r + 1]) for r, i in enumerate(rows)]
        try:
            answers = ask(agent, positions, keys.tolist(), name)
        except IllegalActionError as error:
            raise WrongMoveError(str(error), which) from error
        return np.array(
            [self._number(int(i), a, name, which) for i, a in zip(rows, answers, strict=True)],
            np.int64,
        )

    def _number(self, i: int, answer: Any, name: str, which: int) -> int:
        """What an agent gave for game `i`, a number or a name, as an action of the game."""
        number = as_whole(answer)
        if number is not None and 0 <= number < self._setup.num_actions:
            return number
        try:
            return self.position(i).action(answer)
        except ValueError as error:
            raise WrongMoveError(f"{name}'s {error}", which) from error

    def _refuse(self, i: int, action: int, name: str, which: int) -> None:
        try:
            self.position(i).play(action)
        except ValueError as error:
            raise WrongMoveError(f"{name}'s {error}", which) from error


# ---- pairings ----


@dataclass(frozen=True)
class Score:
    """The result of a pairing from the first agent's side.

    Attributes:
        first: the agent whose wins are counted.
        second: its opponent.
        wins: games won by the first agent.
        draws: games drawn or truncated.
        losses: games lost.
        by_seat: wins of the first agent as player_0 and as player_1.
        draws_by_seat: games drawn or truncated with the first agent as player_0 and as player_1.
        pairs: how many pairs of games, with the same start and swapped seats, gave the first agent
            0, 1, 2, 3 and 4 half points; empty if that is not known.
    """

    first: str
    second: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    by_seat: tuple[int, int] = (0, 0)
    draws_by_seat: tuple[int, int] = (0, 0)
    pairs: tuple[int, ...] = ()

    @property
    def games(self) -> int:
        """The number of games played."""
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> float:
        """The share of games won, counting a draw as half a win.

        Raises:
            OptionError: no games were played; `rate_by_seat` and `interval` raise it, too.
        """
        self._check_played()
        return (self.wins + self.draws / 2) / self.games

    @property
    def rate_by_seat(self) -> tuple[float, float]:
        """`rate` as player_0 and as player_1; each seat has half of the games."""
        self._check_played()
        both = zip(self.by_seat, self.draws_by_seat, strict=True)
        first, second = ((2 * wins + draws) / self.games for wins, draws in both)
        return first, second

    def as_object(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return {
            "first": self.first, "second": self.second, "games": self.games, "wins": self.wins,
            "draws": self.draws, "losses": self.losses, "rate": self.rate,
            "interval": self.interval(), "by_seat": self.rate_by_seat, "pairs": self.pairs,
        }  # fmt: skip

    def interval(self) -> tuple[float, float]:
        """The 95 % interval for `rate`, from the results of pairs, which are independent.

        It is too narrow if agents that leave nothing to chance repeat starts. Where the pairs are
        not known, it is Wilson's, which takes all games as independent.
        """
        return of_pairs(self.pairs) if self.pairs else wilson(self.rate, self.games)

    def _check_played(self) -> None:
        if not self.games:
            raise OptionError(
                f"Score of {self.first} against {self.second}: no games were played, and a rate "
                "needs at least one"
            )


def play_both_seats(
    begun: StartSet,
    agents: tuple[Opponent, Opponent],
    starts: int,
    progress: Callable[[int], None] | None = None,
    recorded: bool = False,
    skip: int = 0,
) -> tuple[Score, Rounds]:
    """Let two agents play starts of a set in both seats; errors as for `play_pairing`.

    They are the first ones after those that are skipped. Each game is the same however many are
    played at once.

    Returns:
        The score, and the games, which have kept their moves if `recorded`.
    """
    games = both_seats(begun, starts, skip, recorded)
    play_out(games, agents, progress)
    return score_of(games, name_of(agents[0]), name_of(agents[1])), games


def both_seats(begun: StartSet, starts: int, first: int = 0, recorded: bool = False) -> Rounds:
    """Games that are to be played: each start in both seats, from number `first` on."""
    numbers = [number for number in range(first, first + starts) for _ in (0, 1)]
    return Rounds(begun, numbers, [0, 1] * starts, recorded)


def play_out(
    games: Rounds, agents: Sequence[Opponent], progress: Callable[[int], None] | None = None
) -> None:
    """Let two agents play games to their ends; `progress` and errors as for `play_pairing`."""
    names = [name_of(agent) for agent in agents]
    while len(games.running):
        finished = games.play_round(agents, names)
        if progress is not None and finished:
            progress(finished)


def score_of(games: Rounds, first: str, second: str) -> Score:
    """The score of games of `both_seats` that have been played, under these names."""
    gains = np.sign(games.gains())  # by points more than one can be gained
    by_seat = [gains[games.first_seats == seat] for seat in (0, 1)]
    wins = [int((gained > 0).sum()) for gained in by_seat]
    draws = [int((gained == 0).sum()) for gained in by_seat]
    losses = int((gains < 0).sum())
    pairs = tuple(np.bincount(games.halves(), minlength=5).tolist())
    return Score(
        first, second, sum(wins), sum(draws), losses, (wins[0], wins[1]), (draws[0], draws[1]),
        pairs,
    )  # fmt: skip
