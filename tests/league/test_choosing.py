"""The most informative pairs are played until intervals are narrow; agents are only strengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from azumaya.baselines.arena.league import choosing, league
from azumaya.baselines.arena.league.cards import CHANGED, AgentCard
from azumaya.baselines.arena.league.choosing import FIRST_ROUND, odds_of
from azumaya.baselines.arena.league.crew import Outcome, PairJob, Unplayed
from azumaya.baselines.arena.league.league import play_league
from azumaya.baselines.arena.league.ratings import ALL, POINTS, Rating, rate
from azumaya.baselines.arena.league.results import LeagueFile, PairKey, PairResult
from azumaya.baselines.arena.league.schedule import Plan, missing

GAMES = ("abalone", "vierer_dominari")
STRENGTHS = {"random": 0.0, "weak": 150.0, "middle": 250.0, "good": 420.0, "slow": 450.0}
SECONDS = {"random": 0.0, "weak": 0.01, "middle": 0.01, "good": 0.05, "slow": 4.0}
PLAN = Plan(GAMES, pairs=2000, interval=38)
SHORT = replace(PLAN, interval=60)


def result_of(job: PairJob) -> PairResult:
    """Two games between known strengths; the same job always has the same result."""
    key = job.key
    seed = f"{key.game}{key.number}{key.first}{key.second}".encode()
    random = np.random.default_rng(list(seed))
    chance = 1 / (1 + 10 ** ((STRENGTHS[key.second] - STRENGTHS[key.first]) / 400))
    won = tuple(1 if random.random() < chance else -1 for _ in (0, 1))
    times = tuple(1000 * SECONDS[who] for who in (key.first, key.second))
    return PairResult(key, (won[0], won[1]), (9, 9), (9, 9), (times[0], times[1]))


def crew(jobs: Iterable[PairJob], at_once: int = 2) -> Iterator[PairResult]:
    """Plays some pairs at once: a result comes when the next pairs have been begun."""
    running: list[PairJob] = []
    for job in jobs:
        running.append(job)
        if len(running) == at_once:
            yield result_of(running.pop(0))
    yield from map(result_of, running)


def league_of(path: Path, names: Iterable[str] = STRENGTHS) -> LeagueFile:
    file = LeagueFile(path)
    for name in names:
        file.add_card(AgentCard(name, "built in", "", None, GAMES))
    return file


@pytest.fixture(autouse=True)
def _all_can_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(league, "sitting_out", lambda cards: {})


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Iterator[LeagueFile]:
    file = league_of(tmp_path / "league.jsonl")
    yield file
    file.close()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LeagueFile]:
    """A league that has been played as planned; tests only read it."""
    file = league_of(tmp_path_factory.mktemp("played") / "league.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(league, "sitting_out", lambda cards: {})
        play_league(file, PLAN, crew)
    yield file
    file.close()


def ratings(file: LeagueFile) -> dict[str, Rating]:
    return rate(file.league.in_order(), list(file.league.cards), only_all=True)[ALL]


def half_widths(file: LeagueFile) -> list[float]:
    return [(found.high - found.low) / 2 for found in ratings(file).values()]


def seconds(pairs: Iterable[PairResult]) -> float:
    return sum(sum(pair.milliseconds) for pair in pairs) / 1000


def test_games_are_played_until_no_interval_is_wider(played: LeagueFile) -> None:
    assert 0.8 * 38 < max(half_widths(played)) <= 38
    for name, found in ratings(played).items():
        assert found.elo == pytest.approx(STRENGTHS[name], abs=90)


@pytest.mark.slow
def test_many_processes_may_begin_more_than_the_first_round(
    file: LeagueFile, tmp_path: Path
) -> None:
    few = league_of(tmp_path / "few.jsonl")
    play_league(file, SHORT, lambda jobs: crew(jobs, 64))
    play_league(few, SHORT, crew)
    assert max(half_widths(file)) <= 60
    assert len(file.league.pairs) < 1.3 * len(few.league.pairs)
    few.close()


def test_a_crew_may_begin_everything_before_any_game_has_ended(
    file: LeagueFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each number of a pair is looked at once, however many there are."""
    looked: list[tuple[object, ...]] = []
    monkeypatch.setattr(
        choosing, "PairKey", lambda *given: (looked.append(given), PairKey(*given))[1]
    )
    play_league(file, replace(PLAN, interval=200, pairs=10), lambda jobs: crew(jobs, 10**6))
    assert len(file.league.pairs) == 10 * len(GAMES) * 10 == len(looked) == len({*looked})


def test_a_share_says_less_about_ratings_between_unequal_agents(played: LeagueFile) -> None:
    """The information in a share is its chance of winning times that of losing."""
    for name, middle in (("weak", 0.3), ("slow", 0.07)):
        who = {"random", name}
        pairs = played.league.in_order()
        results = [pair for pair in pairs if {pair.key.first, pair.key.second} == who]
        odds = odds_of(results, sorted(who), GAMES, set())
        assert odds is not None
        chance = 1 / (1 + 10 ** (ratings(played)[name].elo / 400))
        assert chance == pytest.approx(middle, abs=0.1)
        effect = odds.effect[:, odds.agents.index(name)]
        told = len(GAMES) * chance * (1 - chance)
        assert effect == pytest.approx((POINTS / told) ** 2, rel=0.5)


