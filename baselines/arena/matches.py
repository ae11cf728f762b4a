"""Games between agents, many at once, and their scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from azumaya.baselines.arena.intervals import Z95, wilson
from azumaya.envs import IllegalActionError, OptionError, Position
from azumaya.envs.adapters.duel.opponents import Opponent, ask, class_hint, is_agent
from azumaya.envs.errors import brief
from azumaya.envs.position import MAX_SEED, check_seed, episode_key
from azumaya.envs.whole import whole_number

LOOKS = 1 << 20
"""Keys from this environment number on resample what an agent may not see."""


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
        """The number of games played."""
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> float:
        """The share of games won, counting a draw as half a win."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def rate_by_seat(self) -> tuple[float, float]:
        """`rate` as player_0 and as player_1; each seat has half of the games."""
        both = zip(self.by_seat, self.draws_by_seat, strict=True)
        first, second = ((2 * wins + draws) / self.games for wins, draws in both)
        return first, second

    def interval(self, z: float = Z95) -> tuple[float, float]:
        """Wilson's confidence interval for `rate`, by default at 95 %."""
        return wilson(self.rate, self.games, z)


@dataclass
class _Game:
    number: int
    first_seat: int
    position: Position
    moves: list[str] = field(default_factory=list)


def play_pairing(
    game: str,
    first: Opponent,
    second: Opponent,
    starts: int,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Score:
    """Let two agents play the same starts in both seats: `2 * starts` games.

    Args:
        game: the name of the game.
        first: the agent whose wins are counted: any object with `act(positions, keys)`, see
            `azumaya.baselines.agents.Agent`. The score has its `name` or that of its class.
        second: its opponent, of the same kind.
        starts: the number of start positions to draw.
        seed: the seed of the first start; each further start takes the next one, so the largest
            possible value is `2**64 - starts`. Everything random depends on these seeds.
        options: the options of the game.
        progress: called with the number of games finished since the last call.

    Raises:
        OptionError: an argument or option has an invalid value.
        PositionError: the option `position` is malformed, impossible or over.
        IllegalActionError: an agent's move is illegal, or it gave too many or too few.
    """
    names = name_of(first, "first"), name_of(second, "second")
    seed = check_starts(starts, seed)
    games = [
        _Game(number, seat, Position(game, seed=seed + number, **(options or {})))
        for number in range(starts)
        for seat in (0, 1)
    ]
    running, ply = games, 0
    while running:
        for which, agent in enumerate((first, second)):
            turn = [g for g in running if _agent_to_move(g) == which]
            _move(turn, agent, names[which], seed, ply)
        finished = [g for g in running if g.position.is_over]
        running = [g for g in running if not g.position.is_over]
        ply += 1
        if progress is not None and finished:
            progress(len(finished))
    return _score(games, *names)


def check_starts(starts: Any, seed: Any) -> int:
    """Check `starts` and `seed`; returns the seed as an int.

    Raises:
        OptionError: `starts` or `seed` is out of range, or there are not enough seeds.
    """
    count, first = whole_number(starts, "starts", 1), check_seed(seed)
    if first + count - 1 > MAX_SEED:
        raise OptionError(
            f"seed={first}, starts={starts}: each start takes the next seed, and the largest seed "
            "is 2**64 - 1; pass fewer starts or a smaller seed"
        )
    return first


def name_of(agent: Any, argument: str) -> str:
    """The name of an agent in scores; raises `OptionError` for an object without `act`."""
    if not is_agent(agent):
        raise OptionError(
            f"{argument}={brief(agent)}: must be an agent, an object with act(positions, keys)"
            f"{_instead(agent)}"
        )
    return str(getattr(agent, "name", type(agent).__name__))


def _instead(given: Any) -> str:
    """What to pass instead of a name, a checkpoint's path or a class."""
    if isinstance(given, type):
        return class_hint([given])
    if isinstance(given, str | os.PathLike):
        return ", such as RandomAgent(), GreedyAgent() or PolicyAgent.load(path)"
    return ", such as GreedyAgent()"


def _agent_to_move(game: _Game) -> int | None:
    """0 if the first agent is to move, 1 if the second, None when the game is over."""
    return None if game.position.is_over else game.position.to_move ^ game.first_seat


def _move(games: Sequence[_Game], agent: Opponent, name: str, seed: int, ply: int) -> None:
    if not games:
        return
    keys = [int(episode_key(seed, g.number, 2 * ply + g.first_seat)) for g in games]
    views = [g.position.resample_hidden(key ^ LOOKS) for g, key in zip(games, keys, strict=True)]
    for game, action in zip(games, ask(agent, views, keys, name), strict=True):
        try:
            game.position.play(action)
        except ValueError as error:
            raise IllegalActionError(f"{name}'s {error}") from error


def _score(games: Sequence[_Game], first: str, second: str) -> Score:
    gains = [(g.first_seat, g.position.returns()[g.first_seat]) for g in games]
    wins = [sum(gain > 0 for seat, gain in gains if seat == s) for s in (0, 1)]
    draws = [sum(gain == 0 for seat, gain in gains if seat == s) for s in (0, 1)]
    losses = sum(gain < 0 for _, gain in gains)
    return Score(
        first, second, sum(wins), sum(draws), losses, (wins[0], wins[1]), (draws[0], draws[1])
    )
