"""Alpha-beta search for any game, as one kernel that can be paused and resumed.

Values are final payoffs of player_0, with `UNIT` per point; at the horizon they are estimated, by
an `Evaluation` if the search has one, otherwise by the game's `evaluate`. The maximising player is
read from `state.to_move` at every position, because one player may make several moves in a row.

Instead of recursion, there is a frame for each ply. The kernel returns after a given number of
positions, and the next call continues from there. Positions are kept in slots: the root has the
first, and each frame those from `first` on, one for each of its moves.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.children import (
    DONE,
    LOOKING_PAYS,
    PLIES,
    children_kernel,
    favour,
    follow_kernel,
    for_mover,
    foresee_kernel,
    key_kernel,
    list_moves,
    look_up,
    take_best,
)
from azumaya.baselines.search.evaluation import horizon_kernel
from azumaya.baselines.search.game_kernels import GameKernels, legal_kernel
from azumaya.baselines.search.table import INFINITE, NO_MOVE, PROVEN, UNIT, remember
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import U64
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel

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
        ("slot", np.int32),  # index of this frame's state
        ("first", np.int32),  # index of this frame's first move, and of the state after it
        ("listed", np.int32),  # moves listed
        ("count", np.int32),  # moves left to try
        ("made", np.int32),  # whether the states after the moves are there
        ("proven", np.int32),  # whether `best` is independent of the horizon
        ("keyed", np.int32),  # whether `key` is set
    ]
)
ENTER, NEXT, LEAVE = 0, 1, 2
"""The next step: enter a new position, try a move, return a value to the parent; or `DONE`."""


@functools.cache
def known_kernel(kernels: GameKernels, value_of: Any) -> Any:
    """The kernel `known_value(line, ply)`, of a position that need not be searched.

    It returns the value, whether it is known, whether it is proven, and the best move of an
    earlier search.
    """
    key_of, foresee = key_kernel(kernels), foresee_kernel(kernels)
    estimate = horizon_kernel(kernels, value_of)

    @kernel
    def known_value(line, ply):
        states, control, frame = line.states, line.control, line.frames[ply]
        state, value, known = states[frame.slot], np.int64(0), False
        if ply == 0:  # first: the root is searched, and remembered, even if its value is known
            frame.key[0], frame.key[1] = key_of(line, frame.slot)
            frame.keyed = 1
        if ply == 0 or frame.depth + 1 < LOOKING_PAYS:  # otherwise `check_children` has done so
            value, known = foresee(state, frame.lower, frame.upper)
            if known:
                return value, True, True, NO_MOVE
        crowded = frame.first + 64 * line.words.shape[0] > line.moves.shape[0]
        if frame.depth <= 0 or ply == PLIES - 1 or crowded:
            value = estimate(state, control[0].bound, line.weights, line.scratch)
            return value, True, False, NO_MOVE
        if not frame.keyed:
            frame.key[0], frame.key[1] = key_of(line, frame.slot)
        at, value, known, proven = look_up(
            line.table, frame.key[0], frame.key[1], control[0].age,
            frame.lower, frame.upper, frame.depth,
        )  # fmt: skip
        move = np.int64(NO_MOVE)
        if at >= 0:
            move = np.int64(line.table[at].move)
        return value, known, proven, move

    return known_value


@functools.cache
def open_kernel(kernels: GameKernels, value_of: Any) -> Any:
    """The kernel `enter(line, ply)` a position; it returns whether the value is already known."""
    legal, check_children = legal_kernel(kernels), children_kernel(kernels, value_of)
    known_value = known_kernel(kernels, value_of)

    @kernel
    def enter(line, ply):
        states, words, frames, moves = line.states, line.words, line.frames, line.moves
        frame, control = frames[ply], line.control
        frame.first = 1 if ply == 0 else frames[ply - 1].first + frames[ply - 1].listed
        value, known, proven, move = known_value(line, ply)
        if known and (ply > 0 or states[0].over != RUNNING):
            control[0].value, control[0].proven = value, proven
            return True
        frame.sign = 1 - 2 * states[frame.slot].to_move
        frame.best, frame.move, frame.proven = -INFINITE, NO_MOVE, 1
        frame.began, frame.made = control[0].nodes, 0
        legal(states[frame.slot], words)
        frame.listed = frame.count = list_moves(words, moves, frame.first)
        for at in range(frame.first, frame.first + frame.count):
            moves[at].score = 0
        if frame.depth >= LOOKING_PAYS:
            check_children(line, frame)
        favour(moves, frame.first, frame.count, move, ply, control[0].key)
        return False

    return enter


@functools.cache
def descend_kernel(kernels: GameKernels) -> Any:
    """The kernel `descend(line, ply)`: open the frame of the best move left, below a ply's."""
    follow = follow_kernel(kernels)

    @kernel
    def descend(line, ply):
        frame, child = line.frames[ply], line.frames[ply + 1]
        own = line.moves[take_best(frame, line.moves)]
        line.tried[ply] = own.move
        if not frame.made:
            follow(line.states, frame.slot, own.move, own.slot)
        line.control[0].nodes += 1
        child.key[0], child.key[1] = own.key[0], own.key[1]
        child.keyed = frame.depth > LOOKING_PAYS
        child.slot, child.depth = own.slot, frame.depth - 1
        child.lower, child.upper = frame.lower, frame.upper
        if frame.sign > 0:
            child.lower = max(child.lower, frame.best)
        else:
            child.upper = min(child.upper, -frame.best)

    return descend


