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
from azumaya.envs.bits import ONE, U64, ZERO, bit, popcount, put_bit
from azumaya.envs.compile import kernel
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, PEERS, WORDS

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
def lay_puzzles(states, puzzles):
    """Lay the givens, `(n, 81)` uint8, on empty states `(n,)`."""
    for i in range(puzzles.shape[0]):
        for cell in range(CELLS):
            if puzzles[i, cell]:
                lay(states[i], np.int64(puzzles[i, cell]) - 1, cell)
