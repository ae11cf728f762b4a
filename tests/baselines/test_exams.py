"""Exams: the files that ship, what is asked, and the statistics of the answers."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya import baselines
from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.arena import exams
from azumaya.baselines.arena.exam_results import (
    Answer,
    ExamResult,
    distance_groups,
    regret_interval,
)
from azumaya.baselines.arena.exams import PARTS, Exam, ExamError, ExamPosition, load_exam, read_exam
from azumaya.baselines.arena.intervals import difference, normal, of_pairs, wilson
from azumaya.baselines.arena.matches import answer_exam
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import SolverRooms, Solving
from azumaya.benchmarks.studies import exam_maker
from azumaya.benchmarks.studies.exam_maker import ExamPlan
from azumaya.envs import GAMES, IllegalActionError, OptionError, Position
from tests.commands import invoke

GAMES_WITH = [name for name in GAMES if exams.has_exam(name)]
SOLVED = [name for name in GAMES_WITH if load_exam(name).exact]
WANTED = 1000
"""Positions of a game in both parts."""

SMALL_TREE = (
    "8423657.1/36.187245/197.42.68/914673..2/23.8.9514/7.6521893/4782.6159/6.3498.../52973.486 d"
)
"""Dark loses with 7h2 and wins with the other moves."""


def question(plies: int, **values: float) -> ExamPosition:
    return ExamPosition(f"position {plies}", plies, values, ("random", "greedy"), 1)


def tiny() -> Exam:
    position = ExamPosition(SMALL_TREE, 3, {"2h2": 1, "7h2": -1, "7i2": 1}, ("greedy", "random"), 4)
    return Exam("azumaya/sudoku_moyo-v0", "public", 2, {}, True, (position,), {"seed": 4})


class Plays:
    """Plays a named move, or returns an action, in every position."""

    def __init__(self, move: str | int) -> None:
        self.move = move

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The move, as an action."""
        return [p.action(m) if isinstance(m := self.move, str) else m for p in positions]


# ---- statistics ----


def result(*answers: tuple[ExamPosition, str]) -> ExamResult:
    given = tuple(Answer(*answer) for answer in answers)
    return ExamResult("me", "abalone", "public", 1, 0, given)


def test_the_figures_of_an_exam_by_hand() -> None:
    """Three wins of which two are kept, two draws of which one; the mistakes cost 2, 5 and 1."""
    won, close = question(4, a=1, b=-1), question(9, a=3, b=1, c=-2, d=0)
    drawn, even = question(5, a=0, b=-1, c=0), question(10, a=0, b=0)
    found = result((won, "a"), (won, "b"), (close, "b"), (drawn, "b"), (even, "a"))
    assert found.positions == 5
    assert found.kept_wins == pytest.approx(2 / 3)
    assert found.kept_draws == 0.5
    assert found.regret == pytest.approx((0 + 2 + 2 + 1 + 0) / 5)
    assert found.kept_wins_interval == wilson(2 / 3, 3)
    assert found.kept_draws_interval == wilson(0.5, 2)
    assert found.regret_interval == regret_interval([0, 2, 2, 1, 0], 5)
    assert result((close, "d")).kept_wins == 0, "a draw does not keep a win"
    assert result((close, "c")).regret == 5
    assert result((won, "a"), (won, "b")).regret_interval[0] == 0, "regret is never negative"
    assert result((even, "a")).kept_wins is None
    assert result((won, "a")).kept_draws is None
    assert result((won, "a")).kept_draws_interval is None


def test_without_a_loss_the_interval_of_regret_says_what_few_positions_leave_open() -> None:
    """The largest loss times the upper end for a share of none in two: 3.84 / 5.84."""
    won, close = question(4, a=1, b=-1), question(9, a=3, b=1, c=-2, d=0)
    low, high = result((won, "a"), (close, "a")).regret_interval
    assert (low, high) == (0, pytest.approx(5 * 1.96**2 / (2 + 1.96**2)))
    many = result(*[(won, "a")] * 500)
    assert many.regret_interval == (0, 2 * wilson(0, 500)[1])
    assert 0.01 < many.regret_interval[1] < 0.02


