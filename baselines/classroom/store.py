"""The file of a class: lines of JSON with the settings and all that was run.

A run that was interrupted goes on where it was. What is known of a submission is kept under the
digest of its file: an edited submission is run again, the others are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from azumaya.baselines.classroom.games import Played
from azumaya.baselines.classroom.sitting import Sitting
from azumaya.baselines.system.journal import (
    Journal,
    Kind,
    Line,
    begun_otherwise,
    read_head,
    typed,
)
from azumaya.baselines.system.machine import version

FORMAT = 1
NAME, MARKS, REPORT = "class.jsonl", "marks.csv", "report.html"
OPTIONS: Mapping[str, str] = {
    "azumaya": "the version of azumaya", "game": "the game", "exam": "the exam",
    "opponents": "--opponent", "limits.move": "--move-limit", "limits.game": "--game-limit",
    "limits.baselines": "--allow-baselines", "limits.isolated": "--require-isolation",
    **{name: f"--{name}" for name in ("part", "seed", "pairs", "classmates")},
    "limits.megabytes": "--megabytes",
}  # fmt: skip
"""What settings are called where they are made, by the name they have in the file."""


class ClassFileError(ValueError):
    """A file that is not that of a class, or of one with other settings."""


@dataclass(frozen=True)
class Meeting:
    """Two games from one start, with swapped seats.

    Attributes:
        first: the id of the first player.
        second: the id of the second.
        number: the number of the start.
        games: the games, from the first player's side.
    """

    first: str
    second: str
    number: int
    games: tuple[Played, Played]


@dataclass(frozen=True)
class Run:
    """What was found out about a submission on its own.

    Attributes:
        id: what tells it apart.
        problem: why it was not examined; empty if it was.
        sitting: its exam; None if there was none.
        meetings: its games against the library's agents, whose ids are their names.
        isolation: what confined it, by layer.
        missing: why layers were missing.
        seconds: the time it used, with starting its process.
        moves: the moves it gave.
        thinking: the seconds it took for them.
        printed: the bytes it printed.
        output: the first of them.
    """

    id: str
    problem: str = ""
    sitting: Sitting | None = None
    meetings: tuple[Meeting, ...] = ()
    isolation: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    moves: int = 0
    thinking: float = 0.0
    printed: int = 0
    output: str = ""


@dataclass(frozen=True)
class Mistake:
    """A costly move of a submission in a game against an agent of the library.

    Attributes:
        opponent, number, seat: the game: against whom, from which start, in which seat.
        ply: how many moves were made before it.
        better: the move that a search prefers.
        before, after: what the submission would have ended with by best play of both, before the
            move and after it.
        exact: whether both are proven.
    """

    opponent: str
    number: int
    seat: int
    ply: int
    better: str
    before: float
    after: float
    exact: bool


@dataclass(frozen=True)
class Review:
    """The costliest moves of a submission, whose id it has, in the file."""

    submission: str
    mistakes: tuple[Mistake, ...]


class ClassFile:
    """The file of a class, open for reading and appending by this process alone.

    Args:
        path: the file; made if it does not exist.
        settings: all that the results depend on besides the submissions, as JSON values.

    Attributes:
        runs: by id of a submission, what was found out.
        meetings: the games of the class among itself.
        mistakes: by id of a submission, its costliest moves.

    Raises:
        ClassFileError: the file is damaged, in use, or of a class with other settings.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.runs: dict[str, Run] = {}
        self.meetings: dict[tuple[str, str, int], Meeting] = {}
        self.mistakes: dict[str, tuple[Mistake, ...]] = {}
        head = {"record": "class", "format": FORMAT, "azumaya": version(), **settings}
        self._file = Journal(path, head, CLASS, self._take)

    def add_run(self, run: Run) -> None:
        """Keep what was found out about a submission."""
        self._file.append({"record": "submission", **asdict(run)})
        self.runs[run.id] = run

    def add_meeting(self, meeting: Meeting) -> None:
        """Keep two games of the class among itself."""
        self._file.append({"record": "meeting", **asdict(meeting)})
        self.meetings[meeting.first, meeting.second, meeting.number] = meeting

    def add_mistakes(self, identity: str, found: tuple[Mistake, ...]) -> None:
        """Keep the costliest moves of a submission."""
        self._file.append({"record": "review", **asdict(Review(identity, found))})
        self.mistakes[identity] = found

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _take(self, line: Line) -> None:
        kind = line.pop("record")
        if kind == "meeting":
            meeting = typed(line, Meeting)
            self.meetings[meeting.first, meeting.second, meeting.number] = meeting
        elif kind == "review":
            review = typed(line, Review)
            self.mistakes[review.submission] = review.mistakes
        elif kind == "submission":
            run = typed(line, Run)
            self.runs[run.id] = run
        else:
            raise ValueError(f"record {kind!r} is unknown")


def played_in(run: Run, mistake: Mistake) -> Played:
    """The game of a mistake; raises `ValueError` if the submission has not played it."""
    for meeting in run.meetings:
        if (meeting.second, meeting.number) == (mistake.opponent, mistake.number):
            for played in meeting.games:
                if played.seat == mistake.seat and 0 <= mistake.ply < len(played.record.moves):
                    return played
    raise ValueError(f"mistake: no game {mistake.number} against {mistake.opponent} has it")


def begun_seed(path: Path) -> int | None:
    """The seed in the file of a class; None if there is no such file, or it has none."""
    begun = read_head(path) or {}
    seed = begun.get("seed") if begun.get("record") == "class" else None
    return seed if isinstance(seed, int) else None


def _other_settings(found: Line, wanted: Line) -> str:
    """How the settings of a class differ from those that are wanted; empty if they do not."""
    if found.get("record") != wanted["record"]:
        return CLASS.foreign
    return begun_otherwise(found, wanted, "folder", OPTIONS)


CLASS = Kind(
    ClassFileError, "not the file of a class", "another run is using it", _other_settings, 0o600
)
