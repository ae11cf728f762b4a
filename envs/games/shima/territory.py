"""Who owns what in Sudoku Moyo and Horikomi: the named territories, your own, and the options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.game import Option, as_states, one_of
from azumaya.envs.games.shima import board as shima
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import (
    BLOCK_OF,
    CELLS,
    COLUMN_OF,
    HOUSES,
    NUMBERS,
    ROW_OF,
    SQUARES,
    WORDS,
)
from azumaya.envs.kernels.bits import U64, board_of
from azumaya.envs.puzzles.choice import PuzzleSet, load_puzzles
from azumaya.envs.symmetries import Settings

MOST_HANDICAP = 9
"""The neutral region has nine cells, so no more handicap stones can ever be laid."""


@dataclass(frozen=True)
class Territory:
    """A division of the 9x9 board into nine regions, and their owners.

    Args:
        regions: 81 region numbers 1-9 in cell order (from `a9` by reading), nine cells each.
        owners: nine of `L`, `D`, `.` in the order of the region numbers: four `L` (light),
            four `D` (dark), one `.` (neutral).

    Raises:
        OptionError: the counts are wrong; the error says which.
    """

    regions: tuple[int, ...]
    owners: str

    def __init__(self, regions: Iterable[int] | str, owners: str | Sequence[str]) -> None:
        object.__setattr__(self, "regions", _region_numbers(regions))
        object.__setattr__(self, "owners", _owner_letters(owners))

    @cached_property
    def houses(self) -> tuple[tuple[int, ...], ...]:
        """The cells of each region."""
        return tuple(
            tuple(c for c in range(CELLS) if self.regions[c] == r) for r in range(1, NUMBERS + 1)
        )

    @cached_property
    def region_bits(self) -> np.ndarray:
        """The bits of each cell's region number (from 0), `(4, 2)` uint64."""
        numbers = [region - 1 for region in self.regions]
        return np.stack(
            [
                board_of((c for c in range(CELLS) if numbers[c] >> b & 1), WORDS)
                for b in range(shima.REGION_BITS)
            ]
        )

    @cached_property
    def owner_stones(self) -> np.ndarray:
        """All stones on the cells of light and of dark, `(2, 12)` uint64."""
        stones = np.zeros((2, shima.ROW), U64)
        for cells, owner in zip(self.houses, self.owners, strict=True):
            if owner in "LD":
                stones["LD".index(owner)] |= np.bitwise_or.reduce(shima.STONES_ON[list(cells)])
        return stones


FREE = "?"
"""The owner letter of a region that may still be drafted."""


def _region_numbers(regions: Iterable[int] | str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(r) for r in regions)
    except (TypeError, ValueError) as error:
        raise OptionError("Territory regions: 81 region numbers 1-9 are needed") from error
    if len(numbers) != CELLS:
        raise OptionError(f"Territory regions: 81 region numbers are needed, not {len(numbers)}")
    for region in range(1, NUMBERS + 1):
        if numbers.count(region) != NUMBERS:
            raise OptionError(
                f"Territory regions: region {region} has {numbers.count(region)} cells; "
                "each of 1-9 must have nine"
            )
    return numbers


def _owner_letters(owners: str | Sequence[str]) -> str:
    try:
        letters = "".join(owners)
    except TypeError as error:
        raise OptionError("Territory owners: nine of L, D and . are needed") from error
    if sorted(letters) != sorted("LLLLDDDD."):
        raise OptionError(f"Territory owners={letters!r}: must be four L, four D and one .")
    return letters


def _numbered(houses_of: Sequence[int]) -> tuple[int, ...]:
    return tuple(h + 1 for h in houses_of)


NAMED = {
    "standard": Territory(_numbered(BLOCK_OF), "LDLL.DDLD"),
    "corners": Territory(_numbered(BLOCK_OF), "LDLD.DLDL"),
    "rows": Territory(_numbered(ROW_OF), "LDLD.LDLD"),
    "columns": Territory(_numbered(COLUMN_OF), "LDLD.LDLD"),
}
"""The named territories."""

_BLOCKS = NAMED["standard"]


