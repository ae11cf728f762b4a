"""Alpha-beta search for any game, as one kernel that can be paused and resumed.

Values are final payoffs of player_0, with `UNIT` per point; at the horizon they are estimated, by
an `Evaluation` if the search has one, otherwise by the game's `evaluate`. The maximising player is
read from `state.to_move` at every position, because one player may make several moves in a row.

Instead of recursion, there is a frame for each ply. The kernel returns after a given number of
positions, and the next call continues from there.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.evaluation import horizon_kernel, order_kernel
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
"""The largest search depth in plies; it acts as a horizon."""

FRAME = np.dtype(
    [
        ("key", U64, (2,)),
        ("lower", np.int64),  # the window, for player_0
        ("upper", np.int64),
        ("best", np.int64),  # the best value so far, for the player to move
        ("began", np.int64),  # positions visited before this one
        ("depth", np.int32),  # plies left to the horizon
        ("sign", np.int32),  # 1 where player_0 is to move, else -1
        ("move", np.int32),  # the move with the best value
        ("first", np.int32),  # index of this frame's first move
        ("count", np.int32),  # moves left to try
        ("proven", np.int32),  # whether `best` is independent of the horizon
        ("keyed", np.int32),  # whether `key` is set
        ("pad", np.int32),
    ]
)
CONTROL = np.dtype(
    [
        ("ply", np.int64),
        ("phase", np.int64),
        ("value", np.int64),  # value of the last position, for player_0
        ("proven", np.int64),  # whether that is independent of the horizon
        ("nodes", np.int64),  # positions visited, which is moves made
        ("age", np.int64),
        ("key", U64),  # breaks ties at the root
        ("bound", np.int64),  # the game's payoff bound
    ]
)
ENTER, NEXT, LEAVE, DONE = 0, 1, 2, 3
"""The next step: enter a new position, try a move, return a value to the parent; none."""

FIRST_SCORE = 1 << 50
"""The score of the move that was best in an earlier search."""
LOOKING_PAYS = 2
"""With at least this many plies left, all children are looked up before any is searched."""


@functools.cache
def key_kernel(kernels: GameKernels) -> Any:
    """The kernel `key_of(states, words_of, outlooks, ply)`: the 128-bit key of a position.

    `words_of` holds the words of the states; `outlooks` is a buffer for one row.
    """
    outlook = kernels.outlook

    @kernel
    def key_of(states, words_of, outlooks, ply):
        if outlook is None:
            return nh(words_of, ply, 0), nh(words_of, ply, SECOND_HASH)
        outlook(states[ply], outlooks[0])
        return nh(outlooks, 0, 0), nh(outlooks, 0, SECOND_HASH)

    return key_of


@functools.cache
def follow_kernel(kernels: GameKernels) -> Any:
    """The kernel `follow(states, ply, move)`: write the position after a move to `states[ply + 1]`.

    Positions below the root are simplified if the game can do so.
    """
    play, simplify = kernels.play, kernels.simplify

    @kernel
    def follow(states, ply, move):
        states[ply + 1] = states[ply]
        play(states[ply + 1], np.int64(move))
        if simplify is not None:
            simplify(states[ply + 1])

    return follow


@kernel
def for_mover(value, sign):
    """Convert a value between player_0's view and that of the player to move."""
    return value if sign > 0 else -value


@functools.cache
def foresee_kernel(kernels: GameKernels) -> Any:
    """The kernel `foresee(state, lower, upper)`: the value, if known without searching.

    Returns the value and whether it decides the window; such a value is proven.
    """
    bounds = kernels.bounds

    @kernel
    def foresee(state, lower, upper):
        if state.over != RUNNING:
            return UNIT * np.int64(state.payoff), True
        if bounds is not None:
            least, most = bounds(state)
            sign = 1 - 2 * np.int64(state.to_move)
            low = np.int64(state.payoff) + (least if sign > 0 else -most)
            high = np.int64(state.payoff) + (most if sign > 0 else -least)
            if UNIT * low >= upper or low == high:
                return UNIT * low, True
            if UNIT * high <= lower:
                return UNIT * high, True
        return 0, False

    return foresee


@kernel
def look_up(table, first, second, age, lower, upper, depth):
    """Look up a key in the table.

    Returns the index of its entry (-1 if there is none), the value, whether the value decides the
    window, and whether it is proven.
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
    """The kernel `list_moves(state, words, moves, scores, first)`, which lists the legal moves.

    They are written to `moves` from index `first` on. Returns their number.
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
def children_kernel(kernels: GameKernels, value_of: Any) -> Any:
    """The kernel that checks all children of a frame before any of them is searched.

    Moves to positions whose value is already known, for instance from the table or because the
    game is over, are removed from the list; the others are scored for move ordering. It returns
    early if one of the known values causes a cutoff.
    """
    follow, order = follow_kernel(kernels), order_kernel(kernels, value_of)
    legal, size = legal_kernel(kernels), kernels.words
    key_of, foresee = key_kernel(kernels), foresee_kernel(kernels)

    @kernel
    def check_children(
        states, words_of, outlooks, words, frames, ply, moves, scores, table, control, weights,
        scratch,
    ):  # fmt: skip
        frame, sign = frames[ply], frames[ply].sign
        least = for_mover(frame.upper if sign > 0 else frame.lower, sign)
        at = frame.first
        while at < frame.first + frame.count:
            follow(states, ply, moves[at])
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
                    scores[at] = order(child, sign, control[0].bound, weights, scratch)
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

    return check_children


