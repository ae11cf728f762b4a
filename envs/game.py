"""The `Game` record: all that adapters, search, tests and docs need to know of a game, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Axis, Settings, Symmetries

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
"""Values of `state.over`: the game goes on, has ended by the rules, was cut off by a limit."""


# ---- the rules ----


@dataclass(frozen=True, eq=False)
class Rules:
    """The layout of a state, and the kernels that see one state as a record.

    Every state has the fields `to_move` (0 or 1), `over` (`RUNNING`, `TERMINATED`, `TRUNCATED`)
    and `payoff` (what player_0 has gained so far; player_1 has gained its negative). Packed
    arguments are zeroed rows of uint64.

    Attributes:
        state: the record's dtype.
        reset: kernel `reset(states, i, starts, key)`: make `states[i]` the start of an episode,
            chosen from the prepared `starts`, `(n,)`, by the episode's key.
        play: kernel `play(state, action)`: make a legal move, and all that follows
            without a choice.
        write_legal: kernel `write_legal(state, packed)`: set the bit of every legal action; none
            when the game is over.
        observe: kernel `observe(state, player, packed)`: write the observation: the `cells` planes
            as bits, plane after plane, then from the next whole word on a byte for each `number`
            plane.
        evaluate: kernel `evaluate(state, player)`: a running position as a whole number, for one
            step of lookahead; higher is better for the player, and both players share one scale.
        resample: kernel `resample(state, key)`: draw anew what neither player can see; None where
            nothing is hidden.
        hidden: fields that neither player can see, and those that tell about the past only. Two
            positions are equal where all other fields are; position texts leave these out.
        bounds: kernel `bounds(state)` for search, which returns two whole numbers: what the player
            to move of a running position gains from here on at least and at most, if both play
            best. None if the game offers nothing.
        simplify: kernel `simplify(state)` for search: change a running position into one with the
            same value that is easier to search. Moves legal afterwards were legal before, and one
            of the best of them was among the best before. None if the game offers nothing.
        outlook: kernel `outlook(state, row)` for search: write to `row`, `(outlook_words,)` uint64,
            all that the rest of the game depends on; running positions of one game with equal rows
            have the same value. None stands for the whole state.
        outlook_words: the words of that row.
    """

    state: np.dtype[Any]
    reset: Callable[..., Any]
    play: Callable[..., Any]
    write_legal: Callable[..., Any]
    observe: Callable[..., Any]
    evaluate: Callable[..., Any]
    resample: Callable[..., Any] | None = None
    hidden: tuple[str, ...] = ()
    bounds: Callable[..., Any] | None = None
    simplify: Callable[..., Any] | None = None
    outlook: Callable[..., Any] | None = None
    outlook_words: int = 0


# ---- what players see ----


@dataclass(frozen=True)
class Plane:
    """One plane of the observation.

    Attributes:
        name: its name.
        meaning: what it shows.
        kind: a `cells` plane is 1 on a set of cells; a `number` plane holds one value everywhere.
        high: the largest value.
        group: planes that are alike but for their index, like the candidates of each number.
        index: what tells the planes of a group apart: a number (from 1), or a bit of a region's
            number (from 0).
        value: `NUMBER` where a `number` plane's value is one of the game's numbers, `PLAYER` where
            it is 0 or 1 and tells the players apart: symmetries change such values.
    """

    name: str
    meaning: str
    kind: Literal["cells", "number"] = "cells"
    high: int = 1
    group: str = ""
    index: tuple[Axis, int] | None = None
    value: Axis | None = None


def numbered_planes(
    group: str,
    meaning: str,
    numbers: int,
    kind: Literal["cells", "number"] = "cells",
    high: int = 1,
) -> tuple[Plane, ...]:
    """A plane for each number from 1; `{n}` in the meaning stands for the number."""
    return tuple(
        Plane(f"{group} {n}", meaning.format(n=n), kind, high, group, (Axis.NUMBER, n))
        for n in range(1, numbers + 1)
    )


@dataclass(frozen=True)
class Observation:
    """What an observation shows.

    Attributes:
        shape: rows and columns of a plane.
        planes: the `cells` planes, then the `number` planes.
        houses_only: whether cells matter only by the houses that they share, and not by what lies
            beside them: a network then needs no neighbourhoods.
    """

    shape: tuple[int, int]
    planes: tuple[Plane, ...]
    houses_only: bool = False

    def __post_init__(self) -> None:
        """Refuse planes of numbers before planes of cells."""
        kinds = [plane.kind for plane in self.planes]
        if kinds != sorted(kinds):
            raise ValueError(f"planes: cells must come before numbers, not {kinds}")

    @cached_property
    def cells(self) -> int:
        """Cells of one plane."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def cell_planes(self) -> int:
        """How many planes are sets of cells; the others are numbers."""
        return sum(plane.kind == "cells" for plane in self.planes)

    @cached_property
    def packed_words(self) -> int:
        """Words of a packed observation."""
        numbers = len(self.planes) - self.cell_planes
        return word_count(self.cell_planes * self.cells) + word_count(8 * numbers)


# ---- options ----


@dataclass(frozen=True)
class Option:
    """One option: a constructor keyword, and a key of `reset(options=...)`.

    Attributes:
        name: its name.
        default: its value where none is given.
        values: the values it takes, for the documentation.
        meaning: what it does, for the documentation.
        check: returns the canonical form of a value, or raises `OptionError`.
        default_is_checked: whether `check` also makes the canonical form of a default of None.
        reads_files: whether a value may name a file, whose content may change from use to use.
    """

    name: str
    default: Any
    values: str
    meaning: str
    check: Callable[[Any], Any]
    default_is_checked: bool = False
    reads_files: bool = False

    def settle(self, value: Any) -> Any:
        """The canonical form of a value; raises `OptionError`."""
        return self.check(value) if value is not None or self.default_is_checked else None


