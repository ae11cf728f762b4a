"""Proof-number search for games that end with a winner, as a kernel that can be paused and resumed.

For every position there are two numbers: the work that it may take to prove that the player to move
wins, and to prove that the player loses. What is proven takes no more work, and the contrary takes
`NEVER`. A new position has the numbers that the game's `prospects` estimate. The player to move
wins with any winning move, so the work of a win is the least that a move takes; for a loss all
moves have to be refuted, so the work of a loss is the sum of theirs.

The search always goes to the position that counts most for the root, and goes on below it until its
numbers pass limits beyond which another position counts more (depth-first proof-number search; A.
Nagai, 2002). It visits positions again and again, and relies on a table of their numbers.

Instead of recursion, there is a frame for each ply. The kernel returns after a given number of
positions, and the next call continues from there. Positions are kept in slots: the root has the
first, and each frame those from `first` on, one for each of its moves.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.children import DONE, PLIES, follow_kernel, key_kernel, list_moves
from azumaya.baselines.search.game_kernels import GameKernels, legal_kernel
from azumaya.baselines.search.line_room import LineRoom
from azumaya.baselines.search.table import NO_MOVE, bucket, find, new_table
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import ONE, U64
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word
from azumaya.envs.kernels.spread import fetch

NEVER = 2.0**123
"""The work of what cannot be proven because the contrary is."""
MOST_WORK = 2.0**120
"""The most work of anything else; entries of the table hold both exactly."""
PATIENCE = 1.5
"""How many times as much work as the next best a move may seem to take before it is left."""

EIGHTHS = np.array([round(2.0 ** (i / 8) * 2**20) / 2**20 for i in range(8)])
"""The powers of two with exponents of 0 to 7 eighths, rounded so that they are alike everywhere."""
MOST_DOUBLINGS = 60

ENTRY = np.dtype(
    [
        ("key", U64, (2,)),
        ("win", np.float32),
        ("loss", np.float32),
        ("work", np.int32),  # positions visited to find this
        ("age", np.int32),  # age of the search that wrote this; 0: empty
    ]
)
WAYS = 4
"""Entries per bucket, which takes two cache lines."""
MOVE = np.dtype(
    [
        ("key", U64, (2,)),  # of the position after the move
        ("win", np.float64),  # the work to prove that the move wins for the player who makes it
        ("loss", np.float64),
        ("move", np.int32),
        ("slot", np.int32),  # index of the position after the move
    ]
)
FRAME = np.dtype(
    [
        ("key", U64, (2,)),
        ("win", np.float64),  # for the player to move
        ("loss", np.float64),
        ("win_limit", np.float64),  # the frame is left when a number reaches its limit
        ("loss_limit", np.float64),
        ("began", np.int64),  # positions visited before this one
        ("slot", np.int32),  # index of this frame's position
        ("first", np.int32),  # index of this frame's first move, and of the position after it
        ("listed", np.int32),  # moves listed
        ("taken", np.int32),  # index of the move that is being searched
    ]
)
ENTER, CHOOSE, LEAVE = 0, 1, 2
"""The next step: enter a position, choose a move, return numbers to the parent; or `DONE`."""


# ---- the table ----


@kernel
def remember(table, frame, age, work):
    """Store a frame's numbers, in place of those that took the least work to find."""
    first, second = frame.key[0], frame.key[1]
    at = find(table, first, second, age, WAYS)
    if at < 0:
        at = bucket(table, first, WAYS)
        for way in range(at + 1, at + WAYS):
            if weight(table[way], age) < weight(table[at], age):
                at = way
        table[at].work = 0
    entry = table[at]
    entry.key[0], entry.key[1], entry.age = first, second, age
    entry.win, entry.loss = frame.win, frame.loss
    entry.work = min(entry.work + work, 1 << 30)


@kernel
def weight(entry, age):
    """The work that was spent on an entry; none if it is of another search."""
    return entry.work if entry.age == age else -1


# ---- positions ----