@kernel
def close(line, ply):
    """Finish a position: store its value in the table and pass it to the parent."""
    frame, control = line.frames[ply], line.control
    value = for_mover(frame.best, frame.sign)
    low, high = -INFINITE, INFINITE
    if value > frame.lower:
        low = value
    if value < frame.upper:
        high = value
    # the root of a search for a proof has the depth PROVEN, also where it could not prove a value
    depth = PROVEN if frame.proven else min(frame.depth, PROVEN - 1)
    work = control[0].nodes - frame.began
    remember(line.table, frame, control[0].age, work, low, high, depth)
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
def begin(line, root, bound, depth):
    """Begin a search of `root`, `(1,)`, to `depth` plies; the table keeps its entries."""
    own, frame = line.control[0], line.frames[0]
    line.states[0] = root[0]
    frame.lower, frame.upper = -bound * UNIT, bound * UNIT
    frame.depth, frame.move, frame.count = depth, NO_MOVE, 0
    frame.slot, frame.first = 0, 1
    own.bound, own.ply, own.phase = bound, 0, ENTER


@kernel
def waits(line, action):
    """Whether the search of a root move is still pending or under way."""
    root = line.frames[0]
    found = line.control[0].ply > 0 and line.tried[0] == action
    for at in range(root.first, root.first + root.count):
        found = found or line.moves[at].move == action
    return found


@functools.cache
def search_kernel(kernels: GameKernels, value_of: Any) -> Any:
    """The kernel `run(limit, line)`: go on until `limit` positions have been visited, or the end.

    `value_of` is as for `horizon_kernel`.
    """
    enter, descend = open_kernel(kernels, value_of), descend_kernel(kernels)

    @kernel
    def run(limit, line):
        line = borrow(line)
        frames, control = line.frames, line.control
        ply, phase = control[0].ply, control[0].phase
        while phase != DONE and control[0].nodes < limit:
            if phase == ENTER:
                known = enter(line, ply)
                phase = LEAVE if known else NEXT
            elif phase == NEXT:
                if frames[ply].count == 0:
                    close(line, ply)
                    phase = LEAVE
                else:
                    descend(line, ply)
                    ply += 1
                    phase = ENTER
            elif ply == 0:
                phase = DONE
            else:
                ply -= 1
                absorb(frames[ply], line.tried[ply], control[0].value, control[0].proven)
                phase = NEXT
        control[0].ply, control[0].phase = ply, phase
        return 0

    return run
