"""Exams: what is asked, their files, and those that ship."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from azumaya import baselines
from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.arena import exams
from azumaya.baselines.arena.exams import PARTS, Exam, ExamError, ExamPosition, load_exam, read_exam
from azumaya.baselines.arena.matches import answer_exam
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import SolverRooms, Solving
from azumaya.benchmarks.studies import exam_maker
from azumaya.benchmarks.studies.exam_maker import ExamPlan
from azumaya.envs import GAMES, IllegalActionError, OptionError, Position, find_game

GAMES_WITH = [name for name in GAMES if exams.has_exam(name)]
SOLVED = [name for name in GAMES_WITH if load_exam(name).exact]
WANTED = 1000
"""Positions of a game in both parts."""

SMALL_TREE = (
    "8423657.1/36.187245/197.42.68/914673..2/23.8.9514/7.6521893/4782.6159/6.3498.../52973.486 d"
)
"""Dark loses with 7h2 and wins with the other moves."""


NO_BOARD = ExamPosition("no board", 3, {"a": 1}, ("random", "greedy"), 1)


def tiny() -> Exam:
    position = ExamPosition(SMALL_TREE, 3, {"2h2": 1, "7h2": -1, "7i2": 1}, ("greedy", "random"), 4)
    return Exam("azumaya/sudoku_moyo-v0", "public", 2, {}, True, (position,), {"seed": 4})


class Plays:
    """Plays a named move, or returns an action, in every position."""

    def __init__(self, move: str | int) -> None:
        self.move = move

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        return [p.action(m) if isinstance(m := self.move, str) else m for p in positions]


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


EMPTY = dataclasses.replace(tiny(), positions=())
CALLS: list[tuple[Callable[..., object], tuple[Any, ...], type[ValueError], str]] = [
    (answer_exam, (3, tiny()), OptionError, "^agent=3: must be an agent"),
    (answer_exam, ("nope", tiny()), OptionError, "agent 'nope'"),
    (answer_exam, ("random", tiny(), -1), OptionError, "seed=-1"),
    (answer_exam, ("random", "sudoku_moyo"), OptionError, "^exam=.*: an Exam is needed, such as"),
    (answer_exam, ("random", None), OptionError, "^exam=.*: an Exam is needed, such as load_exam"),
    (answer_exam, ("random", EMPTY), ExamError, "^exam of azumaya/sudoku_moyo-v0: it has no pos"),
    (load_exam, ("nope",), OptionError, "no such game"),
    (load_exam, ("abalone", "secret"), OptionError, "part='secret': must be one of public, held-"),
    (load_exam, ("sudoku_moyo_match",), ExamError, "has no exam"),
]


@pytest.mark.parametrize(("call", "given", "error", "message"), CALLS)
def test_agents_and_exams_that_are_none_are_refused(
    call: Callable[..., object], given: tuple[Any, ...], error: type[ValueError], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(*given)


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
        ({"positions": (NO_BOARD,)}, "the board has 1 rows"),
    ],
)
def test_positions_that_no_game_has_are_refused(change: dict[str, Any], message: str) -> None:
    wrong = dataclasses.replace(tiny(), **change)
    with pytest.raises(ExamError, match=f"^exam of azumaya/.*: position 0: .*{message}"):
        wrong.start(0)
    with pytest.raises(ExamError, match=r"^exam of"):
        answer_exam("random", wrong)


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
    assert found == baselines.take_exam("random", find_game(game), seed=3)
    assert found != baselines.take_exam("random", game, seed=4)
    assert len(repr(exam)) + len(repr(found)) < 1000, "they print without their positions"


def test_answers_do_not_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    game = GAMES_WITH[0]
    exam = dataclasses.replace(load_exam(game), positions=load_exam(game).positions[:30])
    whole = answer_exam(GreedyAgent(), exam, seed=1)
    monkeypatch.setattr("azumaya.baselines.arena.exam_results.BATCH", 7)
    told: list[int] = []
    assert answer_exam(GreedyAgent(), exam, 1, told.append) == whole
    assert told == [7, 7, 7, 7, 2]
