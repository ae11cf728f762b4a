"""`analyse` and search agents by name: exact values are exact, estimates are sensible."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.search import (
    AlphaBetaAgent,
    Analysis,
    HiddenDrawsError,
    UCTAgent,
    analyse,
    search_agent,
)
from azumaya.baselines.search.analysis import SIMULATION_NODES, shown_value
from azumaya.baselines.search.budget import FIRST_STEPS, SLICE, Budget, spend
from azumaya.envs import OptionError, Position
from azumaya.envs.game import Game
from tests.cases import nightly
from tests.search.positions import QUICK, SOLVED, each_case, each_solved, label, late, midgame


@each_solved
def test_late_positions_are_exact(game: Game, options: dict[str, object]) -> None:
    for position, gains in late(game, options, 12, nodes=600):
        found = analyse(position, nodes=200_000)
        assert found.exact
        assert found.value == max(gains.values())
        assert found.to_move == position.to_move
        assert {m.action: m.value for m in found.moves} == gains
        assert all(m.exact and position.parse_move(m.move) == m.action for m in found.moves)
        check_line(position, found)


def check_line(position: Position, found: Analysis) -> None:
    """The principal variation is legal, ends the game and gains the value."""
    mover, before = position.to_move, position.returns()[position.to_move]
    end = position.copy()
    for move in found.pv:
        end.play(move)
    assert found.pv[0] == found.best == found.moves[0].move
    assert end.is_over
    assert end.returns()[mover] - before == found.value


@each_case
def test_early_positions_are_searched(game: Game, options: dict[str, object]) -> None:
    position = midgame(game, options, 2, 4)
    found = analyse(position, simulations=60, key=3)
    assert found == analyse(position, nodes=60 * SIMULATION_NODES, key=3)
    assert {m.move for m in found.moves} == set(position.legal_moves())
    assert found.moves[0].move == found.best == found.pv[0]
    assert sum(m.visits for m in found.moves) == found.simulations
    ranked = [(m.value is None, -(m.value or 0), -m.visits) for m in found.moves[1:]]
    assert ranked == sorted(ranked)
    after = position.copy()
    for move in found.pv:
        after.play(move)
    if game.rules.resample is not None:
        known = analyse(position, simulations=200).pv
        assert len(known) == 1, "nobody knows what is drawn next"


def test_values_are_shown_with_a_sign() -> None:
    shown = [shown_value(*each) for each in ((2.0, True), (-0.0, False), (0.25, False))]
    assert shown == ["+2", "+0.000", "+0.250"]


def test_budgets_in_time() -> None:
    found = analyse(Position("sudoku_moyo", seed=1), milliseconds=60)
    assert found.simulations > 0
    assert found.nodes > 0


class Steady:
    """A search whose steps take equally long, by a clock of its own that `spend` reads."""

    finished = False

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, each: float, compiling: float = 0.0
    ) -> None:
        self.each, self.compiling, self.now = each, compiling, 0.0
        self.calls: list[int] = []
        clock = SimpleNamespace(perf_counter=lambda: self.now)
        monkeypatch.setattr("azumaya.baselines.search.budget.time", clock)

    def run(self, steps: int) -> int:
        """Let the time of the steps pass; before the first one, that of the compiler."""
        self.now += steps * self.each + (0.0 if self.calls else self.compiling)
        self.calls.append(steps)
        return steps


def test_compile_time_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the first step, which may wait for the compiler, is not counted."""
    search = Steady(monkeypatch, 1e-4, compiling=10.0)
    spend(search, Budget(milliseconds=100))
    assert search.calls[0] == 1
    assert sum(search.calls[1:]) == pytest.approx(1000, abs=2)


@pytest.mark.parametrize("each", [1e-6, 1e-4, 3e-3])
def test_a_search_asks_often_whether_it_is_stopped(
    each: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once its speed is known, after each `SLICE` of time or each step, whichever is longer."""
    search, asked = Steady(monkeypatch, each), list[float]()

    def stopped() -> bool:
        asked.append(search.now)
        return len(asked) > 30

    spend(search, Budget(steps=10**9), stopped)
    slices = np.diff(asked)
    assert slices[0] == pytest.approx(FIRST_STEPS * each)
    assert slices[1:].max() <= 1.01 * max(SLICE, each)
    assert slices[10:].min() > SLICE / 2
    assert len(search.calls) == 30


def test_names() -> None:
    for name in ("uct:1000", "uct:10ms", "uct:2.5ms", "alphabeta:50000", "alphabeta:10ms"):
        assert search_agent(name).name == name
    for name in ("uct", "uct:", "uct:0", "uct:0ms", "uct:-5", "uct:1e3", "mcts:10", "uct:10 ms",
                 "uct:20:policy", "puct:20:", "puct:x:policy", "puct::policy"):  # fmt: skip
        with pytest.raises(OptionError, match="write uct:1000, puct:1000"):
            search_agent(name)


def test_agents_can_be_pickled() -> None:
    position = Position("score_dominari")
    for agent in (UCTAgent(50), AlphaBetaAgent(500)):
        agent.act([position], [1])
        assert pickle.loads(pickle.dumps(agent)).act([position], [1]) == agent.act([position], [1])


def test_alphabeta_refuses_hidden_draws() -> None:
    with pytest.raises(HiddenDrawsError):
        AlphaBetaAgent(10).check(Position("sudoku_tiles"))


SHORT_GAMES = nightly([game for game, options in SOLVED if not options], QUICK)


@pytest.mark.parametrize("game", SHORT_GAMES, ids=label)
def test_search_beats_chance(game: Game) -> None:
    for agent in (UCTAgent(60), AlphaBetaAgent(3000)):
        assert play_pairing(game.name, agent, RandomAgent(), starts=6, seed=1).rate > 0.7
