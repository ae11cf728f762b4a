"""Sets of Connect Four positions: the recipe, the solver's scores, and the command.

The scores of positions are from Pascal Pons's test sets. Those of all moves are from his solver,
https://connect4.gamesolver.org/solve?pos=14254, and others have published them. The digits are
columns, from 1; None is a full column.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from azumaya.baselines.arena.exams import read_exam
from azumaya.baselines.cli.exam import exam as take
from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import Solution, Solving, solve
from azumaya.benchmarks.studies import four_sets
from azumaya.benchmarks.yardstick.connect_four_score import GAME
from azumaya.envs import Position
from tests.commands import invoke
from tests.search.minimax import Minimax
from tests.search.test_known_values import EARLY, LATE, after

MOVES = {
    "5512243243536": [-3, 4, 12, 13, 8, -3, -2],
    "22144426444": [0, 2, 0, None, 15, 2, 0],
    "45713322723": [4, 14, 4, 15, 3, -2, 0],
    "5554224333234511764415115": [-8, -8, -8, -8, None, 4, -8],
    "52753311433677442422121": [2, 3, 7, 7, 8, 7, 2],
    "122435527534575161761": [-1, 0, 10, 10, -2, -2, -2],
    "5533212164224336233241461": [-8, None, None, 3, -8, -8, -8],
    "72276133256716235275764": [-2, -2, 7, 7, -2, 6, -2],
    "33532452223727716571436": [-9, -9, -9, 9, -9, -9, -9],
    "67152117737262713366376314254": [-5, -5, -5, -1, 6, -5, None],
    "12156756715535615116237724723": [None, -2, -2, -6, None, -2, -2],
    "26512741647245111351472255277": [None, None, -5, -6, -6, -6, -6],
    "2252576253462244111563365343671351441": [None, None, None, None, None, -1, -2],
}


def scored(columns: str) -> Solution:
    """The scores of the position after some moves."""
    position = Position.from_text(GAME, str(after(columns)))
    search = Solving(Room(kernels_of(position), 16), position)
    while not search.finished:
        search.run(100_000)
    return search.solution()


@pytest.mark.parametrize("columns", LATE)
def test_scores_near_the_end(columns: str) -> None:
    """By minimax, as the solver is compiled anew for these rules."""
    gains = Minimax(10**6).gains(Position.from_text(GAME, str(after(columns))))
    assert max(gains.values()) == LATE[columns]


@pytest.mark.slow
@pytest.mark.parametrize("columns", MOVES)
def test_scores_of_all_moves(columns: str) -> None:
    moves = scored(columns).moves
    assert [moves.get(action) for action in range(7)] == MOVES[columns]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [*LATE, *(c for c in EARLY if len(c) > 11)])
def test_scores_of_positions(columns: str) -> None:
    assert scored(columns).value == {**LATE, **EARLY}[columns]


@pytest.mark.parametrize(
    ("columns", "score", "left", "name"),
    [
        ("6146", 18, 3, "begin-easy"),  # an open three, then four
        ("17516442226766", 8, 13, "begin-easy"),
        ("157564142155", -5, 22, "begin-medium"),
        ("44444", 0, 37, "begin-hard"),
        ("5554224333234511764415115", 4, 11, "middle-easy"),
        ("1233722555341451114725221333", -1, 14, "middle-medium"),
        ("2252576253462244111563365343671351441", -1, 4, "end-easy"),
        ("23163416124767223154467471272416755633", 0, 4, "end-easy"),
    ],
)
def test_the_set_of_a_position(columns: str, score: int, left: int, name: str) -> None:
    assert four_sets.plies_left(len(columns), score) == left
    assert four_sets.set_of(len(columns), score) == name


@pytest.mark.parametrize("name", four_sets.NAMES)
def test_the_sets_that_ship(name: four_sets.Name) -> None:
    """Each position belongs to its set, nobody wins at once, and other bounds prove the values."""
    exam = read_exam(four_sets.file_of(four_sets.SETS, name))
    least, most = four_sets.PHASES[name.split("-")[0]]
    assert len({each.position for each in exam.positions}) == len(exam.positions) >= 80
    for number, each in enumerate(exam.positions):
        start = exam.start(number)
        assert least <= four_sets.discs_in(each.position) <= most
        assert str(four_sets.random_position(least, most, each.seed)) == each.position
        assert each.plies_left > 1 or each.value == 0
        assert {*each.values.values()} <= {-1, 0, 1}
        if number < 2:
            found = solve(start, nodes=10**7, megabytes=16).moves
            assert {start.move_name(a): value for a, value in found.items()} == each.values


def test_the_command_makes_a_set_and_agents_take_it(tmp_path: Path) -> None:
    run = CliRunner().invoke
    words = ["make", "end-easy", "--work", str(tmp_path), "--output", str(tmp_path)]
    for count in (2, 3):
        assert run(four_sets.app, [*words, "--positions", str(count)]).exit_code == 0
        made = read_exam(four_sets.file_of(tmp_path, "end-easy"))
        shipped = read_exam(four_sets.file_of(four_sets.SETS, "end-easy"))
        assert made.positions == shipped.positions[:count]
    nowhere = run(four_sets.app, ["measure", "greedy", "--sets", str(tmp_path / "no")])
    assert (nowhere.exit_code, "has no set" in nowhere.output) == (2, True)
    table = run(four_sets.app, ["measure", "greedy", "--sets", str(tmp_path)]).output
    assert table.splitlines()[0] == "| agent | end-easy | all |"
    assert table.splitlines()[2].startswith("| greedy | 100.0 % (44 to 100) | 100.0 %")
    taken = invoke(take, "greedy", "--file", tmp_path, "--part", "held-out", "--json")
    assert '"positions": 3' in taken.output


def test_a_position_found_twice_is_taken_where_it_was_found_first() -> None:
    texts = [str(after(columns)) for columns in ("44", "12", "44")]
    lines = [{"seed": n, "position": text, "scores": {"a": 0}} for n, text in enumerate(texts)]
    taken = four_sets.exam_of({}, lines, 1, 1).positions
    assert [(each.seed, each.position) for each in taken] == [(0, texts[0])]
    assert [each.seed for each in four_sets.exam_of({}, lines, 3, 1).positions] == [0, 1]


def test_what_is_not_solved_or_of_another_set_is_left_out() -> None:
    seed = read_exam(four_sets.file_of(four_sets.SETS, "middle-easy")).positions[0].seed
    assert "position" in four_sets.SetPlan("middle-easy", 10**6)(seed)
    assert "position" not in four_sets.SetPlan("middle-easy", 0)(seed)
    assert "position" not in four_sets.SetPlan("middle-medium", 10**6)(seed)