@kernel
def work_of(eighths):
    """The work whose logarithm to base 2, times eight, is given."""
    doublings = min(eighths >> 3, MOST_DOUBLINGS)
    return EIGHTHS[eighths & 7] * np.float64(ONE << U64(doublings))


@kernel
def judge(own, wins, win, loss):
    """Set a move's numbers from those of the player to move next; `wins` if that is who moved."""
    own.win, own.loss = (win, loss) if wins else (loss, win)


@kernel
def shuffle(moves, frame, key):
    """Bring a frame's moves into an order drawn by the key: of equal moves, the first is chosen."""
    last = frame.first + frame.listed
    for at in range(frame.first, last):
        for other in range(at + 1, last):
            if random_word(key, moves[other].move) < random_word(key, moves[at].move):
                moves[at].move, moves[other].move = moves[other].move, moves[at].move


@functools.cache
def expand_kernel(kernels: GameKernels) -> Any:
    """The kernel `expand(line, frame)`: list a frame's moves, and the numbers of what is after."""
    follow, key_of, legal = follow_kernel(kernels), key_kernel(kernels), legal_kernel(kernels)
    prospects, narrow = kernels.hints.prospects, kernels.hints.narrow
    assert prospects is not None

    @kernel
    def new_numbers(own, child, same):
        least, most, win, loss = prospects(child)
        if least < most:
            judge(own, same, work_of(win), work_of(loss))
        elif least > 0:
            judge(own, same, 0.0, NEVER)
        else:
            judge(own, same, NEVER, 0.0)

    @kernel
    def make(line, frame):
        states, moves, table = line.states, line.moves, line.table
        mover = states[frame.slot].to_move
        for at in range(frame.first, frame.first + frame.listed):
            own, child = moves[at], states[at]
            follow(states, frame.slot, own.move, at)
            if child.over == RUNNING:
                own.key[0], own.key[1] = key_of(line, at)
                start = bucket(table, own.key[0], WAYS)
                fetch(table, start)
                fetch(table, start + WAYS // 2)
            else:
                judge(own, (child.payoff > 0) == (mover == 0), 0.0, NEVER)
                if own.win == 0.0:
                    return at + 1 - frame.first
        return np.int64(frame.listed)

    @kernel
    def expand(line, frame):
        states, words, moves, control = line.states, line.words, line.moves, line.control
        state = states[frame.slot]
        legal(state, words)
        if narrow is not None:
            narrow(state, words)
        frame.listed = list_moves(words, moves, frame.first)
        if frame.slot == 0:
            shuffle(moves, frame, control[0].key)
        frame.listed = made = make(line, frame)
        control[0].nodes += made
        for at in range(frame.first, frame.first + made):
            own, child = moves[at], states[at]
            if child.over == RUNNING:
                same = child.to_move == state.to_move
                known = find(line.table, own.key[0], own.key[1], control[0].age, WAYS)
                if known >= 0:
                    entry = line.table[known]
                    judge(own, same, np.float64(entry.win), np.float64(entry.loss))
                else:
                    new_numbers(own, child, same)
            if own.win == 0.0:
                frame.listed = at + 1 - frame.first
                return

    return expand


@kernel
def choose(frame, moves):
    """Update a frame's numbers from its moves and choose the one that takes the least work to win.

    Returns the work of the second best and the sum of what refutations take.
    """
    frame.win, frame.taken, second, total = NEVER, NO_MOVE, NEVER, 0.0
    for at in range(frame.first, frame.first + frame.listed):
        own = moves[at]
        total += own.loss
        if own.win < frame.win:
            second = frame.win
            frame.win, frame.taken = own.win, at
        elif frame.taken == NO_MOVE:
            frame.taken = at
        elif own.win < second:
            second = own.win
    frame.loss = min(total, MOST_WORK)
    if frame.win == 0.0:
        frame.loss = NEVER
    return second, total


@kernel
def descend(states, frames, ply, moves, second, total):
    """Open the frame of the chosen move, with limits beyond which another position counts more."""
    frame, child = frames[ply], frames[ply + 1]
    own = moves[frame.taken]
    win_limit = min(frame.win_limit, PATIENCE * second)
    # At least a little: with a sum that was rounded or cut off the search would go nowhere.
    loss_limit = max(frame.loss_limit - (total - own.loss), PATIENCE * own.loss)
    if states[own.slot].to_move == states[frame.slot].to_move:
        child.win_limit, child.loss_limit = win_limit, loss_limit
    else:
        child.win_limit, child.loss_limit = loss_limit, win_limit
    child.key[0], child.key[1] = own.key[0], own.key[1]
    child.slot, child.first = own.slot, frame.first + frame.listed


@kernel
def goes_on(frame):
    """Whether a frame's position is not proven, and its numbers are below their limits."""
    if frame.win == 0.0 or frame.loss == 0.0:
        return False
    return frame.win < frame.win_limit and frame.loss < frame.loss_limit


@functools.cache
def proof_kernel(kernels: GameKernels) -> Any:
    """The kernel `run(limit, line)`: go on until `limit` positions were visited, or the end."""
    expand, key_of = expand_kernel(kernels), key_kernel(kernels)

    @kernel
    def run(limit, line):
        line = borrow(line)
        states, frames, moves = line.states, line.frames, line.moves
        own = line.control[0]
        while own.phase != DONE and own.nodes < limit:
            frame = frames[own.ply]
            if own.phase == ENTER:
                if own.ply == PLIES or frame.first + 64 * line.words.shape[0] > moves.shape[0]:
                    own.phase = DONE  # no room left: not proven
                else:
                    if own.ply == 0:
                        frame.key[0], frame.key[1] = key_of(line, 0)
                    frame.began = own.nodes
                    expand(line, frame)
                    own.phase = CHOOSE
            elif own.phase == CHOOSE:
                second, total = choose(frame, moves)
                if goes_on(frame):
                    descend(states, frames, own.ply, moves, second, total)
                    own.ply += 1
                    own.phase = ENTER
                else:
                    remember(line.table, frame, own.age, own.nodes - frame.began)
                    own.phase = LEAVE
            elif own.ply == 0:
                own.phase = DONE
            else:
                own.ply -= 1
                above = frames[own.ply]
                same = states[frame.slot].to_move == states[above.slot].to_move
                judge(moves[above.taken], same, frame.win, frame.loss)
                own.phase = CHOOSE
        return 0

    return run


@kernel
def begin(line, root):
    """Begin a search of `root`, `(1,)`; the table keeps its entries."""
    own, frame = line.control[0], line.frames[0]
    line.states[0] = root[0]
    frame.win, frame.loss, frame.win_limit, frame.loss_limit = 1.0, 1.0, NEVER, NEVER
    frame.slot, frame.first = 0, 1
    own.ply, own.phase = 0, ENTER


# ---- the memory of a search ----


class ProofRoom(LineRoom):
    """The memory of one proof-number search: a frame for each ply, and the table.

    It serves games that offer `prospects`, in episodes that end with a payoff of 1 or -1.

    Args:
        kernels: the game's kernels.
        megabytes: memory for the table.

    Raises:
        OptionError: the memory is too small for a table.
    """

    def __init__(self, kernels: GameKernels, megabytes: float) -> None:
        table = new_table(megabytes, ENTRY, WAYS)
        super().__init__(kernels, proof_kernel(kernels), FRAME, MOVE, table)

    def prove(self, state: np.ndarray, bound: int) -> None:
        """Begin to find the exact value of `state`, `(1,)`; the table keeps its entries.

        Args:
            state: the running position.
            bound: the most that a player can gain, which must be 1.
        """
        assert bound == 1
        begin(self.memory, state)

    def proven(self) -> tuple[int | None, int]:
        """The final payoff of player_0, None if it is not proven, and a move that leads to it."""
        frame = self.memory.frames[0]
        if not self.done or (frame["win"] != 0.0 and frame["loss"] != 0.0):
            return None, NO_MOVE
        first = frame["win"] == 0.0
        wins = first == (self.memory.states["to_move"][0] == 0)
        return 1 if wins else -1, int(self.memory.moves["move"][frame["taken"]])
