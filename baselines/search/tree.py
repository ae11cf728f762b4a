"""The tree of UCT and PUCT, in flat arrays with the children of a node side by side.

A slot of the arrays is a node together with the move that leads to it. Slots are handed out in
order and never freed, so a search stays within its memory; once the slots are used up, the tree
stops growing and further simulations refine the existing nodes.

`low` and `high` are proven bounds of player_0's final payoff; a node is proven when they are equal.
Selection reads only the `mean` and `reach` of a child, so these are kept in separate arrays: it
takes the child with the highest mean, for the player to move, plus reach times a factor of the
parent. In UCT reach is 1 / sqrt(visits), as in UCB1; in PUCT it is prior / (1 + visits).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.envs.game import as_states
from azumaya.envs.kernels.bits import ONE, ZERO, count, lowest, select_in
from azumaya.envs.kernels.compile import kernel

NODE = np.dtype(
    [
        ("total", np.float64),  # sum of the results for player_0
        ("visits", np.int32),
        ("action", np.int32),  # the move that leads here
        ("first", np.int32),  # slot of the first child
        ("count", np.int32),  # children; 0: not expanded
        ("tried", np.int32),  # number of children visited, which are the first ones
        ("low", np.int32),
        ("high", np.int32),
        ("next", np.int32),  # hidden draws: slot of the next sibling, 0: none; see `move_root`
        ("offered", np.int32),  # hidden draws: simulations in which the move was legal
        ("mover", np.int32),  # who moves here, once the node is expanded
    ]
)
PRIOR_NODE = np.dtype(
    [
        *((name, NODE[name]) for name in NODE.fields or ()),
        ("prior", np.float32),  # the policy's weight of the move that leads here
        ("pending", np.int32),  # evaluations of positions below that have not come back yet
    ]
)
"""A node of PUCT."""


def slot_bytes(layout: np.dtype[Any]) -> int:
    """Memory of one slot: its node, `mean` and `reach`."""
    return layout.itemsize + 2 * np.dtype(np.float32).itemsize


STATS = np.dtype(
    [
        ("used", np.int64),  # slots handed out
        ("simulations", np.int64),
        ("full", np.int64),  # 1 once the slots did not suffice to expand a node
        ("bound", np.int64),  # the game's payoff bound
        ("worst", np.float64),  # lowest and highest result of a simulation, for player_0
        ("best", np.float64),
        ("cuts", np.int64),  # rollouts cut off
        ("cut_evaluations", np.float64),  # sum of |evaluate| over the cut rollouts
        ("cut_stake", np.float64),  # payoffs above 1: stake and scale of `own_evaluation`
        ("cut_scale", np.float64),
    ]
)

NEVER = np.float32(1e30)
"""A mean that selection never picks; its sign is chosen to be worst for the player to move."""
LARGE = 1 << 30
"""Greater than any payoff."""
MOST_VISITS = (1 << 31) - 1
"""The visits that a node can count; a search whose root has as many is over."""
LN2 = 0.6931471805599453


def new_nodes(
    slots: int, layout: np.dtype[Any] = NODE
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays of `(slots,)` nodes, means and reaches; memory is only committed when used."""
    nodes = as_states(np.empty(slots, layout))
    return nodes, np.empty(slots, np.float32), np.empty(slots, np.float32)


@kernel
def log_of(n):
    """The natural logarithm of an integer from 1 on, to within 0.06 (Mitchell's approximation).

    It uses only exact arithmetic, so every platform searches the same tree.
    """
    bits = 0
    while n >> (bits + 1):
        bits += 1
    return LN2 * (bits + n / (1 << bits) - 1)


@kernel
def clear_slot(nodes, slot, action, bound):
    """Initialise a slot as a node without visits."""
    node = nodes[slot]
    node.total = 0.0
    node.visits = 0
    node.action = action
    node.first = 0
    node.count = 0
    node.tried = 0
    node.low = -bound
    node.high = bound
    node.next = 0
    node.offered = 0
    node.mover = 0


@kernel
def expand(nodes, stats, slot, words, mover):
    """Give a node a child for each action set in `words`; False if the slots do not suffice.

    A child's slot is initialised on its first visit.
    """
    at = stats[0].used
    first = at
    for w in range(words.shape[0]):
        left = words[w]
        while left != ZERO:
            if at == nodes.shape[0]:
                stats[0].full = 1
                return False
            nodes[at].action = 64 * w + lowest(left)
            nodes[at].next = 0
            left &= left - ONE
            at += 1
    stats[0].used = at
    nodes[slot].first = first
    nodes[slot].count = at - first
    nodes[slot].mover = mover
    return True


@kernel
def try_child(nodes, stats, slot, key, n):
    """The slot of an untried child, drawn at random.

    Children are kept in the order of their first visits, which is random, so picking the first of
    several equal ones is a random choice.
    """
    node = nodes[slot]
    at = node.first + node.tried
    other = at + draw_below(key, n, node.count - node.tried)
    action = nodes[other].action
    nodes[other].action = nodes[at].action
    node.tried += 1
    clear_slot(nodes, at, action, stats[0].bound)
    return at


@kernel
def best_child(nodes, mean, reach, slot, factor):
    """The slot of the visited child with the highest upper bound; the first one in a tie."""
    node = nodes[slot]
    first, sign = node.first, np.float32(1 - 2 * node.mover)
    factor = np.float32(factor)
    best, highest = first, -NEVER
    for at in range(first, first + node.tried):
        value = sign * mean[at] + factor * reach[at]
        if value > highest:
            best, highest = at, value
    return best


