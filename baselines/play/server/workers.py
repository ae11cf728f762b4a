"""Searches in processes of their own, so that a search never stops others from moving."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from azumaya.baselines.agents import Agent
from azumaya.baselines.agents.asking import AgentFailedError, move_of
from azumaya.baselines.agents.names import find_agent
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.search.analysis import Analysis, MoveValue, analyse
from azumaya.baselines.search.game_kernels import payoff_bound
from azumaya.baselines.system.calls import Caller
from azumaya.baselines.system.processes import ChildEndedError, ChildError, ChildTimeoutError
from azumaya.envs import Position

SHORT_MS = 200
"""Work is short if it takes no more milliseconds than this."""
SHOWN = 8
"""Moves that a hint lists."""


class Here:
    """Makes calls in this process, as tests want it; a call that has begun cannot be ended."""

    def call(self, work: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
        """What a function returns."""
        return work(*arguments)

    def kill(self) -> None:
        """Nothing to end."""

    close = end = kill


class Workers:
    """Processes for searches, each of which does one thing at a time.

    Long work never takes all processes, if there are several: one is left for short searches.

    Args:
        count: how many; 0 for a thread of this process.
        waiting: how many short searches may be under way or waiting at once, and how many long
            ones; more are refused.
        of_one: how many of them may be one visitor's.
        caller: makes what calls functions in a process.

    Attributes:
        count: how many processes there are.
    """

    def __init__(
        self, count: int, waiting: int, of_one: int = Limits.waiting_of_one,
        caller: Callable[[], Caller | Here] = Caller,
    ) -> None:  # fmt: skip
        self.count, self._waiting, self._of_one = count, waiting, of_one
        self._pending = Counter[bool]()  # by whether the work is long
        self._pending_of = Counter[str]()  # by visitor
        self._long = asyncio.Semaphore(max(1, count - 1))
        self._all = [Worker(caller()) for _ in range(count)] or [Worker(Here())]
        self._idle = list(self._all)
        self._free = asyncio.Semaphore(len(self._idle))

    def warm(self) -> None:
        """Let the processes import what they need before the first search."""
        for worker in self._all:
            worker.begin()

    async def run(
        self, work: Callable[..., Any], *arguments: Any, milliseconds: float = 0,
        seconds: float | None = None, visitor: str = "",
    ) -> Any:  # fmt: skip
        """Do some work in a process; what it raises is raised here. To cancel this ends the work.

        Args:
            work: a function that a process can import.
            arguments: its arguments.
            milliseconds: how long it takes; infinity if that is unknown.
            seconds: after this time it is given up, and its process is replaced. Waiting for a
                process, or for one to start, does not count.
            visitor: for whom; empty for nobody in particular, whose work counts towards no limit
                of one visitor.

        Raises:
            RefusalError: too much work of this kind, short or long, is waiting already, or too much
                of this visitor's, or this was closed.
            AgentFailedError: it was given up, or has ended its process twice.
        """
        long = milliseconds > SHORT_MS
        if self._pending[long] >= self._waiting:
            raise RefusalError(503, "too many searches are under way; try again in a moment")
        if visitor and self._pending_of[visitor] >= self._of_one:
            raise RefusalError(503, "too many of your searches are under way; wait for one to end")
        self._pending[long] += 1
        self._pending_of[visitor] += 1
        try:
            async with self._long if long else nullcontext(), self._free:
                worker = self._idle.pop()  # the one that was used last knows the agents in use
                try:
                    return await worker.run(seconds, work, *arguments)
                finally:
                    self._idle.append(worker)
        finally:
            self._pending[long] -= 1
            self._pending_of -= Counter([visitor])  # keeps no visitor without work

    def close(self) -> None:
        """End the processes, whatever they are searching for."""
        for worker in self._all:
            worker.close()
        for worker in self._all:
            worker.wait()


class Worker:
    """One process, and the thread that asks it; replaced when it dies or takes too long.

    Args:
        caller: the process.
    """

    def __init__(self, caller: Caller | Here) -> None:
        self._caller, self._is_closed = caller, False
        self._thread = ThreadPoolExecutor(1)
        self._begun: Future[None] | None = None

    def begin(self) -> Future[None]:
        """Start the process, unless it runs; done once it has imported what it needs."""
        begun = self._begun
        if begun is None or (begun.done() and begun.exception() is not None):
            begun = self._begun = self._thread.submit(self._caller.call, _ready)
        return begun

    async def run(self, seconds: float | None, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do some work within a time limit, if there is one; raises as `Workers.run`."""
        who = f"agent {arguments[0]}" if arguments and isinstance(arguments[0], str) else "a search"
        try:
            try:
                return await self._attempt(seconds, work, *arguments)
            except ChildEndedError:  # the process was killed: start another, and try once more
                return await self._attempt(seconds, work, *arguments)
        except ChildEndedError:
            said = "ended its process"
        except ChildTimeoutError:
            said = f"no move in {seconds:g} s"
        if not self._is_closed:
            self.begin()
        raise AgentFailedError(f"{who}: {said}")

    async def _attempt(
        self, seconds: float | None, work: Callable[..., Any], *arguments: Any
    ) -> Any:
        if self._is_closed:
            raise RefusalError(503, "the server is ending")
        await asyncio.shield(asyncio.wrap_future(self.begin()))
        done = self._thread.submit(self._caller.call, work, *arguments, seconds=seconds)
        try:
            return await asyncio.wrap_future(done)
        except asyncio.CancelledError:  # nobody waits for it any more
            self._caller.kill()
            self._begun = None
            raise
        except ChildError:
            self._begun = None
            raise

    def close(self) -> None:
        """End the process, whatever it is doing; a thread goes on."""
        self._is_closed = True
        self._caller.close()

    def wait(self) -> None:
        """Wait until the process, which was closed, has ended, or the thread."""
        self._thread.shutdown(cancel_futures=True)
        self._caller.end()


