"""Game records: one JSON object per line, with everything needed to replay the game."""

from __future__ import annotations

import codecs
import datetime
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, RecordError, brief, naming
from azumaya.envs.extras import require
from azumaya.envs.game import Game
from azumaya.envs.position import Position
from azumaya.envs.registry import find_game
from azumaya.envs.setup import Setup, check_names
from azumaya.envs.whole import whole_number

LONGEST_RECORD = 16 << 20
"""The longest line that is read from a records file, in bytes: a game of a million moves."""


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Attributes:
        environment: the environment id, for example `azumaya/sudoku_moyo-v0`.
        options: the options that are not at their default; their values in canonical form.
        start: the text of the start position.
        moves: the names of the moves.
        returns: what each player has gained in the end, as `Position.returns` of the last position
            says: with the points that the text of the start says were scored before it.
        players: the names of the players, player_0 first.
        date: the date, ISO 8601.
        finished: whether the game ended; if not, `returns` are those after the last move.
            None in old records without this field, where `replay` does not check it.
    """

    environment: str
    options: Mapping[str, Any]
    start: str
    moves: tuple[str, ...]
    returns: tuple[float, float]
    players: tuple[str, str] = ("", "")
    date: str = field(default_factory=_today)
    finished: bool | None = None

    def to_json(self) -> str:
        """The record as one line of JSON (needs the extra `records`)."""
        return _encode(asdict(self)).decode()

    @classmethod
    def from_json(cls, line: str | bytes) -> GameRecord:
        """Read a record from a line of JSON (needs the extra `records`).

        Raises:
            RecordError: the line is not a record; the error names the field that is wrong.
        """
        msgspec = require("msgspec", "records")
        try:
            record: GameRecord = msgspec.json.decode(line, type=cls)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, TypeError) as error:
            raise RecordError(f"record: {error}") from error
        return record


def _encode(content: Mapping[str, Any]) -> bytes:
    line: bytes = require("msgspec", "records").json.encode(content, enc_hook=_plain)
    return line


def _plain(value: Any) -> Any:
    if isinstance(value, Path | str):  # a subclass of str, like NumPy's
        return str(value)
    if isinstance(value, Sequence):
        return list(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a record cannot contain a {type(value).__name__}")


def options_of(game: Game, setup: Setup) -> dict[str, Any]:
    """The options of a setup that are not at their default, in canonical form.

    Those that may name files are as they were given: their canonical form is the files' content.
    """
    found = {}
    for option in game.options:
        if option.name not in setup.given:
            continue
        if option.reads_files:
            found[option.name] = setup.given[option.name]
        elif setup.settings[option.name] != option.settle(option.default):
            found[option.name] = setup.settings[option.name]
    return found


def check_options_fit(game: Game, setup: Setup) -> None:
    """Check, before a game, that a record can contain its options.

    Raises:
        OptionError: an option has a value that JSON has no form for.
        MissingExtraError: the extra `records` is not installed.
    """
    for name, value in options_of(game, setup).items():
        try:
            _encode({name: value})
        except (TypeError, ValueError, OverflowError) as error:
            raise OptionError(f"{name}={brief(value)}: cannot be recorded: {error}") from error


def record_of(
    start: Position, moves: list[str], end: Position, players: tuple[str, str] = ("", "")
) -> GameRecord:
    """The record of a game, from its first and last positions and the names of its moves.

    If the game is not over in the last position, the record is that of an unfinished game.

    Raises:
        OptionError: `players` is not two names.
    """
    return GameRecord(
        environment=start.game.id,
        options={**options_of(start.game, start.setup), **end.revealed(start)},
        start=str(start),
        moves=tuple(moves),
        returns=(float(end.returns()[0]), float(end.returns()[1])),
        players=check_players(players),
        finished=end.is_over,
    )


def record_actions(
    start: Position, actions: Iterable[int], players: tuple[str, str] = ("", "")
) -> GameRecord:
    """The record of a game from its start and the numbers of its actions.

    So a game of a vector environment becomes a record: `start` is its position after `reset`, and
    `actions` are those of its row.

    Args:
        start: the first position; it is not changed.
        actions: the actions; those after the end of the game are ignored.
        players: the names of the players, player_0 first.

    Raises:
        RecordError: an action is illegal; the error names the number of the move.
        OptionError: `players` is not two names.
    """
    position, moves = start.copy(), list[str]()
    for number, action in enumerate(actions, start=1):
        if position.is_over:
            break
        try:
            moves.append(position.move_name(action))
            position.play(action)
        except ValueError as error:
            raise RecordError(f"actions: move {number}: {error}") from error
    return record_of(start, moves, position, players)


def check_players(players: Any) -> tuple[str, str]:
    """The names of the two players, player_0 first, with escapes for what UTF-8 cannot encode.

    Raises:
        OptionError: `players` is not two strings.
    """
    texts = isinstance(players, Sequence) and all(isinstance(name, str) for name in players)
    if not texts or isinstance(players, str) or len(players) != 2:
        raise OptionError(f"players={brief(players)}: must be two names, player_0's first")
    first, second = (name.encode(errors="backslashreplace").decode() for name in players)
    return first, second


def check_records_file(path: str | Path, name: str = "path") -> Path:
    """Check, before a game, that records can be appended to a file; returns its path.

    Nothing is written. The file need not exist, but its folder must. Errors call the argument
    `name`.

    Raises:
        OptionError: the path is a folder, its folder does not exist, or it is not writable.
        MissingExtraError: the extra `records` is not installed.
    """
    require("msgspec", "records")
    try:
        file = Path(path)
        mode = os.stat(file).st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = None
    except (OSError, TypeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise OptionError(
            f"{name}={str(path)!r}: must be a file that can be written: {why}"
        ) from error
    if mode is not None and stat.S_ISDIR(mode):
        problem = "is a folder; name a file in it, such as games.jsonl"
    elif not file.parent.is_dir():
        problem = f"there is no folder {str(file.parent)!r}; make it first, or name another file"
    elif not os.access(file.parent if mode is None else file, os.W_OK):
        problem = "may not be written; name another file"
    else:
        return file
    raise OptionError(f"{name}={str(path)!r}: {problem}")


def replay(record: GameRecord) -> Iterator[Position]:
    """The positions of a recorded game, beginning with the start.

    Raises:
        RecordError: this is no record, or it breaks the rules; the error names the number of
            the move.
    """
    if not isinstance(record, GameRecord):
        raise RecordError(f"record={brief(record)}: a GameRecord is needed")
    try:
        game = find_game(record.environment)
        check_names(game, record.options)
        # the start position tells all that came from a file, which may be missing here
        files = {option.name for option in game.options if option.reads_files}
        options = {name: value for name, value in record.options.items() if name not in files}
        position = Position(game, **{**options, "position": record.start})
    except ValueError as error:
        raise RecordError(f"record: the game cannot begin: {error}") from error
    yield position.copy()
    for number, move in enumerate(record.moves, start=1):
        try:
            position.play(move)
        except ValueError as error:
            raise RecordError(f"record: move {number}, {brief(move)}: {error}") from error
        yield position.copy()
    if tuple(map(float, position.returns())) != tuple(record.returns):
        raise RecordError(
            f"record: the returns are {list(record.returns)}, but the moves give "
            f"{list(position.returns())}"
        )
    if record.finished is not None and position.is_over != record.finished:
        problem = "goes on" if record.finished else "is over"
        raise RecordError(
            f"record: finished is {record.finished}, but after its moves the game {problem}"
        )


def write_records(path: str | Path, records: Iterable[GameRecord]) -> None:
    """Append records to a file, one per line: all of them, or none if that fails.

    If the last line lacks a newline because its writer was killed, one is added first, so that only
    that line is damaged.

    Raises:
        OSError: the file cannot be written, for instance on a full disk; its content is kept.
    """
    lines = "".join(record.to_json() + "\n" for record in records)
    end = "\n" if _has_open_end(Path(path)) else ""
    with naming(path), FileIO(path, "a") as file:
        _append(file, (end + lines).encode())


def _append(file: FileIO, data: bytes) -> None:
    """Write at the end of a file; if this fails partway, remove the part that was written."""
    written = 0
    try:
        while written < len(data):
            written += file.write(data[written:]) or 0
    except OSError:
        about = os.fstat(file.fileno())
        if written and stat.S_ISREG(about.st_mode) and about.st_size == file.tell():
            file.truncate(about.st_size - written)  # unless another writer has appended since
        raise


def _has_open_end(path: Path) -> bool:
    if not path.is_file() or not path.stat().st_size:  # a pipe has no last byte
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def read_records(path: str | Path) -> Iterator[GameRecord]:
    """The records of a file, one at a time: a file of any size takes the memory of one line.

    Raises:
        RecordError: a line is not a record or is longer than `LONGEST_RECORD` bytes; the error
            names file and line. Or no file can have this name.
        OSError: the file cannot be read.
    """
    for number, line in lines_of_records(path):
        if line.strip():
            yield _on_line(path, number, line)


def read_record(path: str | Path, line: int) -> GameRecord:
    """The record on one line of a file; the other lines need not be records.

    Args:
        path: the file.
        line: the number of the line, counted from 1 as in editors, empty lines included.

    Raises:
        RecordError: there is no such line or no record on it. Or no file can have this name.
        OSError: the file cannot be read.
    """
    wanted = whole_number(line, "line", low=1, error=RecordError)
    for number, content in lines_of_records(path):
        if number == wanted:
            if not content.strip():
                raise RecordError(f"{path}, line {wanted}: it is empty; name a line with a record")
            return _on_line(path, wanted, content)
    raise RecordError(f"{path}, line {wanted}: the file ends before it")


def _on_line(path: str | Path, number: int, line: bytes) -> GameRecord:
    try:
        return GameRecord.from_json(line)
    except RecordError as error:
        raise RecordError(f"{path}, line {number}: {error}") from error


def lines_of_records(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, and errors as `read_records` has them."""
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - closed below
    except (TypeError, ValueError) as error:  # a null character, or one that no file name has
        raise RecordError(f"path={brief(path)}: no file can have this name: {error}") from error
    number = 0
    with file:  # as bytes, so that invalid UTF-8 affects only its line
        while line := file.readline(LONGEST_RECORD + 1):
            number += 1
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)  # editors on Windows write one
            if len(line) > LONGEST_RECORD:
                raise RecordError(
                    f"{path}, line {number}: a line of more than {LONGEST_RECORD:,} bytes"
                )
            yield number, line
