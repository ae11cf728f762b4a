"""The file of a class: lines of JSON with the settings and all that was run.

Lines are only appended, so a run that was interrupted goes on where it was. What is known of a
submission is kept under the digest of its file: an edited submission is run again, the others are
not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.exam_results import Answer, ExamResult
from azumaya.baselines.arena.exams import Exam
from azumaya.baselines.classroom.games import Played
from azumaya.baselines.classroom.sitting import Fault, Sitting
from azumaya.baselines.system.files import parse_json, shown
from azumaya.baselines.version import version
from azumaya.baselines.work_file import LineFile, line_text
from azumaya.envs.errors import brief
from azumaya.envs.notation import GameRecord

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
LONGEST_HEAD = 1 << 20
"""Bytes of the first line that are read for its seed."""
BEGINNING = b'{"record":"class"'


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


class ClassFile:
    """The file of a class, open for reading and appending by this process alone.

    Args:
        path: the file; made if it does not exist.
        settings: all that the results depend on besides the submissions, as JSON values.
        exam: the exam that is given; None if the game has none.

    Attributes:
        runs: by id of a submission, what was found out.
        meetings: the games of the class among itself.

    Raises:
        ClassFileError: the file is damaged, in use, or of a class with other settings.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], exam: Exam | None) -> None:
        self.path, self._exam = path, exam
        self.runs: dict[str, Run] = {}
        self.meetings: dict[tuple[str, str, int], Meeting] = {}
        in_use = ClassFileError(f"{shown(path)}: another run is using it")
        self._file = LineFile(path, in_use, 0o600)
        try:
            self._read({"record": "class", "format": FORMAT, "azumaya": version(), **settings})
        except BaseException:
            self._file.close()
            raise

    def add_run(self, run: Run) -> None:
        """Keep what was found out about a submission."""
        sitting = None
        if run.sitting is not None:
            moves = [answer.move for answer in run.sitting.result.answers]
            sitting = {**asdict(run.sitting), "moves": moves}
            del sitting["result"]
        line = {**asdict(run), "sitting": sitting}
        self._append({"record": "submission", **line})
        self.runs[run.id] = run

    def add_meeting(self, meeting: Meeting) -> None:
        """Keep two games of the class among itself."""
        self._append({"record": "meeting", **asdict(meeting)})
        self.meetings[meeting.first, meeting.second, meeting.number] = meeting

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, line: Mapping[str, Any]) -> None:
        self._file.append(line_text(line))
        self._file.sync()

    def _read(self, head: Mapping[str, Any]) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if not lines:
            if not BEGINNING.startswith(content[: len(BEGINNING)]):
                raise ClassFileError(f"{shown(self.path)}: not the file of a class")
            self._file.cut(0)
            self._append(head)
            return
        try:
            begun = parse_json(lines[0])
        except ValueError as error:
            raise ClassFileError(f"{shown(self.path)}: not the file of a class: {error}") from error
        wanted = json.loads(json.dumps(head))
        other = _differences(begun if isinstance(begun, dict) else {}, wanted)
        if other and len(lines) == 1 and "record" not in other and "format" not in other:
            self._file.cut(0)  # nothing was run with the other settings
            self._append(head)
            return
        if other:
            raise ClassFileError(
                f"{shown(self.path)}: it was begun with other settings: "
                f"{', '.join(OPTIONS.get(name, name) for name in other)}; use the same, or another "
                "folder"
            )
        for number, line in enumerate(lines[1:], start=2):
            try:
                self._take(parse_json(line))
            except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
                raise ClassFileError(f"{shown(self.path)}, line {number}: {error}") from error
        self._file.cut(len(whole))  # a line that was only half written

    def _take(self, line: dict[str, Any]) -> None:
        kind = line.pop("record")
        if kind == "meeting":
            meeting = _meeting(line)
            self.meetings[meeting.first, meeting.second, meeting.number] = meeting
        elif kind == "submission":
            line["meetings"] = tuple(map(_meeting, line["meetings"]))
            line["sitting"] = self._sitting(line["id"], line["sitting"])
            self.runs[line["id"]] = Run(**line)
        else:
            raise ClassFileError(f"record {kind!r} is unknown")

    def _sitting(self, identity: str, saved: Mapping[str, Any] | None) -> Sitting | None:
        if saved is None or self._exam is None:
            return None
        exam, asked = self._exam, tuple(saved["asked"])
        if len({*asked}) < len(asked):
            raise ValueError("asked: a position of the exam twice")
        pairs = zip(asked, saved["moves"], strict=True)
        answers = tuple(Answer(exam.positions[number], move) for number, move in pairs)
        for answer in answers:
            if answer.move not in answer.question.values:
                raise ClassFileError(f"move {answer.move!r}: not a move of the exam's position")
        agent = identity.rpartition("@")[0]
        result = ExamResult(agent, exam.name, exam.part, exam.version, 0, answers)
        faults = tuple(Fault(**fault) for fault in saved["faults"])
        return Sitting(result, asked, faults, saved["of"], saved["skipped"])


def begun_seed(path: Path) -> int | None:
    """The seed in the file of a class; None if there is no such file, or it has none."""
    try:
        with path.open("rb") as file:
            begun = parse_json(file.readline(LONGEST_HEAD))
    except (FileNotFoundError, ValueError):
        return None
    seed = begun.get("seed") if isinstance(begun, dict) and begun.get("record") == "class" else None
    return seed if isinstance(seed, int) else None


def _differences(
    begun: Mapping[str, Any], wanted: Mapping[str, Any], within: str = ""
) -> list[str]:
    """The names of the settings that differ; those of limits one by one, as `limits.move`."""
    found = []
    for key, value in wanted.items():
        before = begun.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            found += _differences(before, value, f"{within}{key}.")
        elif before != value:
            found.append(f"{within}{key}")
    return found


def _meeting(saved: Mapping[str, Any]) -> Meeting:
    one, other = map(_played, saved["games"])
    if (one.seat, other.seat) != (0, 1):
        raise ValueError(f"seats {one.seat}, {other.seat}: must be 0, then 1")
    return Meeting(saved["first"], saved["second"], saved["number"], (one, other))


def _played(saved: Mapping[str, Any]) -> Played:
    about = dict(saved["record"])
    for name in ("moves", "returns", "players"):
        about[name] = tuple(about[name])
    if saved["result"] not in (-1, 0, 1):
        raise ValueError(f"result={brief(saved['result'])}: must be 1, 0 or -1")
    fault = tuple(saved["fault"]) if saved["fault"] else None
    return Played(saved["result"], saved["seat"], GameRecord(**about), fault)