def one_of(name: str, *values: Any) -> Callable[[Any], Any]:
    """A check that takes exactly these values (and not, say, 1 for True)."""

    def check(value: Any) -> Any:
        for known in values:
            if type(value) is type(known) and value == known:
                return known
        shown = ", ".join(repr(v) for v in values)
        raise OptionError(f"{name}={value!r}: must be one of {shown}")

    return check


@dataclass(frozen=True, eq=False)
class Options:
    """The options of a game, and what follows from their settings.

    Iterating goes over the options.

    Attributes:
        starts: the start positions that an episode draws from, `(n,)` states; raises `OptionError`.
        num_actions: how many actions there are.
        max_steps: a proven bound on the steps of an episode.
        known: the options.
        payoff_bound: the most that a player can gain in an episode; search proves results by it.
        variants: sets of options worth testing, as a user would give them: tests, goldens and the
            cross-check with the oracle go over them. Together they should reach every option and
            every way a game can end; where a game is long, options that end it early belong here.
    """

    starts: Callable[[Settings], np.ndarray]
    num_actions: Callable[[Settings], int]
    max_steps: Callable[[Settings], int]
    known: tuple[Option, ...] = ()
    payoff_bound: Callable[[Settings], int] = lambda settings: 1
    variants: tuple[Mapping[str, Any], ...] = ({},)

    def __iter__(self) -> Iterator[Option]:
        return iter(self.known)

    @cached_property
    def defaults(self) -> Settings:
        """Every option at its default."""
        return MappingProxyType({option.name: option.default for option in self.known})


# ---- words ----


def nothing_revealed(state: Any) -> Mapping[str, Any]:
    """What chance has shown in games in which it shows nothing."""
    return {}


@dataclass(frozen=True, eq=False)
class Words:
    """What runs on the host: names, texts, sentences, scenes, checks. None of it is compiled.

    Attributes:
        move_name: `move_name(action, settings, mover)`: the name of an action of the player to
            move.
        parse_move: `parse_move(name, settings, mover)`: the action of a name; raises
            `MoveNameError`.
        write_text: `write_text(state, settings)`: the position text.
        read_text: `read_text(text, settings)`: the position of a text, `(1,)` states; raises
            `PositionError`.
        explain: `explain(state, action, settings)`: one sentence: why an action is legal in a
            state, or which rule forbids it.
        action_cells: `action_cells(action, settings)`: the cells that an action touches, for the
            display of the last move.
        scene: `scene(state, start, settings)`: the position as renderers see it; `start` is the
            state the episode began with (its stones are the givens).
        check_state: `check_state(state)`: slow invariants, for tests and for states from outside;
            raises `AssertionError`.
        revealed: `revealed(state)`: the options with which a start draws again what chance has
            shown up to a state.
    """

    move_name: Callable[[int, Settings, int], str]
    parse_move: Callable[[str, Settings, int], int]
    write_text: Callable[[Any, Settings], str]
    read_text: Callable[[str, Settings], np.ndarray]
    explain: Callable[[Any, int, Settings], str]
    action_cells: Callable[[int, Settings], tuple[int, ...]]
    scene: Callable[[Any, Any, Settings], Scene]
    check_state: Callable[[Any], None]
    revealed: Callable[[Any], Mapping[str, Any]] = nothing_revealed


# ---- the record ----


@dataclass(frozen=True, eq=False)
class Game:
    """A game: its rules, what players see of it, its options, its words, its symmetries."""

    name: str
    title: str
    rules: Rules
    observation: Observation
    options: Options
    words: Words
    symmetries: Symmetries = field(default_factory=Symmetries)
    version: int = 0

    def __post_init__(self) -> None:
        """Refuse a record that adapters could not use."""
        names = self.rules.state.names or ()
        missing = {"to_move", "over", "payoff"} - set(names)
        if missing:
            raise ValueError(f"{self.name}: the state lacks the fields {sorted(missing)}")
        taken = [name for name in names if hasattr(np.record, name)]
        if taken:
            raise ValueError(f"{self.name}: fields {taken} would be NumPy's own when interpreted")
        self._check_fields("rules.hidden", self.rules.hidden)
        self._check_fields("symmetries.fields", self.symmetries.fields)

    def _check_fields(self, where: str, named: Iterable[str]) -> None:
        unknown = set(named) - set(self.rules.state.names or ())
        if unknown:
            raise ValueError(f"{self.name}: {where}: {sorted(unknown)}: no fields of the state")

    @property
    def id(self) -> str:
        """The environment id, `azumaya/<name>-v<version>`."""
        return f"azumaya/{self.name}-v{self.version}"

    def visible(self, states: np.ndarray) -> bytes:
        """All of some states that is not hidden: equal for equal positions."""
        if self.rules.hidden:
            states = states.copy()
            for name in self.rules.hidden:
                states[name] = 0
        return states.tobytes()

    def new_states(self, count: int) -> np.ndarray:
        """Zeroed states, `(count,)`; as a record array where kernels run as plain Python."""
        return new_states(count, self.rules.state)


def state_kind(game: Game, num_actions: int) -> str:
    """What the checksums of a game's states are made for, see `azumaya.envs.kernels.checksum`."""
    return f"{game.id}, {num_actions} actions"


def new_states(count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """Zeroed states of a dtype, `(count,)`, in the form that kernels take."""
    return as_states(np.zeros(count, dtype))


def as_states(states: np.ndarray) -> np.ndarray:
    """States in the form that kernels take: plain, or with attribute access when interpreted."""
    return states.view(np.recarray) if INTERPRETED else states
