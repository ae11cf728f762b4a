"""A game that is over in the eyes of a search: values, best moves, mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from azumaya.baselines.arena.exams import keeps
from azumaya.baselines.search.analysis import analyse
from azumaya.envs import Position
from azumaya.envs.notation import GameRecord, replay
from azumaya.envs.position import episode_key
from azumaya.envs.render.pointing import point_at

MISTAKE = 0.4
"""A move whose cost is estimated counts as a mistake if it costs this share of what is at stake:
the largest value of the game, at least 1."""

Told = Callable[[int, int], None]
"""`told(done, all)`: called as the work goes on."""


class Seen(TypedDict):
    """What a search says about a position.

    Attributes:
        value: what player_0 ends with, with best play by both.
        exact: whether that is proven.
        mover: the player to move.
        best: how to point at the best move, as `[name, label, path]`; None if the game is over.
    """

    value: float
    exact: bool
    mover: int
    best: list[Any] | None


def seen(position: Position, ply: int, **budget: Any) -> Seen:
    """What a search says about the position of a game after `ply` moves.

    Args:
        position: the position.
        ply: decides the random draws of the search.
        budget: as for `analyse`, by name.

    Raises:
        OptionError: not exactly one budget is given, or it is not above 0.
    """
    ends = float(position.returns()[0])
    if position.is_over:
        return Seen(value=ends, exact=True, mover=position.to_move, best=None)
    found = analyse(position, key=int(episode_key(0, 0, ply)), **budget)
    gain = found.value if found.to_move == 0 else -found.value
    best = point_at(position, found.best)
    return Seen(
        value=ends + gain,
        exact=found.exact,
        mover=found.to_move,
        best=[best.name, best.label, list(best.paths[0])],
    )


def review_of(record: GameRecord, told: Told | None = None, **budget: Any) -> list[Seen]:
    """What a search says about each position of a game, the start first.

    Args:
        record: the game.
        told: called after each search.
        budget: for each position, as for `analyse`, by name.

    Raises:
        OptionError: not exactly one budget is given, or it is not above 0.
        RecordError: the record breaks the rules.
    """
    positions, found = list(replay(record)), list[Seen]()
    for ply, position in enumerate(positions):
        found.append(seen(position, ply, **budget))
        if told is not None:
            told(ply + 1, len(positions))
    return found


def mistakes(plies: Sequence[Seen], moves: Sequence[str]) -> list[int]:
    """The numbers of the moves, from 0, that are mistakes.

    Where both values are proven, a move is one if it gives away a win or a draw, or part of a
    loss; otherwise if it costs much more than the best move is likely to.

    Args:
        plies: what a search says of the positions, the start first; perhaps only of the first.
        moves: the names of the moves.
    """
    stake = max([1.0, *(abs(each["value"]) for each in plies)])
    found = []
    for number, (before, after, move) in enumerate(zip(plies, plies[1:], moves, strict=False)):
        if before["best"] is None or before["best"][0] == move:
            continue
        sign = -1 if before["mover"] else 1
        kept, best = sign * after["value"], sign * before["value"]
        proven = before["exact"] and after["exact"]
        if not keeps(kept, best) if proven else best - kept >= MISTAKE * stake:
            found.append(number)
    return found


def as_object(plies: Sequence[Seen], moves: Sequence[str]) -> dict[str, Any]:
    """What a search says of a game, as the page with the game reads it."""
    return {"plies": list(plies), "mistakes": mistakes(plies, moves)}
