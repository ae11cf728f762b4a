"""How long it takes from the command to the first move of the strongest agent.

    python -m tests.serve.first_move [--game sudoku_moyo] [--agent champion:2000ms]

Starts `azumaya serve` twice: with an empty compile cache, as after an installation, and again with
what the first run has compiled. Prints a line of JSON with seconds since the command was started,
and with the processor time of all processes, which tells how long it takes on a machine that has
nothing else to do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time

from tests.serve.load import served
from tests.serve.visitors import Tally, Visitor


async def play(address: tuple[str, int], game: str, agent: str, began: float) -> dict[str, float]:
    """The page, a game, a move, the agent's answer: when each was there."""
    tally = Tally()
    visitor, found = Visitor(address, 0, tally, [], agent), dict[str, float]()

    def note(what: str) -> None:
        found[what] = round(time.monotonic() - began, 1)

    await visitor.page()
    note("first page")
    await visitor.begin(game)
    note("game begun")
    await visitor.move()
    note("first move")
    await visitor.change("answer", {})
    note("answer")
    assert tally.fault_count == 0, tally.faults
    return found


def worked() -> float:
    """The processor time of all processes that were started and have ended, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--game", default="sudoku_moyo")
    parser.add_argument("--agent", default="champion:2000ms", help="who answers")
    wanted = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        for name in ("empty cache", "compiled"):
            began, before = time.monotonic(), worked()
            with served([], AZUMAYA_CACHE_DIR=cache) as (_, address):
                listening = round(time.monotonic() - began, 1)
                times = asyncio.run(play(address, wanted.game, wanted.agent, began))
            found[name] = {"address": listening, **times, "processor": round(worked() - before, 1)}
    print(json.dumps({"game": wanted.game, "agent": wanted.agent, **found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