def check_territory(value: Any) -> str | Territory:
    """The canonical form of the option `territory`."""
    if isinstance(value, Mapping) and value.keys() == {"regions", "owners"}:
        value = Territory(**value)  # as a game record holds it
    if isinstance(value, Territory):
        return next((name for name, known in NAMED.items() if known == value), value)
    if isinstance(value, str) and (value in NAMED or value == "draft"):
        return value
    names = ", ".join(repr(name) for name in (*NAMED, "draft"))
    raise OptionError(f"territory={value!r}: must be one of {names} or a Territory")


def territory_of(settings: Settings) -> Territory:
    """The regions of some settings; for a draft the blocks, whose owners are yet to come."""
    value = settings["territory"]
    return value if isinstance(value, Territory) else NAMED.get(value, _BLOCKS)


def check_handicap(value: Any) -> tuple[int, int] | None:
    """The canonical form of the option `handicap`: (player, stones), at most nine stones.

    It is (0, 0) for no stones, whoever would lay them: a position does not tell, either.
    """
    if value is None:
        return None
    try:
        player, stones = value
        valid = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in value)
    except (TypeError, ValueError):
        valid = False
    if not valid or player not in (0, 1) or stones < 0:
        raise OptionError(f"handicap={value!r}: must be (player 0 or 1, stones from 0) or None")
    return (int(player), min(int(stones), MOST_HANDICAP)) if stones else (0, 0)


OPTIONS = (
    Option(
        "puzzle",
        None,
        "81 characters (`.` or `0` = empty), a sequence of such, a path to a puzzle file, "
        '`"train"`, `"test"`, or None',
        "The puzzle laid out first. None draws one from the shipped bank, `train` and `test` one "
        "from a fixed part of it, a sequence or a file one of its own, by the seed.",
        load_puzzles,
        default_is_checked=True,
        reads_files=True,
    ),
    Option(
        "territory",
        "standard",
        '`"standard"`, `"corners"`, `"rows"`, `"columns"`, `"draft"` or a `Territory`',
        "The regions and their owners; with `draft` the players take the blocks in turn.",
        check_territory,
    ),
    Option(
        "setup",
        "fixed",
        '`"fixed"`, `"choose"`',
        "`fixed`: player_0 is light and starts. `choose`: player_0 chooses a colour, then "
        "player_1 says who starts.",
        one_of("setup", "fixed", "choose"),
    ),
    Option(
        "handicap",
        None,
        "`(player, n)` or None",
        "This player first lays n stones in the neutral region, while any fit.",
        check_handicap,
    ),
)
"""The options both games have."""