@kernel
def offered_child(nodes, mean, reach, stats, slot, words, key, n, weight):
    """For hidden draws: the slot of the child to select, among the actions set in `words`.

    The legal moves of a node differ between simulations, so its children form a linked list, and
    a child's bound counts the simulations in which its move was legal. Untried moves come first.
    Returns -1 if a slot is needed but none is left. Clears `words`.
    """
    node = nodes[slot]
    sign, highest = 1 - 2 * node.mover, -1e30
    best, last = np.int64(-1), np.int64(0)
    at = np.int64(node.first)
    while at:
        action = nodes[at].action
        here = ONE << np.uint64(action & 63)
        if words[action >> 6] & here != ZERO:
            words[action >> 6] &= ~here
            nodes[at].offered += 1
            value = sign * mean[at] + weight * np.sqrt(log_of(nodes[at].offered)) * reach[at]
            if value > highest:
                best, highest = at, value
        last, at = at, np.int64(nodes[at].next)
    untried = take_one(words, key, n)
    if untried < 0:
        return best
    at = stats[0].used
    if at == nodes.shape[0]:
        stats[0].full = 1
        return best
    stats[0].used += 1
    clear_slot(nodes, at, untried, stats[0].bound)
    nodes[at].offered = 1
    if last:
        nodes[last].next = at
    else:
        node.first = at
    node.count += 1
    return at


@kernel
def take_one(words, key, n):
    """A random one of the actions set in `words`; -1 if there is none."""
    total = count(words, words.shape[0])
    if total == 0:
        return -1
    return select_in(words, words.shape[0], draw_below(key, n, total))


@kernel
def tighten(nodes, mean, slot, child):
    """Update a node's bounds after those of a child changed; returns whether they changed, too.

    The player to move is sure of the best lower bound among the moves, and cannot get more than
    their best upper bound. Moves that cannot beat that lower bound are not selected again.
    """
    node = nodes[slot]
    sign = 1 - 2 * node.mover
    low, high = node.low, node.high
    if node.tried == node.count:
        reachable = -LARGE
        for at in range(node.first, node.first + node.count):
            most = nodes[at].high if sign > 0 else -nodes[at].low
            reachable = max(reachable, most)
        if sign > 0:
            node.high = min(node.high, reachable)
        else:
            node.low = max(node.low, -reachable)
    gained = False
    if sign > 0 and nodes[child].low > node.low:
        node.low = nodes[child].low
        gained = True
    elif sign < 0 and nodes[child].high < node.high:
        node.high = nodes[child].high
        gained = True
    if gained:
        drop_dominated(nodes, mean, slot)
    return node.low != low or node.high != high


@kernel
def drop_dominated(nodes, mean, slot):
    """Exclude moves from selection that cannot beat the proven bound of another move."""
    node = nodes[slot]
    for at in range(node.first, node.first + node.tried):
        child = nodes[at]
        if node.mover == 0 and child.high <= node.low and child.low < node.low:
            mean[at] = -NEVER
        elif node.mover == 1 and child.low >= node.high and child.high > node.high:
            mean[at] = NEVER


@kernel
def uct_reach(node):
    """The reach of a visited node in UCT."""
    return 1.0 / np.sqrt(np.float64(node.visits))


@functools.cache
def back_up_kernel(reach_of: Any) -> Any:
    """The kernel `back_up(nodes, mean, reach, stats, path, depth, result, changed, proves)`.

    It adds the result of a simulation to the nodes of its path, `path[: depth + 1]`. `changed` says
    whether the bounds of the last node are new; if `proves` is set, its ancestors' bounds are
    updated accordingly. A result outside a node's bounds is clipped to them. `reach_of(node)` is
    the reach of a visited node that is not proven.
    """

    @kernel
    def back_up(nodes, mean, reach, stats, path, depth, result, changed, proves):
        stats[0].worst = min(stats[0].worst, result)
        stats[0].best = max(stats[0].best, result)
        for d in range(depth, -1, -1):
            slot = path[d]
            if changed and proves and d < depth:
                changed = tighten(nodes, mean, slot, path[d + 1])
            node = nodes[slot]
            result = min(max(result, np.float64(node.low)), np.float64(node.high))
            node.visits += 1
            node.total += result
            if node.low == node.high:
                mean[slot] = node.low
                reach[slot] = 0.0
            else:
                mean[slot] = node.total / node.visits
                reach[slot] = reach_of(node)

    return back_up


@kernel
def copy_slot(nodes, mean, reach, source, target):
    """Copy a slot to another one."""
    nodes[target] = nodes[source]
    mean[target] = mean[source]
    reach[target] = reach[source]


@kernel
def move_root(nodes, mean, reach, stats, child):
    """Make a child of the root the root, and keep only the tree below it.

    Not for hidden draws. Slots are moved down in ascending order, so nothing is overwritten before
    it has been moved: children always have greater slots than their parent. Of each group of
    children, `next` of the first slot says whether it is kept: it holds the new slot of the parent,
    plus 1.
    """
    end = stats[0].used
    copy_slot(nodes, mean, reach, child, 0)
    stats[0].used, stats[0].full, stats[0].simulations = 1, 0, 0
    if nodes[0].count == 0:
        return
    nodes[nodes[0].first].next = 1
    slot = np.int64(nodes[0].first)
    while slot < end:
        parent = np.int64(nodes[slot].next) - 1
        if parent < 0:
            slot += 1
            continue
        nodes[slot].next = 0
        at, children = stats[0].used, np.int64(nodes[parent].count)
        nodes[parent].first = at
        for i in range(children):
            copy_slot(nodes, mean, reach, slot + i, at + i)
            if i < nodes[parent].tried and nodes[at + i].count > 0:
                nodes[nodes[at + i].first].next = at + i + 1
        stats[0].used += children
        slot += children
