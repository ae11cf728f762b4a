"""Playing one game of a league, with every call of an agent watched and timed.

`python -m azumaya.baselines.arena.league.games BOARD` is the process in which games are played: it
answers jobs with reports. Its keeper ends it, even in the middle of a game, with all processes that
it has started.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from azumaya.baselines.agents.asking import AgentFailedError, ask
from azumaya.baselines.agents.base import GameStates, acts_on_states
from azumaya.baselines.agents.names import find_agent
from azumaya.baselines.agents.program import PREFIX, ProgramAgent
from azumaya.baselines.arena.league.cards import CHANGED, identity
from azumaya.baselines.arena.rounds import Rounds, WrongMoveError, start_set
from azumaya.baselines.system.files import shown
from azumaya.baselines.system.messages import Messages
from azumaya.baselines.system.signals import Ended
from azumaya.envs import Position
from azumaya.envs.errors import brief, told
from azumaya.envs.whole import as_whole

NOBODY = -1
GRACE = {"program": 0.0, "python": 60.0}
"""Seconds that an agent has in addition for its first move of a game in a process, by kind."""
COMPILING = 600.0
"""The same for agents of the library: minutes, if kernels are compiled on a busy machine."""
LONGEST_FAULT = 300
"""Characters of the longest description of a fault."""


class Board:
    """Memory that two processes share: which agent is thinking or being made, since when.

    One process writes while the other reads, so all of it is one aligned word, written at once.

    Args:
        file: the descriptor of a file of `SIZE` bytes, which may be closed afterwards. On Windows,
            where processes inherit none, a number by which both find the memory, without a file.
    """

    SIZE = 8
    _STATES = 8

    def __init__(self, file: int) -> None:
        if sys.platform == "win32":
            self._memory = mmap.mmap(-1, self.SIZE, f"azumaya-board-{file}")
        else:
            self._memory = mmap.mmap(file, self.SIZE)
        self._word = memoryview(self._memory).cast("q")

    def write(self, which: int, grace: float = 0.0, making: bool = False) -> None:
        """Note that an agent (0 or 1) begins to think or is being made, or `NOBODY`."""
        began = round(1e6 * (time.monotonic() + grace))
        self._word[0] = self._STATES * began + 2 * (which - NOBODY) + making

    def read(self) -> tuple[int, float, bool]:
        """Which agent's code runs, the seconds of its own time it has taken, and if it is made."""
        began, state = divmod(self._word[0], self._STATES)
        return state // 2 + NOBODY, time.monotonic() - began / 1e6, bool(state % 2)

    def close(self) -> None:
        """Let the memory go."""
        self._word.release()
        self._memory.close()


class _AgentError(Exception):
    """What is wrong with one of two agents.

    Attributes:
        which: 0 for the first agent, 1 for the second.
    """

    def __init__(self, which: int, what: str) -> None:
        super().__init__(what)
        self.which = which


class AgentFaultError(_AgentError):
    """An agent, number `which`, failed instead of giving a move."""


class UnfitAgentError(_AgentError):
    """An agent, number `which`, could not be made, or is not the one that is to play."""


@contextlib.contextmanager
def _watching(
    board: Board | None, which: int, grace: float, making: bool = False
) -> Iterator[None]:
    """Note on the board that an agent's code runs; whatever it raises is a fault of the agent.

    Args:
        board: None if nobody watches. Otherwise the process plays nothing else, and no exception
            may end it, not even `KeyboardInterrupt`.
        which: the agent.
        grace: the seconds that it has in addition.
        making: whether it is being made.

    Raises:
        AgentFaultError: the code raised an exception.
    """
    if board is not None:
        board.write(which, grace, making)
    try:
        yield
    except BaseException as error:
        if board is None and isinstance(error, KeyboardInterrupt | Ended):
            raise
        cause = error.__cause__ if isinstance(error, AgentFailedError) else None
        cause = cause or error
        raise AgentFaultError(which, told(cause)) from cause
    finally:
        if board is not None:
            board.write(NOBODY)


class Watched:
    """An agent whose calls are timed, noted on the board, and whose failures are named.

    Attributes:
        begun: whether it has answered in this game.
        moves: its answers after the first.
        milliseconds: the time that it took for these.
    """

    def __init__(self, agent: Any, which: int, board: Board | None, grace: float) -> None:
        self._agent, self._which, self._board, self._grace = agent, which, board, grace
        self.moves, self.milliseconds, self.begun = 0, 0.0, False

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """What the agent gives, as plain numbers and texts, so that none of its code runs later."""
        with self._watch():
            answers = ask(self._agent, positions, keys, "the agent")
            return [_plain(answer) for answer in answers]

    @contextlib.contextmanager
    def _watch(self) -> Iterator[None]:
        began = time.perf_counter()
        with _watching(self._board, self._which, self._grace):
            yield
        if self.begun:  # the first move of a game may have waited for a compiler
            self.moves += 1
            self.milliseconds += 1000 * (time.perf_counter() - began)
        self.begun, self._grace = True, 0.0


