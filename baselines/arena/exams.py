"""Exams: positions with the exact value of every legal move.

The exams ship with the package, two files of compressed JSON lines for each game. The part `public`
is for use while developing an agent, the part `held-out` for reporting.
`azumaya.benchmarks.studies.exam_maker` made them.
"""

from __future__ import annotations

import functools
import gzip
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from azumaya.baselines.system.files import line_text
from azumaya.envs import OptionError, Position
from azumaya.envs.errors import brief, did_you_mean
from azumaya.envs.game import Game
from azumaya.envs.registry import find_game

DATA = Path(__file__).with_name("data")
SUFFIX = ".jsonl.gz"
Part = Literal["public", "held-out"]
PARTS: tuple[Part, Part] = get_args(Part)
Field = TypeVar("Field")


class ExamError(ValueError):
    """An exam that is missing or damaged."""


@dataclass(frozen=True)
class ExamPosition:
    """One position of an exam.

    Attributes:
        position: the position text.
        plies_left: plies that the game it comes from still lasted.
        values: by move name, what the player to move still gains with best play afterwards. There
            is a value for every legal move.
        players: the names of the agents that played the game it comes from, player_0 first.
        seed: the seed of that game.
    """

    position: str
    plies_left: int
    values: Mapping[str, float]
    players: tuple[str, str]
    seed: int

    @property
    def value(self) -> float:
        """What the player to move still gains with best play."""
        return max(self.values.values())

    @property
    def kept(self) -> frozenset[str]:
        """The moves that keep the win, or the draw where there is no win."""
        return frozenset(move for move, value in self.values.items() if keeps(value, self.value))

    @property
    def worst(self) -> str:
        """The legal move that gains the least; the first of them if there are several."""
        return min(self.values, key=self.values.__getitem__)


def keeps(value: float, best: float) -> bool:
    """Whether a move of this value keeps a win, or at least a draw, if the best move does."""
    return value > 0 if best > 0 else value >= best


@dataclass(frozen=True)
class Exam:
    """The positions of one part of a game's exam.

    Attributes:
        game: the environment id, for example `azumaya/sudoku_moyo-v0`.
        part: `public` or `held-out`.
        version: increases whenever the positions change; give it with results.
        options: the options of the game that differ from their defaults.
        exact: whether all values are proven. If not, they are estimates of a long search.
        positions: the positions.
        made: the settings of the command that made the exam.
    """

    game: str
    part: Part
    version: int
    options: Mapping[str, Any]
    exact: bool
    positions: tuple[ExamPosition, ...] = field(repr=False)
    made: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the game, for example `sudoku_moyo`."""
        return find_game(self.game).name

    def start(self, number: int) -> Position:
        """Position `number` of the exam, ready to be played.

        Raises:
            ExamError: there are no such game and options, or they have no such position.
        """
        text = self.positions[number].position
        try:
            return Position.from_text(self.game, text, **self.options)
        except ValueError as error:
            raise ExamError(f"exam of {self.game}: position {number}: {error}") from error


def load_exam(game: Game | str, part: Part = "public") -> Exam:
    """One part of a game's exam.

    Args:
        game: the game or its name.
        part: `public`, or `held-out` to report results.

    Raises:
        OptionError: there is no such game or part.
        ExamError: the game has no exam, or the file of the installed package is damaged.
    """
    name = find_game(game).name
    if part in PARTS and not has_exam(name):
        raise ExamError(f"{name}: this game has no exam")
    return _kept_exam(exam_file(name, part))


def has_exam(game: Game | str) -> bool:
    """Whether a game has an exam; raises `OptionError` for an unknown game."""
    return exam_file(find_game(game).name, "public").exists()


def exam_file(name: str, part: Part) -> Path:
    """Where a part of a game's exam is, or would be, in the package."""
    if part not in PARTS:
        raise OptionError(
            f"part={part!r}: must be one of {', '.join(PARTS)}{did_you_mean(part, PARTS)}"
        )
    return DATA / f"{name}.{part}{SUFFIX}"


