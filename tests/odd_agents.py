"""Agents that do odd things; commands, leagues, classes and servers find them by name."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from azumaya.baselines.agents import RandomAgent
from azumaya.envs import Position

ODD = __name__
"""The module: `{ODD}:Raises` fails at its first move, `{ODD}:Raises:1` at its second."""


class Plain:
    """Has nothing but `act`: the first legal action."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        return [position.legal_actions()[0] for position in positions]


class Named(Plain):
    """Calls itself something else; takes any argument, or none."""

    name = "by another name"

    def __init__(self, argument: str = "") -> None:
        pass


class Names(Plain):
    """Gives its moves by name."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        return [position.legal_moves()[0] for position in positions]


class Repeats(Plain):
    """Always makes the same move, which is legal once."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        return ["1a6"] * len(positions)


class NoMove(Plain):
    """Gives what is the name of no move."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        return ["0z0"] * len(positions)


class Checks(Plain):
    """Fails when it is asked whether it can play another game than this."""

    def __init__(self, game: str = "") -> None:
        self.game = game

    def check(self, position: Position) -> None:
        if position.game.name != self.game:
            raise RuntimeError("not this one")


class Fast(Plain):
    """Fails where it is asked with state records."""

    def act_states(self, positions: Any, keys: Any) -> Any:
        return helper()


def helper() -> Any:
    raise ValueError("[red]what[/b] it says")


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


class Silent(Fine):
    """Gives nothing once it has given some moves; others do something else then."""

    def __init__(self, moves: str = "0") -> None:
        self.left = int(moves)

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        self.left -= 1
        return super().act(positions, keys) if self.left >= 0 else self.fail()

    def fail(self) -> Any:
        return None


class Slow(Fine):
    """Thinks for some seconds at its second move."""

    def __init__(self, seconds: str = "2") -> None:
        self.seconds, self.moves = float(seconds), 0

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        self.moves += 1
        if self.moves == 2:
            time.sleep(self.seconds)
        return super().act(positions, keys)


class Crashes(Silent):
    def fail(self) -> Any:
        os._exit(7)


class Hangs(Silent):
    def fail(self) -> Any:
        time.sleep(3600)


class Raises(Silent):
    def fail(self) -> Any:
        return helper()


class Exits(Silent):
    def fail(self) -> Any:
        raise SystemExit(1)


class Illegal(Silent):
    def fail(self) -> Any:
        return [10**9]


class Lazy(Silent):
    """Gives its moves by a generator, and wants to end the program in it."""

    def fail(self) -> Any:
        raise SystemExit(0)
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