class WatchedOnStates(Watched):
    """A watched agent with a fast path."""

    def act_states(self, positions: GameStates, keys: np.ndarray) -> Any:
        """What the agent gives."""
        with self._watch():
            return np.array(self._agent.act_states(positions, keys))


def _plain(answer: Any) -> int | str:
    """An answer as a plain number or text.

    Raises:
        TypeError: it is neither.
    """
    number = as_whole(answer)
    if number is not None:
        return number
    if isinstance(answer, str):
        return str.__str__(answer)
    raise TypeError(f"act gave {brief(answer)}, which is no move")


@dataclass
class Table:
    """Where the games of one process are played: the agents made so far, and the board.

    Attributes:
        board: None if nobody watches.
    """

    board: Board | None = None

    def __post_init__(self) -> None:
        self._agents: dict[str, tuple[Any, str]] = {}  # with their ids
        self._seen: set[tuple[str, str]] = set()

    def play(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Play a game.

        Args:
            job: `game`, `number` and `seed` of the start, `balanced`; the `agents` by name and
                their `ids` and `kinds`; the `seat` of the first.

        Returns:
            `result` for the first agent (1, 0 or -1), `plies`, `moves` and `milliseconds` of both,
            and `fault`: None, or who lost by a fault and what happened. Or only `unfit`: which
            agent has to sit out and why.
        """
        agents: list[Watched] = []
        try:
            agents += (self._watched(job, which) for which in (0, 1))
            return self._played(job, agents)
        except UnfitAgentError as error:
            return unfit(error.which, str(error))
        except (AgentFaultError, WrongMoveError) as error:
            self._drop(job["agents"][error.which])
            return lost(error.which, str(error), agents)
        finally:
            self._note_begun(job, agents)

    def _drop(self, name: str) -> None:
        """Let an agent go that failed, with its program: it is made anew for its next game."""
        agent, _ = self._agents.pop(name)
        self._seen = {seen for seen in self._seen if seen[0] != name}
        if isinstance(agent, ProgramAgent):
            agent.close()

    def _note_begun(self, job: Mapping[str, Any], agents: Sequence[Watched]) -> None:
        """Note who has moved; an agent whose opponent failed before that keeps its grace."""
        for name, agent in zip(job["agents"], agents, strict=False):
            if agent.begun and name in self._agents:
                self._seen.add((name, job["game"]))

    def _played(self, job: Mapping[str, Any], agents: Sequence[Watched]) -> dict[str, Any]:
        starts = start_set(job["game"], None, job["seed"], job["balanced"])
        games = Rounds(starts, [job["number"]], [job["seat"]])
        while len(games.running):
            games.play_round(agents, job["agents"])
        return _report(int(np.sign(games.gains()[0])), games.plies, agents, None)

    def _watched(self, job: Mapping[str, Any], which: int) -> Watched:
        name, grace = job["agents"][which], GRACE.get(job["kinds"][which], COMPILING)
        if name not in self._agents:  # making it runs the code of its module
            try:
                with _watching(self.board, which, grace, making=True):
                    agent = self._made(name)
                    self._agents[name] = agent, identity(name, agent)
            except AgentFaultError as error:
                raise UnfitAgentError(which, f"cannot be made: {error}") from error
        agent, own = self._agents[name]
        if own != job["ids"][which]:
            raise UnfitAgentError(which, CHANGED)
        kind = WatchedOnStates if acts_on_states(agent) else Watched
        first = (name, job["game"]) not in self._seen
        return kind(agent, which, self.board, grace if first else 0.0)

    def _made(self, name: str) -> Any:
        """An agent; who watches the board also watches a program's time, whatever the limit is."""
        if self.board is not None and name.startswith(PREFIX):
            return ProgramAgent(name.removeprefix(PREFIX), watched=True)
        return find_agent(name)


def lost(which: int, what: str, agents: Sequence[Watched] = ()) -> dict[str, Any]:
    """The report of a game that an agent lost by a fault."""
    return _report(2 * which - 1, 0, agents, (which, shown(what, LONGEST_FAULT)))


def unfit(which: int, why: str) -> dict[str, Any]:
    """The report of a game that is not played because an agent has to sit out."""
    return {"unfit": (which, shown(why, LONGEST_FAULT))}


def _report(
    result: int, plies: int, agents: Sequence[Watched], fault: tuple[int, str] | None
) -> dict[str, Any]:
    both = agents if len(agents) == 2 else ()
    return {
        "result": result,
        "plies": plies,
        "moves": [agent.moves for agent in both] or [0, 0],
        "milliseconds": [agent.milliseconds for agent in both] or [0.0, 0.0],
        "fault": fault,
    }


def main(board: int) -> None:
    """Play games until there are no more jobs; `board` is the number that makes the board."""
    messages, table = Messages(), Table(Board(board))
    while (job := messages.read()) is not None:
        messages.answer(table.play(job))


if __name__ == "__main__":
    # by the name that others import: what is defined in `__main__` would count as a user's agent
    import_module("azumaya.baselines.arena.league.games").main(int(sys.argv[1]))
