"""Game records: one JSON object a line, with everything needed to play the game again."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

from azumaya.envs.errors import RecordError
from azumaya.envs.extras import require
from azumaya.envs.position import Position
from azumaya.envs.registry import find_game


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Attributes:
        environment: the environment id, `azumaya/sudoku_moyo-v0`.
        options: the options that were not at their default.
        start: the position text the game began with.
        moves: the names of the moves.
        returns: what each player gained.
        players: who played, player_0 first.
        date: the day, ISO 8601.
    """

    environment: str
    options: Mapping[str, Any]
    start: str
    moves: tuple[str, ...]
    returns: tuple[float, float]
    players: tuple[str, str] = ("", "")
    date: str = field(default_factory=_today)

    def to_json(self) -> str:
        """The record as one line of JSON (needs the extra `records`)."""
        line: bytes = require("msgspec", "records").json.encode(asdict(self), enc_hook=_plain)
        return line.decode()

    @classmethod
    def from_json(cls, line: str | bytes) -> GameRecord:
        """The record of a line of JSON (needs the extra `records`).

        Raises:
            RecordError: the line is no record; the error says which field is wrong.
        """
        msgspec = require("msgspec", "records")
        try:
            record: GameRecord = msgspec.json.decode(line, type=cls)
        except msgspec.MsgspecError as error:
            raise RecordError(f"record: {error}") from error
        return record


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in a record")


def record_of(
    start: Position, moves: list[str], end: Position, players: tuple[str, str] = ("", "")
) -> GameRecord:
    """The record of a game from its first and last position and the names of its moves."""
    options = {name: value for name, value in start.options.items() if name != "position"}
    return GameRecord(
        environment=start.game.id,
        options={**options, **end.revealed()},
        start=str(start),
        moves=tuple(moves),
        returns=(float(end.returns()[0]), float(end.returns()[1])),
        players=players,
    )


def replay(record: GameRecord) -> Iterator[Position]:
    """The positions of a recorded game, the start first.

    Raises:
        RecordError: the record does not fit the rules; the error gives the number of the move.
    """
    try:
        game = find_game(record.environment)
        position = Position(game, **{**record.options, "position": record.start})
    except ValueError as error:
        raise RecordError(f"record: the game cannot begin: {error}") from error
    yield position.copy()
    for number, move in enumerate(record.moves, start=1):
        try:
            position.play(move)
        except ValueError as error:
            raise RecordError(f"record: move {number}, {move!r}: {error}") from error
        yield position.copy()
    if tuple(map(float, position.returns())) != tuple(record.returns):
        raise RecordError(
            f"record: the returns are {list(record.returns)}, but the moves give "
            f"{list(position.returns())}"
        )


def write_records(path: str | Path, records: list[GameRecord]) -> None:
    """Append records to a file, a line each."""
    lines = "".join(record.to_json() + "\n" for record in records)
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(lines)


def read_records(path: str | Path) -> Iterator[GameRecord]:
    """The records of a file.

    Raises:
        RecordError: a line is no record; the error gives file and line.
    """
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield GameRecord.from_json(line)
                except RecordError as error:
                    raise RecordError(f"{path}, line {number}: {error}") from error
