"""The `Game` record: everything that adapters, search, tests and docs need to know about a game."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType, ModuleType
from typing import Any, Literal, Self

import numpy as np

from azumaya.envs.errors import OptionError, brief, did_you_mean
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.lesson import Step
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Axis, Settings, Symmetries

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
"""Values of `state.over`: the game is running, ended by the rules, or cut off by a limit."""
MOST_IN_A_PLANE = 127
"""The largest value of a plane: observations are int8."""


def _found_in(modules: Iterable[ModuleType], kind: type[Any]) -> dict[str, Any]:
    """What modules have by the names of a dataclass's fields; the first that has one counts."""
    return {
        field.name: vars(module)[field.name]
        for module in reversed([*modules])
        for field in fields(kind)
        if field.name in vars(module)
    }


# ---- the rules ----


@dataclass(frozen=True, eq=False)
class Rules:
    """The layout of a state, and the kernels that work on one state as a record.

    Every state has the fields `to_move` (0 or 1), `over` (`RUNNING`, `TERMINATED`, `TRUNCATED`)
    and `payoff` (the sum of player_0's rewards so far; player_1's is its negative). `packed`
    arguments are zeroed rows of uint64.

    Attributes:
        state: the record's dtype, whose size is a multiple of 8 bytes. Each field begins at a
            multiple of the size of its items.
        reset: kernel `reset(states, i, starts, key)`: make `states[i]` the start of an episode,
            drawn from the prepared `starts`, `(n,)`, by the episode's key.
        play: kernel `play(state, action)`: make a legal move, and everything that follows from it
            without a choice.
        write_legal: kernel `write_legal(state, packed)`: set the bit of every legal action; of
            none if the game is over.
        observe: kernel `observe(state, player, packed)`: write the player's observation: the
            `cells` planes as bits, one plane after the other; then, from the next whole word on, a
            byte for each `number` plane.
        evaluate: kernel `evaluate(state, player)`: the evaluation of a running position, an
            integer, for one step of lookahead. Higher is better for the player; both players share
            one scale.
        resample: kernel `resample(state, key)`: redraw what neither player can see; None if
            nothing is hidden.
        hidden: fields that neither player can see, and fields that only record the past.
            Positions are equal if all other fields are; position texts omit these.
    """

    state: np.dtype[Any]
    reset: Callable[..., Any]
    play: Callable[..., Any]
    write_legal: Callable[..., Any]
    observe: Callable[..., Any]
    evaluate: Callable[..., Any]
    resample: Callable[..., Any] | None = None
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, state: np.dtype[Any], *modules: ModuleType, **more: Any) -> Self:
        """The rules whose kernels are found in modules by these names; `more` comes first."""
        return cls(**{**_found_in(modules, cls), "state": state, **more})


# ---- what players see ----


@dataclass(frozen=True)
class Plane:
    """One plane of the observation.

    Attributes:
        name: its name.
        meaning: what it shows.
        kind: a `cells` plane is 1 on a set of cells; a `number` plane has the same value
            everywhere.
        high: the largest value, at most 127.
        group: shared by planes that differ only in their index, like the candidates of each number.
        index: what distinguishes the planes of a group: a number (from 1), or a bit of a region's
            number (from 0).
        value: `NUMBER` if the value of a `number` plane is one of the game's numbers, `PLAYER` if
            it is 0 or 1 and stands for a player: symmetries change such values. Otherwise None.
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
    """One plane for each number from 1; `{n}` in the meaning stands for the number."""
    return tuple(
        Plane(f"{group} {n}", meaning.format(n=n), kind, high, group, (Axis.NUMBER, n))
        for n in range(1, numbers + 1)
    )


def number_bytes(planes: Sequence[Plane], cells: int) -> Any:
    """Where the `number` planes are in a packed observation: their bytes, by the planes' names.

    Rules write a plane by its name, so that another order of planes needs no other rules.

    Args:
        planes: the planes of an observation.
        cells: the number of cells in a plane.

    Returns:
        A named tuple of integers, which kernels can read. Its fields are the names with `_` for
        whatever is neither a letter nor a digit: the plane `own stock 1` is `own_stock_1`.
    """
    names = [re.sub(r"\W+", "_", plane.name) for plane in planes if plane.kind == "number"]
    first = 8 * word_count((len(planes) - len(names)) * cells)
    kind: Callable[..., Any] = namedtuple("NumberBytes", names)  # type: ignore[misc]
    return kind(*range(first, first + len(names)))


@dataclass(frozen=True)
class Observation:
    """What an observation shows.

    Attributes:
        shape: the rows and columns of a plane.
        planes: the `cells` planes, then the `number` planes.
        houses_only: whether cells are related only through the houses that they share, not through
            the cells beside them; a network then needs no neighbourhoods.
    """

    shape: tuple[int, int]
    planes: tuple[Plane, ...]
    houses_only: bool = False

    def __post_init__(self) -> None:
        """Reject `number` planes before `cells` planes, and values too large for int8."""
        kinds = [plane.kind for plane in self.planes]
        if kinds != sorted(kinds):
            raise ValueError(f"planes: kinds {kinds}: 'cells' must come before 'number'")
        for plane in self.planes:
            if plane.high > MOST_IN_A_PLANE:
                raise ValueError(
                    f"planes: {plane.name!r} has high={plane.high}; observations are int8, so it "
                    f"must be at most {MOST_IN_A_PLANE}; split a larger value over two planes"
                )

    @cached_property
    def cells(self) -> int:
        """The number of cells in a plane."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def cell_planes(self) -> int:
        """The number of `cells` planes; the others are `number` planes."""
        return sum(plane.kind == "cells" for plane in self.planes)

    @cached_property
    def packed_words(self) -> int:
        """The number of words in a packed observation."""
        numbers = len(self.planes) - self.cell_planes
        return word_count(self.cell_planes * self.cells) + word_count(8 * numbers)


