"""A load test of `azumaya serve` on this machine: many games at once, many requests.

    python -m tests.serve.load [--games 1000] [--requests 100000] [--pause 10]

Starts the server as a user would, on a free port of the loopback address. Processes of their own
play the visitors: each has its own connection and cookie, and follows its game by the rules. They
also make mistakes, and try to read and change the games of others. One more process measures how
long a page, a move and an agent's answer take meanwhile. First it lets the server compile the
search and the hints of each game. Then there are four phases:

- `alone`: the process that measures has the server for itself;
- `people`: in all games a request is sent every `--pause` seconds on average;
- `searches`: the same, while other visitors ask for hints of two seconds without a break;
- `full speed`: every visitor sends its next request at once, until `--requests` were answered.

Prints JSON with times in milliseconds and the memory of the server's own process. Ends with status
1 if a connection was dropped, an answer had an unexpected status, or a game was not what its own
moves made it. A connection that the server closes after more than a second without a request is
not dropped: the request is sent again, as browsers do, and counted under `retries`. Ctrl-C ends the
test; what was measured until then is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from azumaya.baselines.play.server.choices import DEFAULT_TIME
from azumaya.envs import GAMES
from tests.processes import serving
from tests.serve.visitors import Tally, Visitor

PHASES = ("warm-up", "alone", "people", "searches", "full speed", "end")
SEARCHING = 4
"""Visitors who ask for long hints in the phase `searches`."""
REST_SECONDS = 0.25
"""The pause of those who measure."""


class Clock:
    """What all processes share: the phase, and the number of answers so far."""

    def __init__(self, pause: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._phase, self._count = context.Value("i", 0), context.Value("q", 0)
        self._faults = context.Value("q", 0)
        self.pause = pause

    @property
    def phase(self) -> str:
        """The phase of the test."""
        return PHASES[self._phase.value]

    def next(self, phase: str) -> None:
        """Begin a phase."""
        self._phase.value = PHASES.index(phase)

    @property
    def count(self) -> int:
        """The number of answers that all visitors got."""
        return int(self._count.value)

    @property
    def faults(self) -> int:
        """How often something was wrong."""
        return int(self._faults.value)

    def add(self, answers: int, faults: int) -> None:
        """Count answers, and what was wrong."""
        with self._count.get_lock():
            self._count.value += answers
            self._faults.value += faults


# ---- processes that send requests ----


async def play(visitor: Visitor, clock: Clock) -> None:
    """Play until the end, at the speed of the phase."""
    while clock.phase in ("warm-up", "alone"):
        await asyncio.sleep(visitor.rng.random())
    if clock.phase != "full speed":  # so that the visitors do not come in all at once
        await asyncio.sleep(visitor.rng.random() * clock.pause)
    while clock.phase != "end":
        await visitor.step()
        if clock.phase not in ("full speed", "end"):
            await asyncio.sleep(visitor.rng.expovariate(1 / clock.pause))
    if visitor.position is not None:
        await visitor.look()


async def search(visitor: Visitor, clock: Clock) -> None:
    """Ask for the longest hints, in the phase for it."""
    while clock.phase != "end":
        if clock.phase != "searches":
            await asyncio.sleep(0.1)
            continue
        if visitor.position is None or visitor.position.is_over:
            await visitor.begin("sudoku_moyo")
        await hint(visitor, 2000)


def visitors_of(address: tuple[str, int], clock: Clock, games: int, seed: int, pipe: Pipe) -> None:
    """A process of visitors; sends its tally in the end."""
    tally, everyone = Tally(), list[Visitor]()
    everyone += (Visitor(address, seed + n, tally, everyone) for n in range(games))
    run(clock, tally, pipe, [lambda v=v: play(v, clock) for v in everyone])


def searchers_of(address: tuple[str, int], clock: Clock, seed: int, pipe: Pipe) -> None:
    """A process of visitors who wait for hints."""
    tally = Tally()
    seekers = [Visitor(address, seed + n, tally, [], "human") for n in range(SEARCHING)]
    run(clock, tally, pipe, [lambda v=v: search(v, clock) for v in seekers])


async def warm_up(visitor: Visitor) -> None:
    """Let the server compile what it needs for an answer and a hint in each game."""
    for game in GAMES:
        await visitor.begin(game)
        await visitor.move()
        await visitor.change("answer", {})
        await hint(visitor, 20)


async def hint(visitor: Visitor, milliseconds: int) -> None:
    """Ask for a hint."""
    body = {"changes": visitor.view["changes"], "milliseconds": milliseconds}
    await visitor.ask("hint", f"/api/games/{visitor.view['id']}/hint", body)


def run(clock: Clock, tally: Tally, pipe: Pipe, works: list[Callable[[], Awaitable[None]]]) -> None:
    """Do all works at once, counting answers meanwhile; then send the tally."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    async def counting() -> None:
        answers = faults = 0
        while clock.phase != "end":
            await asyncio.sleep(0.2)
            before = answers, faults
            answers, faults = sum(map(len, tally.seconds.values())), tally.fault_count
            clock.add(answers - before[0], faults - before[1])

    async def all_of_it() -> None:
        await asyncio.gather(counting(), *(work() for work in works))

    asyncio.run(all_of_it())
    pipe.send((dict(tally.seconds), tally.faults, tally.fault_count, tally.busy, tally.retries))