def _ready() -> None:
    """Import what agents need, which takes a second."""
    _known("random")


@lru_cache(maxsize=4)
def _known(name: str) -> Agent:
    """Agents stay in memory, with their trees; a few, as each takes its share."""
    return find_agent(name)


def think(name: str, position: Position, key: int) -> str:
    """The name of the move that an agent chooses.

    Raises:
        AgentFailedError: it gave none.
    """
    try:
        return move_of(_known(name), position, key, name)
    except KeyboardInterrupt:  # the agent's own: processes that search ignore Ctrl-C
        raise AgentFailedError(f"agent {name}: act failed: KeyboardInterrupt") from None


def hint(position: Position, milliseconds: float, key: int) -> dict[str, Any]:
    """What a short search finds, for the board: a line of text, and verdicts on the best moves."""
    found = analyse(position, milliseconds=milliseconds, key=key)
    return {
        "summary": advice(position, found),
        "moves": [
            {"move": move.move, "verdict": verdict(position, found, move)}
            for move in found.moves[:SHOWN]
            if move.value is not None
        ],
    }


def advice(position: Position, found: Analysis) -> str:
    """The best move of an analysis and where it leads, in a sentence."""
    best = next((move for move in found.moves if move.value is not None), None)
    if best is None:
        return "The search has found no move yet."
    return f"The best move found is {best.move}: {verdict(position, found, best)}."


def expected(position: Position, value: float) -> str:
    """An estimated value in words: the chances where only a win counts, otherwise points."""
    if payoff_bound(position) > 1:
        return f"about {value:+.1f} points"
    return f"chances {50 * (1 + value):.1f}%"


def verdict(position: Position, found: Analysis, move: MoveValue) -> str:
    """What a move leads to, in words: `wins`, `loses`, `draws`, or what the search expects."""
    assert move.value is not None
    if not move.exact:
        return expected(position, move.value)
    final = position.returns()[found.to_move] + move.value
    return "wins" if final > 0 else "loses" if final < 0 else "draws"
