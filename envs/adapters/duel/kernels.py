"""Kernels for games with a built-in opponent: seat assignment and compiled opponents' moves."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.envs.adapters.duel.opponents import OTHERS, RANDOM, WHOLE
from azumaya.envs.adapters.lookahead import choose_random, greedy_kernel
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import clear
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import make_key, random_below, random_word

SEAT = np.dtype([("seat", np.int64), ("opponent", np.int64), ("paid", np.int64)])
"""The learner's seat in a game, the code of the opponent, and the payoff of player_0 that was there
when the episode began or is part of rewards."""

SEAT_DRAW, OPPONENT_DRAW = (1 << 33), (1 << 33) + 1
ASKED_DRAWS = 1 << 34
"""The first draw number of the keys with which opponents are asked for moves."""


@kernel
def draw_seats(rows, series, seats, seating, limits, codes):
    """Draw the learner's seat and opponent for the episode that begins in each row."""
    for i in rows:
        key = series[i].key
        if seating == 2:
            seats[i].seat = (series[i].episode + series[i].number) & 1
        elif seating == 3:
            seats[i].seat = random_below(key, SEAT_DRAW, 2)
        else:
            seats[i].seat = seating
        drawn, chosen = random_below(key, OPPONENT_DRAW, WHOLE), 0
        while drawn >= limits[chosen]:
            chosen += 1
        seats[i].opponent = codes[chosen]


@functools.cache
def fair_greedy_kernel(game: Game) -> Any:
    """The kernel `choose(state, words, key, n, trial, ties)`: greedy, but blind to hidden draws.

    Where draws are hidden it chooses what `GreedyOpponent` would if it were asked: from the same
    position, redrawn with the same key. In other games it is `greedy_kernel`, and only ties may be
    broken differently. `trial` is `(2,)`; the rest is as for `greedy_kernel`.
    """
    resample, choose_greedy = game.rules.resample, greedy_kernel(game)
    if resample is None:
        return choose_greedy

    @kernel
    def choose_redrawn(state, words, key, n, trial, ties):
        asked = random_word(key, ASKED_DRAWS + n)
        trial[1] = state
        resample(trial[1], make_key(asked, 0, 0))
        return choose_greedy(trial[1], words, asked, 0, trial, ties)

    return choose_redrawn


@functools.cache
def respond_kernel(game: Game) -> Any:
    """The kernel that plays the moves of compiled opponents."""
    play, write_legal = game.rules.play, game.rules.write_legal
    choose_greedy = fair_greedy_kernel(game)

    @kernel
    def respond(start, stop, rows, states, series, seats, before, words, trial, ties):
        """Play compiled opponents' moves until the learner's turn or the end of the game.

        `before`, `(n,)`, receives the payoff before the last move of each game.
        """
        for r in range(start, stop):
            i = rows[r]
            if seats[i].opponent >= OTHERS:
                continue
            key = series[i].key
            while states[i].over == RUNNING and states[i].to_move != seats[i].seat:
                clear(words)
                write_legal(states[i], words)
                if seats[i].opponent == RANDOM:
                    action = choose_random(words, words.shape[0], key, series[i].ply)
                else:
                    action = choose_greedy(states[i], words, key, series[i].ply, trial, ties)
                series[i].ply += 1
                before[i] = states[i].payoff
                play(states[i], action)
        return stop - start

    return respond
