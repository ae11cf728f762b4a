"""The stages before play, as kernels: draft, choice of a colour, choice of the starter, handicap.

They are not part of the numbered rules; the options ask for them (`docs/games/sudoku_moyo.md`,
section Before play):

- Draft (`territory="draft"`): player_0 takes one block, player_1 two, player_0 two, player_1 two,
  player_0 one. player_0 plays light; the centre stays neutral.
- Colour (`setup="choose"` without a draft): player_0 chooses light or dark.
- Starter (`setup="choose"`): player_1 says who starts.
- Handicap (`handicap=(player, n)`): this player places n stones in the neutral region while any
  fits. Then play begins.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.games._shima.board import (
    COLOUR,
    DARK,
    DARK_ACTION,
    DRAFT,
    DRAFT_ORDER,
    HANDICAP,
    LIGHT,
    LIGHT_ACTION,
    PLAY,
    REGION_ACTION,
    ROW,
    START_ACTION,
    START_ACTION_AFTER_DRAFT,
    STARTER,
    STONES_ON,
)
from azumaya.envs.games._shima.stones import (
    lay,
    neutral_room,
    region_at,
    region_word,
    stones_of,
    word_of,
)
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, WORDS
from azumaya.envs.kernels.bits import ZERO, popcount, put_bit, put_byte
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import load, store

# ---- rule predicates ----


@kernel
def first_start(state):
    """The action by which player_0 starts."""
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
def region_is_free(state, region):
    """Whether a region (from 0) may still be drafted."""
    free = ZERO
    for w in range(WORDS):
        both = word_of(state.territory[LIGHT], 0, w) & word_of(state.territory[DARK], 0, w)
        free |= both & region_word(state, region, w)
    return free != ZERO


# ---- kernels ----


@kernel
def write_before_play(state, packed):
    """The legal actions of the stages before the handicap."""
    if state.stage == DRAFT:
        for region in range(NUMBERS):
            if region_is_free(state, region):
                put_bit(packed, REGION_ACTION + region)
    elif state.stage == COLOUR:
        put_bit(packed, LIGHT_ACTION)
        put_bit(packed, DARK_ACTION)
    elif state.stage == STARTER:
        put_bit(packed, first_start(state))
        put_bit(packed, first_start(state) + 1)


@kernel
def play_before(state, action):
    """Make a legal move of a stage before play."""
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
def draft(state, region):
    """Take a region (from 0) for the player to move, by removing it from the other's territory.

    Free regions belong to both territories. In a draft player_0 plays light, so a player's
    territory has the player's own index.
    """
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
def begin_handicap(state):
    """Go on to the handicap stones, or to play if none is to be placed or none fits."""
    if state.handicap > 0 and neutral_room(state):
        state.stage = HANDICAP
        state.to_move = state.handicap_player
    else:
        begin_play(state)


@kernel
def begin_play(state):
    """Leave the stages before play."""
    state.stage = PLAY
    state.to_move = state.starter
    state.starter = 0
    state.handicap = 0
    state.handicap_player = 0


@kernel
def observe_before_play(state, player, packed, at):
    """Write the planes `before_play_planes`; `at` is that of the game."""
    lays = 10 if state.handicap > 0 and state.handicap_player == player else 0
    put_byte(packed, at.to_move, np.int64(state.to_move == player and not state.over))
    put_byte(packed, at.stage, state.stage)
    put_byte(packed, at.handicap, state.handicap + lays)
    put_byte(packed, at.starts, np.int64(state.starter == player and state.stage == HANDICAP))
