"""The moves of a position in alpha-beta: made, looked up and ordered before any is searched."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.evaluation import order_kernel
from azumaya.baselines.search.game_kernels import GameKernels, legal_kernel, payoff_range_kernel
from azumaya.baselines.search.table import PROVEN, SECOND_HASH, UNIT, WAYS, find, nh, prefetch
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import ONE, U64, ZERO, count, lowest
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

PLIES = 512
"""The largest search depth in plies."""
DONE = 3
"""The phase of a search that has ended."""

MOVE = np.dtype(
    [
        ("key", U64, (2,)),  # of the position after the move, where it was looked up
        ("score", np.int64),  # for ordering: the highest score is tried first
        ("move", np.int32),
        ("slot", np.int32),  # index of the state after the move
    ]
)

FIRST_SCORE = 1 << 50
"""The score of the move that was best in an earlier search."""
LOOKING_PAYS = 2
"""With at least this many plies left, all children are looked at before any is searched."""


@functools.cache
def key_kernel(kernels: GameKernels) -> Any:
    """The kernel `key_of(line, slot)`: the 128-bit key of a position."""
    outlook = kernels.hints.outlook

    @kernel
    def key_of(line, slot):
        if outlook is None:
            return nh(line.words_of, slot, 0), nh(line.words_of, slot, SECOND_HASH)
        outlook(line.states[slot], line.outlooks[0])
        return nh(line.outlooks, 0, 0), nh(line.outlooks, 0, SECOND_HASH)

    return key_of


@functools.cache
def follow_kernel(kernels: GameKernels) -> Any:
    """The kernel `follow(states, slot, move, target)`: write the position after a move.

    Running positions below the root are simplified if the game can do so.
    """
    play, simplify = kernels.rules.play, kernels.hints.simplify

    @kernel
    def follow(states, slot, move, target):
        states[target] = states[slot]
        play(states[target], np.int64(move))
        if simplify is not None and states[target].over == RUNNING:
            simplify(states[target])

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
    payoff_range = payoff_range_kernel(kernels.hints.bounds)

    @kernel
    def foresee(state, lower, upper):
        if state.over != RUNNING:
            return UNIT * np.int64(state.payoff), True
        low, high = payoff_range(state)
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
    at = find(table, first, second, age, WAYS)
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


@kernel
def list_moves(words, moves, first):
    """Write the moves of a packed row to `moves`, from index `first` on; returns their number."""
    at = first
    for w in range(words.shape[0]):
        left = words[w]
        while left != ZERO:
            moves[at].move = 64 * w + lowest(left)
            moves[at].slot = at
            left &= left - ONE
            at += 1
    return at - first


@functools.cache
def make_kernel(kernels: GameKernels) -> Any:
    """The kernel `make_children(line, frame, looks)`, which makes all moves of a frame.

    With `looks`, it also finds the keys of the positions, and begins to fetch their entries from
    the table: waiting for one entry after the other would take most of the time of a search.
    """
    follow, key_of = follow_kernel(kernels), key_kernel(kernels)

    @kernel
    def make_children(line, frame, looks):
        states, moves = line.states, line.moves
        for at in range(frame.first, frame.first + frame.count):
            follow(states, frame.slot, moves[at].move, at)
            if looks and states[at].over == RUNNING:
                first, second = key_of(line, at)
                moves[at].key[0], moves[at].key[1] = first, second
                prefetch(line.table, first)

    return make_children


@functools.cache
def score_kernel(kernels: GameKernels, value_of: Any) -> Any:
    """The kernel that scores a move for the order in which moves are tried.

    With a horizon it evaluates the position after the move. Without one, it goes by the game's
    `rank`; if there is none, it prefers moves that leave the opponent few replies, or the player to
    move many.
    """
    rank = kernels.hints.rank
    legal, size, order = legal_kernel(kernels), kernels.words, order_kernel(kernels, value_of)

    @kernel
    def score(line, child, frame):
        if frame.depth <= PLIES:
            bound = line.control[0].bound
            return order(child, frame.sign, bound, line.weights, line.scratch)
        if rank is not None:
            return np.int64(rank(child, (1 - frame.sign) >> 1))
        legal(child, line.words)
        replies = count(line.words, size)
        return replies if 1 - 2 * child.to_move == frame.sign else -replies

    return score


@functools.cache
def children_kernel(kernels: GameKernels, value_of: Any) -> Any:
    """The kernel `check_children(line, frame)`, before any of a frame's children is searched.

    Moves to positions whose value is already known, for instance from the table or because the
    game is over, are removed from the list; the others are scored for move ordering. It returns
    early if one of the known values causes a cutoff.
    """
    make_children, score = make_kernel(kernels), score_kernel(kernels, value_of)
    foresee = foresee_kernel(kernels)

    @kernel
    def check_children(line, frame):
        states, moves, control = line.states, line.moves, line.control
        looks = frame.depth > LOOKING_PAYS
        make_children(line, frame, looks)
        frame.made = 1
        least = for_mover(frame.upper if frame.sign > 0 else frame.lower, frame.sign)
        at = frame.first
        while at < frame.first + frame.count:
            own, child = moves[at], states[moves[at].slot]
            control[0].nodes += 1
            value, known, proven = 0, False, False
            if looks and child.over == RUNNING:
                _, value, known, proven = look_up(
                    line.table, own.key[0], own.key[1], control[0].age,
                    frame.lower, frame.upper, frame.depth - 1,
                )  # fmt: skip
            if not known:
                value, known = foresee(child, frame.lower, frame.upper)
                proven = known
            if not known:
                at += 1
                continue
            value = for_mover(value, frame.sign)
            if value > frame.best:
                frame.best, frame.move = value, own.move
            if value >= least:
                frame.proven = proven
                frame.count = 0
                return
            frame.proven = frame.proven and proven
            frame.count -= 1
            moves[at] = moves[frame.first + frame.count]
        # Not in the loop above: after a cutoff no move needs a score.
        for at in range(frame.first, frame.first + frame.count):
            child = states[moves[at].slot]
            moves[at].score = score(line, child, frame)

    return check_children


@kernel
def favour(moves, first, count, move, ply, key):
    """Give the best move of an earlier search the top score; at the root, break ties by the key."""
    for at in range(first, first + count):
        own = moves[at]
        if own.move == move:
            own.score = FIRST_SCORE
        elif ply == 0:
            own.score = (own.score << 12) + np.int64(random_word(key, own.move) >> U64(52))


@kernel
def take_best(frame, moves):
    """Remove the move with the highest score from the list; returns its index.

    The entry stays readable there until the next move is taken.
    """
    best = frame.first
    for at in range(frame.first + 1, frame.first + frame.count):
        if moves[at].score > moves[best].score:
            best = at
    frame.count -= 1
    last = frame.first + frame.count
    if best != last:
        swap(moves[best], moves[last])
    return last


@kernel
def swap(one, other):
    """Exchange two entries of the list of moves."""
    one.key[0], other.key[0] = other.key[0], one.key[0]
    one.key[1], other.key[1] = other.key[1], one.key[1]
    one.score, other.score = other.score, one.score
    one.move, other.move = other.move, one.move
    one.slot, other.slot = other.slot, one.slot
