"""Agents that are programs of any language: a position in on a line, the name of a move out."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import threading
from collections.abc import Sequence

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.search.arguments import check_number
from azumaya.baselines.system.files import shown
from azumaya.baselines.system.processes import Child, ChildEndedError, ChildError, ChildTimeoutError
from azumaya.envs import MoveNameError, Position
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.errors import OptionError, brief

PREFIX = "program:"
"""What the names of such agents begin with."""
SECONDS = 60.0
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
        command: the program and its arguments, as for `words_of`; no shell is started.
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
            self.words = words_of(command)
        except ValueError as error:
            raise OptionError(f"program {shown(command)!r}: {error}") from error
        if not self.words:
            raise OptionError("program '': a command is needed, such as program:./my_bot")
        if shutil.which(self.words[0]) is None:
            raise OptionError(
                f"program {shown(command)!r}: no program {shown(self.words[0])!r} can be run"
            )
        self.name, self.seconds, self._watched = f"{PREFIX}{command}", seconds, watched
        self._child: Child | None = None

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
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def __del__(self) -> None:
        if getattr(self, "_child", None) is not None:
            self.close()

    def _move(self, position: Position) -> int:
        answer = self._ask(request(position))
        try:
            return position.parse_move(answer)
        except MoveNameError as error:
            self.close()  # who knows what else it has written
            raise MoveNameError(f"{self.name}: {error}") from error

    def _ask(self, line: str) -> str:
        child = self._running()
        try:
            answer = child.ask(line.encode(), None if self._watched else self.seconds)
        except BaseException as error:  # after Ctrl-C, a late answer would be taken for the next
            self.close()
            if not isinstance(error, ChildError):
                raise
            raise ProgramError(f"{self.name}: {self._why(error)}") from None
        return answer.decode(errors="replace").strip()

    def _why(self, error: ChildError) -> str:
        if isinstance(error, ChildTimeoutError):
            return f"no answer in {self.seconds:g} s"
        if isinstance(error, ChildEndedError):
            return f"the program {error}"
        return str(error)

    def _running(self) -> Child:
        if self._child is None:
            try:
                self._child = Child(self.words, longest=LONGEST_LINE)
            except (OSError, ValueError) as error:
                raise ProgramError(f"{self.name}: cannot be started: {error}") from error
        return self._child


def words_of(command: str) -> list[str]:
    """The words of a command, quoted as in a shell; where paths have backslashes, these are kept.

    Raises:
        ValueError: its quotes are not closed.
    """
    words = shlex.shlex(command, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if os.sep == "\\":
        words.escape = ""
    return list(words)


def request(position: Position) -> str:
    """The line that a program is sent: game, options and position text, with spaces between."""
    options = {name: value for name, value in position.options.items() if name != "position"}
    said = json.dumps(options, separators=(",", ":"), default=str).replace(" ", "\\u0020")
    return f"{position.game.name} {said} {position}"
