"""UCT: proven values are right, results do not depend on threads, and limits are respected."""

from __future__ import annotations

import itertools
import threading
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.agents.names import read_search_name
from azumaya.baselines.search import solve, table, trees
from azumaya.baselines.search.budget import FIRST_STEPS, Budget, spend
from azumaya.baselines.search.evaluation import own_evaluation
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.outcome import Candidate, outcome_of, preferred
from azumaya.baselines.search.puct import PUCT
from azumaya.baselines.search.tree import MOST_VISITS, NODE, slot_bytes
from azumaya.baselines.search.trees import TreeRoom, slots_for
from azumaya.baselines.search.uct import UCT
from azumaya.baselines.search.walks import Terms
from azumaya.envs import GAMES, OptionError, Position
from tests.processes import eventually
from tests.search.interrupts import ctrl_c
from tests.search.positions import midgame


def searched(position: Position, simulations: int, key: int = 1, **settings: Any) -> Any:
    return UCT(Budget(simulations), **settings).search([position], [key])[0]


def test_other_keys_give_other_searches() -> None:
    position = Position("sudoku_moyo", seed=2)
    assert len({searched(position, 30, key).best for key in range(12)}) > 1


def test_a_time_budget_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by 1/64 s whenever it is read: 50 ms are over after four calls."""
    readings = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: next(readings) / 64)
    monkeypatch.setattr("azumaya.baselines.search.budget.time", clock)
    position = Position("sudoku_moyo", seed=2)
    outcome = UCT(Budget(milliseconds=50), threads=1).search([position], [0])[0]
    assert next(readings) == 1 + 4
    assert outcome.simulations > FIRST_STEPS


@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_ends_the_search_and_its_threads(threads: int) -> None:
    """How soon depends on `spend`: see `test_analysis.py`."""
    position = Position("score_dominari")
    uct = UCT(Budget(10**9), threads=threads)
    uct.rooms.take(kernels_of(position), threads)
    searched(position, 10)
    before = set(threading.enumerate())
    with ctrl_c(), pytest.raises(KeyboardInterrupt):
        uct.search([position] * threads, range(threads))
    eventually(lambda: set(threading.enumerate()) <= before)
    uct.budget = Budget(10)
    assert uct.search([position], [1]) == [searched(position, 10)]


def test_rollouts_with_a_limit() -> None:
    position = Position("sudoku_moyo", seed=2)
    outcome = searched(position, 300, cut=20)
    assert all(-1 < c.value < 1 for c in outcome.candidates)
    assert outcome == searched(position, 300, cut=20)


def test_values_of_cut_rollouts_do_not_grow_with_the_search() -> None:
    """A stake that is measured by the results, and that these depend on, would have no limit."""
    position = midgame(GAMES["sudoku_tiles"], {"reward": "points"}, 3, 20)
    few, many = (searched(position, n, cut=20, threads=1).value for n in (1000, 8000))
    whole = searched(position, 8000, threads=1).value
    assert abs(many - few) < 2
    assert abs(many - whole) < 4


def test_cut_rollouts_are_worth_what_the_evaluation_expects() -> None:
    """Also before any game has ended in the search: margins are some points and no half ones."""
    position = midgame(GAMES["score_dominari"], {"reward": "margin"}, 3, 6)
    room = TreeRoom(kernels_of(position), 4)
    room.start(position, 1, Terms(0.8, cut=3))
    room.run(300)
    (stats,) = room.tree.stats
    assert stats["cuts"] == 300
    stake, _ = own_evaluation(position).weights
    assert 1 < stake <= stats["bound"]
    assert 0.2 * stake < max(stats["best"], -stats["worst"]) <= stake


def test_memory_that_the_machine_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*arguments: Any) -> Any:
        raise MemoryError

    position = Position("vierer_dominari")
    monkeypatch.setattr(trees, "new_trees", nothing)
    monkeypatch.setattr(table, "np", SimpleNamespace(zeros=nothing, uint8=None))
    for search in (
        lambda: UCT(Budget(10), megabytes=7.5).search([position], [1]),
        lambda: solve(position, nodes=10, megabytes=7.5),
    ):
        with pytest.raises(OptionError, match=r"^megabytes=7\.5: this machine cannot give so much"):
            search()


def test_a_tree_has_no_more_slots_than_it_can_number() -> None:
    assert slots_for(kernels_of(Position("abalone")), 10**6, slot_bytes(NODE)) == 2**31 - 1


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (10, "10ms"),
        (2.5, "2.5ms"),
        (1234567, "1234567ms"),
        (1234.5678, "1234.5678ms"),
        (0.00001, "0.00001ms"),
        (0.1 + 0.2, "0.30000000000000004ms"),
        (Fraction(1, 3), "0.3333333333333333ms"),
    ],
)
def test_budgets_are_plain_decimals_that_names_may_have(milliseconds: Any, said: str) -> None:
    budget = Budget(milliseconds=milliseconds)
    assert str(budget) == said
    assert find_agent(f"uct:{said}").name == f"uct:{said}"
    assert read_search_name(f"uct:{said}").milliseconds == float(milliseconds)


def test_the_preferred_move() -> None:
    seen = Candidate(1, 900, 0.2, -1, 1)
    drawn, lost, won = (Candidate(2, 5, v, v, v) for v in (0, -1, 1))
    doubtful = Candidate(3, 90, -0.4, -1, 0)
    assert preferred([seen, drawn, lost]) is seen
    assert preferred([seen, won]) is won
    assert preferred([doubtful, drawn]) is drawn
    assert preferred([lost, doubtful]) is doubtful
    assert preferred([lost, lost]) is lost
    better, worse = Candidate(5, 50, 4.0, 3, 10), Candidate(6, 100, 1.5, -5, 2)
    assert preferred([worse, better]) is better, "its least is more than the other's most"


@pytest.mark.parametrize("name", ["score_dominari", "sudoku_tiles"])
@pytest.mark.parametrize("guided", [False, True])
def test_a_search_ends_when_nodes_can_count_no_more(name: str, guided: bool) -> None:
    """Beyond that a count would be negative, whose logarithm a kernel looked for without end."""
    position = Position(name, seed=1)
    room = TreeRoom(kernels_of(position), 8, guided=guided)
    room.start(position, 1, Terms(1.0, 1.0, rollouts=0.5, delay=8))
    spend(room, Budget(50))
    nodes = room.tree.nodes
    nodes["visits"][0] = MOST_VISITS - 3
    assert not room.finished
    spend(room, Budget(2**40))
    assert room.finished
    assert nodes["visits"][0] == MOST_VISITS
    assert outcome_of(room.tree).simulations == 53
    assert not outcome_of(room.tree).exact


ENDLESS = "...../....../......./......../....b..../......../......./....../w.... b out=0,0"
"""One marble against one in Abalone: nothing can be pushed, and nobody is ever stuck."""


@pytest.mark.parametrize(
    "search",
    [
        UCT(Budget(8), threads=1),
        pytest.param(PUCT(Budget(8), rollouts=0.5, breadth=4, threads=1), marks=pytest.mark.slow),
    ],
    ids=["uct", "amaf"],
)
def test_rollouts_end_where_games_do_not(search: UCT | PUCT) -> None:
    """Otherwise no budget, and not even Ctrl-C, would end a search that is inside a kernel."""
    position = Position("abalone", position=ENDLESS, max_plies=0)
    (found,) = search.search([position], [0])
    assert found.simulations >= 8
    assert abs(found.value) < 1
