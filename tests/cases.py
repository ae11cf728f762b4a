"""The cases of the tests that run over all games: every game with each of its variants."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pytest

from azumaya.benchmarks.yardstick import connect_four
from azumaya.envs import register_game
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.aec.wrapped import wrap
from azumaya.envs.game import Game
from azumaya.envs.position import Position
from azumaya.envs.registry import DERIVED, GAMES
from azumaya.envs.setup import Setup, prepare


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """A game with one of its variants."""

    game: Game
    number: int
    options: Mapping[str, Any]

    @property
    def label(self) -> str:
        """A short name for test ids: `name-number`."""
        return f"{self.game.name}-{self.number}"

    def __repr__(self) -> str:
        return f"<{self.label} {dict(self.options)}>"

    @cached_property
    def setup(self) -> Setup:
        """The prepared options."""
        return prepare(self.game, self.options)

    def raw(self, **more: Any) -> RawEnv:
        """A raw environment."""
        return RawEnv(self.game, **{**self.options, **more})

    def env(self, **more: Any) -> Any:
        """A wrapped environment."""
        return wrap(self.raw(**more))

    def position(self, seed: int = 0) -> Position:
        """The start of the first episode of a seed."""
        return Position(self.game, seed=seed, **self.options)

    def read(self, text: str) -> Position:
        """The position of a text."""
        states = self.game.words.read_text(text, self.setup.settings)
        return Position.of_states(self.game, self.setup, states)


def cases_of(game: Game) -> tuple[Case, ...]:
    """A case for each variant of a game."""
    return tuple(Case(game, i, options) for i, options in enumerate(game.options.variants))


YARDSTICK = connect_four.GAME
register_game(YARDSTICK)
TESTED: Mapping[str, Game] = MappingProxyType({**GAMES, YARDSTICK.name: YARDSTICK})
"""The games of the library and the yardstick, which is not part of it. Tests of all games run over
these, so that a new game needs no more than its own file and a line in the registry."""

COMPLETE = (
    "sudoku_moyo", "sudoku_horikomi", "sudoku_tiles", "halma_dominari", "vierer_dominari",
    "revers_dominari", "score_dominari", "abalone",
)  # fmt: skip
"""The games of the library that ship with what agents have made of them: a champion, a stored
training, and games in the gallery. Tests expect these of a new game once it is in this list."""

CASES = tuple(case for game in TESTED.values() for case in cases_of(game))
DERIVED_CASES = tuple(case for game in DERIVED for case in cases_of(game))
"""Cases of games made of others, like the match. The contract holds for them too, but they have
neither oracle nor goldens."""


def shape_of(case: Case) -> tuple[str, int, int]:
    """What adapters see of a game and its options: how many actions, and how large payoffs."""
    bound = case.game.options.payoff_bound(case.setup.settings)
    return case.game.name, case.setup.num_actions, bound


SHAPES = tuple({shape_of(case): case for case in CASES[::-1]}.values())[::-1]
"""The first case of every shape, for tests of what does not depend on the rules."""


def describe(options: Mapping[str, Any]) -> str:
    """Options as canonical JSON, with `repr` for values that JSON cannot represent."""
    return json.dumps(dict(options), sort_keys=True, default=repr)


def case_of(name: str, described: str) -> Case:
    """The case of a game whose options `describe` writes like this.

    Raises:
        LookupError: the game no longer has such a variant.
    """
    for case in cases_of(TESTED[name]):
        if describe(case.options) == described:
            return case
    raise LookupError(f"{name}: there is no variant {described}; record the golden again")


def random_line(start: Position, rng: Any) -> list[Position]:
    """The positions of a game of random moves, from a start to the end."""
    line = [start.copy()]
    while not line[-1].is_over:
        line.append(line[-1].copy().play(int(rng.choice(line[-1].legal_actions()))))
    return line


def nightly(cases: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """Cases of `parametrize`, slow but for those that have a quick value, or a game of that name.

    A case is one value, or a tuple of them.
    """
    marked = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        is_quick = any(getattr(value, "name", value) in quick for value in values)
        marked.append(pytest.param(*values, marks=() if is_quick else pytest.mark.slow))
    return marked
