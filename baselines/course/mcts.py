"""Notebook 4: the two formulas of UCT."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from azumaya.baselines.course.verdict import (
    UNWRITTEN,
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
    for moves, returns in [("3c4 1c3", (1, -1)), ("3b3 wd3", (1, -1)), ("3b3 end", (-1, 1))]:
        path, right = ([*_path(moves.split())] for _ in (0, 1))
        asked(answer, path, returns)
        if not any(node.visits or node.total for node in path):
            raise WrongAnswerError(UNWRITTEN)
        backup(right, returns)
        _compare(path, right, moves.split(), returns)
    return "visits and results are right, also where a player moves twice in a row."


def _path(moves: Sequence[str]) -> list[Node]:
    """The nodes of a line of play; lines with blanks begin where a cell is about to die."""
    position = Position(GAME)
    if moves[0] == "3b3":
        position = Position(GAME, position="....../....../..2cea/..5.4./..4a../...... w")
    return [Node(position.copy()), *(Node(position.play(move).copy()) for move in moves)]


def _compare(
    path: Sequence[Node], right: Sequence[Node], moves: Sequence[str], returns: Sequence[float]
) -> None:
    for before, node, wanted, move in zip(path, path[1:], right[1:], moves, strict=False):
        mover = before.position.to_move
        require(
            node.visits == 1,
            f"one simulation went through the node after {move}, and its visits are {node.visits}.",
        )
        require(
            node.total == wanted.total,
            f"player_{mover} made the move {move}, and the returns are {returns}. The node after "
            f"it should have the total {wanted.total:+g}, and has {node.total:+g}. Totals are for "
            "the player who moved to the node, which is whoever is to move in the node before.",
        )
    require(path[0].visits == 1, f"the root was visited once, and its visits are {path[0].visits}.")
