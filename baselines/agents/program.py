"""Agents that are programs of any language: a position in on a line, the name of a move out."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.search.arguments import check_number
from azumaya.baselines.system.files import shown
from azumaya.baselines.system.keeper import KeptProcess, how_ended
from azumaya.envs import MoveNameError, Position
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.errors import OptionError, brief

PREFIX = "program:"
"""What the names of such agents begin with."""
SECONDS = 60.0
MOST_WAITED_MS = 1 << 20
"""The most milliseconds in one call of the system."""
LONGEST_LINE = 1 << 16
"""Bytes of the longest answer that is read."""


class ProgramError(ValueError):
    """A program could not be started, ended, or did not answer in time."""


class ProgramAgent(Agent):
    """Asks a program for each move.

    The program runs as long as the agent does, unless it fails: then it is ended, and started again
    for the next question. Except on Windows it ends with this process, even if that is killed, and
    what it has started ends with it: on Linux all of it, elsewhere what is still in its process
    group. For each move it is sent one line with the name of the game, the options as a JSON object
    without spaces, and the position text; it answers with the name of a move on a line of its own.
    What it writes without being asked waits in its pipe, and counts as the next answers.

    Args:
        command: the program and its arguments, quoted as in a shell; no shell is started.
        seconds: the time to wait for an answer.
        watched: whether another process watches this one, and ends it with all its processes when
            an answer takes too long. Then the agent itself waits for ever.

    Raises:
        OptionError: the command is no text or empty, its quotes are not closed, or there is no such
            program; or `seconds` is not above 0, or longer than the system can wait.
    """

    def __init__(self, command: str, seconds: float = SECONDS, *, watched: bool = False) -> None:
        if not isinstance(command, str):
            raise OptionError(f"command={brief(command)}: a text is needed, as in a shell")
        seconds = check_number("seconds", seconds, most=threading.TIMEOUT_MAX, above=True)
        try:
            self.words = shlex.split(command)
        except ValueError as error:
            raise OptionError(f"program {shown(command)!r}: {error}") from error
        if not self.words:
            raise OptionError("program '': a command is needed, such as program:./my_bot")
        if shutil.which(self.words[0]) is None:
            raise OptionError(
                f"program {shown(command)!r}: no program {shown(self.words[0])!r} can be run"
            )
        self.name, self.seconds, self._watched = f"{PREFIX}{command}", seconds, watched
        self._process: KeptProcess | None = None
        self._reader = _Reader()

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The action whose name the program answers, for each position.

        Raises:
            ProgramError: the program cannot be started, has ended, or does not answer in time.
            MoveNameError: its answer is not the name of a move.
            OptionError: a position or a key is invalid.
        """
        positions, _ = check_asked(positions, keys, alike=False)
        return [self._move(position) for position in positions]

    def close(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is None:
            return
        process.end()
        close_pipe(process.stdin)  # the reader closes the other one
        self._reader.stop()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()

    def _move(self, position: Position) -> int:
        answer = self._ask(request(position))
        try:
            return position.parse_move(answer)
        except MoveNameError as error:
            self.close()  # who knows what else it has written
            raise MoveNameError(f"{self.name}: {error}") from error

    def _ask(self, line: str) -> str:
        process = self._running()
        assert process.stdin is not None
        try:
            end = None if self._watched else time.monotonic() + self.seconds
            _send(process.stdin, line.encode() + b"\n", end)
            answer = self._reader.line(None if end is None else max(end - time.monotonic(), 0))
        except queue.Empty:
            self.close()
            raise ProgramError(f"{self.name}: no answer in {self.seconds:g} s") from None
        except OSError:  # it no longer reads
            answer = b""
        except BaseException:  # Ctrl-C: the answer would be taken for that to the next question
            self.close()
            raise
        if not answer.endswith(b"\n"):
            raise self._ended(process, answer)
        return answer.decode(errors="replace").strip()

    def _ended(self, process: subprocess.Popen[bytes], answer: bytes) -> ProgramError:
        """The error for a program that ended, or whose answer is no line."""
        if len(answer) == LONGEST_LINE:
            self.close()
            return ProgramError(f"{self.name}: an answer of more than {LONGEST_LINE:,} bytes")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)  # it may have closed its output without ending
        code = process.poll()
        self.close()
        how = "closed its output" if code is None else f"ended with {how_ended(code)}"
        return ProgramError(f"{self.name}: the program {how}")

    def _running(self) -> KeptProcess:
        if self._process is None:
            try:
                self._process = KeptProcess(
                    self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            except (OSError, ValueError) as error:
                raise ProgramError(f"{self.name}: cannot be started: {error}") from error
            assert self._process.stdout is not None
            self._reader = _Reader()
            threading.Thread(
                target=self._reader.read, args=(self._process.stdout,), daemon=True
            ).start()
        return self._process


def _send(pipe: IO[bytes], data: bytes, end: float | None) -> None:
    """Write to a pipe, which may be full of questions that the program never read.

    Raises:
        queue.Empty: it still is at `end`, by the clock `time.monotonic`.
    """
    if end is None or not hasattr(select, "poll"):
        pipe.write(data)
        pipe.flush()
        return
    room = select.poll()
    room.register(pipe, select.POLLOUT)
    while data:
        left = end - time.monotonic()
        if left <= 0:
            raise queue.Empty
        if room.poll(min(1000 * left, MOST_WAITED_MS)):
            data = data[os.write(pipe.fileno(), data[: select.PIPE_BUF]) :]


class _Reader:
    """Reads a program's answers in a thread of its own, and only those that are asked for.

    So a program that writes without end fills its pipe and no memory. A read cannot be given up, so
    a thread that waits for an answer that never comes ends with the program.
    """

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def line(self, seconds: float | None) -> bytes:
        """The next line of at most `LONGEST_LINE` bytes; empty at the end of the output.

        Raises:
            queue.Empty: there is none after this time.
        """
        self._asked.put(True)
        return self._answers.get(timeout=seconds)

    def stop(self) -> None:
        """Read no more lines."""
        self._asked.put(False)

    def read(self, output: IO[bytes]) -> None:
        """Read lines as they are asked for, until `stop` or the end, and close the output.

        It is closed here, because to close a pipe is to wait for its reader: a process that the
        program has started may keep it open.
        """
        with output, contextlib.suppress(OSError):
            while self._asked.get() and (answer := output.readline(LONGEST_LINE)):
                self._answers.put(answer)
        self._answers.put(b"")


def close_pipe(pipe: IO[bytes] | None) -> None:
    """Close a pipe to or from a process that has ended."""
    if pipe is not None:
        with contextlib.suppress(OSError):  # what was not yet written has nowhere to go
            pipe.close()


def request(position: Position) -> str:
    """The line that a program is sent: game, options and position text, with spaces between."""
    options = {name: value for name, value in position.options.items() if name != "position"}
    said = json.dumps(options, separators=(",", ":"), default=str).replace(" ", "\\u0020")
    return f"{position.game.name} {said} {position}"