EMPTY_BOARD = "." * CELLS
FEW_GIVENS = "1" + "." * 39 + "5" + "." * 40
SCATTERED = Territory(
    ((3 * row + row // 3 + column) % NUMBERS + 1 for row in range(9) for column in range(9)),
    "DLDL.LDLD",
)
"""No two cells of a region share a row, column or block, so that the set per region binds."""
DIAGONAL = Territory(
    ((column - row) % NUMBERS + 1 for row in range(9) for column in range(9)), "L.DLDLDLD"
)
"""Regions are broken diagonals, three cells of each in a block."""

_FULL = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
NEARLY_FULL = tuple(
    "".join("." if SQUARES[c] in holes.split() else _FULL[c] for c in range(CELLS))
    for holes in (
        "d6 e6 d5 f4",
        "e5 e6 d9 d8 h5",
        "e5 a9 i9",
        "d5 e5 f5 b5 c5 a5",
        "d6 f4 e1 e2 g5 g9",
        "d4 d5 d6 e4 e5 e6 f4 f5 f6 a1 a2 b1 b2",
    )
)
"""Full boards less some stones: here a side runs out of moves while the centre has room."""

VARIANTS: tuple[Settings, ...] = (
    {},
    {"territory": "corners"},
    {"territory": "rows", "puzzle": EMPTY_BOARD},
    {"territory": "columns", "handicap": (1, 3)},
    {"territory": SCATTERED, "puzzle": FEW_GIVENS},
    {"territory": DIAGONAL, "puzzle": EMPTY_BOARD, "handicap": (0, 9)},
    {"setup": "choose"},
    {"setup": "choose", "handicap": (0, 0), "territory": SCATTERED, "puzzle": FEW_GIVENS},
    {"territory": "draft"},
    {"territory": "draft", "setup": "choose", "handicap": (1, 2)},
    {"puzzle": NEARLY_FULL},
    {"puzzle": NEARLY_FULL, "setup": "choose", "handicap": (0, 1)},
    {"puzzle": NEARLY_FULL, "setup": "choose", "handicap": (1, 1)},
)
"""Sets of options worth testing in both games."""


def empty_states(count: int, dtype: np.dtype[Any], settings: Settings) -> np.ndarray:
    """Boards without stones in the first stage of some settings, `(count,)`."""
    territory = territory_of(settings)
    states = np.zeros(count, dtype)
    states["candidates"] = shima.ALL_STONES
    states["regions"] = territory.region_bits
    states["territory"] = territory.owner_stones
    states["chooses"] = settings["setup"] == "choose"
    if settings["handicap"] is not None:
        states["handicap_player"], states["handicap"] = settings["handicap"]
    if settings["territory"] == "draft":
        states["drafts"] = 1
        states["territory"] = np.bitwise_or.reduce(territory.owner_stones)  # free is in both
        states["stage"] = shima.DRAFT
    else:
        states["stage"] = shima.COLOUR if settings["setup"] == "choose" else shima.HANDICAP
    return as_states(states)


def puzzle_starts(
    dtype: np.dtype[Any], settings: Settings, open_play: Any, **fields: int | np.uint64
) -> np.ndarray:
    """The starts of some settings: every puzzle laid out, `(n,)` states.

    `open_play(state)` is the game's kernel: it makes ready a state in which play begins, and
    returns whether the player to move can lay a stone. `fields` are set in every state.

    Raises:
        OptionError: a puzzle breaks rule 4 or leaves the starter without a move.
    """
    puzzles: PuzzleSet = settings["puzzle"]
    digits = puzzles.digits
    houses = HOUSES + territory_of(settings).houses
    unknown = [house for house in houses if not (puzzles.bank and house in HOUSES)]
    broken = breaks_a_house(digits, unknown)
    if broken.any():
        if not puzzles.bank:
            raise OptionError(_where_broken(digits, int(broken.argmax()), houses))
        digits = digits[~broken]
    states = empty_states(len(digits), dtype, settings)
    for name, value in fields.items():
        states[name] = value
    shima.lay_puzzles(states, digits)
    stuck = _settle_first_stage(states, open_play)
    if stuck.any() and not puzzles.bank:
        raise OptionError(
            f"puzzle {int(stuck.argmax()) + 1}: the player who starts cannot lay a stone"
        )
    if stuck.all():
        raise OptionError(f"territory: none of the {len(puzzles.digits)} puzzles fits it")
    return states[~stuck]


def _settle_first_stage(states: np.ndarray, open_play: Any) -> np.ndarray:
    """Go on to play where no step comes before it; returns who of `(n,)` cannot start then."""
    stuck = np.zeros(len(states), bool)
    if states["stage"].size and states["stage"][0] == shima.HANDICAP:
        shima.begin_all(states)
        for i in (states["stage"] == shima.PLAY).nonzero()[0]:
            stuck[i] = not open_play(states[i])
    return stuck


def breaks_a_house(digits: np.ndarray, houses: Sequence[Sequence[int]]) -> np.ndarray:
    """Which boards `(n, 81)` have a number twice in one of the houses, `(n,)` bool."""
    members = np.zeros((CELLS, len(houses)), np.float32)
    for h, cells in enumerate(houses):
        members[list(cells), h] = 1
    broken = np.zeros(len(digits), bool)
    for number in range(1, NUMBERS + 1):
        broken |= ((digits == number).astype(np.float32) @ members > 1).any(axis=1)
    return broken


def _where_broken(digits: np.ndarray, index: int, houses: Sequence[Sequence[int]]) -> str:
    clash = first_clash(digits[index].tolist(), houses)
    assert clash is not None
    return (
        f"puzzle {index + 1}: the number {clash.number} lies twice in one row, column, block "
        f"or region, on {SQUARES[clash.first]} and {SQUARES[clash.second]}"
    )
