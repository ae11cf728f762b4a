"""PUCT with AMAF: proofs are right, few moves are evaluated at first, all moves are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from azumaya.baselines.search import PUCTAgent
from azumaya.baselines.search.amaf import EVALUATION_VISITS, blend, bring_forward, learn
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.outcome import children_of
from azumaya.baselines.search.puct import PUCT
from azumaya.baselines.search.tree import HISTORY, NEVER, PRIOR_NODE, Tree
from azumaya.baselines.search.trees import TreeRoom, Trees
from azumaya.baselines.search.walks import WIDENING, Terms
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import as_states
from azumaya.envs.kernels.bits import get
from tests.search.evaluations import evaluation_of
from tests.search.positions import midgame

SCORE = GAMES["score_dominari"]


def searched(position: Position, simulations: int, key: int = 1, **settings: Any) -> Any:
    settings = {"rollouts": 0.5, "breadth": 2, "threads": 1, **settings}
    return PUCT(Budget(simulations), **settings).search([position], [key])[0]


def started(position: Position, breadth: int = 2, megabytes: float = 8) -> TreeRoom:
    room = TreeRoom(kernels_of(position), megabytes, guided=True, amaf=True)
    for array in room.tree.nodes, room.tree.amaf:
        array.view(np.uint8)[:] = 77  # slots that were never visited may hold anything
    room.start(position, 9, Terms(1.0, 0.1, 0.5, 2, breadth))
    return room


def small_tree(slots: int) -> Tree:
    """A tree with nothing in it but zeros."""
    tree = Trees(kernels_of(Position(SCORE)), 1, slots, PRIOR_NODE, amaf=True)[0]
    for array in tree:
        array.view(np.uint8)[:] = 0
    return tree


def test_few_moves_of_a_node_are_evaluated_at_first() -> None:
    """Twice as many whenever a node has had its visits; all moves of the root at once."""
    room = started(midgame(SCORE, {}, 1, 2), breadth=2)
    room.run(4000)
    arrays = room.tree
    nodes, reached = arrays.nodes, [0]
    for slot in reached:
        reached += range(nodes["first"][slot], nodes["first"][slot] + nodes["tried"][slot])
    assert nodes["tried"][0] == nodes["count"][0]
    inner = [node for node in nodes[reached[1:]] if node["count"] and node["low"] < node["high"]]
    for node in inner:
        tried, count, visits = (int(node[name]) for name in ("tried", "count", "visits"))
        assert tried in {count, 2, 4, 8, 16, 32, 64}
        assert tried == count or visits <= WIDENING * tried
        below = nodes["visits"][node["first"] : node["first"] + tried].sum()
        assert visits - below <= 2 + 1 + 6  # before the node was expanded, then, and to widen it
    partly = [node for node in inner if node["tried"] < node["count"]]
    assert {2, 4, 8} <= {int(node["tried"]) for node in partly}
    gains: dict[bool, list[float]] = {True: [], False: []}
    for node in partly:
        for i, action in enumerate(nodes["action"][node["first"] :][: node["count"]]):
            gains[i < node["tried"]].append(arrays.history["gained"][node["mover"], action])
    assert np.mean(gains[True]) > np.mean(gains[False]) + 0.05


def test_all_moves_of_a_simulation_are_counted() -> None:
    """What a move of the root is credited with, from the moves and results of each simulation."""
    position = midgame(SCORE, {}, 1, 2)
    room = started(position)
    arrays, played = room.tree, room._desk.played
    made: dict[int, list[float]] = {action: [] for action in position.legal_actions()}
    for _ in range(500):
        before = float(arrays.nodes["total"][0])
        room.run(1)
        result = float(arrays.nodes["total"][0]) - before
        for action, results in made.items():
            if get(played[position.to_move], action):
                results.append(result)
    for slot in children_of(room.tree, 0):
        node, amaf = arrays.nodes[slot], arrays.amaf[slot]
        results = made[int(node["action"])]
        assert amaf["made"] == len(results) > node["visits"] > 0
        assert amaf["gain"] == pytest.approx(np.mean(results), abs=1e-5)
        if node["low"] < node["high"] and abs(arrays.mean[slot]) < NEVER:
            own = node["visits"] + EVALUATION_VISITS
            value = (node["total"] + EVALUATION_VISITS * amaf["value"]) / own
            mixed = (own * value + amaf["made"] * amaf["gain"]) / (own + amaf["made"])
            assert arrays.mean[slot] == pytest.approx(mixed, abs=1e-5)


def test_a_proven_value_is_not_blended() -> None:
    tree = small_tree(2)
    tree.nodes["low"], tree.nodes["high"], tree.mean[:] = [1, -1], [1, 1], [0.5, -NEVER]
    tree.amaf["made"], tree.amaf["gain"] = 100, 0.25
    for at in range(2):
        blend(tree, at)
    assert tree.mean.tolist() == [0.5, -NEVER]


def test_moves_that_did_best_come_first() -> None:
    """Among those without an evaluation; the others keep their places."""
    tree = small_tree(6)
    nodes, history = tree.nodes, tree.history
    nodes["action"] = [7, 4, 3, 0, 1, 2]
    nodes["first"][0], nodes["count"][0], nodes["tried"][0], nodes["mover"][0] = 1, 5, 1, 1
    history["gained"][1, :5] = [0.1, 0.3, -0.2, 0.2, 0.9]
    history["gained"][0, :5] = 0.9, -0.9, 0.9, -0.9, 0.9
    bring_forward(tree, 0, 3)
    assert nodes["action"].tolist()[:4] == [7, 4, 1, 3]
    assert set(nodes["action"].tolist()[4:]) == {0, 2}


def test_the_history_is_a_mean_for_each_player() -> None:
    history, played = as_states(np.zeros((2, 128), HISTORY)), np.zeros((2, 2), np.uint64)
    played[0, 0], played[1, 1] = 1 << 5, (1 << 63) | 1
    learn(history, played, 1.0)
    played[:] = 0
    played[0, 0] = (1 << 5) | 1
    learn(history, played, -0.5)
    gains = {
        tuple(place): history["gained"][tuple(place)] for place in np.argwhere(history["rollouts"])
    }
    assert gains == {(0, 5): 0.25, (0, 0): -0.5, (1, 64): -1.0, (1, 127): -1.0}
    assert history["rollouts"].sum() == 5


def test_breadth_needs_rollouts() -> None:
    with pytest.raises(OptionError, match="breadth=8: it needs rollouts, and rollouts is 0"):
        PUCT(Budget(10), breadth=8, rollouts=0)
    with pytest.raises(OptionError, match="it needs rollouts"):
        PUCT(Budget(10), evaluation_of(), breadth=8)


def test_games_with_hidden_draws_are_refused() -> None:
    position = Position("sudoku_tiles", seed=0)
    message = r"breadth=2: azumaya/sudoku_tiles.* has hidden draws"
    with pytest.raises(OptionError, match=message):
        searched(position, 10)
    agent = PUCTAgent(10, rollouts=0.5, breadth=2)
    agent.check(Position("abalone"))
    with pytest.raises(OptionError, match=message):  # before a match, not in its first move
        agent.check(position)