def exams_at(path: Path, part: Part) -> list[Exam]:
    """Exams of one's own.

    Args:
        path: a file, with or without the end of its name (`.jsonl.gz`, or the part as well), or a
            folder of files that are named as those that ship.
        part: the part to take from a folder, or if the name lacks it.

    Raises:
        ExamError: there is no such file, or it is damaged; or the folder has no exam of this part.
    """
    if path.is_dir():
        files = sorted(path.glob(f"*.{part}{SUFFIX}"))
        if not files:
            raise ExamError(f"{path}: no file in this folder has a name like GAME.{part}{SUFFIX}")
        return [read_exam(file) for file in files]
    named = [Path(f"{path}{end}") for end in ("", SUFFIX, f".{part}{SUFFIX}")]
    return [read_exam(next((file for file in named if file.is_file()), path))]


def read_exam(path: str | Path) -> Exam:
    """The exam in a file: a line about the exam, then a line for each position.

    Raises:
        ExamError: the file is missing or damaged.
    """
    path = Path(path)
    try:
        with gzip.open(path) as file:
            head, *lines = map(json.loads, file)
        return _exam(head, lines)
    except FileNotFoundError:
        raise ExamError(f"{path.name}: there is no such exam") from None
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise ExamError(f"{path}: the exam is damaged ({error})") from error


_kept_exam = functools.lru_cache(maxsize=32)(read_exam)
"""`read_exam` for the files of the package, which do not change."""


def _exam(head: Any, lines: Iterable[Any]) -> Exam:
    part, positions = _field(head, "part", str), tuple(map(_position, lines))
    if part not in PARTS or not positions:
        raise ExamError("no part or no positions")
    return Exam(
        _field(head, "game", str), part, _field(head, "version", int),
        _field(head, "options", dict), _field(head, "exact", bool), positions,
        _field(head, "made", dict),
    )  # fmt: skip


def _position(line: Any) -> ExamPosition:
    text, groups = _field(line, "position", str), _field(line, "values", dict)
    listed = [(move, _value(each)) for each in groups for move in _field(groups, each, list)]
    if not all(isinstance(move, str) for move, _ in listed):
        raise ExamError(f"{text}: a move is no text")
    values = dict(listed)
    if len(listed) != len(values) or not values:
        raise ExamError(f"{text}: a move has no value or two")
    first, second = _field(line, "players", list)
    return ExamPosition(
        text, _field(line, "plies_left", int), values, (first, second), _field(line, "seed", int)
    )


def _value(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ExamError(f"values: {text}: a finite number is needed")
    return value


def _field(line: Any, name: str, kind: type[Field]) -> Field:
    """A field of a line, of exactly this type."""
    found = line.get(name) if isinstance(line, dict) else None
    if type(found) is not kind:
        raise ExamError(f"{name}={brief(found)}: a value of type {kind.__name__} is needed")
    return found


def exam_bytes(exam: Exam) -> bytes:
    """The content of an exam's file; equal for equal exams."""
    head = {name: value for name, value in vars(exam).items() if name != "positions"}
    lines = [head, *map(_line, exam.positions)]
    return gzip.compress("".join(map(line_text, lines)).encode(), 9, mtime=0)


def _line(position: ExamPosition) -> dict[str, Any]:
    """A position as JSON, its moves grouped by value, best first."""
    groups: dict[str, list[str]] = {}
    for move, value in sorted(position.values.items(), key=lambda item: -item[1]):
        groups.setdefault(_shown(value), []).append(move)
    return {
        "position": position.position,
        "plies_left": position.plies_left,
        "values": groups,
        "players": position.players,
        "seed": position.seed,
    }


def _shown(value: float) -> str:
    """A value as a text that gives the same number when it is read."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