def test_it_takes_less_time_than_playing_all_against_all(
    played: LeagueFile, tmp_path: Path
) -> None:
    spent, other = seconds(played.league.pairs.values()), league_of(tmp_path / "other.jsonl")
    one_round = seconds(map(result_of, missing(other.league, replace(PLAN, pairs=1))))
    play_league(other, replace(PLAN, pairs=round(spent / one_round), interval=None), crew)
    assert seconds(other.league.pairs.values()) == pytest.approx(spent, rel=0.1)
    assert max(half_widths(other)) > 1.2 * max(half_widths(played))
    other.close()


def test_slow_agents_play_least_and_the_anchor_of_all_ratings_most(played: LeagueFile) -> None:
    pairs = Counter(who for key in played.league.pairs for who in (key.first, key.second))
    *others, slowest = [who for who, _ in pairs.most_common()]
    assert others[0] == "random"
    assert slowest == "slow"
    assert pairs["slow"] < 0.6 * pairs["good"]


def test_a_league_that_was_stopped_goes_on(file: LeagueFile) -> None:
    def some(jobs: Iterable[PairJob]) -> Iterator[PairResult]:
        for count, result in enumerate(crew(jobs)):
            if count == 150:
                return
            yield result

    play_league(file, SHORT, some)
    before = set(file.league.pairs)
    assert len(before) == 150
    begun: list[PairKey] = []

    def noted(jobs: Iterable[PairJob]) -> Iterator[PairResult]:
        for result in crew(jobs):
            begun.append(result.key)
            yield result

    play_league(file, SHORT, noted)
    assert max(half_widths(file)) <= 60
    assert len(begun) == len(set(begun)) == len(file.league.pairs) - 150
    assert not before & set(begun)
    play_league(file, SHORT, noted)
    assert len(begun) == len(file.league.pairs) - 150


def test_only_a_newcomers_games_and_its_interval_count(tmp_path: Path) -> None:
    file = league_of(tmp_path / "league.jsonl", [name for name in STRENGTHS if name != "good"])
    play_league(file, replace(PLAN, pairs=20, interval=None), crew)
    before = set(file.league.pairs)
    file.add_card(AgentCard("good", "built in", "", None, GAMES))
    play_league(file, replace(SHORT, only=frozenset({"good"})), crew)
    new = set(file.league.pairs) - before
    assert new
    assert all("good" in (key.first, key.second) for key in new)
    found = ratings(file)["good"]
    assert (found.high - found.low) / 2 <= 60 < max(half_widths(file))
    file.close()


@pytest.mark.parametrize("change", [{"pairs": 4}, {"pairs": 1}, {"minutes": 0}])
def test_pairs_and_minutes_are_limits_as_well(change: dict[str, int], file: LeagueFile) -> None:
    play_league(file, replace(PLAN, **change), crew)
    meetings = len(GAMES) * len(STRENGTHS) * (len(STRENGTHS) - 1) // 2
    assert len(file.league.pairs) == meetings * change.get("pairs", 0)


@pytest.fixture
def narrow(file: LeagueFile, monkeypatch: pytest.MonkeyPatch) -> str:
    """An agent of the league that plays only one of its games."""
    file.add_card(AgentCard("narrow", "built in", "", None, GAMES[:1]))
    monkeypatch.setitem(STRENGTHS, "narrow", 200.0)
    monkeypatch.setitem(SECONDS, "narrow", 0.01)
    return "narrow"


@pytest.mark.parametrize("newcomer", [False, True])
def test_agents_that_lack_a_game_play_the_first_round_only(
    newcomer: bool, file: LeagueFile, narrow: str
) -> None:
    """No interval over all games waits for them."""
    only = frozenset({narrow}) if newcomer else SHORT.only
    play_league(file, replace(SHORT, only=only), crew)
    met = [key for key in file.league.pairs if narrow in (key.first, key.second)]
    assert len(met) == FIRST_ROUND * 5
    if newcomer:
        assert len(file.league.pairs) == len(met)
    else:
        assert narrow not in ratings(file)
        assert max(half_widths(file)) <= 60


def test_intervals_do_not_wait_for_agents_that_sit_out(
    file: LeagueFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is known to sit out from the beginning, another one is found out during its games."""
    first = replace(PLAN, pairs=3, interval=None)
    play_league(file, first, crew)
    before = set(file.league.pairs)
    file.add_card(AgentCard("new", "built in", "", None, GAMES))
    monkeypatch.setattr(league, "sitting_out", lambda cards: {"weak": CHANGED})

    def without_new(jobs: Iterable[PairJob]) -> Iterator[Outcome]:
        for job in jobs:
            unfit = "new" in job.agents
            yield Unplayed(job.key, "new", "cannot be made") if unfit else result_of(job)

    with pytest.warns(UserWarning, match="^(weak|new) sits out: ") as told:
        play_league(file, SHORT, without_new)
    assert [str(w.message).partition(" ")[0] for w in told] == ["weak", "new"]
    played = {who for key in set(file.league.pairs) - before for who in (key.first, key.second)}
    assert played == STRENGTHS.keys() - {"weak"}
    known = [p for p in file.league.in_order() if "weak" not in (p.key.first, p.key.second)]
    found = rate(known, [name for name in STRENGTHS if name != "weak"], only_all=True)[ALL]
    assert 0.7 * 60 < max((r.high - r.low) / 2 for r in found.values()) <= 60
    assert ratings(file)["weak"].games == 3 * 2 * 2 * 4
