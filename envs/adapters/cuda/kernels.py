"""Kernels that step games on a CUDA device, one thread per game, built from the game's record.

A thread plays the move and writes packed words; the kernels of `spreading` make bytes of them. One
game's bytes do not fit in a thread, and stores would be scattered if each thread wrote a whole row.

States are stored in columns (see `records`) and copied to thread-local memory for play. Masks and
observations are also built there, because each word is modified several times. Kernels do not
validate their arguments unless documented otherwise.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import config, cuda

from azumaya.envs.adapters.cuda.records import WORD, aligned_record, record_in
from azumaya.envs.adapters.lookahead import choose_random
from azumaya.envs.engine.kernels import (
    NONE,
    PACKED,
    first_illegal,
    forfeit,
    renew_kernel,
    report,
    restart_kernel,
    roll_kernel,
)
from azumaya.envs.game import RUNNING, TERMINATED, Game
from azumaya.envs.kernels.bits import U64, ZERO
from azumaya.envs.kernels.compile import kernel

NO_ERROR = np.iinfo(np.int64).max
"""Error word without illegal actions; otherwise it holds the step and row of the first."""
STEP_BITS = 32
"""Bits of the error word that hold the row; the step number is above them."""
LAST_STEP = 1 << (62 - STEP_BITS)
"""The number of that step and of all later ones."""
REGISTERS = 168
"""The most registers of a thread. Fewer let more threads run at once, but then states are moved to
memory and back; `docs/decisions/gpu-kernels.md` has what was measured."""
per_game = cuda.jit if config.ENABLE_CUDASIM else cuda.jit(max_registers=REGISTERS)
"""Compiles a function as a kernel that runs one thread per game."""


def _layout(game: Game) -> tuple[int, np.dtype[Any]]:
    """The number of words in a state, and its record type."""
    return game.rules.state.itemsize // WORD, aligned_record(game.rules.state)


@kernel
def load(columns, i, column):
    """Copy column `i` to a thread's memory, whose size is known when a kernel is compiled."""
    for w in range(column.shape[0]):
        column[w] = columns[w, i]


@kernel
def store(column, columns, i):
    """Copy it back."""
    for w in range(column.shape[0]):
        columns[w, i] = column[w]


@functools.cache
def look_kernel(game: Game, words: int, form: int) -> Any:
    """The kernel `look(state, row, legal, masks, views)`: write a packed row.

    The row is for the player to move. `legal` receives the mask, as does `masks` if `form` is
    PACKED; `views` receives the observation unless `form` is NONE.
    """
    write_legal, observe, size = (
        game.rules.write_legal,
        game.rules.observe,
        game.observation.packed_words,
    )

    @kernel
    def look(state, row, legal, masks, views):
        choices = cuda.local.array(words, U64)
        for w in range(words):
            choices[w] = ZERO
        write_legal(state, choices)
        for w in range(words):
            legal[row, w] = choices[w]
            if form == PACKED:
                masks[row, w] = choices[w]
        if form != NONE:
            seen = cuda.local.array(size, U64)
            for w in range(size):
                seen[w] = ZERO
            observe(state, state.to_move, seen)
            for w in range(size):
                views[row, w] = seen[w]

    return look


@kernel
def note_illegal(i, action, error, wrong, clock):
    """Note an illegal action in game `i`; only the first step with one, and its lowest row, stay.

    `error`, `(1,)`, receives the step and the row, `wrong[i]` the action. `clock`, `(1,)`, has the
    number of steps before this one.
    """
    first = min(clock[0] + 1, LAST_STEP) << STEP_BITS
    if error[0] >= first:
        wrong[i] = action
        cuda.atomic.min(error, 0, first | i)