def test_the_interval_of_regret_is_the_normal_one_where_mistakes_are_common() -> None:
    regrets = [0, 1, 2] * 300
    assert regret_interval(regrets, 2) == normal(regrets)


def test_the_interval_of_regret_grows_with_the_first_mistakes() -> None:
    """The normal one is wider without any than with a few, and has no width for one position."""
    highs = [regret_interval([2] * k + [0] * (500 - k), 2)[1] for k in range(6)]
    assert highs == sorted(set(highs))
    assert highs[1] == 2 * wilson(1 / 500, 500)[1]
    assert regret_interval([2], 2) == (2 * wilson(1, 1)[0], 2)
    low, high = regret_interval([1, 1, 1], 2)
    assert low == wilson(1, 3)[0] < 1 < high == 5 / 4


def test_no_more_positions_are_looked_at_than_a_game_has() -> None:
    """However far from the end they may be."""
    plan = ExamPlan(GAMES_WITH[0], {}, ("random",), 0, 0, 2, 4, 10**15, 100, 6, 3)
    history, _ = exam_maker.playout(plan, 1)
    nearer = dataclasses.replace(plan, far=len(history))
    assert exam_maker.chosen(plan, 1, history) == exam_maker.chosen(nearer, 1, history) != []


def test_positions_are_grouped_by_distance() -> None:
    answers = [(question(plies, a=1, b=-1), "b" if plies < 6 else "a") for plies in range(4, 16)]
    groups = result(*answers).by_distance()
    assert {ends: group.positions for ends, group in groups.items()} == {
        (4, 6): 3,
        (7, 9): 3,
        (10, 12): 3,
        (13, 15): 3,
    }
    assert groups[4, 6].kept_wins == pytest.approx(1 / 3)
    assert groups[13, 15].kept_wins == 1
    assert list(distance_groups(2, 2)) == [(2, 2)]
    assert list(distance_groups(1, 11)) == [(1, 3), (4, 6), (7, 9), (10, 11)]


def test_intervals_by_hand() -> None:
    """Wilson's for 8 of 10 is the textbook's 0.490 to 0.943."""
    assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(1.0, 3)[1] == 1.0
    assert wilson(0.0, 3)[0] == 0.0
    # Newcombe (1998), example (a) of his method 10
    one, other = 56 / 70, 48 / 80
    ends = difference(one, wilson(one, 70), other, wilson(other, 80))
    assert ends == pytest.approx((0.0524, 0.3339), abs=1e-4)
    low, high = normal([0, 2, 2, 1, 0])  # mean 1, standard deviation 1
    assert (low, high) == pytest.approx((1 - 1.96 / 5**0.5, 1 + 1.96 / 5**0.5))
    assert normal([3]) == (3, 3)


def test_an_interval_of_pairs_is_as_wide_as_their_results_differ() -> None:
    """Pairs of independent games are worth two games each, and one if one player wins both."""
    assert of_pairs([50, 0, 0, 0, 50]) == wilson(0.5, 100)
    assert of_pairs([25, 0, 50, 0, 25]) == pytest.approx(wilson(0.5, 200), abs=1e-3)
    assert of_pairs([0, 0, 100, 0, 0]) == pytest.approx((0.490, 0.510), abs=1e-3)
    assert of_pairs([0, 0, 0, 0, 30]) == wilson(1, 30)


@pytest.mark.parametrize(
    "chances",
    [
        pytest.param((0.25, 0, 0.5, 0, 0.25), id="independent games"),
        pytest.param((0.49, 0, 0.02, 0, 0.49), id="one player wins both"),
        pytest.param((0.05, 0, 0.9, 0, 0.05), id="one seat wins both"),
        pytest.param((0.1, 0.2, 0.4, 0.2, 0.1), id="draws"),
        pytest.param((0.01, 0, 0.1, 0, 0.89), id="strong"),
    ],
)
@pytest.mark.parametrize("count", [20, 200])
def test_intervals_of_pairs_cover_the_true_share(chances: tuple[float, ...], count: int) -> None:
    share = np.dot(chances, range(5)) / 4
    drawn = np.random.default_rng(0).multinomial(count, chances, 2000)
    covered = [low <= share <= high for low, high in map(of_pairs, drawn.tolist())]
    assert np.mean(covered) > 0.92


