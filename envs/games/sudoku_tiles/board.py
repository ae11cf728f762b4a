"""The board, the state and the observation of Sudoku tiles.

    a9 .. i9     cell 0 .. 8       Actions: the cell on which the drawn tile is placed.
     :    :         :    :
    a1 .. i1     cell 72 .. 80

The pile holds the tiles not yet drawn. Tile `k`, a number from 1 to 9, takes four bits of
`pile[k // 16]`. The next tile is taken from the top, `k = height - 1`. The bits of drawn tiles stay
where they are and record what has been drawn.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import Plane, number_bytes, numbered_planes
from azumaya.envs.geometry.sudoku81 import CELLS, GRID, NUMBERS, WORDS
from azumaya.envs.geometry.symmetry import houses_kept
from azumaya.envs.kernels.bits import U64
from azumaya.envs.symmetries import Axis, Content, Moved, Symmetries

EACH = 9
"""Tiles of each number."""
TILE_COUNT = NUMBERS * EACH
ALL_TILES = U64(int(str(EACH) * NUMBERS, 16))
"""Nine tiles of each number, as counts: four bits a number (bits.nibble)."""
PILE_WORDS = 5
"""A word holds 16 tiles. At most 80 tiles are hidden, because one is drawn at the start."""
DEALT = 9
"""Tiles on the board at the start, unless a board is given."""

READY, RANDOM, ONE_EACH = 0, 1, 2
"""What is placed when an episode begins: nothing, nine random tiles, or the numbers 1 to 9."""

STATE = np.dtype(
    [
        ("candidates", U64, (NUMBERS, WORDS)),  # per number: empty cells where it may be placed
        ("stones", U64, (NUMBERS, WORDS)),  # per number: cells where it lies
        ("empty", U64, (WORDS,)),  # cells without a tile
        ("left", U64),  # counts of the tiles in the pile
        ("pile", U64, (PILE_WORDS,)),  # hidden: the order of these tiles
        ("height", np.int64),  # how many tiles the pile has
        ("tile", np.int64),  # the tile drawn, 1 to 9; 0 if none is left
        ("to_move", np.int64),
        ("over", np.int64),
        ("payoff", np.int64),
        ("scores", np.int64, (2,)),
        ("misplacement", np.int64),  # option: 1 if tiles may be misplaced
        ("points", np.int64),  # option: 1 if points are the reward
        ("deal", np.int64),  # what is to be dealt; READY once the episode has begun
        ("fixed", np.int64),  # hidden: how many tiles at the top of the pile the user has chosen
        ("began", np.int64),  # the height of the pile when the episode began
    ]
)

# ---- observation ----

MOST_POINTS = CELLS * 20 // 2
"""Each pair of cells that share a house scores at most once: for the tile placed later."""
HUNDRED = 100
"""Points take two planes, hundreds and ones, because they do not fit into a byte."""

PLANES = (
    *numbered_planes("tile", "a {n} lies here", NUMBERS),
    Plane("fits", "the drawn tile may be placed here by the Sudoku rule"),
    Plane("to move", "1 if the observer is to move", "number"),
    Plane(
        "drawn",
        "the number of the drawn tile, 0 if none is left",
        "number",
        NUMBERS,
        value=Axis.NUMBER,
    ),
    *numbered_planes("left", "tiles with the {n} still to be drawn", NUMBERS, "number", EACH),
    *(
        Plane(f"{whose} {part}", f"{part} of {who} points", "number", high)
        for whose, who in (("own", "the observer's"), ("opposing", "the opponent's"))
        for part, high in (("hundreds", MOST_POINTS // HUNDRED), ("ones", HUNDRED - 1))
    ),
    Plane("misplacement", "1 if tiles may be misplaced", "number"),
    Plane("points", "1 if the reward is points", "number"),
)
FITS_PLANE = NUMBERS
AT = number_bytes(PLANES, CELLS)
"""The bytes of the `number` planes in a packed observation, by the planes' names."""

# ---- symmetries ----

SYMMETRIES = Symmetries(
    group=houses_kept(GRID),
    numbers=NUMBERS,
    fields={
        "candidates": Moved((Axis.NUMBER,), Content.CELLS),
        "stones": Moved((Axis.NUMBER,), Content.CELLS),
        "empty": Moved((), Content.CELLS),
        "left": Moved((), Content.COUNTS),
        "pile": Moved((), Content.TILES),
        "tile": Moved((), Content.TILES),
    },
    actions=lambda settings: ((Axis.CELL,),),
)
"""Whether a tile fits and what it scores depends on houses alone, not on neighbours, and numbers
are only compared for equality."""
