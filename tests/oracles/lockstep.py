"""One game played by the library and the oracle side by side, compared at every ply."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.observation import unpack_bits
from azumaya.envs.position import Position, episode_key
from tests.cases import Case, cases_of, describe
from tests.oracles import BaseOracle, oracle_of

OVER = {RUNNING: "", TERMINATED: "terminated", TRUNCATED: "truncated"}
MODES = ("plain", "late", "crowded", "edge", "sought")
"""How an episode is played: uniformly at random; from a late position; preferring moves that leave
few replies; preferring cells at the edge; preferring moves that the oracle seeks."""
PREFERENCE = 0.8
"""The probability of a preferred move in the last three modes."""
ORDER = ("plain", "late", "plain", "crowded", "plain", "edge", "plain", "sought")
"""The modes of consecutive episodes."""
FIRST_ADDED = 100
"""The number of the first case that the oracle adds."""
TEXT_EVERY = 7
"""Boards are compared at every seventh ply and at the end."""


class MismatchError(AssertionError):
    """The library and the oracle disagree."""


@dataclass
class Table:
    """Tables of a case that every ply needs; names and actions by player to move."""

    case: Case
    names: tuple[list[str], list[str]] = field(init=False)
    actions: tuple[dict[str, int], dict[str, int]] = field(init=False)
    edge: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        game, settings = self.case.game, self.case.setup.settings
        count = self.case.setup.num_actions
        self.names = (self._named(0), self._named(1))
        first, second = ({name: a for a, name in enumerate(names)} for names in self.names)
        self.actions = (first, second)
        border = border_of(game.observation.shape)
        self.edge = np.array(
            [bool(border & set(game.words.action_cells(a, settings))) for a in range(count)]
        )

    def _named(self, mover: int) -> list[str]:
        game, settings = self.case.game, self.case.setup.settings
        return [
            game.words.move_name(a, settings, mover) for a in range(self.case.setup.num_actions)
        ]


def border_of(shape: tuple[int, int]) -> set[int]:
    """The outermost cells of a rectangle; on a hexagonal board these are part of its edge."""
    rows, columns = shape
    return {
        r * columns + c
        for r in range(rows)
        for c in range(columns)
        if r in (0, rows - 1) or c in (0, columns - 1)
    }


class Library:
    """The library's side: the kernels on one state."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table, self.case = table, table.case
        self.states = self.case.game.new_states(1)
        key = episode_key(seed, 0, 0)
        self.case.game.rules.reset(self.states, 0, self.case.setup.starts, key)
        self._words = np.zeros(word_count(self.case.setup.num_actions), np.uint64)

    def legal(self, states: np.ndarray | None = None) -> np.ndarray:
        """The legal actions."""
        self._words[:] = 0
        self.case.game.rules.write_legal(
            (self.states if states is None else states)[0], self._words
        )
        return np.flatnonzero(unpack_bits(self._words, self.case.setup.num_actions))

    def play(self, action: int) -> None:
        """Make a move."""
        self.case.game.rules.play(self.states[0], action)

    def left_after(self, action: int) -> int:
        """The number of legal moves after a move."""
        after = self.states.copy()
        self.case.game.rules.play(after[0], action)
        return len(self.legal(after))

    def names(self) -> list[str]:
        """The names of all actions for the player to move."""
        return self.table.names[int(self.states["to_move"][0])]

    @property
    def over(self) -> str:
        """How the game is over, in the words of the oracles."""
        return OVER[int(self.states["over"][0])]

    def text(self) -> str:
        """The position text."""
        return self.case.game.words.write_text(self.states[0], self.case.setup.settings)

    def position(self) -> Position:
        """The position as an object."""
        return Position.of_states(self.case.game, self.case.setup, self.states)


