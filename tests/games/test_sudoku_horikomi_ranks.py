"""Sudoku Horikomi games decided by low levels of the ranking, which play hardly ever reaches.

No number fits anywhere on the board. The territories divide its stones so that each region has the
wanted number of stones and no number twice. Regions 5-8 win.
"""

from __future__ import annotations

import pytest

from azumaya.envs.games._shima.territory import Territory
from azumaya.envs.position import Position
from tests.oracles.sudoku_horikomi import DEALS, SPARSE

BEGINNINGS = [
    f"{colour} {starter}" for colour in ("light", "dark") for starter in ("start0", "start1")
]


def options_of(regions: str, owners: str) -> dict[str, object]:
    return {"puzzle": SPARSE, "territory": Territory(regions, owners), "setup": "choose"}


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
