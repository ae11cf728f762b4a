"""Sudoku Horikomi games decided by low levels of the ranking, which play hardly ever reaches.

No number fits anywhere on the board. The territories divide its stones so that each region has the
wanted number of stones and no number twice. Regions 5-8 win.
"""

from __future__ import annotations

import pytest

from azumaya.envs.games._shima.territory import Territory
from azumaya.envs.position import Position
from azumaya.envs.registry import GAMES
from tests.cases import Case
from tests.oracles.lockstep import Episode, Table
from tests.oracles.sudoku_horikomi import DEALS, SPARSE

# By deciding number of stones: the stones in regions 1-4 and in regions 5-8.
SIZES = {
    5: ([4, 4, 4, 4], [5, 3, 4, 4]),
    4: ([3, 3, 5, 5], [4, 2, 5, 5]),
    3: ([2, 2, 6, 6], [3, 1, 6, 6]),
    2: ([1, 1, 7, 7], [2, 0, 7, 7]),
}
BEGINNINGS = [
    f"{colour} {starter}" for colour in ("light", "dark") for starter in ("start0", "start1")
]


def options_of(regions: str, owners: str) -> dict[str, object]:
    return {"puzzle": SPARSE, "territory": Territory(regions, owners), "setup": "choose"}


@pytest.mark.parametrize("decides", DEALS)
def test_the_deals_have_the_sizes_listed(decides: int) -> None:
    first, second = SIZES[decides]
    stones = [
        sum(
            mark == str(region) and digit != "."
            for mark, digit in zip(DEALS[decides], SPARSE, strict=True)
        )
        for region in range(1, 10)
    ]
    assert stones == [*first, *second, 9]
    assert sum(first) == sum(second)
    above = [[side.count(size) for size in range(9, decides, -1)] for side in (first, second)]
    assert above[0] == above[1]
    assert first.count(decides) < second.count(decides)


@pytest.mark.parametrize("beginning", BEGINNINGS)
@pytest.mark.parametrize("owners", ["LLLLDDDD.", "DDDDLLLL."])
@pytest.mark.parametrize("decides", DEALS)
def test_more_regions_of_the_deciding_size_win(decides: int, owners: str, beginning: str) -> None:
    position = Position("sudoku_horikomi", **options_of(DEALS[decides], owners))
    for name in beginning.split():
        position.play(name)
    assert position.is_terminated
    light_wins = owners.startswith("D")
    player_0_is_light = beginning.startswith("light")
    gain = 1 if light_wins == player_0_is_light else -1
    assert position.returns() == (gain, -gain)


@pytest.mark.parametrize("owners", ["LLLLDDDD.", "DDDDLLLL."])
@pytest.mark.parametrize("decides", DEALS)
def test_the_oracle_agrees(decides: int, owners: str) -> None:
    game = GAMES["sudoku_horikomi"]
    table = Table(Case(game, 0, options_of(DEALS[decides], owners)))
    for seed in range(8):
        episode = Episode(table, "plain", seed)
        assert episode.run() in ("terminated player_0 gains", "terminated player_1 gains")
        assert episode.happened == {"over when play begins", f"decided by regions of {decides}"}
