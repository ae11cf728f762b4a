"""The other side of the process in which a submission runs.

Nothing that comes from the process is trusted. Its answers are of a limited length, each with the
number of the question; anything else is a fault of the submission.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
import site
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azumaya.baselines.arena import exams
from azumaya.baselines.classroom.confine import LAYERS, Isolation, lacking
from azumaya.baselines.system.files import UnusableFileError, parse_json
from azumaya.baselines.system.processes import (
    ONE_THREAD,
    Child,
    ChildEndedError,
    ChildTimeoutError,
    LongAnswerError,
    module_words,
)
from azumaya.baselines.system.threads import StoppedError
from azumaya.envs.kernels.cache import cache_root
from azumaya.envs.registry import MODULES

LONGEST_LINE = 1 << 14
"""Bytes of the longest answer that is read."""
KEPT_OUTPUT = 2_000
"""Bytes of what a submission prints that are kept; the rest is counted."""
LONGEST_ERROR = 400
STARTING = 600.0
"""Seconds for a process to start; minutes if kernels are compiled on a busy machine."""
HOME = "/"
"""The folder in which submissions run, and their home: they have no files of their own."""
MEDDLED = "wrote to the pipe of its answers"
PASSED_ON = ("PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT", MODULES)
"""Environment variables that a process is given; and those that begin with `NUMBA_`."""


def printable(text: str) -> str:
    """A text in which what cannot be printed, such as a line break, is written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class SubmissionError(Exception):
    """A submission failed instead of giving a move; the message says how."""


class StartingError(RuntimeError):
    """The process of a submission cannot be started, through no fault of the submission."""


class IsolationError(StartingError):
    """Submissions cannot be isolated as far as was asked for."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use.

    Attributes:
        move: seconds for a move.
        game: seconds for all its moves of a game.
        loading: seconds to load the file.
        megabytes: address space of its process.
        layers: the layers of isolation to put in force.
        baselines: whether it may import `azumaya.baselines`, without the exams.
        isolated: whether a process in which a layer is missing is an error.
    """

    move: float = 2.0
    game: float = 10.0
    loading: float = 10.0
    megabytes: int = 2048
    layers: tuple[str, ...] = LAYERS
    baselines: bool = False
    isolated: bool = False


@dataclass(frozen=True)
class Room:
    """Where submissions run.

    Attributes:
        limits: what each of them may use.
        hidden: folders and files that none of them may read, besides the exams.
        cpu: seconds of processor time of each process, see `grading.processor_seconds`.
        stop: set to end everything soon.
    """

    limits: Limits = Limits()
    hidden: tuple[Path, ...] = ()
    cpu: int = 1000
    stop: threading.Event = field(default_factory=threading.Event)