# ---- taking an exam ----


def test_an_exam_says_what_a_move_costs() -> None:
    assert answer_exam(Plays("7i2"), tiny()).kept_wins == 1
    found = answer_exam(Plays("7h2"), tiny(), seed=5)
    assert (found.kept_wins, found.regret) == (0, 2)
    assert (found.agent, found.game, found.part, found.version) == (
        "Plays", "sudoku_moyo", "public", 2,
    )  # fmt: skip
    assert found.as_object()["seed"] == 5
    assert found.as_object()["by_distance"][0]["plies_left"] == [3, 3]


@pytest.mark.parametrize("action", [0, 10**6, -1, "x", None, 1.5])
def test_illegal_moves_are_refused_by_name(action: object) -> None:
    class Wrong:
        name = "wrong"

        def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[object]:
            return [action] * len(positions)

    with pytest.raises(IllegalActionError, match="wrong's "):
        answer_exam(Wrong(), tiny())  # type: ignore[arg-type]


def test_an_exam_without_positions_is_refused() -> None:
    empty = dataclasses.replace(tiny(), positions=())
    with pytest.raises(ExamError, match=r"^exam of azumaya/sudoku_moyo-v0: it has no positions"):
        answer_exam("random", empty)


def test_agents_that_are_none_and_exams_that_do_not_exist() -> None:
    with pytest.raises(OptionError, match="agent=3: must be an agent"):
        answer_exam(3, tiny())  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="agent 'nope'"):
        answer_exam("nope", tiny())
    with pytest.raises(OptionError, match="no such game"):
        load_exam("nope")
    with pytest.raises(OptionError, match="part='secret': must be one of public, held-out"):
        load_exam(GAMES_WITH[0], "secret")  # type: ignore[arg-type]
    with pytest.raises(ExamError, match="has no exam"):
        load_exam("sudoku_moyo_match")
    with pytest.raises(OptionError, match="seed=-1"):
        answer_exam("random", tiny(), seed=-1)


def test_values_must_fit_the_legal_moves() -> None:
    (position,) = tiny().positions
    for values in ({"2h2": 1}, {"2h2": 1, "7h2": -1, "7i2": 1, "1a1": 1}):
        wrong = dataclasses.replace(position, values=values)
        with pytest.raises(ExamError, match="its values are not those of its moves"):
            answer_exam("random", dataclasses.replace(tiny(), positions=(wrong,)))


# ---- files ----


def test_an_exam_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "exam"
    path.write_bytes(exams.exam_bytes(tiny()))
    assert read_exam(path) == tiny()
    assert exams.exam_bytes(tiny()) == exams.exam_bytes(tiny())
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert lines[1]["values"] == {"1": ["2h2", "7i2"], "-1": ["7h2"]}


