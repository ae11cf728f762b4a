"""Who owns which region: `Territory`, the named territories and the option `territory`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, brief, did_you_mean
from azumaya.envs.game import plain_text
from azumaya.envs.games._shima.board import ROW, STONES_ON, region_bits
from azumaya.envs.geometry.sudoku81 import BLOCK_OF, CELLS, COLUMN_OF, NUMBERS, ROW_OF
from azumaya.envs.kernels.bits import U64
from azumaya.envs.symmetries import Settings
from azumaya.envs.whole import as_whole


@dataclass(frozen=True)
class Territory:
    """A division of the 9x9 board into nine regions, and the owner of each region.

    Args:
        regions: for each of the 81 cells the number of its region, 1 to 9, in reading order from
            `a9`. Every region has nine cells.
        owners: nine letters in the order of the region numbers: four `L` (light), four `D` (dark)
            and one `.` (neutral).

    Raises:
        OptionError: regions or owners are of the wrong form or number; the message says which.
    """

    regions: tuple[int, ...]
    owners: str

    def __init__(self, regions: Iterable[int] | str, owners: str | Sequence[str]) -> None:
        object.__setattr__(self, "regions", _region_numbers(regions))
        object.__setattr__(self, "owners", _owner_letters(owners))

    @cached_property
    def houses(self) -> tuple[tuple[int, ...], ...]:
        """The cells of each region, in the order of the region numbers."""
        return tuple(
            tuple(c for c in range(CELLS) if self.regions[c] == r) for r in range(1, NUMBERS + 1)
        )

    @cached_property
    def region_bits(self) -> np.ndarray:
        """Each cell's region number (from 0), bit by bit: `(4, 2)` uint64, read-only."""
        bits = region_bits([region - 1 for region in self.regions])
        bits.flags.writeable = False
        return bits

    @cached_property
    def owner_stones(self) -> np.ndarray:
        """All stones on light's cells and on dark's, `(2, 12)` uint64, read-only."""
        stones = np.zeros((2, ROW), U64)
        for cells, owner in zip(self.houses, self.owners, strict=True):
            if owner in "LD":
                stones["LD".index(owner)] |= np.bitwise_or.reduce(STONES_ON[list(cells)])
        stones.flags.writeable = False
        return stones


FREE = "?"
"""In texts, the owner letter of a region that may still be drafted."""


def _region_numbers(regions: Iterable[int] | str) -> tuple[int, ...]:
    try:
        if isinstance(regions, str):
            given = [int(r) if r in "0123456789" else None for r in regions]
        else:
            given = [as_whole(r) for r in regions]
    except TypeError:  # not iterable
        given = [None]
    numbers = tuple(r for r in given if r is not None)
    if len(numbers) < len(given):
        raise OptionError(
            f"Territory regions={brief(regions)}: must be 81 region numbers from 1 to 9"
        )
    if len(numbers) != CELLS:
        raise OptionError(f"Territory regions: must be 81 region numbers, not {len(numbers)}")
    for region in range(1, NUMBERS + 1):
        if numbers.count(region) != NUMBERS:
            raise OptionError(
                f"Territory regions: region {region} has {numbers.count(region)} cells; "
                "each region from 1 to 9 must have nine"
            )
    return numbers


def _owner_letters(owners: str | Sequence[str]) -> str:
    try:
        letters = "".join(owners)
    except TypeError as error:
        raise OptionError(
            f"Territory owners={brief(owners)}: must be nine letters, each L, D or ."
        ) from error
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
    """The canonical form of the option `territory`; raises `OptionError`."""
    if isinstance(value, Mapping) and value.keys() == {"regions", "owners"}:
        value = Territory(**value)  # as game records on disk store it
    if isinstance(value, Territory):
        return next((name for name, known in NAMED.items() if known == value), value)
    if isinstance(value, str) and (value in NAMED or value == "draft"):
        return plain_text(value)
    names = ", ".join(repr(name) for name in (*NAMED, "draft"))
    hint = did_you_mean(value, (*NAMED, "draft"))
    raise OptionError(f"territory={brief(value)}: must be one of {names} or a Territory{hint}")


def territory_of(settings: Settings) -> Territory:
    """The territory of some settings; for a draft the blocks, whose owners do not count yet."""
    value = settings["territory"]
    return value if isinstance(value, Territory) else NAMED.get(value, _BLOCKS)


def moved_options(
    settings: Settings, cells: Sequence[int], regions: Sequence[int]
) -> Mapping[str, Any]:
    """The option `territory` on a board whose cells and regions have new places."""
    if settings["territory"] == "draft":
        return {}  # its regions are the blocks, which go to blocks
    old, moved, owners = territory_of(settings), [0] * CELLS, [""] * NUMBERS
    for cell, region in enumerate(old.regions):
        moved[cells[cell]] = int(regions[region - 1]) + 1
    for region, owner in enumerate(old.owners):
        owners[regions[region]] = owner
    return {"territory": check_territory(Territory(moved, owners))}
