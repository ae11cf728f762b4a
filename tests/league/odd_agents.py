"""Agents that fail in various ways; the league finds them as `odd_agents:Class`."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from azumaya.baselines.agents import RandomAgent
from azumaya.envs import Position


class Fine:
    """Plays at random, as odd agents do when they begin."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        print("what agents print is no report")
        if all(position.legal_actions() and str(position) for position in positions):
            return RandomAgent().act(positions, keys)
        return None


class Starts(Fine):
    """Starts a program that reads what there is, at every move."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        subprocess.run(["cat"], stdout=subprocess.DEVNULL, check=True)
        return super().act(positions, keys)


class Slow(Fine):
    """Thinks for two seconds at its second move."""

    moves = 0

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        self.moves += 1
        if self.moves == 2:
            time.sleep(2.0)
        return super().act(positions, keys)


class Silent(Fine):
    """Gives nothing from its second move on; others do something else then."""

    moves = 0

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        self.moves += 1
        return super().act(positions, keys) if self.moves == 1 else self.fail()

    def fail(self) -> Any:
        return None


class Crashes(Silent):
    def fail(self) -> Any:
        os._exit(7)


class Hangs(Silent):
    def fail(self) -> Any:
        time.sleep(3600)


class Raises(Silent):
    def fail(self) -> Any:
        raise KeyError("[red]what[/b]")


class Exits(Silent):
    def fail(self) -> Any:
        raise SystemExit(1)


class Illegal(Silent):
    def fail(self) -> Any:
        return [10**9]


class Lazy(Silent):
    """Gives its second move by a generator, and fails in it."""

    def fail(self) -> Any:
        raise KeyError("late")
        yield


class Interrupts(Silent):
    """Raises what Ctrl-C raises."""

    def fail(self) -> Any:
        raise KeyboardInterrupt


class Unspeakable(Silent):
    """Raises an exception whose text cannot be had."""

    def fail(self) -> Any:
        class Secret(Exception):  # noqa: N818 - odd on purpose
            def __str__(self) -> str:
                raise KeyboardInterrupt

        raise Secret


class Wordless(Silent):
    """Gives something that is no move."""

    def fail(self) -> Any:
        return [[]]


UNMADE = "AZUMAYA_TESTS_UNMADE"
"""The environment variable that says how `Unmade` fails."""


class Unmade(Fine):
    """Can be made when it joins, and not later, if a variable of the environment says so."""

    def __init__(self) -> None:
        how = os.environ.get(UNMADE)
        if how == "raises":
            raise SystemExit(0)
        if how == "crashes":
            os._exit(7)
        if how == "hangs":
            time.sleep(3600)