@functools.cache
def step_kernel(
    game: Game, words: int, form: int, same_step: bool, lose: bool, restarts: bool
) -> Any:
    """The kernel that plays an action in every game and writes the outputs, packed.

    With `lose`, an illegal action loses the game as in the engine's step. Otherwise it leaves its
    game unchanged and is noted, see `note_illegal`. Finished games are restarted instead, or stay
    if not `restarts`.
    With `same_step`, games restart when they end: `ended` marks them, `finals` has their states.
    """
    play, restart = game.rules.play, restart_kernel(game)
    look = look_kernel(game, words, form)
    (size, layout), bound = _layout(game), 64 * words

    @per_game
    def step(
        states, series, starts, spans, actions, legal, over, masks, views, rewards, both,
        terminated, truncated, to_move, finals, ended, error, wrong, clock,
    ):  # fmt: skip
        i = cuda.grid(1)
        if i >= states.shape[1]:
            return
        column = cuda.local.array(size, U64)
        own = record_in(column, layout)
        load(states, i, column)
        lost = lose and over[i] and series[i].lost != 0
        if lost:
            own[0].over = TERMINATED
        mover, action, gain = own[0].to_move, actions[i], 0
        if first_illegal(i, i + 1, legal, actions, bound, over) >= 0:
            if lose:
                gain, lost = forfeit(own, 0, series, i), True
            else:
                note_illegal(i, action, error, wrong, clock)
        elif over[i]:
            if restarts:
                restart(own, 0, series, i, starts, spans)
                lost = False
        else:
            before = own[0].payoff
            play(own[0], action)
            gain = own[0].payoff - before
        end = own[0].over
        report(i, end, mover, gain, rewards, both, terminated, truncated)
        if same_step:
            ended[i] = end != RUNNING
            if end != RUNNING:
                store(column, finals, i)
                restart(own, 0, series, i, starts, spans)
                lost = False
        if lost:  # this is kept of the state, and what follows shows the end
            own[0].over = RUNNING
        store(column, states, i)
        if lost:
            own[0].over = TERMINATED
        over[i], to_move[i] = own[0].over != RUNNING, own[0].to_move
        look(own[0], i, legal, masks, views)

    return step


@per_game
def check_all(actions, legal, over, error):
    """Store the lowest row with an illegal action in `error`, `(1,)`."""
    i = cuda.grid(1)
    if i >= actions.shape[0]:
        return
    if first_illegal(i, i + 1, legal, actions, 64 * legal.shape[1], over) >= 0:
        cuda.atomic.min(error, 0, i)


@functools.cache
def show_kernel(game: Game, words: int, form: int) -> Any:
    """The kernel that writes every game's packed outputs for its player to move; rewards are 0."""
    look, size, layout = look_kernel(game, words, form), *_layout(game)

    @per_game
    def show(
        states, series, legal, over, masks, views, rewards, both, terminated, truncated, to_move,
    ):  # fmt: skip
        i = cuda.grid(1)
        if i >= states.shape[1]:
            return
        column = cuda.local.array(size, U64)
        own = record_in(column, layout)
        load(states, i, column)
        if series[i].lost:
            own[0].over = TERMINATED
        end = own[0].over
        report(i, end, 0, 0, rewards, both, terminated, truncated)
        over[i], to_move[i] = end != RUNNING, own[0].to_move
        look(own[0], i, legal, masks, views)

    return show


@functools.cache
def finals_kernel(game: Game, form: int) -> Any:
    """The kernel that writes packed final observations of games that `ended` in the last step."""
    observe, room, size, layout = game.rules.observe, game.observation.packed_words, *_layout(game)

    @per_game
    def show_finals(finals, ended, views, to_move):
        i = cuda.grid(1)
        if i >= finals.shape[1] or not ended[i]:
            return
        column = cuda.local.array(size, U64)
        own = record_in(column, layout)
        load(finals, i, column)
        to_move[i] = own[0].to_move
        if form != NONE:
            seen = cuda.local.array(room, U64)
            for w in range(room):
                seen[w] = ZERO
            observe(own[0], own[0].to_move, seen)
            for w in range(room):
                views[i, w] = seen[w]

    return show_finals


@functools.cache
def begin_kernel(game: Game) -> Any:
    """The kernel that begins the next episode, with one setup, in each of the given rows."""
    renew, size, layout = renew_kernel(game), *_layout(game)

    @per_game
    def begin(rows, states, series, starts, setup):
        r = cuda.grid(1)
        if r >= rows.shape[0]:
            return
        i = rows[r]
        column = cuda.local.array(size, U64)
        own = record_in(column, layout)
        for w in range(size):
            column[w] = ZERO
        renew(own, 0, series, i, starts, setup)
        store(column, states, i)

    return begin


@per_game
def choose_all(legal, over, series, actions):
    """Choose a uniformly random legal action for every game; 0 if it is over."""
    i = cuda.grid(1)
    if i < actions.shape[0]:
        actions[i] = (
            0 if over[i] else choose_random(legal[i], legal.shape[1], series[i].key, series[i].ply)
        )
        series[i].ply += 1


@functools.cache
def rollout_kernel(game: Game, words: int) -> Any:
    """The kernel that plays random legal moves; `ended`, `(1,)`, counts games that end in it."""
    roll, size, layout = roll_kernel(game, words), *_layout(game)

    @cuda.jit  # a game stays in its thread for many plies: there is no limit of registers
    def rollout(plies, states, series, starts, spans, ended):
        i = cuda.grid(1)
        if i >= states.shape[1]:
            return
        column, choices = cuda.local.array(size, U64), cuda.local.array(words, U64)
        own = record_in(column, layout)
        load(states, i, column)
        count = roll(plies, own, 0, series, i, starts, spans, choices)
        store(column, states, i)
        cuda.atomic.add(ended, 0, count)

    return rollout
