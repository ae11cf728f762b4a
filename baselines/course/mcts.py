"""Notebook 4: the two formulas of UCT."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from azumaya.baselines.course.verdict import (
    WrongAnswerError,
    asked,
    checked,
    numbers,
    require,
    returned,
)
from azumaya.envs import Position

GAME = "vierer_dominari"


class TreeNode(Protocol):
    """What a node of a search tree needs for the check.

    Attributes:
        position: the position of the node.
        visits: how many simulations went through it.
        total: the sum of their results for the player who moved to this node.
    """

    position: Position
    visits: int
    total: float


@dataclass
class Node:
    """A node without children, for the check."""

    position: Position
    visits: int = 0
    total: float = 0.0


def ucb(total: float, visits: int, parent_visits: int, exploration: float = 1.0) -> float:
    """The course's answer: the upper confidence bound of a move."""
    if visits == 0:
        return math.inf
    return total / visits + exploration * math.sqrt(math.log(parent_visits) / visits)


@checked(ucb)
def check_ucb(answer: Callable[..., float]) -> str:
    """Check `answer(total, visits, parent_visits, exploration)`."""
    for case in [(3.0, 5, 20, 1.0), (-2.0, 4, 9, 0.5), (0.0, 1, 2, 2.0), (7.0, 9, 10, 0.0)]:
        given, right = _bound(answer, *case), ucb(*case)
        require(
            math.isclose(given, right, abs_tol=1e-9),
            f"total, visits, parent_visits, exploration = {case}: yours is {given:.4f}, and the "
            f"bound is {right:.4f}: the mean {case[0] / case[1]:.4f} plus a bonus of "
            f"{right - case[0] / case[1]:.4f}.",
        )
    untried = _bound(answer, 0.0, 0, 5, 1.0)
    require(
        untried == math.inf,
        f"a move that was never tried has the bound {untried}; it should be math.inf, so that "
        "every move is tried once.",
    )
    return "the mean, the bonus, and untried moves come first."


def _bound(answer: Callable[..., float], *case: float) -> float:
    return float(numbers(returned(answer, *case), (), "one number"))


def backup(path: Sequence[TreeNode], returns: Sequence[float]) -> None:
    """The course's answer: add a result to all nodes of a path, which begins with the root."""
    path[0].visits += 1
    for before, node in pairwise(path):
        node.visits += 1
        node.total += returns[before.position.to_move]


@checked(backup)
def check_backup(answer: Callable[[Sequence[TreeNode], Sequence[float]], None]) -> str:
    """Check `answer(path, returns)` on paths in which a player moves twice in a row."""
    rng = random.Random(4)
    for moves, returns in [("3c4 1c3", (1, -1)), ("3b3 wd3", (1, -1)), ("3b3 end", (-1, 1))]:
        before = _path(moves.split(), rng)
        path, right = ([replace(node) for node in before] for _ in (0, 1))
        asked(answer, path, returns)
        if _sums(path) == _sums(before):
            raise WrongAnswerError(
                "no node has changed. Change visits and total of the nodes in the path themselves; "
                "what the function returns is not used."
            )
        backup(right, returns)
        _compare(path, right, before, (moves.split(), returns))
    return "visits and results are right, also where a player moves twice in a row."


def _path(moves: Sequence[str], rng: random.Random) -> list[Node]:
    """The nodes of a line of play, after some simulations.

    Lines with blanks begin where a cell is about to die.
    """
    position = Position(GAME)
    if moves[0] == "3b3":
        position = Position(GAME, position="....../....../..2cea/..5.4./..4a../...... w")
    after = [position.copy(), *(position.play(move).copy() for move in moves)]
    return [Node(place, rng.randint(2, 9), float(rng.randint(2, 9))) for place in after]


def _sums(path: Sequence[Node]) -> list[tuple[int, float]]:
    return [(node.visits, node.total) for node in path]


def _compare(
    path: Sequence[Node],
    right: Sequence[Node],
    before: Sequence[Node],
    case: tuple[Sequence[str], Sequence[float]],
) -> None:
    """Compare a path with what it should be; `case` has the moves and the returns."""
    moves, returns = case
    for parent, node, wanted, old, move in zip(
        path, path[1:], right[1:], before[1:], moves, strict=False
    ):
        _check_visits(f"the node after {move}", node, wanted, old)
        mover = parent.position.to_move
        require(
            node.total == wanted.total,
            f"player_{mover} made the move {move}, and the returns are {returns}. The total of the "
            f"node after it was {old.total:g} before; it should be {wanted.total:g}, and is "
            f"{node.total:g}. Totals are sums, for the player who moved to the node, which is "
            "whoever is to move in the node before.",
        )
    _check_visits("the root", path[0], right[0], before[0])
    require(
        path[0].total == right[0].total,
        f"the total of the root was {before[0].total:g} before and is {path[0].total:g}; it should "
        "stay as it is, because nobody moved to the root.",
    )


def _check_visits(what: str, node: Node, wanted: Node, old: Node) -> None:
    require(
        node.visits == wanted.visits,
        f"{what} had {old.visits} visits, and one simulation more went through it. It should have "
        f"{wanted.visits}, and has {node.visits}.",
    )
