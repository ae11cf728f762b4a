"""Games between agents, many at once, and the table of their results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from azumaya.baselines.agents.base import Agent
from azumaya.envs import OptionError, Position
from azumaya.envs.position import check_seed, episode_key

LOOKS = 1 << 20
"""Keys from this environment number on are for what an agent may not see."""


@dataclass(frozen=True)
class Score:
    """The result of a pairing, as the first agent sees it.

    Attributes:
        first: the agent whose wins are counted.
        second: its opponent.
        wins: games won by the first agent.
        draws: games drawn or cut off.
        losses: games lost.
        by_seat: wins of the first agent as player_0 and as player_1.
        draws_by_seat: likewise games drawn or cut off.
    """

    first: str
    second: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    by_seat: tuple[int, int] = (0, 0)
    draws_by_seat: tuple[int, int] = (0, 0)

    @property
    def games(self) -> int:
        """How many games were played."""
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> float:
        """Wins, draws counted half, by games."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def rate_by_seat(self) -> tuple[float, float]:
        """`rate` as player_0 and as player_1, half of the games each."""
        both = zip(self.by_seat, self.draws_by_seat, strict=True)
        first, second = ((2 * wins + draws) / self.games for wins, draws in both)
        return first, second

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """Wilson's interval for `rate`, by default at 95 %."""
        n, p = self.games, self.rate
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass
class _Game:
    number: int
    first_seat: int
    position: Position
    moves: list[str] = field(default_factory=list)


def play_pairing(
    game: str,
    first: Agent,
    second: Agent,
    starts: int,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Score:
    """Let two agents play the same starts in both seats: `2 * starts` games.

    Args:
        game: the game's name.
        first: the agent whose wins are counted.
        second: its opponent.
        starts: how many start positions are drawn.
        seed: draws the starts and all else that chance decides.
        options: the game's options.
        progress: called with the number of games finished since the last call.

    Raises:
        OptionError: an argument or option has a value it cannot take.
        PositionError: the option `position` is malformed, impossible or over.
    """
    _check(first, second, starts)
    seed = check_seed(seed)
    games = [
        _Game(number, seat, Position(game, seed=seed + number, **(options or {})))
        for number in range(starts)
        for seat in (0, 1)
    ]
    running, ply = games, 0
    while running:
        for seat, agent in ((0, first), (1, second)):
            turn = [g for g in running if _agent_to_move(g) == seat]
            _move(turn, agent, seed, ply)
        finished = [g for g in running if g.position.is_over]
        running = [g for g in running if not g.position.is_over]
        ply += 1
        if progress is not None and finished:
            progress(len(finished))
    return _score(games, first.name, second.name)


def _check(first: Any, second: Any, starts: Any) -> None:
    for name, agent in (("first", first), ("second", second)):
        if not isinstance(agent, Agent):
            raise OptionError(f"{name}={agent!r}: must be an Agent, like GreedyAgent()")
    if not isinstance(starts, Integral) or isinstance(starts, bool) or starts < 1:
        raise OptionError(f"starts={starts!r}: a whole number from 1 is needed")


def _agent_to_move(game: _Game) -> int | None:
    """0 if the first agent is to move, 1 if the second, None when the game is over."""
    return None if game.position.is_over else game.position.to_move ^ game.first_seat


def _move(games: Sequence[_Game], agent: Agent, seed: int, ply: int) -> None:
    if not games:
        return
    keys = [int(episode_key(seed, g.number, 2 * ply + g.first_seat)) for g in games]
    views = [g.position.resample_hidden(key ^ LOOKS) for g, key in zip(games, keys, strict=True)]
    for game, action in zip(games, agent.act(views, keys), strict=True):
        game.position.play(action)


def _score(games: Sequence[_Game], first: str, second: str) -> Score:
    gains = [(g.first_seat, g.position.returns()[g.first_seat]) for g in games]
    wins = [sum(gain > 0 for seat, gain in gains if seat == s) for s in (0, 1)]
    draws = [sum(gain == 0 for seat, gain in gains if seat == s) for s in (0, 1)]
    losses = sum(gain < 0 for _, gain in gains)
    return Score(
        first, second, sum(wins), sum(draws), losses, (wins[0], wins[1]), (draws[0], draws[1])
    )