def measure(address: tuple[str, int], clock: Clock, seed: int, pipe: Pipe) -> None:
    """The process that measures; sends times by phase and kind in the end."""
    tally, times = Tally(), dict[str, dict[str, list[float]]]()
    agent = f"uct:{DEFAULT_TIME}ms"
    paging, moving, asking = (
        Visitor(address, seed + n, tally, [], second)
        for n, second in enumerate(("human", "human", agent))
    )

    def note(kind: str, seconds: float) -> None:
        times.setdefault(clock.phase, {}).setdefault(kind, []).append(seconds)

    async def pages() -> None:
        while clock.phase != "end":
            began = time.perf_counter()
            await paging.page()
            note("first page", time.perf_counter() - began)
            paging.connection.close()
            await asyncio.sleep(2 * REST_SECONDS)

    async def plays(visitor: Visitor, kind: str) -> None:
        if kind == "answer":
            await warm_up(visitor)
            clock.next("alone")
        while clock.phase != "end":
            await asyncio.sleep(REST_SECONDS)
            if visitor.position is None or visitor.position.is_over:
                await visitor.begin()
            before = len(tally.seconds[kind])
            await (visitor.change(kind, {}) if visitor.view["thinking"] else visitor.move())
            for seconds in tally.seconds[kind][before:]:
                note(kind, seconds)

    run(clock, tally, pipe, [pages, lambda: plays(moving, "move"), lambda: plays(asking, "answer")])
    pipe.send(times)


# ---- the test ----


@contextlib.contextmanager
def served(words: list[str], **environment: str) -> Iterator[tuple[int, tuple[str, int]]]:
    """A server as a user starts it: its process and its address."""
    with tempfile.TemporaryDirectory() as folder:
        state = ("--state", Path(folder) / "games.sqlite3")
        more = {"env": {**os.environ, **environment}}
        # in a session of its own: Ctrl-C ends the visitors first
        with serving(*state, *words, **more, start_new_session=True) as (process, address):
            url = urlsplit(address)
            yield process.pid, (str(url.hostname), int(url.port or 80))


def megabytes(pid: int) -> float | None:
    """The memory that a process holds, where the system tells."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return round(next(int(ln.split()[1]) for ln in lines if ln.startswith("VmRSS")) / 1024, 1)
    return None


def processor_seconds(pid: int) -> float:
    """The processor time that a process has used, without its children; 0 where none is told."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


