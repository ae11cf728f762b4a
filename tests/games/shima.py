"""Positions of the Sudoku games as sets, for the oracles of their endgames."""

from __future__ import annotations

from azumaya.envs import Position
from tests.oracles.regions import NUMBERS, SQUARES, Regions

Squares = set[str]


def stones(position: Position, territory: str) -> Regions:
    """The stones on the board, for the oracle."""
    regions = Regions(territory, None)
    regions.lay_out(str(position).split()[0])
    return regions


def as_sets(
    position: Position, territory: str
) -> tuple[dict[str, Squares], tuple[Squares, Squares], list[Squares]]:
    """The squares on which each number fits, those of each player, and those of each region."""
    regions = stones(position, territory)
    fits = {n: {s for s in SQUARES if n in regions.free_numbers(s)} for n in NUMBERS}
    light = int(position.state["light"][0])
    sides = [set(regions.squares_of(letter)) for letter in "LD"]
    groups = [{s for s in SQUARES if regions.region[s] == r} for r in range(1, 10)]
    return fits, (sides[light], sides[1 - light]), groups
