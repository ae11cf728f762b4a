"""The costliest moves of a submission: true by exhaustive search, and drawn."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from functools import cache

import pytest

from azumaya.baselines.agents.names import find_agent
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.classroom.confine import Isolation
from azumaya.baselines.classroom.games import play_both_seats
from azumaya.baselines.classroom.grading import Plan
from azumaya.baselines.classroom.marks import Scheme, mark_class
from azumaya.baselines.classroom.mistakes import MOST, find_mistakes, games_of, position_of
from azumaya.baselines.classroom.pictures import Pictures
from azumaya.baselines.classroom.report import Report, report_page
from azumaya.baselines.classroom.store import Meeting, Mistake, Run, played_in
from azumaya.baselines.classroom.submissions import Submission
from azumaya.baselines.search.solver import solve
from azumaya.baselines.system.threads import StoppedError
from azumaya.envs.render.palette import BETTER, LAST

GAME = "vierer_dominari"
AGAINST = ("random", "greedy")
FILE = Submission("a.py", b"")


@cache
def random_run(game: str = GAME) -> Run:
    """What a random mover has played."""
    starts, agents = start_set(game, None, 1), [find_agent(name) for name in AGAINST]
    return Run(FILE.id, meetings=tuple(
        Meeting(FILE.id, opponent, n, play_both_seats(starts, n, [agents[0], agent], 0.0))
        for n in range(2)
        for opponent, agent in zip(AGAINST, agents, strict=True)
    ))  # fmt: skip


@cache
def found(game: str = GAME) -> tuple[Mistake, ...]:
    return find_mistakes(random_run(game), AGAINST, game, threading.Event())


@pytest.mark.parametrize("game", [GAME, "score_dominari"])
def test_what_is_proven_is_true(game: str) -> None:
    proven = [each for each in found(game) if each.exact]
    assert proven
    for each in proven:
        played = played_in(random_run(game), each)
        position = position_of(each, played)
        assert position.to_move == played.seat
        values, before = (
            solve(position, nodes=20_000_000).moves,
            position.returns()[position.to_move],
        )
        best = max(value for value in values.values() if value is not None)
        action = position.action(played.record.moves[each.ply])
        assert values[position.action(each.better)] == best == each.before - before
        assert values[action] == each.after - before < best


def test_few_are_kept_and_always_the_same() -> None:
    assert find_mistakes(random_run(), AGAINST, GAME, threading.Event()) == found()
    assert 1 < len(found()) <= MOST
    proven = [each.exact for each in found()]
    assert proven == sorted(proven, reverse=True)
    places = {(m.opponent, m.number, m.seat, m.ply) for m in found()}
    assert len(places) == len(found())
    assert len({place[:3] for place in places}) > 1  # not all from one game


def test_lost_games_are_looked_at_first() -> None:
    results = [game.played.result for game in games_of(random_run(), AGAINST)]
    assert len(results) == 8
    assert results == sorted(results)
    assert {game.opponent for game in games_of(random_run(), ("greedy",))} == {"greedy"}


def test_where_draws_are_hidden_luck_is_not_taken_for_a_mistake() -> None:
    assert (
        find_mistakes(random_run("sudoku_tiles"), AGAINST, "sudoku_tiles", threading.Event()) == ()
    )


def test_a_review_can_be_stopped() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError):
        find_mistakes(random_run(), AGAINST, GAME, stop)


# ---- pictures ----


def page_with(mistakes: tuple[Mistake, ...]) -> str:
    """A report on the random mover alone."""
    run = random_run()
    marked = mark_class([FILE], {run.id: run}, [], GAME, None, Scheme())
    plan = Plan(GAME, opponents=AGAINST)
    return report_page(Report(marked, [], plan, Scheme(), Isolation(), {run.id: mistakes}))


def test_mistakes_are_drawn_with_the_better_move() -> None:
    page = page_with(found())
    figures = re.findall(r"<figure>.*?</figure>", page)
    assert len(figures) == len(found())
    (kept,) = re.findall(r'<svg class="azc-shared".*?</svg>', page)
    shared = dict(re.findall(r'<g id="(azc-\d+)">(.*?)</g>(?=<g id|</defs>)', kept))
    for figure, each in zip(figures, found(), strict=True):
        move = played_in(random_run(), each).record.moves[each.ply]
        drawn = re.sub(r'<use href="#([^"]+)"/>', lambda use: shared[use[1]], figure)
        assert LAST in drawn
        assert BETTER in drawn
        assert "stroke-dasharray" in drawn  # what was played, also without colours
        assert f"Move {each.ply + 1} of a game" in figure
        assert f"{move} turns a " in figure or f"{move} lowers the value" in figure
        assert each.better in figure
    assert {*re.findall(r'<use href="#([^"]+)"', page)} == {*shared}
    assert page.count('class="azc-key"') == 1


def test_a_report_without_mistakes_has_no_legend() -> None:
    page = page_with(())
    assert "azc-key" not in page.split("</style>")[1]
    assert "<figure>" not in page


def test_an_estimate_is_called_one() -> None:
    each = replace(found()[0], exact=False, before=0.375, after=-0.5)
    page = page_with((each,))
    assert "lowers the value from +0.38 to -0.50: a swing of 0.88, by the estimate" in page


def test_pictures_of_many_submissions_stay_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("azumaya.baselines.classroom.pictures.MOST", 2)
    runs = [replace(random_run(), id=f"{name}.py@1") for name in "ab"]
    pictures = Pictures([(run, found()) for run in runs])
    assert [pictures.of(run).count("<figure>") for run in runs] == [1, 1]
