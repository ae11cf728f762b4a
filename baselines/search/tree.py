"""The tree of UCT and PUCT, in flat arrays with the children of a node side by side.

A slot of the arrays is a node together with the move that leads to it. Slots are handed out in
order and never freed, so a search stays within its memory; once the slots are used up, the tree
stops growing and further simulations refine the existing nodes.

`low` and `high` are proven bounds of player_0's final payoff; a node is proven when they are equal.
Selection reads only the `mean` and `reach` of a child, so these are kept in separate arrays: it
takes the child with the highest mean, for the player to move, plus reach times a factor of the
parent. In UCT reach is 1 / sqrt(visits), as in UCB1; in PUCT it is prior / (1 + visits).

With hidden draws the children of a node form a linked list instead, see `hidden`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.envs.game import as_states
from azumaya.envs.kernels.bits import ONE, ZERO, lowest
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel

NODE = np.dtype(
    [
        ("total", np.float64),  # sum of the results for player_0
        ("visits", np.int32),
        ("action", np.int32),  # the move that leads here
        ("first", np.int32),  # slot of the first child
        ("count", np.int32),  # children; 0: not expanded
        ("tried", np.int32),  # number of children with a value, which are the first ones
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
STATS = np.dtype(
    [
        ("used", np.int64),  # slots handed out
        ("simulations", np.int64),
        ("full", np.int64),  # 1 once the slots did not suffice to expand a node
        ("bound", np.int64),  # the game's payoff bound
        ("hidden", np.int64),  # 1 in games with hidden draws
        ("worst", np.float64),  # lowest and highest result of a simulation, for player_0
        ("best", np.float64),
        ("cuts", np.int64),  # rollouts cut off
        ("cut_evaluations", np.float64),  # sum of |evaluate| over the cut rollouts
        ("cut_stake", np.float64),  # payoffs above 1: stake and scale of `own_evaluation`
        ("cut_scale", np.float64),
    ]
)
AMAF = np.dtype(
    [
        ("made", np.int64),  # simulations that made the move here or later
        ("gain", np.float32),  # their mean result, for player_0
        ("value", np.float32),  # the evaluation, for player_0
    ]
)
"""What a node has beside the others with AMAF, see `amaf`."""
HISTORY = np.dtype([("gained", np.float64), ("rollouts", np.int64)])
"""The mean result for a player of the rollouts in which they made a move, and their number."""

MOST_SLOTS = 2**31 - 1
"""The most slots that a tree can number."""
NEVER = np.float32(1e30)
"""A mean that selection never picks; its sign is chosen to be worst for the player to move."""
LARGE = 1 << 30
"""Greater than any payoff."""
MOST_VISITS = (1 << 31) - 1
"""The visits that a node can count; a search whose root has as many is over."""
LN2 = 0.6931471805599453


def slot_bytes(layout: np.dtype[Any], amaf: bool = False) -> int:
    """Memory of one slot: its node, `mean` and `reach`, and what AMAF needs."""
    return layout.itemsize + 2 * np.dtype(np.float32).itemsize + AMAF.itemsize * amaf


class Tree(NamedTuple):
    """The arrays of a tree; of several trees, with a row for each.

    Attributes:
        nodes: `(slots,)`; the root is the first.
        mean: `(slots,)` float32, the mean result for player_0, or the proven one.
        reach: `(slots,)` float32.
        stats: `(1,)`; `(n,)` of several trees.
        amaf: `(slots,)` with AMAF, else empty.
        history: `(2, A)`, by player and action, with AMAF, else empty.
    """

    nodes: np.ndarray
    mean: np.ndarray
    reach: np.ndarray
    stats: np.ndarray
    amaf: np.ndarray
    history: np.ndarray

    @property
    def proven(self) -> bool:
        """Whether the value of the position is proven; of one tree, as are the next three."""
        return bool(self.nodes["low"][0] == self.nodes["high"][0])

    @property
    def simulations(self) -> int:
        """The simulations of this search so far."""
        return int(self.stats["simulations"][0])

    @property
    def simulations_left(self) -> int:
        """How many more simulations can be counted."""
        return MOST_VISITS - int(self.nodes["visits"][0])

    @property
    def finished(self) -> bool:
        """Whether no more simulations are of use, or none can be counted."""
        return self.proven or self.simulations_left == 0


def new_trees(games: int, slots: int, layout: np.dtype[Any] = NODE, amaf_actions: int = 0) -> Tree:
    """Empty trees; memory is only committed when used.

    Args:
        games: the number of trees.
        slots: nodes for each tree.
        layout: the dtype of a node.
        amaf_actions: the number of actions, with AMAF.
    """
    return Tree(
        as_states(np.empty((games, slots), layout)),
        np.empty((games, slots), np.float32),
        np.empty((games, slots), np.float32),
        as_states(np.zeros(games, STATS)),
        as_states(np.empty((games, slots if amaf_actions else 0), AMAF)),
        as_states(np.zeros((games, 2, amaf_actions), HISTORY)),
    )


@kernel
def tree_at(trees, g):
    """One of several trees, borrowed."""
    return Tree(
        borrow(trees.nodes)[g],
        borrow(trees.mean)[g],
        borrow(trees.reach)[g],
        borrow(trees.stats)[g : g + 1],
        borrow(trees.amaf)[g],
        borrow(trees.history)[g],
    )


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
def clear_slot(tree, slot, action):
    """Initialise a slot as a node without visits."""
    node, bound = tree.nodes[slot], tree.stats[0].bound
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
def plant(trees, g, bound, blank):
    """Begin tree `g` of several with a root that has no visits.

    `blank` is `(1,)`, a node of zeros.
    """
    tree = tree_at(trees, g)
    own, root = tree.stats[0], tree.nodes[0]
    own.used, own.simulations, own.full, own.bound = 1, 0, 0, bound
    own.worst, own.best = 0.0, 0.0
    own.cuts, own.cut_evaluations, own.cut_stake, own.cut_scale = 0, 0.0, 0.0, 0.0
    tree.nodes[0] = blank[0]
    root.low, root.high = -bound, bound
    tree.mean[0] = 0.0
    for player in range(2):
        for i in range(tree.history.shape[1]):
            tree.history[player, i].gained, tree.history[player, i].rollouts = 0.0, 0


@kernel
def expand(tree, slot, words, mover):
    """Give a node a child for each action set in `words`; False if the slots do not suffice.

    A child's slot is initialised on its first visit.
    """
    nodes, stats = tree.nodes, tree.stats
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
def try_child(tree, slot, key, n):
    """The slot of an untried child, drawn at random.

    Children are kept in the order of their first visits, which is random, so picking the first of
    several equal ones is a random choice.
    """
    nodes = tree.nodes
    node = nodes[slot]
    at = node.first + node.tried
    other = at + draw_below(key, n, node.count - node.tried)
    action = nodes[other].action
    nodes[other].action = nodes[at].action
    node.tried += 1
    clear_slot(tree, at, action)
    return np.int64(at)


@kernel
def best_child(tree, slot, factor):
    """The slot of the visited child with the highest upper bound; the first one in a tie."""
    mean, reach = tree.mean, tree.reach
    node = tree.nodes[slot]
    first, sign = node.first, np.float32(1 - 2 * node.mover)
    factor = np.float32(factor)
    best, highest = first, -NEVER
    for at in range(first, first + node.tried):
        value = sign * mean[at] + factor * reach[at]
        if value > highest:
            best, highest = at, value
    return np.int64(best)


@kernel
def tighten(tree, slot, child):
    """Update a node's bounds after those of a child changed; returns whether they changed, too.

    The player to move is sure of the best lower bound among the moves, and cannot get more than
    their best upper bound. Moves that cannot beat that lower bound are not selected again.
    """
    nodes = tree.nodes
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
        drop_dominated(tree, slot)
    return node.low != low or node.high != high


@kernel
def drop_dominated(tree, slot):
    """Exclude moves from selection that cannot beat the proven bound of another move."""
    nodes, mean = tree.nodes, tree.mean
    node = nodes[slot]
    for at in range(node.first, node.first + node.tried):
        child = nodes[at]
        if node.mover == 0 and child.high <= node.low and child.low < node.low:
            mean[at] = -NEVER
        elif node.mover == 1 and child.low >= node.high and child.high > node.high:
            mean[at] = NEVER


@kernel
def stake(stats):
    """Half of the range of the results so far and 0; the game's payoff bound if that is 1."""
    if stats[0].bound == 1:
        return 1.0
    return max(0.5 * (stats[0].best - stats[0].worst), 0.5)


