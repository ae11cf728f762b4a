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
    """Plays at random."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """A legal move; odd agents play one, too, when they begin."""
        print("what agents print is no report")
        if all(position.legal_actions() and str(position) for position in positions):
            return RandomAgent().act(positions, keys)
        return None


class Starts(Fine):
    """Starts a program that reads what there is, at every move."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """A legal move, once the program has read all."""
        subprocess.run(["cat"], stdout=subprocess.DEVNULL, check=True)
        return super().act(positions, keys)


class Later(Fine):
    """Fails at its second move."""

    def __init__(self) -> None:
        self.moves = 0

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """A legal move once."""
        self.moves += 1
        return super().act(positions, keys) if self.moves == 1 else self.fail()

    def fail(self) -> Any:
        """What it does instead of a second move."""


class Crashes(Later):
    """Ends its process."""

    def fail(self) -> Any:
        """End without a word."""
        os._exit(7)


class Hangs(Later):
    """Thinks for ever."""

    def fail(self) -> Any:
        """Sleep for an hour."""
        time.sleep(3600)


class Slow(Later):
    """Thinks for two seconds at its second move."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """A legal move."""
        self.moves += 1
        if self.moves == 2:
            time.sleep(2.0)
        return Fine.act(self, positions, keys)


class Raises(Later):
    """Has a bug."""

    def fail(self) -> Any:
        """Raise an exception."""
        raise KeyError("[red]what[/b]")


class Exits(Later):
    """Wants to end the program."""

    def fail(self) -> Any:
        """End Python."""
        raise SystemExit(1)


class Illegal(Later):
    """Plays a move that the rules forbid."""

    def fail(self) -> Any:
        """The number of no action."""
        return [10**9]


class Silent(Later):
    """Gives nothing."""


class Lazy(Later):
    """Gives its second move by a generator, and fails in it."""

    def fail(self) -> Any:
        """Fail when the answer is read."""
        raise KeyError("late")
        yield


class Interrupts(Later):
    """Raises what Ctrl-C raises."""

    def fail(self) -> Any:
        """Interrupt."""
        raise KeyboardInterrupt


class Unspeakable(Later):
    """Raises an exception whose text cannot be had."""

    def fail(self) -> Any:
        """Raise it."""

        class Secret(Exception):  # noqa: N818 - odd on purpose
            def __str__(self) -> str:
                raise KeyboardInterrupt

        raise Secret


class Wordless(Later):
    """Gives something that is no move."""

    def fail(self) -> Any:
        """A list of a list."""
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
