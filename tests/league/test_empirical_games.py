"""Nash mixtures, alpha-rank and cycles, against games solved by hand and by their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from azumaya.baselines.arena.empirical_games import alpha_rank, cycles, nash_mixture
from azumaya.envs import OptionError

ROCK_PAPER_SCISSORS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
THIRDS = np.full(3, 1 / 3)
MEASURES = (nash_mixture, alpha_rank)


@st.composite
def games(draw: st.DrawFn) -> np.ndarray:
    """Antisymmetric payoffs in tenths, so that ties and several equilibria occur."""
    size = draw(st.integers(1, 6))
    halves = st.integers(-10, 10)
    upper = np.zeros((size, size))
    for i, j in itertools.combinations(range(size), 2):
        upper[i, j] = draw(halves) / 10
    return upper - upper.T


def entropy(parts: np.ndarray) -> float:
    played = parts[parts > 0]
    return float(-(played * np.log(played)).sum())


def test_rock_paper_scissors_is_even() -> None:
    for measure in MEASURES:
        assert measure(ROCK_PAPER_SCISSORS) == pytest.approx(THIRDS)


def test_a_cycle_of_unequal_wins_by_hand() -> None:
    """Each is played as much as the other two win against each other: 1, 2 and 3 of 6."""
    payoffs = np.array([[0, 0.3, -0.2], [-0.3, 0, 0.1], [0.2, -0.1, 0]])
    assert nash_mixture(payoffs) == pytest.approx([1 / 6, 2 / 6, 3 / 6])


def test_an_agent_that_all_beat_changes_nothing() -> None:
    payoffs = np.pad(ROCK_PAPER_SCISSORS, (0, 1)).astype(float)
    payoffs[:3, 3], payoffs[3, :3] = 0.1, -0.1
    for measure in MEASURES:
        assert measure(payoffs) == pytest.approx([*THIRDS, 0], abs=1e-9)


def test_the_best_of_a_ladder_has_it_all() -> None:
    """Each agent wins a little more than half against all below it."""
    above = np.triu(np.full((6, 6), 0.2), 1)
    for measure in MEASURES:
        assert measure(above - above.T) == pytest.approx([1, 0, 0, 0, 0, 0], abs=1e-6)


def test_equal_agents_have_equal_parts() -> None:
    for measure in MEASURES:
        assert measure(np.zeros((4, 4))) == pytest.approx(np.full(4, 1 / 4))
        assert measure(np.zeros((1, 1))) == pytest.approx([1])


def test_alpha_rank_by_hand() -> None:
    """Two agents: one of two members who gains g takes over with 1 / (1 + exp(-u)), u = 2 g."""
    gain = 0.3
    up, down = 1 / (1 + np.exp(-2 * gain)), 1 / (1 + np.exp(2 * gain))
    found = alpha_rank([[0, gain], [-gain, 0]], alpha=1.0, population=2)
    assert found == pytest.approx([up / (up + down), down / (up + down)])


@given(games())
def test_nobody_beats_the_mixture(payoffs: np.ndarray) -> None:
    found = nash_mixture(payoffs)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)
    assert (payoffs @ found).max() < 1e-6


@given(games(), st.data())
def test_the_order_of_agents_does_not_matter(payoffs: np.ndarray, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(payoffs))))
    for measure in MEASURES:
        shuffled = measure(payoffs[np.ix_(order, order)])
        assert shuffled == pytest.approx(measure(payoffs)[order], abs=1e-5)


@given(st.integers(2, 6), st.integers(0, 2**32), st.integers(0, 5))
@example(5, 375, 1)  # two values in a row are equal long before the end
def test_copies_of_an_agent_share_its_part(size: int, seed: int, agent: int) -> None:
    """Here payoffs are such that there is one equilibrium; so copies leave all averages alone."""
    upper = np.triu(np.random.default_rng(seed).uniform(-1, 1, (size, size)), 1)
    copied = [*range(size), agent % size]
    payoffs = upper - upper.T
    more = payoffs[np.ix_(copied, copied)]
    once, twice = nash_mixture(payoffs), nash_mixture(more)
    assert more @ twice == pytest.approx(payoffs[copied] @ once, abs=1e-5)
    assert twice[copied[-1]] == pytest.approx(twice[-1], abs=1e-5)
    assert twice[copied[-1]] == pytest.approx(once[copied[-1]] / 2, abs=1e-5)


@given(games(), st.floats(0.01, 1))
def test_the_unit_of_payoffs_does_not_matter(payoffs: np.ndarray, unit: float) -> None:
    assert nash_mixture(unit * payoffs) == pytest.approx(nash_mixture(payoffs), abs=1e-5)


def test_the_mixture_is_the_most_even_one() -> None:
    """Two of four pairs are level: among points of a grid no equilibrium is more even."""
    payoffs = np.zeros((4, 4))
    payoffs[0, 2], payoffs[2, 0] = 1, -1
    payoffs[1, 3], payoffs[3, 1] = 1, -1
    payoffs[2, 1], payoffs[1, 2] = 1, -1
    payoffs[3, 0], payoffs[0, 3] = 0.5, -0.5
    best = entropy(nash_mixture(payoffs))
    for parts in itertools.product(range(13), repeat=4):
        point = np.array(parts) / 12
        if sum(parts) == 12 and (payoffs @ point).max() <= 1e-12:
            assert entropy(point) <= best + 1e-6


def test_cycles_are_found_once_and_the_shortest_first() -> None:
    """Also where an agent in none of them beats one that is."""
    beats = np.zeros((8, 8), bool)
    for one, other in [(1, 2), (2, 0), (0, 1), (3, 4), (4, 5), (5, 6), (6, 3), (0, 3), (7, 0)]:
        beats[one, other] = True
    assert cycles(beats) == [(0, 1, 2), (3, 4, 5, 6)]
    assert cycles(np.triu(np.ones((5, 5), bool), 1)) == []


@pytest.mark.parametrize(
    "payoffs",
    [
        [[0, 1], [1, 0]],
        [[0, 1]],
        [[0, 1], [2]],
        [],
        np.zeros((0, 0)),
        [[0, np.nan], [np.nan, 0]],
        "rock",
    ],
)
def test_other_payoffs_are_refused(payoffs: object) -> None:
    for measure in MEASURES:
        with pytest.raises(OptionError, match="payoffs"):
            measure(payoffs)


@pytest.mark.parametrize(("name", "value"), [("alpha", -1), ("population", 1)])
def test_populations_that_cannot_evolve_are_refused(name: str, value: int) -> None:
    with pytest.raises(OptionError, match=f"{name}={value}"):
        alpha_rank([[0, 1], [-1, 0]], **{name: value})
