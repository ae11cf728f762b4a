"""The files of a class: which are submissions, and a submission as an agent."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.classroom.process import (
    KEPT_OUTPUT,
    PlayerProcess,
    Room,
    SubmissionError,
    printable,
)
from azumaya.baselines.system.files import UnusableFileError, is_special, read_bytes
from azumaya.envs import Position

SUFFIX = ".py"
LARGEST = 1 << 20
"""Bytes of the largest submission."""


@dataclass(frozen=True)
class Submission:
    """A file that was handed in.

    Attributes:
        name: the name of the file, with characters that cannot be printed written as escapes.
        source: its content.
        problem: why it cannot be graded; empty if it can.
    """

    name: str
    source: bytes
    problem: str = ""

    @property
    def digest(self) -> str:
        """The beginning of the SHA-256 of its content."""
        return hashlib.sha256(self.source).hexdigest()[:16]

    @property
    def id(self) -> str:
        """What tells it apart from others, also from earlier versions of itself."""
        return f"{self.name}@{self.digest}"


def concealed(*secrets: object) -> int:
    """64 bits that follow from some secrets, and do not lead back to them.

    A submission may see whatever its process is sent. A key is no such number, because it can be
    turned back into the seed of the class.
    """
    return int.from_bytes(hashlib.sha256(repr(secrets).encode()).digest()[:8])


def collect(folder: Path) -> list[Submission]:
    """The submissions in a folder, by name; those that cannot be graded have a `problem`.

    Hidden files and `__pycache__` are passed over.

    Raises:
        OSError: the folder cannot be read.
    """
    files = [path for path in folder.iterdir() if not path.name.startswith(".")]
    found = [read_submission(path) for path in files if path.name != "__pycache__"]
    return sorted(found, key=lambda submission: submission.name)


def read_submission(path: Path) -> Submission:
    """A file as a submission; one that cannot be graded has a `problem`."""
    told = os.fsencode(path.name).decode("utf-8", "surrogateescape")
    name = printable(told.replace("\\", r"\\"))  # so that different names stay different
    if problem := _problem(path):
        return Submission(name, b"", problem)
    try:
        source = read_bytes(path, LARGEST)
    except UnusableFileError as error:
        return Submission(name, b"", str(error))
    except OSError as error:
        return Submission(name, b"", error.strerror or str(error))
    return Submission(name, source, "" if source.strip() else "an empty file")


def _problem(path: Path) -> str:
    """Why something with this path is no submission; empty if it can be one."""
    if path.is_symlink():
        return "a symbolic link; copy the file itself"
    if path.is_dir():
        return "a folder; one Python file is needed"
    if is_special(path):
        return "not a regular file"
    return "" if path.suffix.lower() == SUFFIX else f"its name does not end in {SUFFIX}"


class SubmissionAgent(Agent):
    """A submission as an agent that plays one game.

    Its process is started when it is first asked, and again after it has ended.

    Args:
        submission: the file.
        game: the name of the game.
        room: what it may use.

    Attributes:
        name: the name of the file.
        seconds: the time it has used so far, with starting.
        moves: the moves it has given.
        thinking: the seconds it took for these moves.
        printed: the bytes it has printed.
        output: the first of them.
    """

    def __init__(self, submission: Submission, game: str, room: Room) -> None:
        self.submission, self.name = submission, submission.name
        self._game, self._room, self._limits = game, room, room.limits
        self._process: PlayerProcess | None = None
        self.seconds = self.thinking = self._used = 0.0
        self.moves = self.printed = 0
        self.output = b""
        self._clock = float("inf")

    def begin(self, clock: float = float("inf")) -> None:
        """Begin a game: from now on it has this many seconds for all of its moves."""
        self._clock, self._used = clock, 0.0

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """A legal action or not, as the submission wants, for each position.

        Raises:
            SubmissionError: it fails, takes too long, or gives what is no move.
            StartingError: its process cannot be started.
        """
        pairs = zip(positions, keys, strict=True)
        return [self.choose(position, int(key)) for position, key in pairs]

    def choose(self, position: Position, key: int) -> int:
        """What it plays in one position; errors as for `act`."""
        began = time.monotonic()
        try:
            process = self._running()
            before = time.monotonic()
            answer = self._asked(process, position, key)
            self._used += time.monotonic() - before
            self.moves += 1
            self.thinking += time.monotonic() - before
        except SubmissionError:
            self.close()
            raise
        finally:
            self.seconds += time.monotonic() - began
        try:
            return position.action(answer)
        except ValueError as error:
            raise SubmissionError(f"gave what is no move: {error}") from None

    def _asked(self, process: PlayerProcess, position: Position, key: int) -> Any:
        options = {name: value for name, value in position.options.items() if name != "position"}
        request = {
            "game": position.game.name, "options": options, "position": str(position),
            "key": concealed(key),
        }  # fmt: skip
        left = self._clock - self._used
        try:
            return process.ask(request, min(self._limits.move, left))
        except SubmissionError as error:
            if left < self._limits.move and str(error).startswith("time-out"):
                raise SubmissionError(
                    f"time-out: its moves of one game took more than {self._clock:g} s"
                ) from None
            raise

    def _running(self) -> PlayerProcess:
        if self._process is None:
            self._process = PlayerProcess(self._game, self.name, self.submission.source, self._room)
        return self._process

    @property
    def isolation(self) -> Any:
        """What confines its process; None if it does not run."""
        return None if self._process is None else self._process.isolation

    def close(self) -> None:
        """End its process."""
        process, self._process = self._process, None
        if process is not None:
            process.close()
            self.printed += process.prints.size
            self.output = (self.output + process.prints.first)[:KEPT_OUTPUT]
