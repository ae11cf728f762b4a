"""Games that a network plays against itself, and what can be learned from them."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.search.game_kernels import payoff_range_kernel
from azumaya.baselines.search.hints import hints_of
from azumaya.baselines.values.network import (
    F32,
    Shape,
    features_of,
    scratch_words,
    value_kernel,
    view_kernel,
)
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import (
    ONE,
    U64,
    ZERO,
    clear,
    count,
    lowest,
    put_bit,
    select_in,
    word_count,
)
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

# ---- the best move by one step of lookahead ----

HIDDEN_DRAWS = 4
"""The number of draws of hidden information for each move; the values are averaged."""
_FIRST_HIDDEN, _TIES = 1 << 40, 1 << 41
"""The draws of a key that draw what is hidden, and that break ties."""


@functools.cache
def best_move_kernel(game: Game, shape: Shape, sure: bool = False) -> Any:
    """The kernel `best_move(state, words, key, weights, scratch, trial)`.

    It returns the legal action, of those set in `words`, with the best value after it for the
    player to move, and that value. It lies from -1 to 1, unless the game's options allow a larger
    payoff than those that the network was trained with. Ties are broken by the key. What is hidden
    from the players is drawn anew, in the same way for every action.

    With `sure`, what the game's `bounds` prove counts more than what the network says. That takes
    up to twice the time, so learning goes without.
    """
    play, resample, value = game.rules.play, game.rules.resample, value_kernel(game, shape)
    draws, bound = 1 if resample is None else HIDDEN_DRAWS, shape.bound
    payoff_range = payoff_range_kernel(hints_of(game).bounds if sure else None)

    @kernel
    def judge(state, weights, scratch):
        if state.over != RUNNING:
            return F32(state.payoff)
        low, high = payoff_range(state)
        if low == high:
            return F32(low)
        return min(max(value(state, weights, scratch), F32(low)), F32(high))

    @kernel
    def value_after(state, action, key, weights, scratch, trial):
        total = F32(0)
        for d in range(draws):
            trial[0] = state
            if resample is not None:
                resample(trial[0], random_word(key, _FIRST_HIDDEN + d))
            play(trial[0], action)
            total += judge(trial[0], weights, scratch)
        return total / (F32(draws) * weights[bound])

    @kernel
    def best_move(state, words, key, weights, scratch, trial):
        sign = F32(1 - 2 * state.to_move)
        best, highest, ties = np.int64(-1), F32(-2), 0
        for w in range(words.shape[0]):
            left = words[w]
            while left != ZERO:
                action = 64 * w + lowest(left)
                left &= left - ONE
                result = sign * value_after(state, action, key, weights, scratch, trial)
                if best < 0 or result > highest:
                    best, highest, ties = action, result, 1
                elif result == highest:
                    ties += 1
                    if draw_below(key, _TIES + ties, ties) == 0:
                        best = action
        return best, highest

    return best_move


@functools.cache
def best_moves_kernel(game: Game, shape: Shape) -> Any:
    """The kernel `best_moves(states, keys, weights, scratch, words, trial, actions, values)`.

    It writes the best move in each state, `(n,)`, to `actions`, `(n,)` int64, and the value after
    it, for the player who makes it, to `values`, `(n,)` float32; `keys` is `(n,)` uint64. `words`,
    `scratch` and `trial`, `(1,)` states, are room for one position.
    """
    write_legal = game.rules.write_legal
    best_move = best_move_kernel(game, shape, sure=True)

    @kernel
    def best_moves(states, keys, weights, scratch, words, trial, actions, values):
        weights, scratch, words = borrow(weights), borrow(scratch), borrow(words)
        states, trial = borrow(states), borrow(trial)
        for i in range(states.shape[0]):
            clear(words)
            write_legal(states[i], words)
            actions[i], values[i] = best_move(states[i], words, keys[i], weights, scratch, trial)

    return best_moves


# ---- the games ----

_JUDGED, _SEATS = 1 << 42, 1 << 43
"""The draws of a key that say what is judged, and which seats play at random."""
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


@functools.cache
def move_kernel(game: Game) -> Any:
    """The kernel `move(now, action, key, t, explore, random_seats, words)`: make a move.

    It is that of ply `t`. With probability `explore`, and always if the seat is one of the random
    ones, it makes a random move instead; it returns whether it did. `now` is `(1,)`, `words`
    scratch space for a row of legal actions.
    """
    play, write_legal = game.rules.play, game.rules.write_legal

    @kernel
    def move(now, action, key, t, explore, random_seats, words):
        random = moves_at_random(key, t, now[0].to_move, explore, random_seats)
        if random:
            clear(words)
            write_legal(now[0], words)
            left = draw_below(move_key(key, t), 0, count(words, words.shape[0]))
            action = select_in(words, words.shape[0], left)
        play(now[0], action)
        return random

    return move


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


class Habits(NamedTuple):
    """How games are played.

    Attributes:
        explore: the probability of a random move.
        random_seats: the probability with which all moves of a seat are random in a game.
        most: how many moves are judged in a position, drawn at random; all if there are no more.
        decay: TD(lambda)'s lambda, a float32.
    """

    explore: float
    random_seats: float
    most: int
    decay: np.float32


class Workspace(NamedTuple):
    """Scratch space of a player.

    Attributes:
        now: the position of the game in progress, `(1,)` states.
        trial: a position to try moves in, `(1,)` states.
        words: the legal actions, and those judged, `(2, words of a row of actions)` uint64.
        scratch: that of the network, see `scratch_words`.
        seen: the features of a position, `(room,)` int32.
        notes: for each ply of the game 1 or, if player_1 is to move, -1; the value of the best move
            judged, for player_0; and 1 if this is final, as the move was random, else 0; `(plies,
            3)` float32.
    """

    now: np.ndarray
    trial: np.ndarray
    words: np.ndarray
    scratch: np.ndarray
    seen: np.ndarray
    notes: np.ndarray

    @classmethod
    def new(cls, game: Game, shape: Shape, actions: int, plies: int) -> Workspace:
        """Room for games of at most `plies` plies and `actions` actions."""
        return cls(
            game.new_states(1),
            game.new_states(1),
            np.zeros((2, word_count(actions)), np.uint64),
            np.zeros(scratch_words(game, shape), np.uint64),
            np.zeros(features_of(game, shape.plain).room, np.int32),
            np.zeros((plies, 3), np.float32),
        )


@functools.cache
def play_one_kernel(game: Game, shape: Shape) -> Any:
    """The kernel that plays a game to its end, and returns its plies and how many features it has.

    `play_one(key, habits, weights, space, found, counts, heuristic)`: the game goes on from
    `space.now`; the last three are as in `GameExamples`, from the game's first position on.
    """
    move, write_legal = move_kernel(game), game.rules.write_legal
    view, best_move = view_kernel(game, shape), best_move_kernel(game, shape)

    @kernel
    def play_one(key, habits, weights, space, found, counts, heuristic):
        now, trial, scratch = space.now, space.trial, space.scratch
        seen, notes = space.seen, space.notes
        legal, judged, t, at = space.words[0], space.words[1], 0, 0
        while now[0].over == RUNNING and t < notes.shape[0]:
            size, heuristic[t] = view(now[0], weights, scratch, seen)
            for i in range(size):
                found[at + i] = seen[i]
            counts[t] = size
            at += size
            clear(legal)
            write_legal(now[0], legal)
            own = move_key(key, t)
            draw_some(legal, habits.most, own, judged)
            action, value = best_move(now[0], judged, own, weights, scratch, trial)
            sign = F32(1 - 2 * now[0].to_move)
            notes[t, 0], notes[t, 1] = sign, sign * value
            random = move(now, action, key, t, habits.explore, habits.random_seats, legal)
            notes[t, 2] = F32(random)
            t += 1
        return t, at

    return play_one


@kernel
def look_back(notes, plies, behind, decay, targets):
    """Write the TD(lambda) returns of a game of `plies` plies to `targets`.

    `notes` are those of `Workspace`, and `behind` is the value of the game's end for player_0.
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

    `self_play(starts, keys, habits, weights, space, games)`: a game begins in each of `starts`,
    `(n,)` states, with the key in `keys`, `(n,)` uint64. `weights` are the network's parameters.
    Returns are cut off at random moves. A game that does not fit into `space.notes` counts with its
    last value. `games` is a `GameExamples.room`.
    """
    play_one, bound = play_one_kernel(game, shape), shape.bound

    @kernel
    def self_play(starts, keys, habits, weights, space, games):
        weights, found, space = borrow(weights), borrow(games.features), borrow(space)
        now, notes = space.now, space.notes
        first = at = 0
        for g in range(keys.shape[0]):
            now[0] = starts[g]
            plies, size = play_one(
                keys[g], habits, weights, space, found[at:], games.counts[first:],
                games.heuristic[first:],
            )  # fmt: skip
            games.lengths[g], games.results[g] = plies, now[0].payoff
            running = now[0].over == RUNNING
            last = notes[plies - 1, 1] if running else F32(now[0].payoff) / weights[bound]
            look_back(notes, plies, last, habits.decay, games.targets[first:])
            first += plies
            at += size
        return 0

    return self_play
