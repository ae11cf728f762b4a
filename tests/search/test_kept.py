"""A tree that is kept from move to move: nothing of it is lost or changed."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.baselines.search import uct
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.kept import KeptUCT
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.errors import IllegalActionError
from tests.search.positions import late, midgame

Line = tuple[int, ...]


def contents(kept: KeptUCT) -> dict[Line, tuple[Any, ...]]:
    """By the moves that lead there: what each visited node of the tree holds."""
    tree, found = kept._tree, {}
    todo: list[tuple[Line, int]] = [((), 0)]
    while todo:
        line, slot = todo.pop()
        node = tree.nodes[slot]
        found[line] = (
            *(node[f].item() for f in ("visits", "total", "low", "high", "count", "tried")),
            tree._mean[slot].item(),
            tree._reach[slot].item(),
        )
        todo += [((*line, int(tree.nodes[c]["action"])), int(c)) for c in tree._children(slot)]
    return found


@pytest.mark.parametrize("name", ["sudoku_moyo", "vierer_dominari", "score_dominari"])
def test_what_is_below_the_moves_played_is_kept(name: str) -> None:
    kept = KeptUCT(midgame(GAMES[name], {}, 3, 8), Budget(600), megabytes=4)
    for key in range(4):
        outcome = kept.search(key)
        before, used = contents(kept), int(kept._tree._stats["used"][0])
        kept.play(outcome.best)
        kept._tree.follow(kept._position, 0, [outcome.best])
        kept._moves = []
        expected = {line[1:]: node for line, node in before.items() if line[:1] == (outcome.best,)}
        assert contents(kept) == expected
        assert int(kept._tree._stats["used"][0]) < used


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
    lines = [KeptUCT(Position("halma_dominari"), Budget(100)) for _ in range(2)]
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
    kept = KeptUCT(Position("vierer_dominari"), Budget(10))
    before = kept.position
    with pytest.raises(IllegalActionError):
        kept.play(10**6)
    assert kept.position == before


def test_a_game_that_is_over() -> None:
    over = Position("vierer_dominari")
    while not over.is_over:
        over.play(over.legal_actions()[0])
    with pytest.raises(OptionError, match="over"):
        KeptUCT(over, Budget(1)).search()


def test_only_a_position_can_be_followed() -> None:
    for other in ("vierer_dominari", None):
        with pytest.raises(OptionError, match=r"^position=.*: a Position is needed"):
            KeptUCT(other, Budget(10))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings",
    [{"exploration": -1}, {"exploration": float("nan")}, {"cut": -3}, {"cut": 2.5}],
    ids=str,
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    (name,) = settings
    with pytest.raises(OptionError, match=rf"{name}=.*: a (whole )?number from 0.* is needed"):
        KeptUCT(Position("halma_dominari"), Budget(10), **settings)


def test_wrong_keys_are_refused() -> None:
    kept = KeptUCT(Position("halma_dominari"), Budget(10))
    for key in (-1, 1.5, 2**64):
        with pytest.raises(OptionError, match=r"key=.*: a whole number from 0"):
            kept.search(key)


def test_a_search_that_was_interrupted_while_it_followed_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The moves played since are not followed twice."""
    kept = KeptUCT(Position("revers_dominari"), Budget(200))
    kept.play(kept.search(1).best)
    follow = uct.Tree.follow

    def interrupted(tree: uct.Tree, *arguments: Any) -> None:
        follow(tree, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(uct.Tree, "follow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kept.search(2)
    fresh = KeptUCT(kept.position, Budget(200))
    assert kept.search(3) == fresh.search(3)