@kernel
def uct_reach(node):
    """The reach of a visited node in UCT."""
    return 1.0 / np.sqrt(np.float64(node.visits))


@kernel
def puct_reach(node):
    """The reach of a visited node in PUCT."""
    return node.prior / (1.0 + node.visits)


@functools.cache
def back_up_kernel(reach_of: Any) -> Any:
    """The kernel `back_up(tree, path, depth, result, changed)`.

    It adds the result of a simulation to the nodes of its path, `path[: depth + 1]`. `changed` says
    whether the bounds of the last node are new, so that its ancestors' have to be updated. A result
    outside a node's bounds is clipped to them. `reach_of(node)` is the reach of a visited node that
    is not proven.
    """

    @kernel
    def back_up(tree, path, depth, result, changed):
        stats = tree.stats
        stats[0].worst = min(stats[0].worst, result)
        stats[0].best = max(stats[0].best, result)
        for d in range(depth, -1, -1):
            slot = path[d]
            if changed and d < depth:
                changed = tighten(tree, slot, path[d + 1])
            node = tree.nodes[slot]
            result = min(max(result, np.float64(node.low)), np.float64(node.high))
            node.visits += 1
            node.total += result
            if node.low == node.high:
                tree.mean[slot] = node.low
                tree.reach[slot] = 0.0
            else:
                tree.mean[slot] = node.total / node.visits
                tree.reach[slot] = reach_of(node)

    return back_up


@kernel
def copy_slot(tree, source, target):
    """Copy a slot to another one."""
    tree.nodes[target] = tree.nodes[source]
    tree.mean[target] = tree.mean[source]
    tree.reach[target] = tree.reach[source]
    if tree.amaf.shape[0] > 0:
        tree.amaf[target] = tree.amaf[source]


@kernel
def move_root(trees, g, child):
    """Make a child of the root of a tree the root, and keep only the tree below it.

    Not for hidden draws. Slots are moved down in ascending order, so nothing is overwritten before
    it has been moved: children always have greater slots than their parent. Of each group of
    children, `next` of the first slot says whether it is kept: it holds the new slot of the parent,
    plus 1.
    """
    tree = tree_at(trees, g)
    nodes, stats = tree.nodes, tree.stats
    end = stats[0].used
    copy_slot(tree, child, 0)
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
            copy_slot(tree, slot + i, at + i)
            if i < nodes[parent].tried and nodes[at + i].count > 0:
                nodes[nodes[at + i].first].next = at + i + 1
        stats[0].used += children
        slot += children