@kernel
def favour(moves, scores, first, count, move, ply, key):
    """Give the best move of an earlier search the top score; at the root, break ties by the key."""
    for at in range(first, first + count):
        if moves[at] == move:
            scores[at] = FIRST_SCORE
        elif ply == 0:
            scores[at] = (scores[at] << 12) + np.int64(random_word(key, moves[at]) >> U64(52))


@functools.cache
def open_kernel(kernels: GameKernels, value_of: Any) -> Any:
    """The kernel that enters a position; it returns whether the value is already known."""
    list_moves, check_children = list_kernel(kernels), children_kernel(kernels, value_of)
    key_of, foresee = key_kernel(kernels), foresee_kernel(kernels)
    estimate = horizon_kernel(kernels, value_of)

    @kernel
    def enter(
        states, words_of, outlooks, words, frames, ply, moves, scores, table, control, weights,
        scratch,
    ):  # fmt: skip
        state, frame, move = states[ply], frames[ply], NO_MOVE
        value, known, proven = np.int64(0), False, False
        if ply == 0 or frame.depth + 1 < LOOKING_PAYS:  # otherwise `check_children` has done so
            value, known = foresee(state, frame.lower, frame.upper)
            proven = known
        if not known and (frame.depth <= 0 or ply == PLIES - 1):
            value = estimate(state, control[0].bound, weights, scratch)
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
            check_children(
                states, words_of, outlooks, words, frames, ply, moves, scores, table, control,
                weights, scratch,
            )  # fmt: skip
        favour(moves, scores, frame.first, frame.count, move, ply, control[0].key)
        return False

    return enter


@kernel
def take_best(frame, moves, scores):
    """Remove the move with the highest score from the list and return it."""
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
    """Finish a position: store its value in the table and pass it to the parent."""
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
    """Update a frame with the value of a move, given for player_0."""
    value = for_mover(value, frame.sign)
    if value > frame.best:
        frame.best, frame.move = value, move
    if value >= (frame.upper if frame.sign > 0 else -frame.lower):
        frame.proven = proven
        frame.count = 0
    else:
        frame.proven = frame.proven and proven


@kernel
def forget(control, key):
    """Empty a search's table and reset its counters; `key` breaks ties at the root."""
    own = control[0]
    own.age += 1  # entries of another age do not count
    own.ply, own.phase, own.value, own.proven, own.nodes = 0, DONE, 0, 0, 0
    own.key = key


@kernel
def begin(states, frames, control, root, bound, depth):
    """Begin a search of `root`, `(1,)`, to `depth` plies; the table keeps its entries."""
    own, frame = control[0], frames[0]
    states[0] = root[0]
    frame.lower, frame.upper = -bound * UNIT, bound * UNIT
    frame.depth, frame.move, frame.count = depth, NO_MOVE, 0
    own.bound, own.ply, own.phase = bound, 0, ENTER


@kernel
def waits(frames, control, tried, moves, action):
    """Whether the search of a root move is still pending or under way."""
    if control[0].ply > 0 and tried[0] == action:
        return True
    for at in range(frames[0].first, frames[0].first + frames[0].count):
        if moves[at] == action:
            return True
    return False


@functools.cache
def search_kernel(kernels: GameKernels, value_of: Any) -> Any:
    """The kernel that continues a search until `limit` positions have been visited.

    `run(limit, states, words_of, outlooks, words, frames, tried, moves, scores, table, control,
    weights, scratch)`: `states` has shape `(PLIES + 1,)`, `words_of` holds their words, `outlooks`
    is a buffer for one outlook, and `tried` holds the move tried at each ply. `value_of`, `weights`
    and `scratch` are as for `horizon_kernel`.
    """
    follow, enter = follow_kernel(kernels), open_kernel(kernels, value_of)

    @kernel
    def run(
        limit, states, words_of, outlooks, words, frames, tried, moves, scores, table, control,
        weights, scratch,
    ):  # fmt: skip
        ply, phase = control[0].ply, control[0].phase
        while phase != DONE and control[0].nodes < limit:
            if phase == ENTER:
                known = enter(
                    states, words_of, outlooks, words, frames, ply, moves, scores, table, control,
                    weights, scratch,
                )  # fmt: skip
                phase = LEAVE if known else NEXT
            elif phase == NEXT:
                frame = frames[ply]
                if frame.count == 0:
                    close(frames, ply, table, control)
                    phase = LEAVE
                else:
                    tried[ply] = take_best(frame, moves, scores)
                    follow(states, ply, tried[ply])
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
