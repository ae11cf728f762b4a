"""The Bradley-Terry fit and its intervals, against cases worked out by hand and known strengths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from azumaya.baselines.arena.league.ratings import ALL, VIRTUAL, Rating, rate
from azumaya.baselines.arena.league.results import PairKey, PairResult


def pair(game: str, number: int, first: str, second: str, *results: int) -> PairResult:
    key = PairKey(game, number, first, second)
    return PairResult(key, (results[0], results[1]), (9, 9), (1, 1), (1.0, 1.0))


def pairs_of(game: str, who: tuple[str, str], *outcomes: tuple[int, int]) -> list[PairResult]:
    return [pair(game, number, *who, *results) for number, results in enumerate(outcomes)]


def elo(wins: float, losses: float) -> float:
    """The difference of two agents that met only each other, with the drawn game that is added."""
    return 400 * math.log10((wins + VIRTUAL) / (losses + VIRTUAL))


def test_two_agents_by_hand() -> None:
    """Ten games: 5 wins, 2 draws, 3 losses are 6 points to 4; 400 * log10(6.5 / 4.5) = 63.9."""
    outcomes = [(1, 1), (1, -1), (1, -1), (1, -1), (0, 0)]
    found = rate(pairs_of("g", ("ann", "random"), *outcomes), ["random", "ann"])
    assert found["g"]["ann"].elo == pytest.approx(63.9, abs=0.05)
    assert found["g"]["ann"].elo == pytest.approx(elo(6, 4), abs=0.05)
    assert found["g"]["random"] == Rating(0, 0, 0, 10, 0.4)
    assert (found["g"]["ann"].games, found["g"]["ann"].score) == (10, 0.6)
    assert found[ALL] == found["g"]


def test_a_draw_is_half_a_win_for_each() -> None:
    drawn = pairs_of("g", ("ann", "random"), *[(0, 0)] * 10)
    split = pairs_of("g", ("ann", "random"), *[(1, -1)] * 10)
    for results in (drawn, split):
        assert rate(results, ["random", "ann"])["g"]["ann"].elo == 0
    ahead = pairs_of("g", ("ann", "random"), (1, 0), (0, 1))  # 3 points of 4
    assert rate(ahead, ["random", "ann"])["g"]["ann"].elo == pytest.approx(elo(3, 1), abs=0.05)


def test_ratings_are_finite_and_intervals_wide_where_one_wins_every_game() -> None:
    few, many = (
        rate(pairs_of("g", ("ann", "random"), *[(1, 1)] * n), ["random", "ann"])["g"]["ann"]
        for n in (3, 100)
    )
    assert few.elo == pytest.approx(elo(6, 0), abs=0.05)
    assert many.elo == pytest.approx(elo(200, 0), abs=0.05)
    for found in (few, many):
        assert found.high - found.low > 50
        assert found.low < found.elo <= found.high


def test_the_order_of_agents_and_seats_does_not_matter() -> None:
    one = pairs_of("g", ("ann", "random"), (1, 1), (1, -1), (0, -1))
    other = pairs_of("g", ("random", "ann"), (-1, -1), (-1, 1), (0, 1))
    ratings = [rate(results, ["random", "ann"])["g"]["ann"] for results in (one, other)]
    ratings.append(rate(one, ["ann", "random"])["g"]["ann"])
    assert {rating.elo for rating in ratings} == {ratings[0].elo}


def test_the_order_in_which_agents_joined_does_not_matter() -> None:
    """Intervals are drawn at random, for one agent after the other."""
    agents = ["random", "ann", "bob"]
    outcomes = [(1, 1), (1, -1), (0, -1), (-1, 1)]
    results = [
        r
        for who in itertools.combinations(sorted(agents), 2)
        for r in pairs_of("g", who, *outcomes)
    ]
    found = [rate(results, order, 100) for order in itertools.permutations(agents)]
    assert all(other == found[0] for other in found)


def test_the_added_game_weighs_the_same_however_often_another_game_was_played() -> None:
    """Each of the games in which two agents met has its part of it."""
    found = []
    for last in (2, 200):
        numbers = {f"g{g}": 2 for g in range(7)} | {"last": last}
        results = [
            r
            for game, number in numbers.items()
            for r in pairs_of(game, ("ann", "random"), *[(1, 1)] * number)
        ]
        found.append(rate(results, ["random", "ann"], 1)[ALL]["ann"].elo)
    assert found[0] == pytest.approx(elo(32, 0), abs=0.05)
    assert found[0] < found[1] < found[0] + 40


NEW = ["random", "ann", "new"]


# ---- several games ----


def test_games_have_equal_weight_however_many_pairs_they_have() -> None:
    """Game a: 75 % of 4 games; game b: 25 % of 400. With equal weights that is about even.

    The half of the drawn game that counts in game a weighs more: (3.25 / 4.5 + 100.25 / 400.5) / 2.
    """
    a = pairs_of("a", ("ann", "random"), (1, 1), (1, -1))
    b = pairs_of("b", ("ann", "random"), *[(-1, -1), (1, -1)] * 100)
    found = rate([*a, *b], ["random", "ann"])
    share = (3.25 / 4.5 + 100.25 / 400.5) / 2
    assert found[ALL]["ann"].elo == pytest.approx(400 * math.log10(share / (1 - share)), abs=0.05)
    assert found["a"]["ann"].elo > 0 > found["b"]["ann"].elo
    assert found["b"]["ann"].elo < rate(b[:2], ["random", "ann"])["b"]["ann"].elo


def test_meetings_have_equal_weight_however_often_agents_met() -> None:
    """Ann beats Bob, Bob beats Cleo, Cleo beats Ann: even, though one of them met more often."""
    circle = [("ann", "bob"), ("bob", "cleo"), ("ann", "cleo")]
    outcomes = [(1, 0), (1, 0), (-1, 0)]
    results = [
        result
        for (first, second), outcome, often in zip(circle, outcomes, (50, 50, 500), strict=True)
        for result in pairs_of("g", (first, second), *[outcome] * often)
    ]
    anchored = [r for who in ("ann", "bob", "cleo") for r in pairs_of("g", (who, "random"), (1, 1))]
    found = rate([*results, *anchored], ["random", "ann", "bob", "cleo"], resamples=1)["g"]
    # within what a drawn game does to meetings of 100 games and 1,000; without weights it is 80
    assert found["ann"].elo == pytest.approx(found["bob"].elo, abs=1)
    assert found["ann"].elo == pytest.approx(found["cleo"].elo, abs=1)
    assert found["cleo"].games > found["bob"].games


def test_games_of_others_do_not_change_a_rating() -> None:
    """What the added drawn game weighs depends on the games of its meeting only."""
    own = pairs_of("g", ("new", "random"), (1, 1), (1, 1))
    found = [
        rate([*own, *pairs_of("g", ("ann", "random"), *[(0, 0)] * count)], NEW, resamples=1)
        for count in (2, 20, 200)
    ]
    for scope in ("g", ALL):
        for ratings in found:
            assert ratings[scope]["new"].elo == pytest.approx(elo(4, 0), abs=0.05)
            assert ratings[scope]["ann"].elo == pytest.approx(0, abs=0.05)


def test_only_those_who_play_every_game_are_rated_over_all() -> None:
    results = [
        *pairs_of("a", ("ann", "random"), (1, 1)),
        *pairs_of("a", ("ann", "bob"), (1, -1)),
        *pairs_of("b", ("ann", "random"), (1, -1)),
    ]
    found = rate(results, ["random", "ann", "bob"])
    assert set(found["a"]) == {"random", "ann", "bob"}
    assert set(found[ALL]) == {"random", "ann"}


def test_those_whom_no_games_connect_with_the_anchor_have_no_rating() -> None:
    results = [
        *pairs_of("a", ("ann", "random"), (1, 1)),
        *pairs_of("a", ("bob", "cleo"), (1, 1)),
    ]
    found = rate(results, ["random", "ann", "bob", "cleo", "dan"])
    assert set(found["a"]) == {"random", "ann"}
    assert rate([], ["random", "ann"]) == {ALL: {}}
    assert rate(results[1:], ["random", "bob", "cleo"])["a"] == {}


# ---- known strengths ----

STRENGTHS = {"random": 0.0, "a": 120.0, "b": 200.0, "c": 420.0}


def play(pairs: int, seed: int, draws: float = 0.0) -> Iterable[PairResult]:
    """Games between agents of known strengths, in Elo points; a share of them is drawn."""
    random, names = np.random.default_rng(seed), sorted(STRENGTHS)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            chance = 1 / (1 + 10 ** ((STRENGTHS[second] - STRENGTHS[first]) / 400))
            for number in range(pairs):
                won = [1 if random.random() < chance else -1 for _ in (0, 1)]
                drawn = [0 if random.random() < draws else result for result in won]
                yield pair("g", number, first, second, *drawn)


def test_the_fit_finds_known_strengths() -> None:
    found = rate(play(4000, 1), list(STRENGTHS), resamples=50)["g"]
    for name, strength in STRENGTHS.items():
        assert found[name].elo == pytest.approx(strength, abs=12)


@pytest.mark.parametrize("leagues", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_intervals_cover_the_true_strength(leagues: int) -> None:
    """In about 95 % of cases; of 120, fewer than 85 % would be a fault (five standard errors)."""
    covered, widths = [], []
    for seed in range(leagues):
        found = rate(play(30, seed), list(STRENGTHS), resamples=100)["g"]
        for name in ("a", "b", "c"):
            covered.append(found[name].low <= STRENGTHS[name] <= found[name].high)
            widths.append(found[name].high - found[name].low)
    assert 0.85 < np.mean(covered) < 1
    assert 40 < np.mean(widths) < 160


def chance_of(cell: tuple[int, int, int], strong: float, alike: float) -> float:
    """How likely it is that just these numbers of pairs are lost, split and won.

    Args:
        cell: the pairs that the first agent loses, splits and wins.
        strong: its chance to win a game.
        alike: how likely the two games of a pair have one result, whatever the chances.
    """
    won, lost = (alike * p + (1 - alike) * p * p for p in (strong, 1 - strong))
    split = max(0.0, 1 - won - lost)
    ways = math.factorial(sum(cell)) / math.prod(map(math.factorial, cell))
    return ways * float(np.prod(np.power([lost, split, won], cell)))


@pytest.mark.parametrize("alike", [0.0, 1.0])
@pytest.mark.parametrize("pairs", [2, 4])
def test_intervals_of_two_agents_cover_however_strong_one_is(pairs: int, alike: float) -> None:
    """Over all results that can be, by how likely they are."""
    covered = dict.fromkeys((0.5, 0.8, 0.97, 0.99), 0.0)
    for cell in itertools.product(range(pairs + 1), repeat=3):
        if sum(cell) != pairs or (cell[1] and alike == 1):
            continue
        outcomes = [(-1, -1)] * cell[0] + [(1, -1)] * cell[1] + [(1, 1)] * cell[2]
        results = pairs_of("g", ("ann", "random"), *outcomes)
        found = rate(results, ["random", "ann"], resamples=200, only_all=True)[ALL]["ann"]
        assert found.low < found.elo < found.high
        for strong in covered:
            true = 400 * math.log10(strong / (1 - strong))
            if found.low <= true <= found.high:
                covered[strong] += chance_of(cell, strong, alike)
    assert all(0.87 < share <= 1 + 1e-9 for share in covered.values()), covered


def test_intervals_are_as_wide_as_results_differ_where_few_pairs_of_many_games_were_played() -> (
    None
):
    """A meeting of two pairs that ended alike tells little, in each of eight games."""
    covered = []
    for seed in range(40):
        results = [
            replace(result, key=replace(result.key, game=game))
            for number, game in enumerate("abcdefgh")
            for result in play(4, 8 * seed + number)
        ]
        found = rate(results, list(STRENGTHS), resamples=60, only_all=True)[ALL]
        covered += [found[n].low <= STRENGTHS[n] <= found[n].high for n in ("a", "b", "c")]
    assert 0.86 < np.mean(covered) < 1


def test_a_rating_is_within_its_interval_where_weak_agents_never_win() -> None:
    """Over several games, with results that are as one-sided as those of search against random."""
    who = [("a", "b"), ("a", "random"), ("b", "random")]
    results = [
        pair
        for game in "ghij"
        for pairing, share in zip(who, (14, 20, 19), strict=True)
        for pair in pairs_of(game, pairing, *[(1, 1)] * share, *[(1, -1)] * (20 - share))
    ]
    found = rate(results, ["random", "a", "b"], resamples=200)[ALL]
    for name in "ab":
        rating = found[name]
        assert rating.low < rating.elo - 20 < rating.elo + 20 < rating.high


def test_a_chain_of_agents_who_win_every_game_is_rated() -> None:
    """Twenty agents, each of which has beaten only the one before."""
    agents = ["random", *(f"agent {i:02}" for i in range(19))]
    chain = [p for who in itertools.pairwise(agents) for p in pairs_of("g", who, *[(-1, -1)] * 3)]
    ratings = rate(chain, agents, 5)["g"]
    found = [ratings[agent] for agent in agents]
    assert all(a.elo < b.elo for a, b in itertools.pairwise(found))
    assert all(math.isfinite(end) for rating in found for end in (rating.low, rating.high))


def test_intervals_count_pairs_not_games() -> None:
    """Games of a pair that always end alike tell half as much as independent ones."""
    alike = pairs_of("g", ("ann", "random"), *[(1, 1), (-1, -1)] * 50)
    mixed = pairs_of("g", ("ann", "random"), *[(1, -1), (-1, 1)] * 50)
    widths = []
    for results in (alike, mixed):
        found = rate(results, ["random", "ann"])["g"]["ann"]
        widths.append(found.high - found.low)
    assert widths[0] > 3 * widths[1]
