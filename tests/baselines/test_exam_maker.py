"""How exams are made: which positions, of which part, and the command."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

import pytest

from azumaya.baselines.arena import exams
from azumaya.baselines.arena.exams import PARTS, read_exam
from azumaya.benchmarks.studies import exam_maker
from azumaya.benchmarks.studies.exam_maker import ExamPlan
from azumaya.envs import GAMES, Position
from tests.commands import invoke, refused

PLAN = ExamPlan("sudoku_moyo", {}, ("random", "greedy"), 0, 0, 4, 2, 8, 10**5, 8, 2)


def test_no_more_positions_are_looked_at_than_a_game_has() -> None:
    """However far from the end they may be."""
    plan = ExamPlan("sudoku_moyo", {}, ("random",), 0, 0, 2, 4, 10**15, 100, 6, 3)
    history, _ = exam_maker.playout(plan, 1)
    nearer = dataclasses.replace(plan, far=len(history))
    assert exam_maker.chosen(plan, 1, history) == exam_maker.chosen(nearer, 1, history) != []


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
    files = {part: tmp_path / exams.exam_file("sudoku_moyo", part).name for part in PARTS}
    made = {part: read_exam(file) for part, file in files.items()}
    assert [len(exam.positions) for exam in made.values()] == [1, 1]
    assert made["public"].made["plan"]["far"] == 6
    assert command(*words, "--positions", 2).exit_code == 0
    for part in PARTS:
        more = read_exam(files[part])
        assert more.positions[:1] == made[part].positions
        assert len(more.positions) == 2
    before = files["public"].read_bytes()
    assert command(*words, "--positions", 2, "--finish").exit_code == 0
    assert files["public"].read_bytes() == before
    refused(command(*words, "--nodes", 1))


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
    refused(command(*words, "--work", tmp_path / "work"), message)
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
