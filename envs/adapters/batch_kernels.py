"""The kernels that step many games, made once for each game from those of its record.

All take a slice `start, stop` of the rows and room to work in, and no Python object, so that
threads may run them on slices of one batch at once. Nothing is checked here.
"""

# ruff: noqa: PLR0913, PLR0917 - kernels take arrays, not objects

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from azumaya.envs.adapters.lookahead import choose_random
from azumaya.envs.bits import LOW6, ONE, U64, ZERO, clear, word_count
from azumaya.envs.compile import kernel
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Game
from azumaya.envs.rng import make_key
from azumaya.envs.spread import LINE, fill, spread

SERIES = np.dtype([("seed", U64), ("number", np.int64), ("episode", np.int64), ("ply", np.int64)])
"""What a game's randomness comes from: seed, number of the environment, episode; and the number
of moves chosen for it by compiled players in this episode."""

NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2
"""When a game that has ended is begun anew."""
PLANES, PACKED, NONE = 0, 1, 2
"""Forms of an observation."""


class BatchKernels(NamedTuple):
    """The kernels of one game; see `batch_kernels`."""

    begin: Any
    step: Any
    move: Any
    look: Any
    rollout: Any


@kernel
def key_of(series):
    """The key of the episode a game is in."""
    return make_key(series.seed, series.number, series.episode)


@kernel
def first_illegal(start, stop, legal, actions, num_actions):
    """The first row whose action is not legal, -1 if all are; `legal` is `(n, W)` words."""
    for i in range(start, stop):
        action = actions[i]
        if action < 0 or action >= num_actions:
            return i
        if (legal[i, action >> 6] >> (U64(action) & LOW6)) & ONE == ZERO:
            return i
    return -1


@kernel
def choose(start, stop, legal, series, words, actions):
    """A uniformly random legal action for every row, 0 where there is none."""
    for i in range(start, stop):
        some = ZERO
        for w in range(words.shape[0]):
            words[w] = legal[i, w]
            some |= words[w]
        actions[i] = choose_random(words, key_of(series[i]), series[i].ply) if some != ZERO else 0
        series[i].ply += 1


@functools.cache
def show_kernel(game: Game) -> Any:
    """The kernel that writes what a player sees of one state to row `row` of the outputs.

    `show(state, player, row, form, choices, seen, legal, masks, planes, packed)`: `choices` and
    `seen` are room for the packed mask and observation; `legal` gets the packed mask, `masks` the
    same as bytes, `planes` the observation as bytes or `packed` as words.
    """
    write_legal, observe = game.write_legal, game.observe
    sets = game.cell_planes
    numbers, cells = len(game.planes) - sets, game.cells
    set_words = word_count(sets * cells)

    @kernel
    def show(state, player, row, form, choices, seen, legal, masks, planes, packed):
        clear(choices)
        if player == state.to_move:
            write_legal(state, choices)
        for w in range(choices.shape[0]):
            legal[row, w] = choices[w]
        if form != PACKED:
            base = row * masks.shape[1]
            for w in range(choices.shape[0]):
                spread(masks, base + w * LINE, choices[w])
        if form == NONE:
            return
        clear(seen)
        observe(state, player, seen)
        if form == PACKED:
            for w in range(seen.shape[0]):
                packed[row, w] = seen[w]
            return
        base = row * planes.shape[1]
        for w in range(set_words):
            spread(planes, base + w * LINE, seen[w])
        for p in range(numbers):
            value = (seen[set_words + (p >> 3)] >> U64((p & 7) * 8)) & U64(255)
            fill(planes, base + (sets + p) * cells, cells, np.int64(value))

    return show


@functools.cache
def batch_kernels(game: Game) -> BatchKernels:
    """The batch kernels of a game."""
    return BatchKernels(
        begin=_begin_kernel(game),
        step=_step_kernel(game),
        move=_move_kernel(game),
        look=_look_kernel(game),
        rollout=_rollout_kernel(game),
    )


def _begin_kernel(game: Game) -> Any:
    reset = game.reset

    @kernel
    def begin(start, stop, rows, states, series, starts):
        """Begin the episode that `series` names in each of `rows[start:stop]`."""
        for r in range(start, stop):
            i = rows[r]
            series[i].ply = 0
            reset(states, i, starts, key_of(series[i]))

    return begin


def _step_kernel(game: Game) -> Any:
    reset, play, show = game.reset, game.play, show_kernel(game)

    @kernel
    def step(
        start,
        stop,
        mode,
        form,
        states,
        series,
        starts,
        actions,
        choices,
        seen,
        legal,
        masks,
        planes,
        packed,
        rewards,
        both,
        terminated,
        truncated,
        to_move,
        finals,
        final_rows,
    ):
        """Play an action in every game, or begin it anew; show what comes of it.

        With SAME_STEP the states that ended go to `finals`, their rows to `final_rows`, from
        `start` on; the kernel returns how many there are.
        """
        ended = 0
        for i in range(start, stop):
            mover, gain = states[i].to_move, 0
            if states[i].over != RUNNING:
                series[i].episode += 1
                series[i].ply = 0
                reset(states, i, starts, key_of(series[i]))
            else:
                before = states[i].payoff
                play(states[i], actions[i])
                gain = states[i].payoff - before
            over = states[i].over
            terminated[i] = over == TERMINATED
            truncated[i] = over == TRUNCATED
            both[i, 0] = gain
            both[i, 1] = -gain
            rewards[i] = gain if mover == 0 else -gain
            if over != RUNNING and mode == SAME_STEP:
                finals[start + ended] = states[i]
                final_rows[start + ended] = i
                ended += 1
                series[i].episode += 1
                series[i].ply = 0
                reset(states, i, starts, key_of(series[i]))
            player = states[i].to_move
            to_move[i] = player
            show(states[i], player, i, form, choices, seen, legal, masks, planes, packed)
        return ended

    return step


def _move_kernel(game: Game) -> Any:
    play = game.play

    @kernel
    def move(start, stop, rows, actions, states):
        """Play `actions[r]` in game `rows[r]`."""
        for r in range(start, stop):
            play(states[rows[r]], actions[r])

    return move


def _look_kernel(game: Game) -> Any:
    show = show_kernel(game)

    @kernel
    def look(start, stop, rows, players, form, states, choices, seen, legal, masks, planes, packed):
        """Write what `players[r]` (-1: the player to move) sees of game `rows[r]` to row `r`."""
        for r in range(start, stop):
            i = rows[r]
            player = players[r]
            if player < 0:
                player = states[i].to_move
            show(states[i], player, r, form, choices, seen, legal, masks, planes, packed)

    return look


def _rollout_kernel(game: Game) -> Any:
    reset, play, write_legal = game.reset, game.play, game.write_legal

    @kernel
    def rollout(start, stop, steps, states, series, starts, words):
        """Make `steps` uniformly random legal moves in every game, begun anew where it ends.

        Returns how many games ended.
        """
        ended = 0
        for i in range(start, stop):
            key = key_of(series[i])
            for _ in range(steps):
                clear(words)
                write_legal(states[i], words)
                play(states[i], choose_random(words, key, series[i].ply))
                series[i].ply += 1
                if states[i].over != RUNNING:
                    ended += 1
                    series[i].episode += 1
                    series[i].ply = 0
                    key = key_of(series[i])
                    reset(states, i, starts, key)
        return ended

    return rollout
