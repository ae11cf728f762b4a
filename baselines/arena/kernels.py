"""Kernels of the arena: what agents are shown, and playing their moves."""

from __future__ import annotations

import functools
from typing import Any

from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import U64, clear, get
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import make_key

LOOKS = 1 << 20
"""Flipped in a key, it gives the seed that draws anew what the agents may not see."""
_LOOKS = U64(LOOKS)


@kernel
def rows_to_move(states, running, seats, which, rows):
    """Write to `rows` the `running` games in which an agent is to move; returns their number.

    `seats`, `(n,)`, are the seats of the first agent; `which` is 0 for the first agent, else 1.
    """
    found = 0
    for r in range(running.shape[0]):
        i = running[r]
        if states[i].over == RUNNING and (states[i].to_move ^ seats[i]) == which:
            rows[found] = i
            found += 1
    return found


@functools.cache
def views_kernel(game: Game) -> Any:
    """The kernel `look(states, rows, numbers, seats, seed, turn, which, views, keys)`.

    It copies the states of `rows` to `views` and writes their keys; what is hidden from the players
    is drawn anew in the copies. `turn` counts the rounds, and `which` is as for `rows_to_move`: two
    agents never get the same key, nor does a start.
    """
    resample = game.rules.resample

    @kernel
    def show(states, rows, numbers, seats, seed, turn, which, views, keys):
        for r in range(rows.shape[0]):
            i = rows[r]
            keys[r] = make_key(seed, numbers[i], 1 + 4 * turn + 2 * which + seats[i])
            views[r] = states[i]

    if resample is None:
        return show

    @kernel
    def show_resampled(states, rows, numbers, seats, seed, turn, which, views, keys):
        show(states, rows, numbers, seats, seed, turn, which, views, keys)
        for r in range(rows.shape[0]):
            resample(views[r], make_key(keys[r] ^ _LOOKS, 0, 0))

    return show_resampled


@functools.cache
def play_kernel(game: Game) -> Any:
    """The kernel `play_all(states, rows, actions, words, num_actions)`.

    It plays an action in each of the rows, and returns the index of the first that is illegal,
    without playing it; the number of rows if all are legal.
    """
    play, write_legal = game.rules.play, game.rules.write_legal

    @kernel
    def play_all(states, rows, actions, words, num_actions):
        for r in range(rows.shape[0]):
            i, action = rows[r], actions[r]
            if action < 0 or action >= num_actions:
                return r
            clear(words)
            write_legal(states[i], words)
            if not get(words, action):
                return r
            play(states[i], action)
        return rows.shape[0]

    return play_all
