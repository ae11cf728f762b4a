"""Pairings of agents, and their scores."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.baselines.agents.asking import name_of
from azumaya.baselines.agents.names import agent_for
from azumaya.baselines.arena.intervals import of_pairs, wilson
from azumaya.baselines.arena.rounds import AT_ONCE, Rounds, start_set
from azumaya.envs import OptionError
from azumaya.envs.adapters.duel.opponents import Opponent
from azumaya.envs.notation import check_options_fit, check_records_file, write_records
from azumaya.envs.position import MAX_SEED, check_seed
from azumaya.envs.whole import whole_number

MOST_STARTS = 1_000_000
"""The most starts of a pairing. All games are in memory at once: about 10 GB at this limit."""

__all__ = ["MOST_STARTS", "Score", "check_starts", "play_pairing"]


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


def play_pairing(
    game: str,
    first: Opponent | str,
    second: Opponent | str,
    starts: int,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
    balanced: bool = True,
    record: str | Path | None = None,
) -> Score:
    """Let two agents play the same starts in both seats: `2 * starts` games.

    Agents with a method `act_states` (see `azumaya.baselines.agents.states`) choose moves on state
    records, without an object for each position.

    Args:
        game: the name of the game.
        first: the agent whose wins are counted: any object with `act(positions, keys)`, see
            `azumaya.baselines.agents.Agent`, or a name that `find_agent` knows. The score has its
            `name` or that of its class.
        second: its opponent, of the same kind.
        starts: the number of start positions to draw, up to `MOST_STARTS`.
        seed: the seed of the first start; each further start takes the next one, so the largest
            possible value is `2**64 - starts`. Everything random depends on these seeds.
        options: the options of the game.
        progress: called with the number of games finished since the last call.
        balanced: whether to draw the starts from the game's book of balanced starts. Games without
            a book, and options other than the defaults, have plain starts in any case.
        record: a file to which the games are appended as records once all have been played, the two
            of each start one after the other (needs the extra `records`).

    Raises:
        OptionError: an argument or option has an invalid value.
        CheckpointError: an agent cannot be made, as for `find_agent`.
        MissingExtraError: the agent or `record` needs a package that is not installed.
        PositionError: the option `position` is malformed, impossible or over.
        IllegalActionError: an agent's move is illegal, or it gave too many or too few.
        OSError: the records cannot be written.
    """
    agents = agent_for(first, "first"), agent_for(second, "second")
    names = name_of(agents[0]), name_of(agents[1])
    seed = check_starts(starts, seed)
    begun = start_set(game, options, seed, balanced)
    if record is not None:
        check_records_file(record, "record")
        check_options_fit(begun.game, begun.setup)
    numbers = [number for number in range(starts) for _ in (0, 1)]
    games = Rounds(begun, numbers, [0, 1] * starts, recorded=record is not None)
    while len(games.running):
        finished = games.play_round(agents, names)
        if progress is not None and finished:
            progress(finished)
    if record is not None:
        records = games.records(names)
        while some := list(itertools.islice(records, AT_ONCE)):
            write_records(record, some)
    return _score(games, *names)


def check_starts(starts: Any, seed: Any) -> int:
    """Check `starts` and `seed`; returns the seed as an int.

    Raises:
        OptionError: `starts` or `seed` is out of range, or there are not enough seeds.
    """
    count, first = whole_number(starts, "starts", 1, MOST_STARTS), check_seed(seed)
    if first + count - 1 > MAX_SEED:
        raise OptionError(
            f"seed={first}, starts={starts}: each start takes the next seed, and the largest seed "
            "is 2**64 - 1; pass fewer starts or a smaller seed"
        )
    return first


def _score(games: Rounds, first: str, second: str) -> Score:
    gains = np.sign(games.gains())  # by points more than one can be gained
    by_seat = [gains[games.first_seats == seat] for seat in (0, 1)]
    wins = [int((gained > 0).sum()) for gained in by_seat]
    draws = [int((gained == 0).sum()) for gained in by_seat]
    losses = int((gains < 0).sum())
    halves = gains.reshape(-1, 2).sum(axis=1) + 2
    pairs = tuple(np.bincount(halves, minlength=5).tolist())
    return Score(
        first, second, sum(wins), sum(draws), losses, (wins[0], wins[1]), (draws[0], draws[1]),
        pairs,
    )  # fmt: skip
