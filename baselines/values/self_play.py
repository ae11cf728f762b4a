"""Games that a network plays against itself, and what can be learned from them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.values.lookahead import best_move_kernel
from azumaya.baselines.values.network import F32, Shape, view_kernel
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import ONE, U64, clear, count, put_bit, select_in
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

_JUDGED, _SEATS = 1 << 42, 1 << 43
"""The draws of a key that say what is judged, and which seats play at random; `lookahead.py` has
others."""
_EXPLORED, _MOVES = 1 << 44, 1 << 45
"""The draws of a game's key that say which moves are random, and the keys of moves. Draws from 0 on
chose the start: with these, only the games that begin with some of the starts would explore."""


@kernel
def happens(key, n, probability):
    """Whether draw `n` of a key says so."""
    return np.float64(random_word(key, n) >> U64(11)) * 2.0**-53 < probability


@kernel
def explores(key, t, explore):
    """Whether the move at ply `t` is random, which it is with probability `explore`."""
    return happens(key, _EXPLORED + t, explore)


@kernel
def move_key(key, t):
    """The key of the move at ply `t` of the game of a key."""
    return random_word(key, _MOVES + t)


@kernel
def moves_at_random(key, t, seat, explore, random_seats):
    """Whether the move of a seat at ply `t` is random: that one only, or all of the seat's."""
    return happens(key, _SEATS + seat, random_seats) or explores(key, t, explore)


@kernel
def draw_some(words, most, key, drawn):
    """Write to `drawn` at most `most` of the bits set in `words`, chosen at random by the key."""
    size, there = words.shape[0], count(words, words.shape[0])
    clear(drawn)
    for left in range(there, max(there - most, 0), -1):
        index = select_in(words, size, draw_below(key, _JUDGED + left, left))
        words[index >> 6] ^= ONE << U64(index & 63)
        put_bit(drawn, index)
    for w in range(size):
        words[w] |= drawn[w]


@functools.cache
def play_one_kernel(game: Game, shape: Shape) -> Any:
    """The kernel that plays a game to its end, and returns its plies and how many features it has.

    `play_one(now, key, explore, random_seats, most, weights, scratch, words, trial, seen, notes,
    found, counts, begun)`: the game goes on from `now`. For each ply `notes` get 1 or, if player_1
    is to move, -1; the value of the best move judged, for player_0; and 1 if the move was random,
    else 0. The others are as for `self_play_kernel`.
    """
    play, write_legal = game.rules.play, game.rules.write_legal
    view, best_move = view_kernel(game, shape), best_move_kernel(game, shape)

    @kernel
    def play_one(
        now, key, explore, random_seats, most, weights, scratch, words, trial, seen, notes, found,
        counts, begun,
    ):  # fmt: skip
        legal, judged, t, at = words[0], words[1], 0, 0
        while now[0].over == RUNNING and t < notes.shape[0]:
            size, begun[t] = view(now[0], weights, scratch, seen)
            for i in range(size):
                found[at + i] = seen[i]
            counts[t] = size
            at += size
            clear(legal)
            write_legal(now[0], legal)
            own = move_key(key, t)
            draw_some(legal, most, own, judged)
            action, value = best_move(now[0], judged, own, weights, scratch, trial)
            seat = now[0].to_move
            sign = F32(1 - 2 * seat)
            notes[t, 0], notes[t, 1], notes[t, 2] = sign, sign * value, F32(0)
            if moves_at_random(key, t, seat, explore, random_seats):
                notes[t, 2] = F32(1)
                action = select_in(
                    legal, legal.shape[0], draw_below(own, 0, count(legal, legal.shape[0]))
                )
            play(now[0], action)
            t += 1
        return t, at

    return play_one


@kernel
def look_back(notes, plies, behind, decay, targets):
    """Write the TD(lambda) returns of a game of `plies` plies to `targets`.

    `notes` are those of `play_one`, and `behind` is the value of the game's end for player_0.
    """
    for t in range(plies - 1, -1, -1):
        if notes[t, 2] > F32(0):
            behind = notes[t, 1]
        elif t < plies - 1:
            behind = decay * behind + (F32(1) - decay) * notes[t, 1]
        targets[t] = notes[t, 0] * behind


@functools.cache
def self_play_kernel(game: Game, shape: Shape) -> Any:
    """The kernel that plays games to their ends and writes what can be learned from them.

    `self_play(starts, keys, explore, random_seats, most, decay, weights, scratch, words, trial,
    now, seen, notes, found, counts, begun, targets, lengths, results)`: a game begins in each of
    `starts`, `(n,)`. A move is random with probability `explore`, else the best of `most` that are
    drawn at random, or of all if there are no more. With probability `random_seats` all moves of a
    seat are random in a game. `lengths`, `(n,)`, says how many plies each game has, and `results`,
    `(n,)`, what player_0 gains.

    The other results are written for all positions, one after another: their features to `found`,
    `(n * plies * room,)`, integers of any type that is large enough; how many these are to
    `counts`, the start for `forward` to `begun`, and the TD(lambda) return with lambda `decay` to
    `targets`, each `(n * plies,)`. A return is for the player to move, from -1 to 1, and cut off at
    random moves. A game that is still running after `plies` counts with its last value.

    Scratch space: `words` is `(2, words of a row of actions)`, `trial` and `now` are `(1,)` states,
    `seen` is `(room,)` int32, and `notes` `(plies, 3)` float32.
    """
    play_one, bound = play_one_kernel(game, shape), shape.bound

    @kernel
    def self_play(
        starts, keys, explore, random_seats, most, decay, weights, scratch, words, trial, now, seen,
        notes, found, counts, begun, targets, lengths, results,
    ):  # fmt: skip
        weights, scratch, words = borrow(weights), borrow(scratch), borrow(words)
        trial, now, seen, found = borrow(trial), borrow(now), borrow(seen), borrow(found)
        first = at = 0
        for g in range(keys.shape[0]):
            now[0] = starts[g]
            plies, size = play_one(
                now, keys[g], explore, random_seats, most, weights, scratch, words, trial, seen,
                notes, found[at:], counts[first:], begun[first:],
            )  # fmt: skip
            lengths[g], results[g] = plies, now[0].payoff
            running = now[0].over == RUNNING
            last = notes[plies - 1, 1] if running else F32(now[0].payoff) / weights[bound]
            look_back(notes, plies, last, decay, targets[first:])
            first += plies
            at += size
        return 0

    return self_play
