"""The `Game` record: all that adapters, tests and docs need to know about a game, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import factorial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from azumaya.envs.bits import word_count
from azumaya.envs.compile import INTERPRETED
from azumaya.envs.errors import OptionError
from azumaya.envs.geometry.symmetry import Group, size_of

Settings = Mapping[str, Any]
"""A canonical value for every option of a game."""

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
"""Values of `state.over`: the game goes on, has ended by the rules, was cut off by a limit."""


@dataclass(frozen=True)
class Plane:
    """One plane of the observation.

    A `cells` plane is 1 on the cells of a set; a `number` plane holds one number on every cell.
    """

    name: str
    meaning: str
    kind: Literal["cells", "number"] = "cells"
    high: int = 1


@dataclass(frozen=True, eq=False)
class PuzzleSet:
    """Sudoku puzzles to draw from: `(n, 81)` uint8, 0 where empty.

    Of the bank's puzzles those that do not fit the other options are left out; with puzzles of
    the user's own that is an error.
    """

    digits: np.ndarray
    bank: bool = False


@dataclass(frozen=True)
class Option:
    """One option: a constructor keyword, and a key of `reset(options=...)`.

    `check` returns the canonical form of a value or raises `OptionError`. An option with `loads`
    is looked up before it is checked: "puzzles" gives `check` a `PuzzleSet`, from the
    bank or a file.
    """

    name: str
    default: Any
    values: str
    meaning: str
    check: Callable[[Any], Any]
    loads: Literal["", "puzzles"] = ""


def one_of(name: str, *values: Any) -> Callable[[Any], Any]:
    """A check that takes exactly these values (and not, say, 1 for True)."""

    def check(value: Any) -> Any:
        for known in values:
            if type(value) is type(known) and value == known:
                return known
        shown = ", ".join(repr(v) for v in values)
        raise OptionError(f"{name}={value!r}: must be one of {shown}")

    return check


@dataclass(frozen=True)
class Stone:
    """A piece on a cell, as renderers see it. `colour` names a colour of the renderer's palette."""

    colour: str
    label: str = ""
    given: bool = False


@dataclass(frozen=True)
class Scene:
    """What a position looks like, as data: a renderer turns it into text or a picture.

    `grounds` and `stones` go by cell. `notes` are lines beside the board, the first one saying
    whose turn it is or how the game ended; `trays` are rows of pieces lying beside the board.
    `regions` numbers the region of each cell where the board has any; renderers draw their borders.
    For pictures of one size a game always gives as many notes and trays, empty ones too.
    """

    board: Literal["sudoku81", "dominari36", "hex61"]
    grounds: tuple[str, ...]
    stones: tuple[Stone | None, ...]
    dead: frozenset[int] = frozenset()
    candidates: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    last: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    trays: tuple[tuple[str, tuple[Stone, ...]], ...] = ()
    regions: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Symmetries:
    """What may be changed in a game without a change to its rules, and what changes with it.

    A change moves the cells of the board, swaps the players, renames the numbers, or does several
    of these. What follows from it is told by axes: `cell`, `number`, `player`, and `region`,
    which are regions that are renumbered as the blocks of the board change places.

    - `fields` of a state: the axes of a field, and last of all what its words are: `cells` (a bit
      for each cell), `stones` (a bit for each number on each cell, number by number), `regions`
      (boards of the bits of each cell's region number), `counts` (four bits for each number),
      `tiles` (four bits each, a number or 0), or nothing more: `"number cells"`, `"player"`. Other
      axes, like `owner`, stay. Fields not named stay, but for `to_move` and `payoff`, which every
      game has.
    - `planes` of an observation, which is seen from one player: `number` (there is one for each
      number, `<name> 1` and so on), `tile` (its value is a number or 0), `player` (its value is 0
      or 1, and tells the players apart), `region` (planes `<name> 0` and so on are the bits of a
      region's number). Cells of all planes move.
    - `actions(settings)`: blocks of actions, in order, by their axes: `"number cell"` is a number
      on a cell. Actions after these stay. A block `move` is of moves known by their cells.
    """

    group: Group = ()
    numbers: int = 0
    """How many numbers there are, all of which may be renamed; 0: none may."""
    fields: Mapping[str, str] = field(default_factory=dict)
    planes: Mapping[str, str] = field(default_factory=dict)
    actions: Callable[[Settings], tuple[str, ...]] = lambda settings: ("number cell",)
    bits: tuple[int, ...] = ()
    """The cell of each bit of a board in the state; empty: bit i is cell i."""
    regions: tuple[int, ...] = ()
    """By cell, the block whose changes of place renumber the regions."""
    moves: Callable[[int], tuple[tuple[int, ...], tuple[int, ...]]] | None = None
    """Of an action of the block `move`, the cells its pieces leave and those they enter."""
    in_order: tuple[str, int] | None = None
    """A field of the state and its value in a stage where players and numbers have their order:
    there the cells may be moved, but no player swapped and no number renamed."""

    @property
    def size(self) -> int:
        """How many symmetries the board has, with the swap of players where it belongs to one."""
        return size_of(self.group)

    @property
    def renamings(self) -> int:
        """How many ways there are to rename the numbers."""
        return factorial(self.numbers)


