"""What Sudoku Moyo and Sudoku Horikomi share: territories, the steps before play, laying a stone.

The board has nine regions (shima) of nine cells: four light, four dark and the neutral one
(azumaya). Sentences in brackets are those of `shared/rules.md`, section 2.

    a9 .. i9     cell 0 .. 8          L D L     light, dark,
     :    :         :    :            L . D     and the neutral centre:
    a1 .. i1     cell 72 .. 80        D L D     the standard territory

Actions: number n (1 to 9) on cell c is `(n - 1) * 81 + c`; the steps before play follow from 729.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.bits import ONE, U64, ZERO, bit, popcount, put, put_bit, put_byte, word_count
from azumaya.envs.compile import kernel
from azumaya.envs.game import Plane, Symmetries
from azumaya.envs.geometry.sudoku81 import BLOCK_OF, CELLS, GRID, NUMBERS, PEERS, WORDS
from azumaya.envs.geometry.symmetry import houses_kept

LIGHT, DARK, NEUTRAL = 0, 1, 2
"""Owners, as indices of `state.territory`. Player p owns LIGHT where p is `state.light`."""

DRAFT, COLOUR, STARTER, HANDICAP, PLAY = 0, 1, 2, 3, 4
"""Stages, in the order in which a game passes through them."""

NUMBER_ACTIONS = NUMBERS * CELLS
REGION_ACTION = NUMBER_ACTIONS
"""`r1`, where a draft is made."""
LIGHT_ACTION, DARK_ACTION = NUMBER_ACTIONS, NUMBER_ACTIONS + 1
START_ACTION, START_ACTION_AFTER_DRAFT = NUMBER_ACTIONS + 2, NUMBER_ACTIONS + NUMBERS
"""`start0`; `start1` is the next."""

ALL_ONES = ~ZERO

DRAFT_ORDER = np.array([0, 1, 1, 0, 0, 1, 1, 0], np.int64)
"""Who takes a region, by the number of regions already taken."""

FIELDS: list[tuple[Any, ...]] = [
    ("candidates", U64, (NUMBERS, WORDS)),  # per number: empty cells where it may be laid
    ("stones", U64, (NUMBERS, WORDS)),  # per number: cells where it lies
    ("regions", U64, (NUMBERS, WORDS)),
    ("territory", U64, (3, WORDS)),  # by owner
    ("to_move", np.int64),
    ("over", np.int64),
    ("payoff", np.int64),
    ("stage", np.int64),
    ("light", np.int64),  # the player who has the light regions
    ("starter", np.int64),  # who starts play; 0 once play has begun
    ("handicap", np.int64),  # stones still to be laid before play
    ("handicap_player", np.int64),  # who lays them; 0 once play has begun
    ("drafts", np.int64),  # options: are regions drafted, is the starter chosen?
    ("chooses", np.int64),
]
"""The fields of a state that both games have."""

MAX_STEPS = DRAFT_ORDER.shape[0] + 2 + CELLS
"""Every step but those of the draft, the colour and the starter lays a stone."""

REGION_BITS = 4
CELL_PLANES = (
    *(Plane(f"candidate {n}", f"{n} may still be laid here by rule 4") for n in range(1, 10)),
    *(Plane(f"stone {n}", f"a {n} lies here") for n in range(1, 10)),
    Plane("own", "regions of the observer (before colours are chosen player_0 counts as light)"),
    Plane("opposing", "regions of the opponent"),
    *(
        Plane(f"region bit {b}", f"bit {b} of the region's number, from 0 in reading order")
        for b in range(REGION_BITS)
    ),
)
"""The observation's planes of cells in both games."""
OWN_PLANE = 2 * NUMBERS
REGION_PLANE = OWN_PLANE + 2
FIRST_NUMBER = 8 * word_count(len(CELL_PLANES) * CELLS)
"""The byte of the first plane of numbers."""
SETUP_BYTES = 4
"""So many planes of numbers both games have: `number_planes`."""
CELL_BITS, HIGH_BITS = 64, CELLS - 64


def number_planes(stages: str, last_stage: int) -> tuple[Plane, ...]:
    """The first planes of numbers, given what the stages are called."""
    return (
        Plane("to move", "1 if the observer is to move", "number"),
        Plane("stage", stages, "number", last_stage),
        Plane(
            "handicap",
            "handicap stones still to lay, plus 10 if the observer lays them",
            "number",
            19,
        ),
        Plane("starts", "1 if the observer starts once the handicap is laid", "number"),
    )


SYMMETRIES = Symmetries(
    group=houses_kept(GRID),
    numbers=NUMBERS,
    fields={
        "candidates": "number cells",
        "stones": "number cells",
        "regions": "region cells",
        "territory": "owner cells",
    },
    planes={"candidate": "number", "stone": "number", "region bit": "region"},
    actions=lambda settings: (
        ("number cell", "region") if settings["territory"] == "draft" else ("number cell",)
    ),
    regions=BLOCK_OF,
)
"""The rules know cells by their houses and regions only, never by what lies beside them, and
numbers only by being equal or not. Regions and their owners travel with the cells. They are
renumbered as the blocks change places, so that in a draft, where the regions are the blocks, they
stay numbered in reading order."""


# ---- rule predicates ----


@kernel
def own(state, player):
    """The owner index of a player's own regions."""
    return player ^ state.light