# ---- options ----


@dataclass(frozen=True)
class Option:
    """One option: a constructor keyword, and a key of `reset(options=...)`.

    Attributes:
        name: its name.
        default: its value if none is given.
        values: the valid values, for the documentation.
        meaning: what it does, for the documentation.
        check: returns the canonical form of a value, or raises `OptionError`.
        default_is_checked: whether a default of None is passed to `check` as well.
        reads_files: whether a value may name a file, whose content may change between uses.
        start_only: whether it only says where episodes begin: positions, their texts and all that
            follows are the same without it.
        rules: what it changes for players who know `how_to_play`, for prompts of language models;
            empty if `meaning` says it all.
    """

    name: str
    default: Any
    values: str
    meaning: str
    check: Callable[[Any], Any]
    default_is_checked: bool = False
    reads_files: bool = False
    start_only: bool = False
    rules: str = ""

    def settle(self, value: Any) -> Any:
        """The canonical form of a value; raises `OptionError`."""
        return self.check(value) if value is not None or self.default_is_checked else None


def plain_text(text: str) -> str:
    """A text as a `str` itself, not of a subclass like NumPy's."""
    return str.__str__(text)  # `str(text)` would call a method that the subclass may replace


def one_of(name: str, *values: Any) -> Callable[[Any], Any]:
    """A check that accepts exactly these values (and not, say, 1 for True), also as NumPy's."""

    def check(value: Any) -> Any:
        plain: Any = value
        if isinstance(value, str):
            plain = plain_text(value)
        elif isinstance(value, np.bool_):
            plain = bool(value)
        for known in values:
            if type(plain) is type(known) and plain == known:
                return known
        shown = ", ".join(repr(v) for v in values)
        hint = did_you_mean(plain, (v for v in values if isinstance(v, str)))
        raise OptionError(f"{name}={brief(value)}: must be one of {shown}{hint}")

    return check


