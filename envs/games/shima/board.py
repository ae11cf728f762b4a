"""What Sudoku Moyo and Sudoku Horikomi share: territories, the steps before play, laying a stone.

The board has nine regions (shima) of nine cells: four light, four dark and the neutral one
(azumaya). Sentences in brackets are those of `shared/rules.md`, section 2.

    a9 .. i9     cell 0 .. 8          L D L     light, dark,
     :    :         :    :            L . D     and the neutral centre:
    a1 .. i1     cell 72 .. 80        D L D     the standard territory

Actions: number n (1 to 9) on cell c is `(n - 1) * 81 + c`; the steps before play follow from 729.

A set of stones is a row of 12 words: bit `(n - 1) * 81 + c` is number n on cell c. So it is also
a set of actions and, bit by bit, nine planes of an observation: what is legal is an AND of two
rows, what is seen mostly a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.game import Plane, numbered_planes
from azumaya.envs.geometry.sudoku81 import BLOCK_OF, CELLS, FULL, GRID, NUMBERS, PEERS, WORDS
from azumaya.envs.geometry.symmetry import houses_kept
from azumaya.envs.kernels.bits import (
    LOW6,
    ONE,
    U64,
    ZERO,
    board_of,
    popcount,
    put_bit,
    put_byte,
    word_count,
)
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit, load, raised, store, word_at, word_in
from azumaya.envs.symmetries import Axis, Content, Moved, Symmetries

LIGHT, DARK, NEUTRAL = 0, 1, 2
"""Owners. Player p owns LIGHT where p is `state.light`; what has no other owner is NEUTRAL."""

DRAFT, COLOUR, STARTER, HANDICAP, PLAY = 0, 1, 2, 3, 4
"""Stages, in the order in which a game passes through them."""

NUMBER_ACTIONS = NUMBERS * CELLS
REGION_ACTION = NUMBER_ACTIONS
"""`r1`, where a draft is made."""
LIGHT_ACTION, DARK_ACTION = NUMBER_ACTIONS, NUMBER_ACTIONS + 1
START_ACTION, START_ACTION_AFTER_DRAFT = NUMBER_ACTIONS + 2, NUMBER_ACTIONS + NUMBERS
"""`start0`; `start1` is the next."""

ALL_ONES = ~ZERO
ROW = word_count(NUMBER_ACTIONS)
"""Words of a set of stones."""
REGION_BITS = 4
CELL_BITS, HIGH_BITS = 64, CELLS - 64

ALL_STONES = board_of(range(NUMBER_ACTIONS), ROW)
STONES_ON = np.stack([board_of(range(cell, NUMBER_ACTIONS, CELLS), ROW) for cell in range(CELLS)])
"""By cell, the nine stones on it, `(81, 12)`."""
STONES_WITH = np.stack([board_of(range(n * CELLS, (n + 1) * CELLS), ROW) for n in range(NUMBERS)])
"""By number (from 0), its 81 stones, `(9, 12)`."""

DRAFT_ORDER = np.array([0, 1, 1, 0, 0, 1, 1, 0], np.int64)
"""Who takes a region, by the number of regions already taken."""

FIELDS: list[tuple[Any, ...]] = [
    ("candidates", U64, (ROW,)),  # the stones that rule 4 allows on empty cells
    ("stones", U64, (ROW,)),  # those that lie
    ("territory", U64, (2, ROW)),  # all stones on the cells of light, of dark; see `draft`
    ("regions", U64, (REGION_BITS, WORDS)),  # the bits of each cell's region number, from 0
    ("to_move", np.int32),
    ("over", np.int32),
    ("payoff", np.int32),
    ("stage", np.int32),
    ("light", np.int32),  # the player who has the light regions
    ("starter", np.int32),  # who starts play; 0 once play has begun
    ("handicap", np.int32),  # stones still to be laid before play
    ("handicap_player", np.int32),  # who lays them; 0 once play has begun
    ("drafts", np.int32),  # options: are regions drafted, is the starter chosen?
    ("chooses", np.int32),
]
"""The fields of a state that both games have."""

MAX_STEPS = DRAFT_ORDER.shape[0] + 2 + CELLS
"""Every step but those of the draft, the colour and the starter lays a stone."""

CELL_PLANES = (
    *numbered_planes("candidate", "{n} may still be laid here by rule 4", NUMBERS),
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
"""The observation's planes of cells in both games."""
STONES_PLANE, OWN_PLANE = NUMBERS, 2 * NUMBERS
REGION_PLANE = OWN_PLANE + 2
FIRST_NUMBER = 8 * word_count(len(CELL_PLANES) * CELLS)
"""The byte of the first plane of numbers."""
SETUP_BYTES = 4
"""So many planes of numbers both games have: `number_planes`."""


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
def stones_of(state, side):
    """All stones on the cells of LIGHT or DARK, as a row."""
    return load(state.territory, side * ROW, ROW)


@kernel
def neutral_candidates(state):
    """The stones that may be laid on neutral cells, as a row."""
    owned = stones_of(state, LIGHT) | stones_of(state, DARK)
    return load(state.candidates, 0, ROW) & ~owned


@kernel
def neutral_room(state):
    """Whether any number may still be laid in the neutral region."""
    return any_bit(neutral_candidates(state))


@kernel
def stone_at(at):
    """The row of one stone."""
    return word_at(at >> 6, ONE << U64(at & 63), ROW)


@kernel
def words_from(at, low, high):
    """The three words over which a board is spread that begins at bit `at`."""
    shift = U64(at & 63)
    middle = ((low >> ONE) >> (LOW6 - shift)) | (high << shift)
    return low << shift, middle, (high >> ONE) >> (LOW6 - shift)


