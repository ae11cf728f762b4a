"""The board of Sudoku Moyo, Sudoku Horikomi and the match: actions, stones, fields, planes.

The board has nine regions (*shima*) of nine cells each: four light, four dark and a neutral one
(*azumaya*).

    a9 .. i9     cell 0 .. 8          L D L     light, dark,
     :    :         :    :            L . D     and the neutral centre:
    a1 .. i1     cell 72 .. 80        D L D     the standard territory

Actions: placing number n (1 to 9) on cell c is action `(n - 1) * 81 + c`. The choices before play
are numbered from 729; which of them exist depends on the options:

    territory="draft"                    729 .. 737 take region 1 .. 9
    setup="choose"                       729 light, 730 dark, 731 player_0 starts, 732 player_1
    territory="draft", setup="choose"    729 .. 737, then 738 player_0 starts, 739 player_1

A set of stones is a row of 12 words, in which bit `(n - 1) * 81 + c` is number n on cell c. The
same bits are a set of actions, and nine planes of an observation one after the other. That is why
the legal moves are the AND of two rows, and an observation is mostly a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from azumaya.envs.game import Plane, numbered_planes
from azumaya.envs.geometry.sudoku81 import BLOCK_OF, CELLS, GRID, NUMBERS, WORDS
from azumaya.envs.geometry.symmetry import houses_kept
from azumaya.envs.kernels.bits import U64, ZERO, board_of, word_count
from azumaya.envs.symmetries import Axis, Content, InPlace, Moved, Symmetries

LIGHT, DARK, NEUTRAL = 0, 1, 2
"""Owners of regions. `state.light` is the player who plays light."""

DRAFT, COLOUR, STARTER, HANDICAP, PLAY, POINTS = 0, 1, 2, 3, 4, 5
"""Stages, in the order in which a game passes through them. In POINTS, which only Sudoku Moyo has,
the game is decided and the winner goes on placing stones."""

NEUTRAL_BLOCK = NUMBERS // 2
"""The block (from 0) that stays neutral in a draft: the centre."""

DRAFT_ORDER = np.array([0, 1, 1, 0, 0, 1, 1, 0], np.int64)
"""The player who takes the next region, by the number of regions already taken."""


REGION_BITS = 4
"""Bits that hold a region's number (0 to 8)."""


def region_bits(regions: Sequence[int]) -> np.ndarray:
    """The number of each cell's region (from 0), bit by bit: `(4, 2)` uint64."""
    cells = range(CELLS)
    return np.stack(
        [board_of((c for c in cells if regions[c] >> b & 1), WORDS) for b in range(REGION_BITS)]
    )


# ---- actions ----

NUMBER_ACTIONS = NUMBERS * CELLS
REGION_ACTION = NUMBER_ACTIONS
"""Take region 1 in the draft; the other regions follow."""
LIGHT_ACTION, DARK_ACTION = NUMBER_ACTIONS, NUMBER_ACTIONS + 1
START_ACTION, START_ACTION_AFTER_DRAFT = NUMBER_ACTIONS + 2, NUMBER_ACTIONS + NUMBERS
"""The action "player_0 starts", without and with a draft; the next one is "player_1 starts"."""

MAX_STEPS = DRAFT_ORDER.shape[0] + 2 + CELLS
"""Bound on the steps of a game: every step but the draft, the choice of a colour and the choice of
a starter places a stone."""

# ---- sets of stones ----

ALL_ONES = ~ZERO
ROW = word_count(NUMBER_ACTIONS)
"""Words of a set of stones."""

ALL_STONES = board_of(range(NUMBER_ACTIONS), ROW)
STONES_ON = np.stack([board_of(range(cell, NUMBER_ACTIONS, CELLS), ROW) for cell in range(CELLS)])
"""By cell, the nine stones on it, `(81, 12)` uint64."""
STONES_WITH = np.stack([board_of(range(n * CELLS, (n + 1) * CELLS), ROW) for n in range(NUMBERS)])
"""By number (from 0), its 81 stones, `(9, 12)` uint64."""

# ---- states ----

FIELDS: list[tuple[Any, ...]] = [
    ("candidates", U64, (ROW,)),  # the stones that rule 4 still allows on empty cells
    ("stones", U64, (ROW,)),  # the stones on the board
    ("territory", U64, (2, ROW)),  # all stones on light's cells, on dark's; undrafted: in both
    ("regions", U64, (REGION_BITS, WORDS)),  # each cell's region number (from 0), bit by bit
    ("to_move", np.int32),
    ("over", np.int32),
    ("payoff", np.int32),
    ("stage", np.int32),
    ("light", np.int32),  # the player who plays light
    ("starter", np.int32),  # the player who will start; 0 once play has begun
    ("handicap", np.int32),  # handicap stones still to be placed
    ("handicap_player", np.int32),  # the player who places them; 0 once play has begun
    ("drafts", np.int32),  # option: 1 if regions are drafted
    ("chooses", np.int32),  # option: 1 if a colour (without a draft) and the starter are chosen
]
"""The fields that all games of the family share."""


# ---- observations ----

CELL_PLANES = (
    *numbered_planes("candidate", "{n} may still be placed here by rule 4", NUMBERS),
    *numbered_planes("stone", "a {n} lies here", NUMBERS),
    Plane("own", "regions of the observer (before colours are chosen player_0 counts as light)"),
    Plane("opposing", "regions of the opponent"),
    *(
        Plane(
            f"region bit {b}",
            f"bit {b} of the region's number, from 0 in reading order",
            group="region bit",
            index=(Axis.REGION, b),
        )
        for b in range(REGION_BITS)
    ),
)
"""The `cells` planes that all games of the family share."""
STONES_PLANE, OWN_PLANE = NUMBERS, 2 * NUMBERS
REGION_PLANE = OWN_PLANE + 2


def before_play_planes(stages: str, last_stage: int) -> tuple[Plane, ...]:
    """The `number` planes that all games share; `stages` explains the values of `stage`."""
    return (
        Plane("to move", "1 if the observer is to move", "number"),
        Plane("stage", stages, "number", last_stage),
        Plane(
            "handicap",
            "handicap stones still to place, plus 10 if the observer places them",
            "number",
            19,
        ),
        Plane("starts", "1 if the observer starts once the handicap is laid", "number"),
    )


# ---- symmetries ----

SYMMETRIES = Symmetries(
    group=houses_kept(GRID),
    numbers=NUMBERS,
    fields={
        "candidates": Moved((), Content.STONES),
        "stones": Moved((), Content.STONES),
        "territory": Moved((Axis.FIXED,), Content.STONES),
        "regions": Moved((), Content.REGIONS),
    },
    actions=lambda settings: (
        ((Axis.NUMBER, Axis.CELL), (Axis.REGION,))
        if settings["territory"] == "draft"
        else ((Axis.NUMBER, Axis.CELL),)
    ),
    regions=BLOCK_OF,
    in_place=InPlace(
        ("stage", DRAFT),
        frozenset(cell for cell in range(CELLS) if BLOCK_OF[cell] == NEUTRAL_BLOCK),
    ),
)
"""The rules relate cells only through their houses and regions, not as neighbours, and they only
compare numbers for equality. Regions and their owners move with the cells. They are renumbered when
blocks change places, so that the regions of a draft, which are the blocks, stay numbered in reading
order. During the draft the centre stays the centre: observations show the neutral block and those
still free alike, as nobody's."""