def test_values_that_look_alike_stay_apart(tmp_path: Path) -> None:
    """Estimates of a long search may differ by less than six digits show."""
    values = {"2h2": 0.1234567, "7h2": 0.1234568, "7i2": 12345678}
    position = dataclasses.replace(tiny().positions[0], values=values)
    exam = dataclasses.replace(tiny(), positions=(position,), exact=False)
    path = tmp_path / "exam"
    path.write_bytes(exams.exam_bytes(exam))
    assert read_exam(path) == exam


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("game", GAMES_WITH)
def test_shipped_exams_are_written_as_they_are_stored(game: str, part: str) -> None:
    stored = gzip.decompress(exams.exam_file(game, part).read_bytes())  # type: ignore[arg-type]
    assert gzip.decompress(exams.exam_bytes(load_exam(game, part))) == stored  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"part":"public"', '"part":"secret"'),
        ('"7h2"', '"2h2"'),
        ('"-1":', '"one":'),
        ('"version":2,', ""),
        ("{", "["),
        ('{"1":["2h2","7i2"],"-1":["7h2"]}', "[]"),
        ('["2h2","7i2"]', '"ab"'),
        ('["2h2","7i2"]', '[["2h2"],"7i2"]'),
        ('"-1":', '"nan":'),
        ('"seed":4', '"seed":Infinity'),
        ('"plies_left":3', '"plies_left":Infinity'),
        ('"plies_left":3', '"plies_left":null'),
        ('"players":["greedy","random"]', '"players":["greedy"]'),
        ('"options":{}', '"options":[1]'),
        ('"game":"azumaya/sudoku_moyo-v0"', '"game":null'),
        ('"exact":true', '"exact":"no"'),
        ('"made":', f'"deep":{"[" * 100_000},"made":'),
    ],
)
def test_damaged_exams_are_refused(tmp_path: Path, old: str, new: str) -> None:
    path, content = tmp_path / "exam", gzip.decompress(exams.exam_bytes(tiny()))
    assert old.encode() in content
    path.write_bytes(gzip.compress(content.replace(old.encode(), new.encode())))
    with pytest.raises(ExamError, match="the exam is damaged"):
        read_exam(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "azumaya/nope-v0"}, "no such game"),
        ({"options": {"nope": 1}}, "nope"),
        ({"positions": (question(3, a=1),)}, "the board has 1 rows"),
    ],
)
def test_positions_that_no_game_has_are_refused(change: dict[str, Any], message: str) -> None:
    wrong = dataclasses.replace(tiny(), **change)
    with pytest.raises(ExamError, match=f"^exam of azumaya/.*: position 0: .*{message}"):
        wrong.start(0)
    with pytest.raises(ExamError, match=r"^exam of"):
        answer_exam("random", wrong)


def test_only_an_exam_can_be_answered() -> None:
    for other in ("sudoku_moyo", None):
        with pytest.raises(OptionError, match=r"^exam=.*: an Exam is needed, such as load_exam"):
            answer_exam("random", other)  # type: ignore[arg-type]


def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "exam"
    with pytest.raises(ExamError, match="there is no such exam"):
        read_exam(str(path))
    for version in (2, 3):
        exam = dataclasses.replace(tiny(), version=version)
        path.write_bytes(exams.exam_bytes(exam))
        assert read_exam(str(path)) == exam
    assert load_exam("sudoku_moyo") is load_exam("sudoku_moyo"), "those of the package are kept"


def test_files_that_are_no_exams_are_refused(tmp_path: Path) -> None:
    content = exams.exam_bytes(tiny())
    first_line = gzip.compress(gzip.decompress(content).splitlines()[0])
    for number, wrong in enumerate((b"", b"no gzip", content[:-20], first_line)):
        path = tmp_path / str(number)
        path.write_bytes(wrong)
        with pytest.raises(ExamError, match="the exam is damaged"):
            read_exam(path)


def test_what_follows_an_exam_in_its_file_is_not_read_for_hours(tmp_path: Path) -> None:
    """Zeros at the end of a gzip file are skipped one by one."""
    path = tmp_path / "exam"
    path.write_bytes(exams.exam_bytes(tiny()))
    os.truncate(path, 100 << 20)
    with pytest.raises(ExamError, match="exam: larger than"):
        read_exam(path)


def test_an_exam_that_unpacks_to_more_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exams, "LARGEST", 10)
    (tmp_path / "exam").write_bytes(exams.exam_bytes(tiny()))
    with pytest.raises(ExamError, match=r"exam: larger than 10 bytes$") as caught:
        read_exam(tmp_path / "exam")
    assert "damaged" not in str(caught.value)


# ---- what ships ----


def wrong_values(exam: Exam, numbers: Sequence[int]) -> list[int]:
    """The numbers of those positions whose values the solver refutes."""
    wrong, rooms = [], SolverRooms(kernels_of(exam.start(0)), 64)
    for number in numbers:
        position = exam.start(number)
        search = Solving(rooms.suited(position), position)
        search.run(10**8)
        found = search.solution()
        assert found.solved, str(position)
        values = {position.move_name(action): gain for action, gain in found.moves.items()}
        if values != exam.positions[number].values:
            wrong.append(number)
    return wrong


