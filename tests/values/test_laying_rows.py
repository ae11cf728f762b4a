"""What can still be laid on the 6x6 board: rows for houses and candidates, by coordinates."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from azumaya.baselines.values.board_features import rows_of
from azumaya.baselines.values.laying_rows import CANDIDATE_ROWS, HOUSE_ROWS
from azumaya.baselines.values.network import features_of
from azumaya.envs import Position
from tests.cases import TESTED
from tests.games.test_reach import told
from tests.values.networks import features_for, positions_of

Place = tuple[int, int]
PLACES = [(r, c) for r in range(6) for c in range(6)]
LAYING = [name for name, game in TESTED.items() if "laying" in features_of(game).kind]
HOUSES = [
    *([(r, c) for c in range(6)] for r in range(6)),
    *([(r, c) for r in range(6)] for c in range(6)),
    *(
        [(r, c) for r, c in PLACES if (r // 2, c // 2) == (a, b)]
        for a in range(3)
        for b in range(3)
    ),
]
FROM_EDGE = (0, 1, 2, 2, 1, 0)


def kind_of(name: str, house: list[Place], player: int) -> int:
    """The kind of a house: lines first, then blocks, in the order of the first of each kind."""
    rows, columns = ({place[i] for place in house} for i in (0, 1))
    r, c = min(rows), min(columns)
    if name == "revers_dominari":  # any turn or reflection, for either player
        if len(rows) == 1:
            return FROM_EDGE[r]
        if len(columns) == 1:
            return FROM_EDGE[c]
        return 3 + (r == 2) + (c == 2)
    if player:  # in Score-Dominari the board is turned by half
        r, c = 5 - max(rows), 5 - max(columns)
    if len(rows) == 1:
        return r
    if len(columns) == 1:  # the rising diagonal takes columns to rows
        return 5 - c
    a, b = r // 2, c // 2
    first = min(3 * a + b, 3 * (2 - b) + 2 - a)
    return 6 + [0, 1, 2, 3, 4, 6].index(first)


def sees(one: Place, other: Place) -> bool:
    """Whether two cells share a row, a column or a block."""
    return one != other and any(one in house and other in house for house in HOUSES)


def plain_rows(position: Position) -> Counter[int]:
    """The rows, counted from the first of them, from the planes and from what the rules tell."""
    game, mover = position.game, int(position.to_move)
    planes = position.observation(mover)
    named = {plane.name: planes[i] for i, plane in enumerate(game.observation.planes)}

    def shown(kind: str) -> dict[str, set[Place]]:
        there = {n: board for n, board in named.items() if n.split()[0] == kind}
        return {n.split()[-1]: {p for p in PLACES if board[p]} for n, board in there.items()}

    fits, stones = shown("candidate"), shown("stone")
    own, opposing = shown("own")["own"], shown("opposing")["opposing"]
    numbers = {p: sum(p in places for places in fits.values()) for p in PLACES}
    numbered = set().union(*stones.values())
    found: Counter[int] = Counter()
    for house in HOUSES:
        counts = [sum(p in side for p in house) for side in (own, opposing)]
        code = 49 * counts[0] + 7 * counts[1] + sum(numbers[p] > 0 for p in house)
        blank = any(p in own | opposing and p not in numbered for p in house)
        found[HOUSE_ROWS * kind_of(game.name, house, mover) + 2 * code + blank] += 1
    reach: list[Any] = [set(told(game, "reach", position, side)) for side in (mover, 1 - mover)]
    kinds = 1 + max(kind_of(game.name, house, 0) for house in HOUSES)
    for places in fits.values():
        for p in places:
            near = [q for q in places if sees(p, q)]
            only = [q for q in near if numbers[q] == 1]
            code = 4 * numbers[p] + (p in reach[0]) + 2 * (p in reach[1])
            for losing in (only, near):
                for side in reach:
                    code = 4 * code + min(sum(q in side for q in losing), 3)
            found[HOUSE_ROWS * kinds + code] += 1
    return found


def test_games_that_tell_who_reaches_what_have_these_rows() -> None:
    assert sorted(LAYING) == ["revers_dominari", "score_dominari"]


@pytest.mark.parametrize("name", LAYING)
def test_rows_equal_a_plain_count(name: str) -> None:
    """Houses by what is in them, and candidates by what they take; both phases of a turn."""
    game, phases, blanks = TESTED[name], set(), 0
    rows = rows_of(game)
    first = int(rows.of_numbers[-1])
    for position in positions_of(game, every=3):
        later = int(position.state["phase"][0])
        all_rows = ((row - later * rows.end, n) for row, n in features_for(position).items())
        expected = plain_rows(position)
        assert Counter({row - first: n for row, n in all_rows if row >= first}) == expected
        assert max(expected) < rows.end - first
        phases.add(later)
        blanks += any(row % 2 for row in expected if row < rows.end - first - CANDIDATE_ROWS)
    assert phases == {0, 1}
    assert blanks
