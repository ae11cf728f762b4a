"""What a league is to play: impossible plans and crews are refused before games."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.league.league import join, local_crew, play_league
from azumaya.baselines.arena.league.results import LeagueFile
from azumaya.baselines.arena.league.schedule import Plan
from azumaya.envs import GAMES, OptionError
from tests.league.playing import GAME

CARD = AgentCard("greedy", "built in", "", None, (GAME,))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": GAME}, "games='vierer_dominari': must be a list of names of games"),
        ({"games": 7}, "games=7: must be a list of names of games"),
        ({"games": ("vierer",)}, "name='vierer': no such game; there are sudoku_moyo, "),
        ({"pairs": 0}, "pairs=0: a whole number from 1 is needed"),
        ({"pairs": 2.5}, "pairs=2.5: a whole number from 1 is needed"),
        ({"limit": 0}, "limit=0: a number above 0 is needed"),
        ({"minutes": -1}, "minutes=-1: a number from 0 is needed"),
        ({"interval": math.nan}, "interval=nan: a number above 0 is needed"),
        ({"interval": 0}, "interval=0: a number above 0 is needed"),
        ({"only": "greedy"}, "only='greedy': must be a set of ids of agents"),
        ({"only": [CARD]}, "only=[AgentCard(name='greedy'"),
    ],
)
def test_plans_by_which_nothing_can_be_played_are_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        Plan(**changes)
    assert message in str(caught.value)


def test_plans_take_any_form_of_their_values() -> None:
    plan = Plan([f"{GAME}_v0"], np.int64(3), limit=np.float64(2), only={"a"})  # type: ignore[arg-type]
    assert plan == Plan((GAME,), 3, 2.0, only=frozenset({"a"}))
    assert type(plan.limit) is float
    assert Plan().games == tuple(GAMES)


def test_plans_and_crews_that_do_not_fit_the_league_are_refused(tmp_path: Path) -> None:
    file = LeagueFile(tmp_path / "league.jsonl", seed=2**64 - 2)
    with pytest.raises(OptionError, match="names='greedy': must be a list of names of agents"):
        join(file, "greedy", [GAME])
    with pytest.raises(OptionError, match="games='abalone': must be a list of names of games"):
        join(file, ["greedy"], "abalone")
    join(file, ["greedy"], [GAME])
    with pytest.raises(OptionError, match=r"only=\['uct:5'\]: no such agents have joined"):
        play_league(file, Plan((GAME,), 1, only=frozenset({"uct:5"})))
    with pytest.raises(OptionError, match="each start takes the next seed"):
        play_league(file, Plan((GAME,), 3))
    for processes in (0, -1, 1.5, True):
        with pytest.raises(OptionError, match=f"processes={processes}: a whole number from 1"):
            local_crew(processes)  # type: ignore[arg-type]
    assert not file.league.pairs
    file.close()