def sample(exam: Exam, count: int) -> list[int]:
    return list(range(0, len(exam.positions), -(-len(exam.positions) // count)))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("game", GAMES_WITH)
def test_shipped_exams_are_whole(game: str, part: str) -> None:
    exam = load_exam(game, PARTS[PARTS.index(part)])  # type: ignore[arg-type]
    assert (exam.part, exam.game) == (part, GAMES[game].id)
    assert len({p.position for p in exam.positions}) == len(exam.positions)
    for number, each in enumerate(exam.positions):
        position = exam.start(number)
        assert set(each.values) == set(position.legal_moves())
        assert str(position) == each.position
        assert exam_maker.interesting(list(each.values.values()))


@pytest.mark.parametrize("game", GAMES_WITH)
def test_the_parts_come_from_different_games(game: str) -> None:
    public, held_out = (load_exam(game, part) for part in PARTS)
    assert len(public.positions) + len(held_out.positions) == WANTED
    for name in ("position", "seed"):
        one, other = ({getattr(p, name) for p in exam.positions} for exam in (public, held_out))
        assert not one & other
    assert public.made == held_out.made


@pytest.mark.parametrize("game", GAMES_WITH)
def test_the_parts_come_from_different_starts(game: str) -> None:
    """The start of each game belongs to the part that its positions are in."""
    for part in PARTS:
        exam = load_exam(game, part)
        plan = ExamPlan(**exam.made["plan"])
        for number in sample(exam, 12):
            assert (
                exam_maker.part_of(exam_maker.start_of(plan, exam.positions[number].seed)) == part
            )


@pytest.mark.parametrize(
    ("game", "step"),
    [(SOLVED[0], 12), *(pytest.param(game, 1, marks=pytest.mark.slow) for game in SOLVED)],
)
def test_shipped_values_are_right_and_a_wrong_one_is_caught(game: str, step: int) -> None:
    """Some of one game, and nightly all: a fault in the solver once let a wrong one through."""
    for number, part in enumerate(PARTS):
        exam = load_exam(game, part)
        assert wrong_values(exam, range(number % step, len(exam.positions), step)) == []
    planted, numbers = exam.positions[0], sample(exam, 4)
    move = next(iter(planted.values))
    values = {**planted.values, move: -planted.values[move] or 1}
    positions = (dataclasses.replace(planted, values=values), *exam.positions[1:])
    assert wrong_values(dataclasses.replace(exam, positions=positions), numbers) == [0]


@pytest.mark.parametrize("game", GAMES_WITH)
def test_random_play_keeps_its_share(game: str) -> None:
    """Four standard deviations around the expectation, which follows from the values."""
    exam = load_exam(game)
    found = baselines.take_exam(RandomAgent(), game, seed=3)
    chances = [len(p.kept) / len(p.values) for p in exam.positions]
    kept = sum(answer.kept for answer in found.answers)
    spread = sum(p * (1 - p) for p in chances) ** 0.5
    assert abs(kept - sum(chances)) < 4 * spread
    assert found == baselines.take_exam("random", game, seed=3)
    assert found != baselines.take_exam("random", game, seed=4)


def test_answers_do_not_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    game = GAMES_WITH[0]
    exam = dataclasses.replace(load_exam(game), positions=load_exam(game).positions[:30])
    whole = answer_exam(GreedyAgent(), exam, seed=1)
    monkeypatch.setattr("azumaya.baselines.arena.exam_results.BATCH", 7)
    told: list[int] = []
    assert answer_exam(GreedyAgent(), exam, 1, told.append) == whole
    assert told == [7, 7, 7, 7, 2]


# ---- the maker ----

PLAN = ExamPlan("sudoku_moyo", {}, ("random", "greedy"), 0, 0, 4, 2, 8, 10**5, 8, 2)


def test_positions_are_solved_and_interesting() -> None:
    line = next(line for line in map(PLAN, range(50)) if line["positions"])
    assert PLAN(line["seed"]) == line
    for found in line["positions"]:
        assert exam_maker.interesting(list(found["values"].values()))
        assert 2 <= found["plies_left"] <= 8
        assert not Position("sudoku_moyo", position=found["position"]).is_over


def test_games_with_one_start_are_divided_by_their_openings() -> None:
    """Otherwise one part would get every position, and the other would never be full."""
    alike = {game for game in GAMES if exam_maker.fewest_plies(GAMES[game], {}) > 0}
    assert alike == {"vierer_dominari", "score_dominari", "abalone"}


def test_what_is_interesting_by_hand() -> None:
    assert exam_maker.interesting([1, -1])
    assert exam_maker.interesting([0, -1])
    assert exam_maker.interesting([3, 1, 0, 0, 0])  # two of five win
    assert not exam_maker.interesting([1, 1, 1, -1, -1])  # three of five
    assert not exam_maker.interesting([0, 0, -1])
    assert not exam_maker.interesting([-1, -1])
    assert not exam_maker.interesting([-1, -2])


def test_a_position_too_hard_to_solve_is_left_out() -> None:
    start = Position("sudoku_moyo", seed=1)
    assert exam_maker.question(dataclasses.replace(PLAN, nodes=100), start, 40) is None


def test_playouts_mix_the_agents() -> None:
    pairs = {exam_maker.playout(PLAN, seed)[1] for seed in range(20)}
    assert pairs == {(a, b) for a in PLAN.agents for b in PLAN.agents}


command = functools.partial(invoke, exam_maker.make_exam)


def test_the_command_makes_an_exam_and_continues(tmp_path: Path) -> None:
    words = ["--game", "sudoku_moyo", "--agent", "random", "--far", 6, "--near", 2]
    words += ["--nodes", 50_000, "--work", tmp_path, "--output", tmp_path]
    assert command(*words, "--positions", 1).exit_code == 0
    made = {part: read_exam(tmp_path / exams.exam_file("sudoku_moyo", part).name) for part in PARTS}
    assert [len(exam.positions) for exam in made.values()] == [1, 1]
    assert made["public"].made["plan"]["far"] == 6
    assert command(*words, "--positions", 2).exit_code == 0
    for part in PARTS:
        more = read_exam(tmp_path / exams.exam_file("sudoku_moyo", part).name)
        assert more.positions[:1] == made[part].positions
        assert len(more.positions) == 2
    before = (tmp_path / exams.exam_file("sudoku_moyo", "public").name).read_bytes()
    assert command(*words, "--positions", 2, "--finish").exit_code == 0
    assert (tmp_path / exams.exam_file("sudoku_moyo", "public").name).read_bytes() == before
    wrong = command(*words, "--nodes", 1)
    assert wrong.exit_code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--game", "sudoku_moyo", "--near", 9, "--far", 4), "--near 9: must not be above --far 4"),
        (("--game", "sudoku_moyo", "--agent", "gredy"), "agent 'gredy': must be random"),
        (("--game", "sudoku_moyo", "--agent", "uct:10ms"), "agent 'uct:10ms': searches for a time"),
        (("--game", "sudoku_moyo", "--agent", "champion:10ms"), "give a number of steps instead"),
        (("--game", "sudoku_moyo", "--agent", "uct:many"), "agent 'uct:many': write uct:1000"),
        (("--game", "sudoku_tiles"), "hidden from both players"),
    ],
)
def test_what_cannot_be_made_is_said_before_any_work(
    tmp_path: Path, words: tuple[object, ...], message: str
) -> None:
    found = command(*words, "--work", tmp_path / "work")
    assert found.exit_code == 2
    assert message in " ".join(found.output.replace("│", " ").split()), found.output
    assert not (tmp_path / "work").exists()


def test_a_position_found_twice_counts_once() -> None:
    """It belongs to the first game that has it, and to no other part."""
    one, two, three = ({"position": text, "plies_left": 4, "values": {}} for text in "abc")
    lines = [
        {"seed": 0, "part": "public", "players": ["x", "y"], "positions": [one, two]},
        {"seed": 1, "part": "held-out", "players": ["x", "y"], "positions": [one, three]},
        {"seed": 2, "part": "public", "players": ["y", "x"], "positions": [two]},
    ]
    settings = {"plan": {"game": "sudoku_moyo", "options": {}}}
    count = exam_maker.smaller_part()
    assert [count(line) for line in lines] == [0, 1, 1]
    taken = {
        part: [p.position for p in exam_maker.exam_of(settings, lines, part, 9, 1).positions]
        for part in PARTS
    }
    assert taken == {"public": ["a", "b"], "held-out": ["c"]}
