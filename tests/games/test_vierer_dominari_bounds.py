"""What Vierer-Dominari tells a solver about fours, found square by square."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from azumaya.baselines.search.hints import hints_of
from azumaya.envs import GAMES, Position
from tests.oracles import dominari_board as on
from tests.oracles.vierer_dominari import FOURS, MANY_BLANKS, Oracle
from tests.search.positions import midgame

GAME = GAMES["vierer_dominari"]


def can_complete(oracle: Oracle, player: int) -> bool:
    """Whether a player has a four, or can fill one up with the blanks that are left."""
    own, dead = on.of(oracle.stones, player), oracle.dead()
    left = on.BLANKS - sum(mark in "WB" for mark in oracle.stones.values())
    missing = [four - own for four, _ in FOURS]
    return any(squares <= dead and len(squares) <= left for squares in missing)


def wins_now(oracle: Oracle) -> bool:
    """Whether the player to move can complete a four in this turn."""
    if oracle.filling:
        return can_complete(oracle, oracle.to_move)
    for name in oracle.legal():
        after = copy.deepcopy(oracle)
        after.lay(name[1:], on.MARKS[oracle.to_move][int(name[0]) - 1])
        if can_complete(after, oracle.to_move):
            return True
    return False


def bounds_of(oracle: Oracle) -> tuple[int, int]:
    """A win now, or else what is left to each player without a stone of the other in the way."""
    if wins_now(oracle):
        return 1, 1
    own, other = (on.of(oracle.stones, oracle.to_move ^ side) for side in (0, 1))
    least = -1 if any(not four & own for four, _ in FOURS) else 0
    return least, 1 if any(not four & other for four, _ in FOURS) else 0


@pytest.mark.parametrize("options", [{}, {"position": MANY_BLANKS}], ids=["start", "many blanks"])
def test_bounds(options: dict[str, Any]) -> None:
    seen = set()
    for seed in range(200 if not options else 60):
        position = midgame(GAME, options, seed, seed % (1 + (14 if not options else 5)))
        assert hints_of(GAME).bounds is not None
        expected = bounds_of(Oracle(str(position), options))
        assert hints_of(GAME).bounds(position.state[0]) == expected, str(position)
        seen.add((*expected, "blanks" in str(position)))
    assert len(seen) >= 4, seen


@pytest.mark.parametrize(("last", "left", "wins"), [("BWB", 1, False), ("BW.", 2, True)])
def test_a_four_needs_blanks_for_all_its_dead_cells(last: str, left: int, wins: bool) -> None:
    """White has a6 and b6; c6 and d6 are dead."""
    text = f"WW..cd/..ab../BWBWBW/...e../{last}.../..e... w"
    oracle = Oracle(text, {})
    assert {"c6", "d6"} <= oracle.dead()
    assert sum(mark in "WB" for mark in oracle.stones.values()) == on.BLANKS - left
    assert wins_now(oracle) == wins
    assert hints_of(GAME).bounds is not None
    found = hints_of(GAME).bounds(Position(GAME, position=text).state[0])
    assert found == ((1, 1) if wins else (-1, 1))


def test_without_a_referee_nothing_is_sure() -> None:
    """A wrong turn is undone, and the opponent may go on."""
    for seed in range(20):
        position = midgame(GAME, {"referee": False}, seed, 8)
        assert hints_of(GAME).bounds is not None
        assert hints_of(GAME).bounds(position.state[0]) == (-1, 1)