class Test:
    """A run of the test.

    Args:
        wanted: the options.
        pid: the server's process.
        address: the server's address.
    """

    def __init__(self, wanted: argparse.Namespace, pid: int, address: tuple[str, int]) -> None:
        self.wanted, self.pid, self.clock = wanted, pid, Clock(wanted.pause)
        self.memory: dict[str, float | None] = {}
        self.rates: dict[str, float] = {}
        self.work: dict[str, float] = {}
        context, count = multiprocessing.get_context("spawn"), wanted.processes
        shares = [wanted.games // count + (n < wanted.games % count) for n in range(count)]
        works: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
            (measure, (10**8,)),
            (searchers_of, (2 * 10**8,)),
            *((visitors_of, (share, n * 10**6)) for n, share in enumerate(shares)),
        ]
        self.pipes: list[Pipe] = []
        for work, arguments in works:
            ours, theirs = context.Pipe()
            self.pipes.append(ours)
            shared = (address, self.clock, *arguments, theirs)
            context.Process(target=work, args=shared, daemon=True).start()

    def run(self) -> None:
        """All phases; Ctrl-C goes on to the end."""
        seconds = self.wanted.seconds
        try:
            self.wait("warm-up", lambda took: self.clock.phase != "warm-up")
            self.wait("alone", lambda took: took > seconds / 2)
            for phase in ("people", "searches"):
                self.clock.next(phase)
                self.wait(phase, lambda took: took > seconds)
            self.clock.next("full speed")
            self.wait("full speed", lambda took: self.clock.count >= self.wanted.requests)
        except KeyboardInterrupt:
            print("\ninterrupted", file=sys.stderr)
        self.clock.next("end")

    def wait(self, phase: str, done: Callable[[float], bool]) -> None:
        """Wait until a phase is done, saying how far it is."""
        began, before = time.monotonic(), self.clock.count
        worked = processor_seconds(self.pid)
        while not done(time.monotonic() - began):
            time.sleep(0.5)
            took = time.monotonic() - began
            rate = (self.clock.count - before) / took
            self.memory[phase], self.rates[phase] = megabytes(self.pid), round(rate, 1)
            work = 1000 * (processor_seconds(self.pid) - worked)
            self.work[phase] = round(work / max(self.clock.count - before, 1), 2)
            said = f"{phase}: {took:.0f} s, {self.clock.count:,} requests, {rate:.0f} a second, "
            said += f"{self.memory[phase]} MB, {self.work[phase]} ms of processor time each, "
            said += f"{self.clock.faults} faults"
            print(f"\r{said} ", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)

    def found(self) -> dict[str, Any]:
        """What the visitors met with."""
        tallies = [pipe.recv() for pipe in self.pipes]
        seconds: dict[str, list[float]] = {}
        for kinds, *_ in tallies:
            for kind, times in kinds.items():
                seconds.setdefault(kind, []).extend(times)
        measured = self.pipes[0].recv()
        faults = [fault for _, some, *_ in tallies for fault in some]
        return {
            "games_at_once": self.wanted.games,
            "requests": {kind: len(times) for kind, times in sorted(seconds.items())},
            "all_requests": sum(map(len, seconds.values())),
            "requests_a_second": self.rates,
            "processor_milliseconds_a_request": self.work,
            "server_megabytes": self.memory,
            "milliseconds": {
                phase: {kind: quantiles(times) for kind, times in sorted(kinds.items())}
                for phase, kinds in measured.items()
                if phase in PHASES[1:-1]
            },
            "put_off": sum(busy for _, _, _, busy, _ in tallies),
            "retries": sum(retries for *_, retries in tallies),
            "faults": sum(count for _, _, count, *_ in tallies),
            "first_faults": faults[:5],
        }


def quantiles(seconds: list[float]) -> dict[str, float]:
    """The median, the 99th percentile and the most, in milliseconds."""
    ranked = sorted(seconds)
    return {
        "n": len(ranked),
        "p50": round(1000 * statistics.median(ranked), 1),
        "p99": round(1000 * ranked[int(0.99 * len(ranked))], 1),
        "most": round(1000 * ranked[-1], 1),
    }


def main() -> int:
    """Start a server, put it under load, end it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=1000, help="games at once")
    parser.add_argument("--requests", type=int, default=100_000, help="requests in all")
    parser.add_argument("--pause", type=float, default=10, help="a person's seconds for a request")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of the paced phases")
    parser.add_argument("--processes", type=int, default=2, help="processes of visitors")
    wanted = parser.parse_args()
    words = ["--most-games", str(wanted.games + wanted.requests), "--most-connections", "8000"]
    with served(words) as (pid, address):
        test = Test(wanted, pid, address)
        test.run()
        found = test.found()
    print(json.dumps(found, indent=1))
    return int(found["faults"] > 0)


if __name__ == "__main__":
    sys.exit(main())
