"""PUCT with AMAF: proofs are right, few moves are evaluated at first, all moves are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from azumaya.baselines.search import PUCTAgent
from azumaya.baselines.search.amaf_kernels import (
    AMAF_NODE,
    EVALUATION_VISITS,
    HISTORY,
    blend,
    bring_forward,
    learn,
)
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.evaluation import Evaluation
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.puct import PUCT
from azumaya.baselines.search.puct_kernels import WIDENING
from azumaya.baselines.search.puct_trees import AMAFTree
from azumaya.baselines.search.tree import NEVER, slot_bytes
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game, as_states
from azumaya.envs.kernels.bits import get
from tests.cases import YARDSTICK
from tests.search.evaluations import constant, evaluation_of, noise
from tests.search.positions import label, late, midgame

SCORE = GAMES["score_dominari"]
SOLVED: list[tuple[Game, dict[str, object]]] = [
    (YARDSTICK, {}), (SCORE, {}), (SCORE, {"reward": "margin"}),
]  # fmt: skip


def searched(position: Position, simulations: int, key: int = 1, **settings: Any) -> Any:
    settings = {"rollouts": 0.5, "breadth": 2, "threads": 1, **settings}
    return PUCT(Budget(simulations), **settings).search([position], [key])[0]


def started(position: Position, breadth: int = 2, megabytes: float = 8) -> AMAFTree:
    tree = AMAFTree(kernels_of(position), megabytes, breadth=breadth)
    tree.nodes.view(np.uint8)[:] = 77  # slots that were never visited may hold anything
    tree.start(position, 9, (1.0, 0.1, 0.5, 2))
    return tree


@pytest.mark.parametrize(
    ("game", "options", "evaluation"),
    [
        *((*case, None) for case in SOLVED),
        (YARDSTICK, {}, evaluation_of(noise, 1.0, 1)),
        (YARDSTICK, {}, evaluation_of(constant, np.nan)),
    ],
)
def test_proven_values_are_minimax_values(
    game: Game, options: dict[str, object], evaluation: Evaluation | None
) -> None:
    exact = 0
    for i, (position, gains) in enumerate(late(game, options, 24)):
        before = position.returns()[position.to_move]
        outcome = searched(position, 2000, i, evaluation=evaluation)
        for candidate in outcome.candidates:
            assert candidate.low <= gains[candidate.action] + before <= candidate.high
        if outcome.exact:
            exact += 1
            assert outcome.value == max(gains.values()) + before
            assert gains[outcome.best] == max(gains.values())
    assert exact > 8


@pytest.mark.parametrize(("game", "options"), SOLVED, ids=label)
def test_the_result_depends_only_on_the_key(game: Game, options: dict[str, object]) -> None:
    """Not on what the same memory was used for before, nor on how the steps are divided."""
    positions = [midgame(game, options, seed, 6) for seed in range(5)]
    keys = [3, 3, 2**64 - 1, 0, 5]
    together = PUCT(Budget(300), rollouts=0.5, breadth=2, threads=2).search(positions, keys)
    assert together == [searched(p, 300, k) for p, k in zip(positions, keys, strict=True)]
    whole, pieces = started(positions[0]), started(positions[0])
    whole.advance(300)
    for steps in (1, 2, 97, 200):
        pieces.advance(steps)
    assert whole.outcome() == pieces.outcome()


def test_few_moves_of_a_node_are_evaluated_at_first() -> None:
    """Twice as many whenever a node has had its visits; all moves of the root at once."""
    tree = started(midgame(SCORE, {}, 1, 2), breadth=2)
    tree.advance(4000)
    nodes, reached = tree.nodes, [0]
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
            gains[i < node["tried"]].append(tree._history["gain"][node["mover"], action])
    assert np.mean(gains[True]) > np.mean(gains[False]) + 0.05


def test_all_moves_of_a_simulation_are_counted() -> None:
    """What a move of the root is credited with, from the moves and results of each simulation."""
    position = midgame(SCORE, {}, 1, 2)
    tree = started(position)
    _, played, _ = tree._lists
    made: dict[int, list[float]] = {action: [] for action in position.legal_actions()}
    for _ in range(500):
        before = float(tree.nodes["total"][0])
        tree.advance(1)
        result = float(tree.nodes["total"][0]) - before
        for action, results in made.items():
            if get(played[position.to_move], action):
                results.append(result)
    for slot in tree._children(0):
        node, results = tree.nodes[slot], made[int(tree.nodes["action"][slot])]
        assert node["made"] == len(results) > node["visits"] > 0
        assert node["amaf"] == pytest.approx(np.mean(results), abs=1e-5)
        if node["low"] < node["high"] and abs(tree._mean[slot]) < NEVER:
            own = node["visits"] + EVALUATION_VISITS
            value = (node["total"] + EVALUATION_VISITS * node["value"]) / own
            mixed = (own * value + node["made"] * node["amaf"]) / (own + node["made"])
            assert tree._mean[slot] == pytest.approx(mixed, abs=1e-5)


def test_a_proven_value_is_not_blended() -> None:
    nodes, mean = as_states(np.zeros(2, AMAF_NODE)), np.array([0.5, -NEVER], np.float32)
    nodes["low"], nodes["high"], nodes["made"], nodes["amaf"] = [1, -1], [1, 1], 100, 0.25
    for at in range(2):
        blend(nodes, mean, at)
    assert mean.tolist() == [0.5, -NEVER]


def test_moves_that_did_best_come_first() -> None:
    """Among those without an evaluation; the others keep their places."""
    nodes, history = as_states(np.zeros(6, AMAF_NODE)), as_states(np.zeros((2, 8), HISTORY))
    nodes["action"] = [7, 4, 3, 0, 1, 2]
    nodes["first"][0], nodes["count"][0], nodes["tried"][0], nodes["mover"][0] = 1, 5, 1, 1
    history["gain"][1, :5] = [0.1, 0.3, -0.2, 0.2, 0.9]
    history["gain"][0, :5] = 0.9, -0.9, 0.9, -0.9, 0.9
    bring_forward(nodes, 0, 3, history)
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
        tuple(place): history["gain"][tuple(place)] for place in np.argwhere(history["rollouts"])
    }
    assert gains == {(0, 5): 0.25, (0, 0): -0.5, (1, 64): -1.0, (1, 127): -1.0}
    assert history["rollouts"].sum() == 5


def test_memory_is_bounded() -> None:
    position = midgame(SCORE, {}, 1, 2)
    least = (64 * kernels_of(position).words + 1) * slot_bytes(AMAF_NODE) / 2**20
    with pytest.raises(OptionError, match="megabytes"):
        started(position, megabytes=least * 0.99)
    tree = started(position, megabytes=least * 1.01)
    tree.advance(3000)
    outcome = tree.outcome()
    assert (outcome.simulations, outcome.full) == (3000, True)
    assert tree._stats["used"][0] <= len(tree.nodes)
    assert outcome.best in position.legal_actions()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"breadth": -1, "rollouts": 0.5}, "breadth=-1"),
        ({"breadth": 2.5, "rollouts": 0.5}, "breadth=2.5"),
        ({"breadth": 8, "rollouts": 0}, "breadth=8: it needs rollouts, and rollouts is 0"),
        ({"breadth": 8, "evaluation": evaluation_of(constant, 0.0)}, "it needs rollouts"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        PUCT(Budget(10), **settings)


def test_games_with_hidden_draws_are_refused() -> None:
    position = Position("sudoku_tiles", seed=0)
    message = r"breadth=2: azumaya/sudoku_tiles.* has hidden draws"
    with pytest.raises(OptionError, match=message):
        searched(position, 10)
    agent = PUCTAgent(10, rollouts=0.5, breadth=2)
    agent.check(Position("abalone"))
    with pytest.raises(OptionError, match=message):  # before a match, not in its first move
        agent.check(position)
