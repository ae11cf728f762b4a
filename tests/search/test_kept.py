"""A tree that is kept from move to move: nothing of it is lost or changed."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.search import PUCT, UCT
from azumaya.baselines.search import trees as trees_module
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.outcome import Outcome, children_of
from azumaya.baselines.search.tree import Tree
from azumaya.baselines.search.trees import follow
from azumaya.baselines.search.uct import KeptUCT
from azumaya.envs import GAMES, MoveNameError, OptionError, Position
from azumaya.envs.errors import IllegalActionError
from tests.cases import TESTED, YARDSTICK
from tests.search.evaluations import Centre, Linear
from tests.search.positions import late, midgame

Line = tuple[int, ...]


def contents(tree: Tree) -> dict[Line, tuple[Any, ...]]:
    """By the moves that lead there: what each visited node of the tree holds."""
    found, of = {}, ("visits", "total", "low", "high", "count", "tried", "prior")
    fields = [name for name in of if name in (tree.nodes.dtype.names or ())]
    todo: list[tuple[Line, int]] = [((), 0)]
    while todo:
        line, slot = todo.pop()
        node = tree.nodes[slot]
        values = [node[name].item() for name in fields]
        if len(tree.amaf):
            values += tree.amaf[slot].item()
        found[line] = (*values, tree.mean[slot].item(), tree.reach[slot].item())
        todo += [((*line, int(tree.nodes[c]["action"])), int(c)) for c in children_of(tree, slot)]
    return found


SEARCHES: dict[str, Callable[..., Any]] = {
    "uct": UCT,
    "puct": PUCT,
    "amaf": functools.partial(PUCT, breadth=3),
    "batch": lambda budget, **settings: BatchPUCT(budget, Linear()),
    "batch of leaves": lambda budget, **settings: BatchPUCT(budget, Linear(), leaves=4),
}


def trees(search: Any) -> list[Tree]:
    """The trees of the last search."""
    return [trees[g] for trees in search._followed for g in range(len(trees.setups))]


def all_contents(search: Any) -> list[dict[Line, tuple[Any, ...]]]:
    return [contents(tree) for tree in trees(search)]


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("name", ["connect_four", "score_dominari"])
def test_what_is_below_the_moves_played_is_kept(name: str, kind: str) -> None:
    search = SEARCHES[kind](Budget(200), threads=3, megabytes=4)
    positions = [midgame(TESTED[name], {}, seed, 2 * seed) for seed in range(3)]
    for key in range(3):
        moves = [outcome.best for outcome in search.search(positions, [key] * 3)]
        before, used = all_contents(search), [int(t.stats["used"][0]) for t in trees(search)]
        search.advance(moves)
        for move, old, new in zip(moves, before, all_contents(search), strict=True):
            assert new == {line[1:]: node for line, node in old.items() if line[:1] == (move,)}
        for tree, slots in zip(trees(search), used, strict=True):
            assert int(tree.stats["used"][0]) < slots
        for position, move in zip(positions, moves, strict=True):
            position.play(move)


@pytest.mark.parametrize("kind", SEARCHES)
def test_without_advance_all_trees_are_new(kind: str) -> None:
    search = SEARCHES[kind](Budget(50), threads=3)
    positions = [midgame(GAMES["score_dominari"], {}, seed, 4) for seed in range(3)]
    found = search.search(positions, range(3))
    assert search.search(positions, range(3)) == found
    moves = [position.legal_actions()[0] for position in positions]
    search.advance(moves)
    for position, move in zip(positions, moves, strict=True):
        position.play(move)
    search.search(positions, range(3))
    fresh = SEARCHES[kind](Budget(50), threads=3).search(positions, range(3))
    assert search.search(positions, range(3)) == fresh


@pytest.mark.parametrize(
    ("most", "search"),
    [
        ("threads=2", UCT(Budget(20), threads=2)),
        ("games=2", BatchPUCT(Budget(20), Linear(), games=2)),
    ],
)
def test_a_search_keeps_as_many_trees_as_it_has_room_for(most: str, search: Any) -> None:
    positions = [Position("score_dominari")] * 3
    search.search(positions, range(3))
    with pytest.raises(OptionError, match=f"3 for the 0 trees of the last search, .* {most}"):
        search.advance([None] * 3)
    search.search(positions[:2], range(2))
    search.advance([None] * 2)


def test_a_pickled_search_keeps_no_tree() -> None:
    search = UCT(Budget(20), threads=1)
    search.search([Position("score_dominari")], [0])
    with pytest.raises(OptionError, match="0 trees"):
        pickle.loads(pickle.dumps(search)).advance([0])


def test_searches_add_to_what_is_known() -> None:
    kept = KeptUCT(Position("sudoku_moyo", seed=3), Budget(400))
    first = kept.search(1)
    reply = kept.position.copy().play(first.best).legal_actions()[0]
    kept.play(first.best)
    kept.play(reply)
    second = kept.search(2)
    assert second.simulations == 400
    assert 400 < sum(c.visits for c in second.candidates) < 800


def test_same_keys_and_moves_same_results() -> None:
    lines = [KeptUCT(Position("score_dominari"), Budget(100)) for _ in range(2)]
    for key in range(4):
        one, other = (line.search(key) for line in lines)
        assert one == other
        for line in lines:
            line.play(one.best)


def test_proven_values_stay_right() -> None:
    exact = kept_exact = 0
    for position, gains in late(GAMES["sudoku_moyo"], {}, 12):
        kept = KeptUCT(position, Budget(300))
        outcome = kept.search()
        exact += outcome.exact
        assert not outcome.exact or outcome.value == max(gains.values())
        kept.play(outcome.best)
        if not kept.position.is_over:
            sign = 1 if kept.position.to_move == position.to_move else -1
            found = kept.search()
            kept_exact += found.exact
            assert not found.exact or found.value == sign * gains[outcome.best]
    assert min(exact, kept_exact) > 5


def test_a_move_never_tried_starts_anew() -> None:
    kept = KeptUCT(Position("sudoku_moyo", seed=3), Budget(1))
    tried = {c.action for c in kept.search().candidates}
    kept.play(next(a for a in kept.position.legal_actions() if a not in tried))
    assert sum(c.visits for c in kept.search().candidates) == 1


def test_hidden_draws_are_searched_from_scratch() -> None:
    kept = KeptUCT(Position("sudoku_tiles"), Budget(50))
    kept.play(kept.search().best)
    assert sum(c.visits for c in kept.search().candidates) == 50


def test_bad_moves_change_nothing() -> None:
    kept = KeptUCT(Position("score_dominari"), Budget(10))
    before = kept.position
    with pytest.raises(IllegalActionError):
        kept.play(10**6)
    assert kept.position == before


def test_a_game_that_is_over() -> None:
    over = Position("score_dominari")
    while not over.is_over:
        over.play(over.legal_actions()[0])
    with pytest.raises(OptionError, match="over"):
        KeptUCT(over, Budget(1)).search()


def test_a_search_that_was_interrupted_while_it_followed_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The moves played since are not followed twice."""
    kept = KeptUCT(Position("score_dominari"), Budget(200))
    best = kept.search(1).best
    root = kept.position

    def interrupted(*arguments: Any) -> None:
        follow(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(trees_module, "follow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kept.play(best)
    fresh = KeptUCT(root.play(best), Budget(200))
    assert kept.position == fresh.position
    assert kept.search(3) == fresh.search(3)


# ---- many games at once ----


def started(name: str, budget: int = 100, **settings: Any) -> tuple[BatchPUCT, list[Position]]:
    """A search with a network that has searched three positions."""
    puct = BatchPUCT(Budget(budget), Linear(), **settings)
    positions = [midgame(GAMES[name], {}, seed, 2 * seed) for seed in range(3)]
    puct.search(positions, range(3))
    return puct, positions


def visits(outcome: Outcome) -> int:
    return sum(candidate.visits for candidate in outcome.candidates)


def test_searches_of_many_games_add_to_what_is_known() -> None:
    puct, positions = started("score_dominari")
    moves = [position.legal_actions()[0] for position in positions]
    puct.advance(moves)
    known = [tree[()][0] for tree in all_contents(puct)]
    for position, move in zip(positions, moves, strict=True):
        position.play(move)
    for old, outcome in zip(known, puct.search(positions, range(3)), strict=True):
        assert outcome.simulations == 100
        assert visits(outcome) == old + 99  # one simulation only expands the root


def test_only_what_was_followed_is_kept() -> None:
    puct, positions = started("score_dominari")
    first, second = (position.legal_actions()[0] for position in positions[:2])
    puct.advance([positions[0].move_name(first), second, None])
    reply = positions[0].play(first).legal_actions()[0]
    puct.advance([reply, positions[1].play(second).legal_actions()[0], None])
    positions[0].play(reply)
    positions[1] = Position("score_dominari", seed=9)  # the next game
    found = puct.search(positions, [7, 8, 9])
    fresh = BatchPUCT(Budget(100), Linear()).search(positions, [7, 8, 9])
    assert found[1:] == fresh[1:]
    assert visits(found[0]) > visits(fresh[0])
    assert puct.search(positions, [7, 8, 9]) == fresh


def test_many_trees_give_the_same_whatever_else_is_searched() -> None:
    def line(settings: dict[str, Any], others: list[Position]) -> list[Outcome]:
        puct = BatchPUCT(Budget(60), Linear(), noise=0.25, **settings)
        position, found = Position("score_dominari", seed=1), []
        for key in range(4):
            few = [*others, position]
            outcomes = puct.search(few, [key + i for i in range(len(few))][::-1])
            found.append(outcomes[-1])
            puct.advance([outcome.best for outcome in outcomes])
            position.play(outcomes[-1].best)
        return found

    alone = line({"threads": 1}, [])
    assert line({"threads": 3, "batch": 5}, [Position("score_dominari", seed=4)] * 40) == alone


def test_proven_values_of_many_trees_stay_right() -> None:
    positions, gains = zip(*late(GAMES["score_dominari"], {}, 12), strict=True)
    puct, exact = BatchPUCT(Budget(200), Linear()), 0
    moves = [outcome.best for outcome in puct.search(positions, range(12))]
    puct.advance(moves)
    signs, after = [], []
    for i, move in enumerate(moves):
        mover = positions[i].to_move
        positions[i].play(move)
        signs.append(1 if positions[i].to_move == mover else -1)
    after = [i for i in range(12) if not positions[i].is_over]
    for i in after:
        (outcome,) = puct.search([positions[i]], [i])
        exact += outcome.exact
        assert not outcome.exact or outcome.value == signs[i] * gains[i][moves[i]]
    assert exact > 5


def test_hidden_draws_of_many_games_are_searched_from_scratch() -> None:
    puct, positions = started("sudoku_tiles", 50)
    puct.advance([position.legal_actions()[0] for position in positions])
    for position in positions:
        position.play(position.legal_actions()[0])
    fresh = BatchPUCT(Budget(50), Linear()).search(positions, [1, 2, 3])
    assert puct.search(positions, [1, 2, 3]) == fresh


@pytest.mark.parametrize(
    ("moves", "error", "message"),
    [
        ([0, 0], OptionError, r"moves=\[0, 0\]: 2 for the 3 trees .*games=64"),
        (5, OptionError, "moves=5: a list of moves is needed"),
        ([None, 10**6, None], IllegalActionError, r"^moves\[1\]: action=1000000: not an action"),
        ([None, None, "zz9"], MoveNameError, r"^moves\[2\]: "),
    ],
)
def test_wrong_moves_of_many_games_change_nothing(
    moves: Any, error: type[Exception], message: str
) -> None:
    puct, _ = started("score_dominari")
    before = all_contents(puct)
    with pytest.raises(error, match=message):
        puct.advance(moves)
    assert all_contents(puct) == before
    puct.advance([None] * 3)


def test_a_search_that_was_interrupted_cannot_be_followed() -> None:
    class Pressed(Linear):
        def evaluate(self, planes: np.ndarray, masks: np.ndarray) -> Any:
            if len(self.shapes) > 0:
                raise KeyboardInterrupt
            return super().evaluate(planes, masks)

    puct = BatchPUCT(Budget(10), Pressed())
    with pytest.raises(KeyboardInterrupt):
        puct.search([Position("score_dominari")], [0])
    with pytest.raises(OptionError, match="0 trees"):
        puct.advance([0])


def test_noise_is_only_at_the_root_also_of_a_tree_that_is_kept() -> None:
    puct, position = BatchPUCT(Budget(100), Centre(0.0), noise=0.5), Position(YARDSTICK)
    for key in range(3):
        outcome = puct.search([position], [key])[0]
        assert puct._grove is not None
        tree = puct._grove[0]
        priors = tree.nodes["prior"]
        for slot in range(int(tree.stats["used"][0])):
            children = children_of(tree, slot)
            alike = np.ptp(priors[children]) < 1e-6 if len(children) else True
            assert alike == (slot > 0)
        assert priors[children_of(tree, 0)].sum() == pytest.approx(1)
        position.play(outcome.best)
        puct.advance([outcome.best])