@dataclass(frozen=True, eq=False)
class Options:
    """The options of a game, and what depends on their settings.

    Iterating yields the options.

    Attributes:
        starts: the start positions that an episode draws from, `(n,)` states; raises `OptionError`.
        num_actions: the number of actions.
        max_steps: a proven bound on the number of steps in an episode.
        known: the options.
        payoff_bound: the most that a player can gain in an episode; search uses it in proofs, and
            needs less than 2^18.
        variants: sets of options worth testing, as users would give them; tests, goldens and the
            cross-check with the oracle run over them. Together they should reach every option and
            every way a game can end. If a game is long, include options that end it early.
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


def nothing_revealed(state: Any, since: Any | None = None) -> Mapping[str, Any]:
    """The `revealed` of games in which chance reveals nothing."""
    return {}


def nothing_wins(state: Any) -> tuple[int, ...]:
    """The `winning` of games in which no cells by themselves win."""
    return ()


def first_or_second(state: Any, player: int) -> str:
    """The `side` of games whose players have no colours."""
    return ("first player", "second player")[player]


@dataclass(frozen=True, eq=False)
class Words:
    """What runs on the host: names, texts, sentences, scenes, checks. None of it is compiled.

    Attributes:
        move_name: `move_name(action, settings, mover)`: the name of an action of the player to
            move.
        move_form: `move_form(settings)`: what names of moves look like, for the message about a
            text that names none; it follows "must be".
        write_text: `write_text(state, settings)`: the position text.
        read_text: `read_text(text, settings)`: the position that a text describes, `(1,)` states;
            raises `PositionError`.
        explain: `explain(state, action, settings)`: a sentence that says why an action is legal in
            a state, or which rule forbids it. It begins with the name of the action, and contains
            the words "is legal" if the action is legal and only then.
        action_cells: `action_cells(action, settings)`: the cells that an action touches, to mark
            the last move.
        scene: `scene(state, start, settings)`: the position as renderers see it; `start` is the
            state the episode began with (its stones are the givens).
        check_state: `check_state(state)`: slow invariants, for tests and for states from outside;
            raises `AssertionError`.
        how_to_play: the rules with default options and the names of moves, in at most 350 words,
            for people and for prompts of language models; ends without a newline.
        idea: the game in a sentence that says how it is won.
        lesson: the steps of a first game that teaches; none if there is no such game.
        draws: whether a game can end in a draw.
        minutes: how long a game between people takes; 0 if that is not known.
        side: `side(state, player)`: the name of a player's side, such as `white`.
        winning: `winning(state)`: the cells whose stones have won, such as four in a line;
            none while the game goes on.
        revealed: `revealed(state, since)`: the options with which an episode that starts from the
            text of the state `since` draws the same chance outcomes as those revealed from there to
            `state`; None stands for the state the episode began with.
    """

    move_name: Callable[[int, Settings, int], str]
    move_form: Callable[[Settings], str]
    write_text: Callable[[Any, Settings], str]
    read_text: Callable[[str, Settings], np.ndarray]
    explain: Callable[[Any, int, Settings], str]
    action_cells: Callable[[int, Settings], tuple[int, ...]]
    scene: Callable[[Any, Any, Settings], Scene]
    check_state: Callable[[Any], None]
    how_to_play: str
    idea: str = ""
    lesson: tuple[Step, ...] = ()
    minutes: int = 0
    draws: bool = True
    side: Callable[[Any, int], str] = field(default_factory=lambda: first_or_second)
    winning: Callable[[Any], tuple[int, ...]] = field(default_factory=lambda: nothing_wins)
    revealed: Callable[[Any, Any | None], Mapping[str, Any]] = nothing_revealed

    @classmethod
    def of(cls, *modules: ModuleType, **more: Any) -> Self:
        """The words that are found in modules by these names; `more` comes first."""
        return cls(**{**_found_in(modules, cls), **more})


# ---- the record ----


@dataclass(frozen=True, eq=False)
class Game:
    """A game: its rules, observation, options, words and symmetries."""

    name: str
    title: str
    rules: Rules
    observation: Observation
    options: Options
    words: Words
    symmetries: Symmetries = field(default_factory=Symmetries)
    version: int = 0

    def __post_init__(self) -> None:
        """Reject a record that adapters could not use."""
        names = self.rules.state.names or ()
        missing = {"to_move", "over", "payoff"} - set(names)
        if missing:
            raise ValueError(f"{self.name}: the state lacks the fields {sorted(missing)}")
        taken = [name for name in names if hasattr(np.record, name)]
        if taken:
            raise ValueError(f"{self.name}: the fields {taken} are attributes of NumPy's records")
        size = self.rules.state.itemsize
        if size % 8:
            raise ValueError(
                f"{self.name}: the state has {size} bytes; it must have a multiple of 8, so add "
                f"fields of {8 - size % 8} bytes or make some of them longer"
            )
        self._check_alignment()
        self._check_fields("rules.hidden", self.rules.hidden)
        self._check_fields("symmetries.fields", self.symmetries.fields)

    def _check_alignment(self) -> None:
        """Reject fields at which a GPU could not read: a CPU reads anywhere, a GPU does not."""
        for name, (kind, offset, *_) in (self.rules.state.fields or {}).items():
            size = kind.base.itemsize
            if offset % size:
                raise ValueError(
                    f"{self.name}: the field {name!r} begins at byte {offset} of the state; with "
                    f"items of {size} bytes it must begin at a multiple of {size}, so put fields "
                    "of larger items first"
                )

    def _check_fields(self, where: str, named: Iterable[str]) -> None:
        unknown = set(named) - set(self.rules.state.names or ())
        if unknown:
            raise ValueError(f"{self.name}: {where}: {sorted(unknown)}: not fields of the state")

    def __repr__(self) -> str:
        """Its id; the fields of all parts would fill pages."""
        return f"<Game {self.id}>"

    @property
    def id(self) -> str:
        """The environment id, `azumaya/<name>-v<version>`."""
        return f"azumaya/{self.name}-v{self.version}"

    def visible(self, states: np.ndarray) -> bytes:
        """Everything in some states that is not hidden, as bytes: equal for equal positions."""
        if self.rules.hidden:
            states = states.copy()
            for name in self.rules.hidden:
                states[name] = 0
        return states.tobytes()

    def __copy__(self) -> Self:
        """The game itself: positions and environments of one game must share it."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The game itself."""
        return self

    def new_states(self, count: int) -> np.ndarray:
        """Zeroed states, `(count,)`; a record array if kernels run as plain Python."""
        return new_states(count, self.rules.state)


def state_kind(game: Game, num_actions: int) -> str:
    """The kind of a game's states in checksums, see `azumaya.envs.kernels.checksum`."""
    return f"{game.id}, {num_actions} actions"


def new_states(count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """Zeroed states of a dtype, `(count,)`, in the form that kernels take."""
    return as_states(np.zeros(count, dtype))


def as_states(states: np.ndarray) -> np.ndarray:
    """States in the form that kernels take: a plain array, or a record array when interpreted."""
    return states.view(np.recarray) if INTERPRETED else states
