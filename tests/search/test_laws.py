"""What holds for every tree search: proofs are right, and results depend on the key alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from azumaya.baselines.search import PUCT, UCT
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.outcome import outcome_of
from azumaya.baselines.search.tree import NODE, PRIOR_NODE, slot_bytes
from azumaya.baselines.search.trees import TreeRoom
from azumaya.baselines.search.walks import Terms
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.game import Game
from tests.cases import YARDSTICK, nightly
from tests.search.evaluations import Linear
from tests.search.positions import CASES, QUICK, SOLVED, label, late, midgame

SCORE, TILES = GAMES["score_dominari"], GAMES["sudoku_tiles"]
SEARCHES: dict[str, Callable[..., Any]] = {
    "uct": UCT,
    "puct": PUCT,
    "rollouts": functools.partial(PUCT, rollouts=0.5),
    "amaf": functools.partial(PUCT, rollouts=0.5, breadth=2),
    "batch": lambda budget, **settings: BatchPUCT(budget, Linear(20.0), **settings),
    "leaves": lambda budget, **settings: BatchPUCT(budget, Linear(20.0), leaves=6, **settings),
}
FEW: list[tuple[Game, dict[str, object]]] = [
    (YARDSTICK, {}), (SCORE, {}), (SCORE, {"reward": "margin"}),
]  # fmt: skip
HIDDEN: list[tuple[Game, dict[str, object]]] = [(TILES, {}), (TILES, {"reward": "points"})]
ROOMS: dict[str, tuple[dict[str, bool], Any, Terms]] = {
    "uct": ({}, NODE, Terms(0.8)),
    "puct": ({"guided": True}, PRIOR_NODE, Terms(1.0, 0.1, 0.5, 2)),
    "amaf": ({"guided": True, "amaf": True}, PRIOR_NODE, Terms(1.0, 0.1, 0.5, 2, 2)),
}
"""By name: what a room is made with, its nodes, and how it searches."""


def kinds(uct: list[Any], hidden: list[Any]) -> list[Any]:
    """UCT in all games, most of them nightly, the others in a few."""
    found = nightly([("uct", *case) for case in uct], QUICK)
    for kind in ("puct", "rollouts", "amaf", "batch", "leaves"):
        found += [(kind, *case) for case in FEW + ([] if kind == "amaf" else hidden)]
    return found


@pytest.mark.parametrize(("kind", "game", "options"), kinds(SOLVED, []), ids=label)
def test_proven_values_are_minimax_values(
    kind: str, game: Game, options: dict[str, object]
) -> None:
    exact, search = 0, SEARCHES[kind](Budget(2000), threads=1)
    for i, (position, gains) in enumerate(late(game, options, 20)):
        before = position.returns()[position.to_move]
        (outcome,) = search.search([position], [i])
        for candidate in outcome.candidates:
            assert candidate.low <= gains[candidate.action] + before <= candidate.high
            assert candidate.visits or candidate.low <= candidate.value <= candidate.high
        if outcome.exact:
            exact += 1
            assert outcome.value == max(gains.values()) + before
            assert gains[outcome.best] == max(gains.values())
    assert exact > 8


@pytest.mark.parametrize(("kind", "game", "options"), kinds(CASES, HIDDEN), ids=label)
def test_the_result_depends_only_on_the_key(
    kind: str, game: Game, options: dict[str, object]
) -> None:
    """Neither on threads, nor on what else is searched or the memory was used for before."""
    positions = [midgame(game, options, seed, 6) for seed in range(5)]
    keys = [3, 3, 2**64 - 1, 0, 5]
    together = SEARCHES[kind](Budget(150), threads=3).search(positions, keys)
    one = SEARCHES[kind](Budget(150), threads=1)
    apart = [one.search([p], [k])[0] for p, k in zip(positions, keys, strict=True)]
    assert together == apart
    assert all(o.best in p.legal_actions() for o, p in zip(together, positions, strict=True))


@pytest.mark.parametrize("kind", [kind for kind in SEARCHES if kind != "amaf"])
def test_search_does_not_use_the_hidden_pile(kind: str) -> None:
    search = SEARCHES[kind](Budget(200), threads=1)
    for seed in range(3):
        position = midgame(TILES, {}, seed, 20)
        other = position.resample_hidden(seed + 100)
        assert (position.state["pile"] != other.state["pile"]).any()
        assert search.search([position], [1]) == search.search([other], [1])


def room_of(kind: str, position: Position, megabytes: float) -> TreeRoom:
    made, _, terms = ROOMS[kind]
    room = TreeRoom(kernels_of(position), megabytes, **made)
    room.start(position, 9, terms)
    return room


@pytest.mark.parametrize("kind", ROOMS)
def test_a_search_in_pieces_gives_the_same_result(kind: str) -> None:
    whole, pieces = (room_of(kind, midgame(SCORE, {}, 1, 4), 8) for _ in range(2))
    whole.run(300)
    for steps in (1, 2, 97, 200):
        pieces.run(steps)
    outcome = outcome_of(whole.tree)
    assert outcome == outcome_of(pieces.tree)
    assert outcome.simulations == 300


@pytest.mark.parametrize("game", [SCORE, TILES], ids=label)
@pytest.mark.parametrize("kind", ROOMS)
def test_memory_is_bounded(kind: str, game: Game) -> None:
    if (kind, game) == ("amaf", TILES):
        pytest.skip("it refuses games with hidden draws")
    position, (made, node, _) = midgame(game, {}, 1, 2), ROOMS[kind]
    size = slot_bytes(node, amaf=made.get("amaf", False))
    least = (64 * kernels_of(position).words + 1) * size / 2**20
    with pytest.raises(OptionError, match="megabytes"):
        room_of(kind, position, least * 0.99)
    room = room_of(kind, position, least * 1.01)
    arrays = room.tree
    assert len(arrays.nodes) * size <= least * 1.01 * 2**20
    room.run(3000)
    outcome = outcome_of(room.tree)
    assert (outcome.simulations, outcome.full) == (3000, True)
    assert arrays.stats["used"][0] <= len(arrays.nodes)
    assert outcome.best in position.legal_actions()