@kernel
def room_in(state, owner):
    """Whether any number may still be laid somewhere in the regions of an owner."""
    room = ZERO
    for n in range(NUMBERS):
        room |= state.candidates[n, 0] & state.territory[owner, 0]
        room |= state.candidates[n, 1] & state.territory[owner, 1]
    return room != ZERO


@kernel
def first_start(state):
    """The action `start0`."""
    return START_ACTION_AFTER_DRAFT if state.drafts else START_ACTION


@kernel
def drafted(state):
    """How many regions have been taken in the draft."""
    total = 0
    for w in range(WORDS):
        total += popcount(state.territory[LIGHT, w] | state.territory[DARK, w])
    return total // NUMBERS


@kernel
def region_is_free(state, region):
    """Whether a region has no owner yet and is not the neutral one."""
    taken = ZERO
    for owner in range(3):
        for w in range(WORDS):
            taken |= state.territory[owner, w] & state.regions[region, w]
    return taken == ZERO


# ---- kernels ----


@kernel
def lay(state, number, cell):
    """Lay a number (from 0) on a cell. Rule 4: its house peers and its region lose the number."""
    word, index = cell >> 6, cell & 63
    here = bit(index)
    low, high = PEERS[cell, 0], PEERS[cell, 1]
    for r in range(NUMBERS):
        inside = ALL_ONES * ((state.regions[r, word] >> U64(index)) & ONE)
        low |= state.regions[r, 0] & inside
        high |= state.regions[r, 1] & inside
    for n in range(NUMBERS):
        state.candidates[n, word] &= ~here
    state.stones[number, word] |= here
    state.candidates[number, 0] &= ~low
    state.candidates[number, 1] &= ~high


@kernel
def begin_play(state):
    """Leave the steps before play behind."""
    state.stage = PLAY
    state.to_move = state.starter
    state.starter = 0
    state.handicap = 0
    state.handicap_player = 0


@kernel
def begin_handicap(state):
    """Go to the handicap stones, or to play where none is to be laid or none fits."""
    if state.handicap > 0 and room_in(state, NEUTRAL):
        state.stage = HANDICAP
        state.to_move = state.handicap_player
    else:
        begin_play(state)


@kernel
def draft(state, region):
    """Take a region; player_0's are light."""
    for w in range(WORDS):
        state.territory[state.to_move, w] |= state.regions[region, w]
    taken = drafted(state)
    if taken < DRAFT_ORDER.shape[0]:
        state.to_move = DRAFT_ORDER[taken]
    elif state.chooses:
        state.stage = STARTER
        state.to_move = 1
    else:
        begin_handicap(state)


@kernel
def play_before(state, action):
    """One step of the stages before play."""
    if state.stage == DRAFT:
        draft(state, action - REGION_ACTION)
    elif state.stage == COLOUR:
        state.light = action - LIGHT_ACTION
        state.stage = STARTER
        state.to_move = 1
    elif state.stage == STARTER:
        state.starter = action - first_start(state)
        begin_handicap(state)
    else:
        lay(state, action // CELLS, action % CELLS)
        state.handicap -= 1
        begin_handicap(state)


@kernel
def write_before(state, words):
    """The legal actions of the stages before play, but for handicap stones."""
    if state.stage == DRAFT:
        for region in range(NUMBERS):
            if region_is_free(state, region):
                put_bit(words, REGION_ACTION + region)
    elif state.stage == COLOUR:
        put_bit(words, LIGHT_ACTION)
        put_bit(words, DARK_ACTION)
    elif state.stage == STARTER:
        put_bit(words, first_start(state))
        put_bit(words, first_start(state) + 1)


@kernel
def begin_all(states):
    """Go to the handicap stones, or to play, in each of some states `(n,)`."""
    for i in range(states.shape[0]):
        begin_handicap(states[i])


@kernel
def lay_puzzles(states, puzzles):
    """Lay the givens, `(n, 81)` uint8, on empty states `(n,)`."""
    for i in range(puzzles.shape[0]):
        for cell in range(CELLS):
            if puzzles[i, cell]:
                lay(states[i], np.int64(puzzles[i, cell]) - 1, cell)


# ---- observations ----


@kernel
def put_board(words, plane, low, high):
    """A board as one plane of cells, or as the actions that lay one number."""
    put(words, plane * CELLS, CELL_BITS, low)
    put(words, plane * CELLS + CELL_BITS, HIGH_BITS, high)


@kernel
def observe_cells(state, player, words):
    """The planes of `CELL_PLANES`."""
    for n in range(NUMBERS):
        put_board(words, n, state.candidates[n, 0], state.candidates[n, 1])
        put_board(words, NUMBERS + n, state.stones[n, 0], state.stones[n, 1])
    for side in range(2):
        owner = own(state, player ^ side)
        put_board(words, OWN_PLANE + side, state.territory[owner, 0], state.territory[owner, 1])
    for b in range(REGION_BITS):
        low, high = ZERO, ZERO
        for region in range(NUMBERS):
            if region >> b & 1:
                low |= state.regions[region, 0]
                high |= state.regions[region, 1]
        put_board(words, REGION_PLANE + b, low, high)


@kernel
def observe_setup(state, player, words, at):
    """The planes of `number_planes`, from byte `at` on."""
    lays = 10 if state.handicap_player == player and state.stage < PLAY else 0
    put_byte(words, at, np.int64(state.to_move == player and not state.over))
    put_byte(words, at + 1, state.stage)
    put_byte(words, at + 2, state.handicap + lays)
    put_byte(words, at + 3, np.int64(state.starter == player and state.stage == HANDICAP))