@dataclass
class Episode:
    """One game in lockstep; `plies` counts the plies compared, `happened` is the oracle's."""

    table: Table
    mode: str
    seed: int
    plies: int = 0
    happened: frozenset[str] | set[str] = frozenset()
    start: str = ""
    moves: list[str] = field(default_factory=list)

    def run(self) -> str:
        """Play to the end and compare at every ply; returns how the game ended.

        Raises:
            MismatchError: the two sides differ; the message says how to replay the game.
        """
        rng = random.Random(f"{self.table.case.label} {self.mode} {self.seed}")
        library = Library(self.table, self.seed)
        if self.mode == "late":
            self._play_ahead(library, rng)
        self.start = library.text()
        try:
            self._lockstep(library, rng)
        except MismatchError as mismatch:
            raise MismatchError(f"{mismatch}\n{self.story()}") from None
        except Exception as error:
            raise MismatchError(f"{type(error).__name__}: {error}\n{self.story()}") from error
        return ending_of(library)

    def story(self) -> str:
        """How to replay the game up to this ply."""
        case = self.table.case
        return (
            f"game {case.game.name}, options {describe(case.options)}, mode {self.mode}, "
            f"seed {self.seed}\nstart {self.start}\nmoves {' '.join(self.moves)}"
        )

    def _play_ahead(self, library: Library, rng: random.Random) -> None:
        """Play most of a game with the kernels alone."""
        moments = []
        while not library.over:
            moments.append(library.states.copy())
            library.play(int(rng.choice(library.legal())))
        back = rng.randrange(1, max(2, len(moments) // 3))
        library.states[0] = moments[-back][0]

    def _lockstep(self, library: Library, rng: random.Random) -> None:
        case = self.table.case
        oracle = oracle_of(case.game.name)(self.start, case.options)
        oracle.see(self.start)
        self.happened = oracle.happened
        self._compare(library, oracle)
        while not library.over:
            action = self._choose(library, oracle, rng)
            self.moves.append(library.names()[action])
            library.play(action)
            oracle.play(self.moves[-1])
            if oracle.needs_text:
                oracle.see(library.text())
            self.plies += 1
            self._compare(library, oracle)

    def _choose(self, library: Library, oracle: BaseOracle, rng: random.Random) -> int:
        legal = library.legal()
        if self.mode == "edge" and rng.random() < PREFERENCE:
            at_edge = legal[self.table.edge[legal]]
            legal = at_edge if len(at_edge) else legal
        elif self.mode == "crowded" and rng.random() < PREFERENCE:
            some = [int(rng.choice(legal)) for _ in range(4)]
            return min(some, key=library.left_after)
        elif self.mode == "sought" and rng.random() < PREFERENCE:
            actions = self.table.actions[oracle.to_move]
            sought = sorted(actions[name] for name in oracle.sought(rng))
            return rng.choice(sought) if sought else int(rng.choice(legal))
        return int(rng.choice(legal))

    def _compare(self, library: Library, oracle: BaseOracle) -> None:
        names = library.names()
        ours = {names[a] for a in library.legal()}
        theirs = oracle.legal()
        if ours != theirs:
            raise MismatchError(
                f"legal only here {sorted(ours - theirs)}, there {sorted(theirs - ours)}"
            )
        state, payoff = library.states[0], int(library.states["payoff"][0])
        same("to move", int(state["to_move"]), oracle.to_move)
        same("over", library.over, oracle.over)
        same("returns", (payoff, -payoff), tuple(oracle.returns))
        if oracle.over or self.plies % TEXT_EVERY == 0:
            same("board", library.text().split()[0], oracle.board())


def ending_of(library: Library) -> str:
    """Who gained, or that the game was cut off."""
    payoff = int(library.states["payoff"][0])
    if library.over == "truncated" and not payoff:
        return "cut off"
    return f"{library.over} {'draw' if not payoff else f'player_{int(payoff < 0)} gains'}"


def same(what: str, ours: object, theirs: object) -> None:
    """Raise `MismatchError` where two values differ."""
    if ours != theirs:
        raise MismatchError(f"{what}: {ours!r} in the library, {theirs!r} in the oracle")


def episodes(tables: list[Table], seed: int, first: int = 0) -> Iterator[Episode]:
    """Endless episodes over all variants, in the modes of `ORDER`."""
    number = first
    while True:
        table = tables[number % len(tables)]
        mode = ORDER[number // len(tables) % len(ORDER)]
        yield Episode(table, mode, (seed << 32) + number)
        number += 1


def tables_of(game: Game) -> list[Table]:
    """The tables of a game's variants and of the cases that the oracle adds."""
    further = enumerate(oracle_of(game.name).further, FIRST_ADDED)
    cases = (*cases_of(game), *(Case(game, number, options) for number, options in further))
    tables = [Table(case) for case in cases]
    for table in tables:
        for names, actions in zip(table.names, table.actions, strict=True):
            assert len(actions) == len(names)
            assert all(a < b for a, b in pairwise(actions.values()))
    return tables