@kernel
def board_at(at, low, high):
    """The row in which a board begins at bit `at`."""
    index, (first, second, third) = at >> 6, words_from(at, low, high)
    row = word_at(index, first, ROW) | word_at(index + 1, second, ROW)
    return row | word_at(index + 2, third, ROW)


@kernel
def word_of(stones, number, w):
    """Word `w` of the cells of a number (from 0) in a set of stones."""
    at = number * CELLS + w * CELL_BITS
    shift = U64(at & 63)
    word = stones[at >> 6] >> shift
    if (at >> 6) + 1 < ROW:
        word |= (stones[(at >> 6) + 1] << ONE) << (LOW6 - shift)
    return word & FULL[w]


@kernel
def first_start(state):
    """The action `start0`."""
    return START_ACTION_AFTER_DRAFT if state.drafts else START_ACTION


@kernel
def drafted(state):
    """How many regions have been taken in the draft."""
    total = 0
    for w in range(WORDS):
        total += popcount(
            word_of(state.territory[LIGHT], 0, w) ^ word_of(state.territory[DARK], 0, w)
        )
    return total // NUMBERS


@kernel
def region_at(state, cell):
    """The number of a cell's region, from 0."""
    region = np.int64(0)
    for b in range(REGION_BITS):
        region |= np.int64((state.regions[b, cell >> 6] >> U64(cell & 63)) & ONE) << b
    return region


@kernel
def region_word(state, region, w):
    """Word `w` of the cells of a region (from 0)."""
    cells = FULL[w]
    for b in range(REGION_BITS):
        cells &= state.regions[b, w] ^ ~(ALL_ONES * U64(region >> b & 1))
    return cells


@kernel
def region_is_free(state, region):
    """Whether a region may still be drafted."""
    free = ZERO
    for w in range(WORDS):
        both = word_of(state.territory[LIGHT], 0, w) & word_of(state.territory[DARK], 0, w)
        free |= both & region_word(state, region, w)
    return free != ZERO


# ---- kernels ----


@kernel
def lay(state, number, cell):
    """Lay a number (from 0) on a cell. Rule 4: its house peers and its region lose the number."""
    word, index, at = cell >> 6, U64(cell & 63), number * CELLS
    low, high = ALL_ONES, FULL[1]
    for b in range(REGION_BITS):
        other = ALL_ONES * ((~state.regions[b, word] >> index) & ONE)
        low &= state.regions[b, 0] ^ other
        high &= state.regions[b, 1] ^ other
    there = load(STONES_ON, cell * ROW, ROW)
    gone = there | board_at(at, low | PEERS[cell, 0], high | PEERS[cell, 1])
    store(state.candidates, 0, load(state.candidates, 0, ROW) & ~gone)
    store(state.stones, 0, load(state.stones, 0, ROW) | stone_at(at + cell))


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
    if state.handicap > 0 and neutral_room(state):
        state.stage = HANDICAP
        state.to_move = state.handicap_player
    else:
        begin_play(state)


@kernel
def draft(state, region):
    """Take a region; player_0's are light. What is free is in the territory of both."""
    other = 1 - state.to_move
    for cell in range(CELLS):
        if region_at(state, cell) == region:
            left = stones_of(state, other) & ~load(STONES_ON, cell * ROW, ROW)
            store(state.territory, other * ROW, left)
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
def put_stones(words, plane, stones):
    """Or a set of stones, a row, into nine planes of cells, plane after plane."""
    first, shift = (plane * CELLS) >> 6, (plane * CELLS) & 63
    store(words, first, load(words, first, ROW) | raised(stones, shift))
    if shift + (NUMBER_ACTIONS & 63) > 64:
        words[first + ROW] |= word_in(stones, ROW - 1) >> U64(64 - shift)


@kernel
def append(words, at, held, low, high):
    """Write a board from bit `at` on; `held` is what the word there holds already.

    Returns what the word after the board's last bit holds.
    """
    index, (first, second, third) = at >> 6, words_from(at, low, high)
    words[index], words[index + 1] = held | first, second
    if (at & 63) + HIGH_BITS >= 64:
        words[index + 2] = third
        return third
    return second


@kernel
def observe_cells(state, player, words):
    """The planes of `CELL_PLANES`, put together word by word."""
    candidates, at = load(state.candidates, 0, ROW), STONES_PLANE * CELLS
    store(words, 0, candidates)
    before = word_at(0, word_in(candidates, ROW - 1), ROW)
    stones = before | raised(load(state.stones, 0, ROW), at & 63)
    store(words, at >> 6, stones)
    held, at = word_in(stones, ROW - 1), OWN_PLANE * CELLS
    for side in range(2):
        owner = own(state, player ^ side)
        low = state.territory[owner, 0] & ~state.territory[1 - owner, 0]
        high = state.territory[owner, 1] & ~state.territory[1 - owner, 1] & FULL[1]
        held = append(words, at + side * CELLS, held, low, high)
    at = REGION_PLANE * CELLS
    for b in range(REGION_BITS):
        held = append(words, at + b * CELLS, held, state.regions[b, 0], state.regions[b, 1])


@kernel
def observe_setup(state, player, words, at):
    """The planes of `number_planes`, from byte `at` on."""
    lays = 10 if state.handicap_player == player and state.stage < PLAY else 0
    put_byte(words, at, np.int64(state.to_move == player and not state.over))
    put_byte(words, at + 1, state.stage)
    put_byte(words, at + 2, state.handicap + lays)
    put_byte(words, at + 3, np.int64(state.starter == player and state.stage == HANDICAP))