class PlayerProcess:
    """A running submission.

    Args:
        game: the name of the game.
        name: the name of its file.
        source: the content of the file.
        room: what it may use.

    Attributes:
        isolation: what confines it.
        prints: what it has printed.

    Raises:
        IsolationError: a layer of isolation is required, and missing.
        StartingError: the process does not start.
        SubmissionError: the submission cannot be loaded.
        StoppedError: the room is being closed.
    """

    def __init__(self, game: str, name: str, source: bytes, room: Room) -> None:
        self._room, self._limits = room, room.limits
        self._child: Child | None = None
        try:
            self._child = _started()
            self.prints = self._child.prints
            self.isolation = self._confined(game)
            if self._limits.isolated:
                _require(self.isolation)
            about = {"name": name, "source": base64.b64encode(source).decode()}
            found = self._exchange(about, self._limits.loading, "to be loaded")
            if found.get("loaded") is not True:
                raise SubmissionError(MEDDLED)
            self._signal(signal.SIGSTOP)  # except while it is asked, so as to take nobody's time
        except BaseException:
            self.close()
            raise

    def ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        """What the submission answers to a position: the name or the number of a move.

        Raises:
            SubmissionError: it fails, or takes longer. After that the process may have ended.
        """
        self._signal(signal.SIGCONT)
        try:
            found = self._exchange(request, seconds, "for a move")
        finally:
            self._signal(signal.SIGSTOP)
        if not isinstance(found.get("move"), str | int):
            raise SubmissionError(MEDDLED)
        return found["move"]

    def close(self) -> None:
        """End the process and all that it has started."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _signal(self, number: int) -> None:
        """Send a signal to the process and all that it has started."""
        if self._child is not None:
            self._child.send_signal(number)

    def _spec(self, game: str) -> dict[str, Any]:
        """How the process is to confine itself; not among its arguments, which it can read."""
        return {
            "game": game,
            "memory": self._limits.megabytes << 20,
            "seconds": self._room.cpu,
            "layers": self._limits.layers,
            # the kernels of searches take too long to be compiled in every process
            "cached": self._limits.baselines,
            "readable": _cache() if self._limits.baselines else [],
            "hidden": [str(p) for p in (*self._room.hidden, *_hidden(self._limits.baselines))],
        }

    def _confined(self, game: str) -> Isolation:
        """Let the process confine itself; returns what is in force."""
        try:
            ready = self._ask(self._spec(game), STARTING, "to start")
        except (SubmissionError, UnusableFileError) as error:
            self.close()
            said = self.prints.first.decode(errors="replace").strip().splitlines()[-1:]
            raise StartingError(
                f"the process of a submission did not start: {error} {' '.join(said)}"
            ) from error
        return Isolation(ready["layers"], ready["missing"])

    def _exchange(self, request: Mapping[str, Any], seconds: float, what: str) -> dict[str, Any]:
        """The answer to a request, if it is one."""
        assert self._child is not None
        number = secrets.randbits(48)  # so that no answer can be written in advance
        try:
            found = self._ask({"id": number, **request}, seconds, what)
        except UnusableFileError:
            found = None
        if not isinstance(found, dict) or found.get("id") != number or self._child.unread:
            raise SubmissionError(MEDDLED)
        if "error" in found:
            raise SubmissionError(printable(str(found["error"])[:LONGEST_ERROR]))
        return found

    def _ask(self, request: Mapping[str, Any], seconds: float, what: str) -> Any:
        """What the process answers, whatever it is."""
        assert self._child is not None
        try:
            return parse_json(self._child.ask(json.dumps(request).encode(), seconds, self._look))
        except ChildTimeoutError:
            said = f"time-out: it needed more than {seconds:.3g} s {what}"
        except ChildEndedError as error:
            said = f"ended its process: {error.how}" if error.how else "closed its pipes"
        except LongAnswerError as error:
            said = f"gave {error}"
        raise SubmissionError(said)

    def _look(self) -> None:
        if self._room.stop.is_set():
            raise StoppedError


def _started() -> Child:
    """Start the process; what the system refuses is nobody's fault."""
    try:
        return Child(
            module_words("azumaya.baselines.classroom.player"), longest=LONGEST_LINE,
            kept=KEPT_OUTPUT, env=_environment(), cwd=HOME,
        )  # fmt: skip
    except OSError as error:
        raise StartingError(f"the process of a submission cannot be started: {error}") from error


def _cache() -> list[str]:
    """The folder of compiled kernels, from which the process of a submission loads its own."""
    try:
        return [] if os.environ.get("AZUMAYA_CACHE_DIR") == "" else [str(cache_root())]
    except RuntimeError:  # a user without a home, who has been warned that kernels are not kept
        return []


def _hidden(baselines: bool) -> list[Path]:
    """What of this library a submission may not read: the exams, and mostly its agents."""
    package = exams.DATA.parents[1]
    return [exams.DATA] if baselines else [package]


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith("NUMBA_")
    }
    if site.ENABLE_USER_SITE:  # otherwise it would be looked for in the new home
        kept["PYTHONUSERBASE"] = site.getuserbase()
    cache = _cache()
    return {
        **kept, "HOME": HOME, "TMPDIR": HOME, "PATH": os.defpath,
        "AZUMAYA_CACHE_DIR": cache[0] if cache else "", **ONE_THREAD,
    }  # fmt: skip


def _require(isolation: Isolation) -> None:
    """Raise `IsolationError` if a submission in this isolation could do harm."""
    could = lacking(isolation)
    if could:
        why = "; ".join(f"{layer}: {reason}" for layer, reason in isolation.missing.items())
        raise IsolationError(f"a submission could {', '.join(could)} ({why})")
