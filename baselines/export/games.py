"""Games as a table with a row for every move."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from azumaya.baselines.arena.rounds import StartSet, play_both_seats
from azumaya.baselines.export.columns import (
    POSITION_COLUMNS,
    Column,
    Table,
    facts,
    seen,
    seen_columns,
)
from azumaya.baselines.export.table import check_output, write_table
from azumaya.envs import OptionError, Position, RecordError
from azumaya.envs.adapters.duel.opponents import Opponent
from azumaya.envs.notation import GameRecord, replay

GAMES = "games"
AT_ONCE = 256
"""The most pairs of games that are in memory at once."""
BEFORE = (
    Column("game", "int64", "The number of the game, from 0."),
    Column("ply", "int32", "The number of the move in its game, from 0."),
)
AFTER = (
    Column("action", "int32", "The action that the mover chose."),
    Column("move", "string", "The name of this move."),
    Column("reward", "int32", "What the mover gains by this move; the opponent loses as much."),
    Column("result", "int32", "What the mover has gained after the last move of the game."),
    Column("terminated", "bool", "Whether the move ends the game by the rules."),
    Column("truncated", "bool", "Whether a limit cuts the game off after the move."),
    Column("player", "string", "The name of the mover."),
    Column("opponent", "string", "The name of the other player."),
    Column(
        "player_rating",
        "float64",
        "The mover's rating in a league, which has default options.",
        nullable=True,
    ),
    Column("opponent_rating", "float64", "The opponent's rating in it.", nullable=True),
)
"""The columns around those of the position."""


def played(
    starts: StartSet, agents: Sequence[tuple[str, Opponent]], pairs: int
) -> Iterator[GameRecord]:
    """The games of a round robin; an agent alone plays against itself.

    Args:
        starts: where the games start.
        agents: the agents with their names.
        pairs: pairs of games, one start and both seats, of any two agents.

    Raises:
        IllegalActionError: an agent's move is illegal, or it gave too many or too few.
    """
    meetings = [*itertools.combinations(agents, 2)] or [(agents[0], agents[0])]
    for (one, first), (other, second) in meetings:
        for skip in range(0, pairs, AT_ONCE):
            count = min(AT_ONCE, pairs - skip)
            _, games = play_both_seats(starts, (first, second), count, recorded=True, skip=skip)
            yield from games.records((one, other))


def export_games(
    records: Iterable[GameRecord],
    output: str | Path,
    *,
    planes: bool = False,
    ratings: Mapping[str, float] = MappingProxyType({}),
) -> int:
    """Write games to `games.parquet` in a folder, a row for every move, with a card.

    Args:
        records: the games, all of one game with the same options; where they start may differ.
        output: the folder, which is made if there is none.
        planes: write observations as int8 planes and masks as int8, not packed in uint64 words.
        ratings: ratings of players, by their names.

    Returns:
        The number of rows.

    Raises:
        OptionError: there are no records, or the folder cannot be used.
        RecordError: a record breaks the rules, or is of another game than the first.
        MissingExtraError: the extra `data` is not installed.
        OSError: a file cannot be written.
    """
    check_output(Path(output), GAMES)
    left = iter(records)
    first = next(left, None)
    if first is None:
        raise OptionError("records: there is no game")
    given, start = _plain_options(first), next(replay(first))
    options = {n: value for n, value in given.items() if n in start.setup.lasting}
    starts = {n: value for n, value in given.items() if n not in options}
    table = Table(
        GAMES,
        f"Games of {start.game.title}, a row for every move. Two players move in turn or as the "
        "game says; columns are from the side of the player to move.",
        (*BEFORE, *POSITION_COLUMNS, *seen_columns(start, planes), *AFTER),
        {"table": GAMES, "options": options, "starts": starts, **facts(start, planes)},
    )
    alike = _compared(itertools.chain([first], left), starts)
    return write_table(Path(output), table, _rows(alike, start, planes, ratings))


def _plain_options(record: GameRecord) -> Mapping[str, Any]:
    """The options of a record as JSON has them."""
    return GameRecord.from_json(record.to_json()).options


def _compared(records: Iterable[GameRecord], starts: dict[str, Any]) -> Iterator[GameRecord]:
    """The records; of `starts`, options that are not the same in all of them are left out."""
    for record in records:
        given = _plain_options(record) if starts else {}
        for name in [n for n, value in starts.items() if given.get(n) != value]:
            del starts[name]
        yield record


def _rows(
    records: Iterable[GameRecord], like: Position, planes: bool, ratings: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    for number, record in enumerate(records):
        try:
            for ply, (before, after) in enumerate(itertools.pairwise(replay(record))):
                if not ply:
                    _check_same(before, like)
                row = _row(record, ply, before, after, ratings)
                yield {"game": number, "ply": ply, **seen(before, planes), **row}
        except RecordError as error:
            raise RecordError(f"game {number}: {error}") from error


def _check_same(start: Position, like: Position) -> None:
    if start.game is not like.game:
        raise RecordError(f"is of {start.game.name}, the first of {like.game.name}; export one")
    if start.setup.rules != like.setup.rules:
        raise RecordError("has other options than the first; export each apart")


def _row(
    record: GameRecord, ply: int, before: Position, after: Position, ratings: Mapping[str, float]
) -> dict[str, Any]:
    """A move and what comes of it, from the side of the mover."""
    mover, move = before.to_move, record.moves[ply]
    player, opponent = record.players[mover], record.players[1 - mover]
    return {
        "action": before.action(move),
        "move": move,
        "reward": after.returns()[mover] - before.returns()[mover],
        "result": int(record.returns[mover]),
        "terminated": after.is_terminated,
        "truncated": after.is_truncated,
        "player": player,
        "opponent": opponent,
        "player_rating": ratings.get(player),
        "opponent_rating": ratings.get(opponent),
    }
