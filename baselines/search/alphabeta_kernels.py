"""Alpha-beta over the moves of any game, as one kernel that can be stopped and goes on.

Values are what player_0 will have gained by the end, in units of `UNIT` a point; at the horizon
`evaluate` stands for what is not known. Who maximises is read from `state.to_move` at every
position, for one player may make several moves in a row.

Instead of recursion there is a frame for each ply. The kernel returns when it has looked at so
many positions, and its next call goes on from there.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.table import (
    INFINITE,
    NO_MOVE,
    PROVEN,
    SECOND_HASH,
    UNIT,
    find,
    nh,
    remember,
)
from azumaya.baselines.search.uct_kernels import legal_kernel
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import ONE, U64, ZERO, count, lowest
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

PLIES = 512
"""Moves from the root at which every search ends, as at a horizon."""

FRAME = np.dtype(
    [
        ("key", U64, (2,)),
        ("lower", np.int64),  # the window, for player_0
        ("upper", np.int64),
        ("best", np.int64),  # the best value so far, for the player to move
        ("began", np.int64),  # positions looked at before this one
        ("depth", np.int32),  # plies left to the horizon
        ("sign", np.int32),  # 1 where player_0 is to move, else -1
        ("move", np.int32),  # that with the best value
        ("first", np.int32),  # where the moves of this frame begin
        ("count", np.int32),  # how many are left to try
        ("proven", np.int32),  # whether `best` rests on no horizon
        ("keyed", np.int32),  # whether `key` is set
        ("pad", np.int32),
    ]
)
CONTROL = np.dtype(
    [
        ("ply", np.int64),
        ("phase", np.int64),
        ("value", np.int64),  # what the last position was worth, for player_0
        ("proven", np.int64),  # whether that rests on no horizon
        ("nodes", np.int64),  # positions looked at: moves made
        ("age", np.int64),
        ("key", U64),  # for ties at the root
    ]
)
ENTER, NEXT, LEAVE, DONE = 0, 1, 2, 3
"""What the search does next: look at a new position, try a move, hand a value up; nothing."""

FIRST_SCORE = 1 << 50
"""Of the move that was best before."""
LOOKING_PAYS = 2
"""So many plies before the horizon, and sooner, children are looked up before any is searched."""


@dataclass(frozen=True)
class Insight:
    """What a game can tell that makes its positions easier to solve; nothing is needed.

    Attributes:
        bounds: kernel `bounds(state)`, which returns two whole numbers between which lies what
            player_0 will have gained by the end.
        outlook: kernel `outlook(state, row)`, which writes to `(outlook_words,)` words all that
            the rest of the game depends on, of what can still change. Positions with equal
            outlooks, reached in one search, are taken for one.
        outlook_words: how many these are.
    """

    bounds: Any = None
    outlook: Any = None
    outlook_words: int = 0


@functools.cache
def key_kernel(insight: Insight) -> Any:
    """The kernel `key_of(states, words_of, outlooks, ply)`: the 128-bit key of a position.

    `words_of` are the words of the states, `outlooks` room for a row.
    """
    outlook = insight.outlook

    @kernel
    def key_of(states, words_of, outlooks, ply):
        if outlook is None:
            return nh(words_of, ply, 0), nh(words_of, ply, SECOND_HASH)
        outlook(states[ply], outlooks[0])
        return nh(outlooks, 0, 0), nh(outlooks, 0, SECOND_HASH)

    return key_of


@kernel
def for_mover(value, sign):
    """A value for player_0 as the player to move sees it; also the other way round."""
    return value if sign > 0 else -value


@functools.cache
def foresee_kernel(insight: Insight) -> Any:
    """The kernel `foresee(state, lower, upper)`: what is known without a move being made.

    Returns the value and whether it settles the window; such a value is proven.
    """
    bounds = insight.bounds

    @kernel
    def foresee(state, lower, upper):
        if state.over != RUNNING:
            return UNIT * np.int64(state.payoff), True
        if bounds is not None:
            low, high = bounds(state)
            if UNIT * low >= upper or low == high:
                return UNIT * low, True
            if UNIT * high <= lower:
                return UNIT * high, True
        return 0, False

    return foresee


@kernel
def look_up(table, first, second, age, lower, upper, depth):
    """What the table knows of a key.

    Returns the index of its entry, -1 for none; then, if that settles the value for a window, the
    value, that it does, and whether it is proven.
    """
    at = find(table, first, second, age)
    if at < 0:
        return at, 0, False, False
    entry = table[at]
    if entry.low_depth >= depth and (
        entry.low >= upper or (entry.high_depth >= depth and entry.low == entry.high)
    ):
        proven = entry.low_depth == PROVEN and (entry.low >= upper or entry.high_depth == PROVEN)
        return at, entry.low, True, proven
    if entry.high_depth >= depth and entry.high <= lower:
        return at, entry.high, True, entry.high_depth == PROVEN
    return at, 0, False, False


@functools.cache
def list_kernel(kernels: GameKernels) -> Any:
    """The kernel `list_moves(state, words, moves, scores, first)`: the legal moves from there on.

    Returns how many there are.
    """
    legal = legal_kernel(kernels)

    @kernel
    def list_moves(state, words, moves, scores, first):
        legal(state, words)
        at = first
        for w in range(words.shape[0]):
            left = words[w]
            while left != ZERO:
                moves[at] = 64 * w + lowest(left)
                scores[at] = 0
                left &= left - ONE
                at += 1
        return at - first

    return list_moves


@functools.cache
def settle_kernel(kernels: GameKernels, insight: Insight) -> Any:
    """The kernel that looks at the positions after all moves of a frame before it searches any.

    Those whose value is known, because the game has ended or from the table, are taken off the
    list; the others get scores by `evaluate`. Ends early where one of them is enough.
    """
    play, evaluate = kernels.play, kernels.evaluate
    legal, size = legal_kernel(kernels), kernels.words
    key_of, foresee = key_kernel(insight), foresee_kernel(insight)

    @kernel
    def settle(states, words_of, outlooks, words, frames, ply, moves, scores, table, control):
        frame, sign = frames[ply], frames[ply].sign
        least = for_mover(frame.upper if sign > 0 else frame.lower, sign)
        at = frame.first
        while at < frame.first + frame.count:
            states[ply + 1] = states[ply]
            play(states[ply + 1], np.int64(moves[at]))
            control[0].nodes += 1
            child = states[ply + 1]
            value, known, proven = 0, False, False
            if child.over == RUNNING and frame.depth > LOOKING_PAYS:
                first, second = key_of(states, words_of, outlooks, ply + 1)
                _, value, known, proven = look_up(
                    table, first, second, control[0].age, frame.lower, frame.upper, frame.depth - 1
                )
            if not known:
                value, known = foresee(child, frame.lower, frame.upper)
                proven = known
            if not known:
                if frame.depth > PLIES:
                    legal(child, words)
                    replies = count(words, size)
                    scores[at] = -replies if child.to_move != states[ply].to_move else replies
                else:
                    scores[at] = evaluate(child, 0 if sign > 0 else 1)
                at += 1
                continue
            value = for_mover(value, sign)
            if value > frame.best:
                frame.best, frame.move = value, moves[at]
            if value >= least:
                frame.proven = proven
                frame.count = 0
                return
            frame.proven = frame.proven and proven
            frame.count -= 1
            moves[at], scores[at] = (
                moves[frame.first + frame.count],
                scores[frame.first + frame.count],
            )

    return settle


@kernel
def favour(moves, scores, first, count, move, ply, key):
    """Put the move that was best before first; at the root equals stand in an order by the key."""
    for at in range(first, first + count):
        if moves[at] == move:
            scores[at] = FIRST_SCORE
        elif ply == 0:
            scores[at] = (scores[at] << 12) + np.int64(random_word(key, moves[at]) >> U64(52))


@functools.cache
def open_kernel(kernels: GameKernels, insight: Insight) -> Any:
    """The kernel that begins a position; it says whether its value is known already."""
    list_moves, settle = list_kernel(kernels), settle_kernel(kernels, insight)
    key_of, foresee, evaluate = key_kernel(insight), foresee_kernel(insight), kernels.evaluate

    @kernel
    def enter(states, words_of, outlooks, words, frames, ply, moves, scores, table, control):
        state, frame, move = states[ply], frames[ply], NO_MOVE
        value, known, proven = np.int64(0), False, False
        if ply == 0 or frame.depth + 1 < LOOKING_PAYS:  # else `settle` has looked already
            value, known = foresee(state, frame.lower, frame.upper)
            proven = known
        if not known and (frame.depth <= 0 or ply == PLIES - 1):
            value = UNIT * np.int64(state.payoff) + np.int64(evaluate(state, 0))
            known = True
        if not known:
            frame.key[0], frame.key[1] = key_of(states, words_of, outlooks, ply)
            at, value, known, proven = look_up(
                table, frame.key[0], frame.key[1], control[0].age,
                frame.lower, frame.upper, frame.depth,
            )  # fmt: skip
            if at >= 0:
                move = table[at].move
        if known and (ply > 0 or states[0].over != RUNNING):
            control[0].value, control[0].proven = value, proven
            return True
        frame.sign = 1 - 2 * states[ply].to_move
        frame.best, frame.move, frame.proven = -INFINITE, NO_MOVE, 1
        frame.began = control[0].nodes
        frame.first = 0 if ply == 0 else frames[ply - 1].first + frames[ply - 1].count
        frame.count = list_moves(states[ply], words, moves, scores, frame.first)
        if frame.depth >= LOOKING_PAYS:
            settle(states, words_of, outlooks, words, frames, ply, moves, scores, table, control)
        favour(moves, scores, frame.first, frame.count, move, ply, control[0].key)
        return False

    return enter


@kernel
def take_best(frame, moves, scores):
    """The move with the highest score, taken off the list."""
    best = frame.first
    for at in range(frame.first + 1, frame.first + frame.count):
        if scores[at] > scores[best]:
            best = at
    move = moves[best]
    frame.count -= 1
    last = frame.first + frame.count
    moves[best], scores[best] = moves[last], scores[last]
    return move


@kernel
def close(frames, ply, table, control):
    """A position is done: its value goes to the table and is handed up."""
    frame = frames[ply]
    value = for_mover(frame.best, frame.sign)
    low, high = -INFINITE, INFINITE
    if value > frame.lower:
        low = value
    if value < frame.upper:
        high = value
    depth = PROVEN if frame.proven else frame.depth
    work = control[0].nodes - frame.began
    remember(table, frame.key[0], frame.key[1], control[0].age, work, frame.move, low, high, depth)
    control[0].value, control[0].proven = value, frame.proven


@kernel
def absorb(frame, move, value, proven):
    """What a move turned out to be worth, for player_0."""
    value = for_mover(value, frame.sign)
    if value > frame.best:
        frame.best, frame.move = value, move
    if value >= (frame.upper if frame.sign > 0 else -frame.lower):
        frame.proven = proven
        frame.count = 0
    else:
        frame.proven = frame.proven and proven


@functools.cache
def search_kernel(kernels: GameKernels, insight: Insight) -> Any:
    """The kernel that goes on with a search until `limit` positions have been looked at.

    `run(limit, states, words_of, outlooks, words, frames, tried, moves, scores, table, control)`:
    `states` are `(PLIES + 1,)`, `words_of` the words they consist of, `outlooks` room for one
    outlook, `tried` the move of each ply.

    Args:
        kernels: of the game.
        insight: what the game can tell of its positions.
    """
    play, enter = kernels.play, open_kernel(kernels, insight)

    @kernel
    def run(limit, states, words_of, outlooks, words, frames, tried, moves, scores, table, control):
        ply, phase = control[0].ply, control[0].phase
        while phase != DONE and control[0].nodes < limit:
            if phase == ENTER:
                known = enter(
                    states, words_of, outlooks, words, frames, ply, moves, scores, table, control
                )
                phase = LEAVE if known else NEXT
            elif phase == NEXT:
                frame = frames[ply]
                if frame.count == 0:
                    close(frames, ply, table, control)
                    phase = LEAVE
                else:
                    tried[ply] = take_best(frame, moves, scores)
                    states[ply + 1] = states[ply]
                    play(states[ply + 1], np.int64(tried[ply]))
                    control[0].nodes += 1
                    child = frames[ply + 1]
                    child.lower, child.upper, child.depth = (
                        frame.lower,
                        frame.upper,
                        frame.depth - 1,
                    )
                    if frame.sign > 0:
                        child.lower = max(child.lower, frame.best)
                    else:
                        child.upper = min(child.upper, -frame.best)
                    ply += 1
                    phase = ENTER
            elif ply == 0:
                phase = DONE
            else:
                ply -= 1
                absorb(frames[ply], tried[ply], control[0].value, control[0].proven)
                phase = NEXT
        control[0].ply, control[0].phase = ply, phase
        return 0

    return run