@dataclass(frozen=True, eq=False)
class Game:
    """A game: its state's layout, its kernels, its options, its words.

    The kernels see one state as a record. Shapes: `words` are zeroed rows of uint64.

    - `reset(states, i, starts, key)`: make `states[i]` the start of an episode, chosen from the
      prepared `starts` by the episode's key.
    - `play(state, action)`: make a legal move, and all that follows without a choice.
    - `write_legal(state, words)`: set the bit of every legal action; none when the game is over.
    - `observe(state, player, words)`: the observation, packed: the `cells` planes as bits, plane
      after plane, then from the next whole word on one byte for each `number` plane.
    - `evaluate(state, player)`: a whole number, the worth of a running position to a player for
      one step of lookahead: the higher the better, the same scale for both.

    Every state has the fields `to_move` (0 or 1), `over` (`RUNNING`, `TERMINATED`, `TRUNCATED`)
    and `payoff` (what player_0 has gained so far; player_1 has gained its negative).
    """

    name: str
    title: str
    state: np.dtype[Any]
    shape: tuple[int, int]
    planes: tuple[Plane, ...]
    options: tuple[Option, ...]

    reset: Callable[..., Any]
    play: Callable[..., Any]
    write_legal: Callable[..., Any]
    observe: Callable[..., Any]
    evaluate: Callable[..., Any]

    num_actions: Callable[[Settings], int]
    """How many actions there are with these settings."""
    max_steps: Callable[[Settings], int]
    """A proven bound on the steps of an episode."""
    starts: Callable[[Settings], np.ndarray]
    """The start positions an episode draws from, `(n,)` states; raises `OptionError`."""
    move_name: Callable[[int, Settings], str]
    parse_move: Callable[[str, Settings], int]
    """The action of a name; raises `MoveNameError`."""
    write_text: Callable[[Any, Settings], str]
    read_text: Callable[[str, Settings], np.ndarray]
    """The position of a text, `(1,)` states; raises `PositionError`."""
    explain: Callable[[Any, int, Settings], str]
    """One sentence: why an action is legal in a state, or which rule forbids it."""
    action_cells: Callable[[int, Settings], tuple[int, ...]]
    """The cells an action touches, for the display of the last move."""
    scene: Callable[..., Scene]
    """`scene(state, start, settings)`: the position as renderers see it; `start` is the state
    the episode began with (its stones are the givens)."""
    check_state: Callable[[Any], None]
    """Slow invariants, for tests: raises `AssertionError`."""
    resample: Callable[..., Any] | None = None
    """Kernel `resample(state, key)`: draw anew what both players cannot see; None: nothing is."""
    hidden: tuple[str, ...] = ()
    """The fields of a state that neither player can see, and those that tell about the past only:
    two positions are equal where all other fields are, and texts do not keep them."""
    variants: tuple[Mapping[str, Any], ...] = ({},)
    """Sets of options worth testing, as a user would give them: tests, goldens and the
    cross-check with the oracle go over them. Together they should reach every option and every
    way a game can end; where a game is long, options that end it early belong here too."""
    revealed: Callable[[Any], Mapping[str, Any]] = lambda state: {}
    """The options with which a start draws again what chance has shown up to a state."""
    names_by_mover: bool = False
    """Whether an action is named differently by the two players: `move_name` and `parse_move` then
    take the player to move as a third argument."""
    symmetries: Symmetries = field(default_factory=Symmetries)
    """What may be changed without a change to the rules."""
    payoff_bound: Callable[[Settings], int] = lambda settings: 1
    """The most a player can gain in an episode; search proves results by it."""
    version: int = 0

    def __post_init__(self) -> None:
        """Refuse a record that adapters could not use."""
        assert self.state.names is not None
        missing = {"to_move", "over", "payoff"} - set(self.state.names)
        kinds = [plane.kind for plane in self.planes]
        if missing or kinds != sorted(kinds):
            raise ValueError(f"{self.name}: fields {missing} missing, or numbers before cells")
        taken = [name for name in self.state.names if hasattr(np.record, name)]
        if taken:
            raise ValueError(f"{self.name}: fields {taken} would be NumPy's own when interpreted")
        if set(self.hidden) - set(self.state.names):
            raise ValueError(f"{self.name}: hidden={self.hidden}: not all are fields of the state")
        if set(self.symmetries.fields) - set(self.state.names):
            raise ValueError(f"{self.name}: symmetries.fields: not all are fields of the state")

    @property
    def id(self) -> str:
        """The environment id, `azumaya/<name>-v<version>`."""
        return f"azumaya/{self.name}-v{self.version}"

    @cached_property
    def defaults(self) -> Settings:
        """Every option at its default."""
        return MappingProxyType({option.name: option.default for option in self.options})

    @cached_property
    def cells(self) -> int:
        """Cells of one plane."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def cell_planes(self) -> int:
        """How many planes are sets of cells; the others are numbers."""
        return sum(plane.kind == "cells" for plane in self.planes)

    @cached_property
    def observation_words(self) -> int:
        """Words of a packed observation."""
        numbers = len(self.planes) - self.cell_planes
        return word_count(self.cell_planes * self.cells) + word_count(8 * numbers)

    def visible(self, states: np.ndarray) -> bytes:
        """All of some states that is not hidden: equal for equal positions."""
        if self.hidden:
            states = states.copy()
            for name in self.hidden:
                states[name] = 0
        return states.tobytes()

    def new_states(self, count: int) -> np.ndarray:
        """Zeroed states, `(count,)`; as a record array where kernels run as plain Python."""
        return as_states(np.zeros(count, self.state))


def as_states(states: np.ndarray) -> np.ndarray:
    """States in the form kernels take: plain, or with attribute access when interpreted."""
    return states.view(np.recarray) if INTERPRETED else states
