"""Marks: the formula by hand, the exam of a submission that fails, CSV, games to show."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.arena.exams import ExamError, has_exam, load_exam
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.classroom import grading
from azumaya.baselines.classroom.confine import Isolation
from azumaya.baselines.classroom.games import Played, play_game
from azumaya.baselines.classroom.grading import (
    Plan,
    class_meetings,
    counted_meetings,
    meetings_of,
    missing_meetings,
)
from azumaya.baselines.classroom.marks import (
    CLASS,
    EXAM,
    OTHER,
    WEIGHTS,
    Scheme,
    csv_text,
    mark_class,
)
from azumaya.baselines.classroom.process import SubmissionError
from azumaya.baselines.classroom.replays import blunders, instructive, refutation
from azumaya.baselines.classroom.report import Report, report_page
from azumaya.baselines.classroom.sitting import MOST_FAULTS, Sitting, chance, check_exam, sit
from azumaya.baselines.classroom.store import ClassFile, Meeting, Run
from azumaya.baselines.classroom.submissions import Submission
from azumaya.baselines.cli.class_results import write_results
from azumaya.baselines.cli.classroom import _scheme
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.notation import record_of, replay

GAME = "vierer_dominari"
EXAMS = load_exam(GAME)
SMALL = replace(EXAMS, positions=EXAMS.positions[:20])
PLAN = Plan(GAME, "public")


class Scripted:
    """A submission without a process: a function from positions and calls so far to moves."""

    name = "scripted.py"

    def __init__(self, answer: Any) -> None:
        self.answer, self.calls = answer, 0

    def begin(self, clock: float = 0.0) -> None:
        """Nothing to begin."""

    def choose(self, position: Position, key: int) -> int:
        self.calls += 1
        return position.action(self.answer(position, self.calls))

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        return [self.choose(p, k) for p, k in zip(positions, keys, strict=True)]


def known(position: Position, best: bool) -> str:
    values = next(q.values for q in EXAMS.positions if q.position == str(position))
    return (max if best else min)(values, key=values.__getitem__)


def sat(answer: Any, seconds: float = 60.0) -> Sitting:
    agent: Any = Scripted(answer)
    return sit(agent, SMALL, 0, seconds)


def right(seconds: float = 60.0) -> Sitting:
    """The sitting of who knows all answers."""
    return sat(lambda position, calls: known(position, True), seconds)


def wrong() -> Sitting:
    """That of who gives the worst ones."""
    return sat(lambda position, calls: known(position, False))


def both(first: int, second: int, fault: tuple[int, str] | None = None) -> tuple[Played, Played]:
    """Two games without moves: their results, and how the first was lost."""
    start = Position(GAME)
    record = record_of(start, [], start, ("a.py", "b"))
    return Played(first, 0, record, fault), Played(second, 1, record)


def marked(sitting: Sitting, results: Sequence[tuple[str, int]] = (), scheme: Any = None) -> Any:
    """The mark for an exam and for pairs of games, of which both have one result."""
    submission = Submission("a.py", b"x = 1")
    meetings = tuple(
        Meeting(submission.id, name, n, both(result, result))
        for n, (name, result) in enumerate(results)
    )
    run = Run(submission.id, "", sitting, meetings)
    scheme = scheme or Scheme(100, {EXAM: 60, "random": 10, "greedy": 30})
    return mark_class([submission], {submission.id: run}, [], GAME, SMALL, scheme)[0]


def test_marks_by_hand() -> None:
    perfect, worst = right(), wrong()
    games = [("random", 1), ("random", 1), ("greedy", 1), ("greedy", -1), ("greedy", 0)]
    assert marked(perfect, games).mark == 60 + 10 + 15
    assert marked(worst, games).mark == 10 + 15
    assert marked(perfect).mark == 100  # without games they are left out
    assert marked(worst).kept == 0.0
    half = Scheme(6, {EXAM: 1, "greedy": 1})
    assert marked(perfect, [("greedy", -1)], half).mark == 3


def test_a_random_mover_has_nothing_for_the_exam() -> None:
    """The share that chance keeps, counted by hand, is where the scale begins."""
    by_hand = [len(q.kept) / len(q.values) for q in SMALL.positions]
    assert chance(SMALL, range(20)) == pytest.approx(sum(by_hand) / 20)
    mixed = sat(lambda position, calls: known(position, calls % 2 == 0))
    found = marked(mixed)
    assert found.kept == 0.5
    expected = 100 * (0.5 - found.luck) / (1 - found.luck)
    assert found.mark == pytest.approx(expected, abs=0.05)


def test_an_exam_that_tells_nothing_is_left_out_of_the_mark() -> None:
    alike = [replace(q, values=dict.fromkeys(q.values, 0.0)) for q in SMALL.positions]
    exam = replace(SMALL, positions=tuple(alike))
    sitting = sit(Scripted(lambda position, calls: position.legal_moves()[0]), exam, 0, 60.0)
    run = Run("scripted.py@", sitting=sitting)
    file = Submission("scripted.py", b"")
    (found,) = mark_class([file], {file.id: replace(run, id=file.id)}, [], GAME, exam, Scheme())
    assert (found.kept, found.luck, found.mark) == (1.0, 1.0, 0.0)
    assert "nothing that counts for the mark could be measured" in found.remarks


@pytest.mark.parametrize("game", [game for game in GAMES if has_exam(game)])
def test_the_exams_of_the_library_can_be_given(game: str) -> None:
    exam = load_exam(game)
    check_exam(replace(exam, positions=exam.positions[:30]))


def test_an_exam_that_cannot_be_given_is_refused() -> None:
    first, second = SMALL.positions[:2]
    text, values = second.position, second.values
    for wrong, message in (
        ({"position": "chess"}, ""),
        ({"position": f"{text}  "}, f"must be written as {text}"),
        ({"values": dict([*values.items()][1:])}, "the moves that have values are not the legal"),
        ({"values": {"5e4": 1.0, "zz": 0.0}}, "the moves that have values are not the legal"),
        ({"values": dict.fromkeys(values, 1.0)}, f"every move keeps the result of {text}"),
    ):
        bad: Any = replace(second, **wrong)  # type: ignore[arg-type]
        with pytest.raises(ExamError, match=re.escape(f"position 1: {message}")):
            check_exam(replace(SMALL, positions=(first, bad)))


def test_a_failure_in_the_exam_counts_as_the_worst_move_and_is_kept() -> None:
    def fails_twice(position: Position, calls: int) -> Any:
        if calls in (3, 8):
            raise SubmissionError("it crashed")
        return 10**6 if calls == 5 else known(position, True)

    def mends(position: Position, calls: int) -> Any:
        try:
            return position.action(fails_twice(position, calls))
        except ValueError as error:
            raise SubmissionError(str(error)) from None

    sitting = sat(mends)
    assert len(sitting.faults) == 3
    assert sum(not answer.kept for answer in sitting.answers(SMALL)) == 3
    assert len(sitting.asked) == sitting.of == 20
    assert blunders(sitting, SMALL) == []  # it chose none of these moves
    assert marked(sitting).failures == 3
    assert "it crashed, and 2 more failures" in marked(sitting).remarks[0]
    fewer = replace(sitting, faults=sitting.faults[:2])
    assert marked(fewer).remarks[0] == "it crashed, and 1 more failure"


def test_who_fails_too_often_is_asked_no_more() -> None:
    def fails(position: Position, calls: int) -> Any:
        raise SubmissionError("no")

    agent: Any = Scripted(fails)
    sitting = sit(agent, SMALL, 0, 60)
    assert agent.calls == MOST_FAULTS
    assert sitting.skipped == 20 - MOST_FAULTS
    assert "not asked any more: the last 15 of 20 positions" in marked(sitting).remarks
    assert blunders(sitting, SMALL) == []
    assert len(sitting.answers(SMALL)) == 20
    assert not any(answer.kept for answer in sitting.answers(SMALL))


def test_a_slow_submission_is_asked_the_first_positions_of_the_same_order() -> None:
    whole, part = right(), right(seconds=0)
    assert part.asked == whole.asked[: len(part.asked)]
    assert len(part.asked) == 5
    assert "slow: 5 of 20 positions" in marked(part).remarks[0]


def class_of(*runs: Run) -> tuple[list[Submission], dict[str, Run]]:
    """Submissions with these runs, which get their ids."""
    files, found = [Submission(run.id, run.id.encode()) for run in runs], {}
    for file, run in zip(files, runs, strict=True):
        own = tuple(replace(meeting, first=file.id) for meeting in run.meetings)
        found[file.id] = replace(run, id=file.id, meetings=own)
    return files, found


def crashed(name: str, times: int) -> Run:
    """The run of a submission that has won its exam and lost some games by failures."""
    half = Meeting(name, "random", 0, both(-1, 1, (0, "it crashed")))
    return Run(name, "", right(), (half,) * times)


@pytest.mark.parametrize(("times", "mark"), [(MOST_FAULTS - 1, 100.0), (MOST_FAULTS, 60.0)])
def test_who_stays_out_of_the_class_by_failing_gains_nothing(times: int, mark: float) -> None:
    """Games against the library do not count here, so failing in them must not pay."""
    files, runs = class_of(crashed("a.py", times), crashed("b.py", 0))
    scheme = Scheme(100, {EXAM: 60, CLASS: 40})
    found = mark_class(files, runs, [], GAME, SMALL, scheme, classmates=4)
    assert [each.mark for each in found] == [mark, 100.0]  # without games there is only the exam
    told = "no games in the class, as it had failed 5 times; they count as lost"
    assert (told in found[0].remarks) == (mark < 100)
    default = mark_class(files, runs, [], GAME, SMALL, Scheme(100, {EXAM: 1}), classmates=4)
    assert default[0].mark == 100
    assert (told.partition(";")[0] in default[0].remarks) == (mark < 100)


def test_games_in_the_class_that_nobody_could_play_are_left_out() -> None:
    scheme = Scheme(100, {EXAM: 60, CLASS: 40})
    files, runs = class_of(crashed("a.py", MOST_FAULTS), Run("b.py", "it crashed"))
    for some, classmates in ((files, 4), (files[:1], 4)):
        found = mark_class(some, runs, [], GAME, SMALL, scheme, classmates)[0]
        assert (found.mark, len(found.remarks)) == (100.0, 1)
    files, runs = class_of(crashed("a.py", MOST_FAULTS), crashed("b.py", 0))
    assert mark_class(files, runs, [], GAME, SMALL, scheme, 0)[0].mark == 100.0


def test_a_slow_submission_plays_in_the_class() -> None:
    """It keeps to its limits for each move and game; to stay out would cost it its share."""
    files, runs = class_of(*(replace(crashed(f"{n}.py", 0), seconds=1e4) for n in range(3)))
    file: Any = SimpleNamespace(runs=runs, meetings={})
    assert len(class_meetings(file, files, Plan(GAME, classmates=2, class_pairs=1))) == 3


def test_weights_that_cannot_be_used() -> None:
    for weights, words in (
        ({"nobody": 1.0}, "weight nobody: must be"),
        ({EXAM: -1.0}, "must be 0 or a positive number"),
        ({EXAM: float("nan")}, "must be 0 or a positive number"),
        ({EXAM: 0.0}, "at least one must be above 0"),
    ):
        with pytest.raises(OptionError, match=words):
            Scheme(100, weights).check(["random"])
    with pytest.raises(OptionError, match="points"):
        Scheme(0).check(["random", "greedy", "uct:100"])
    Scheme(10, {CLASS: 1, "random": 2}).check(["random"])


@pytest.mark.parametrize(
    ("name", "exam", "meetings"),
    [(EXAM, False, True), (CLASS, True, False), (EXAM, True, False), (CLASS, False, True)],
)
def test_weights_that_leave_nothing_to_be_measured(name: str, exam: bool, meetings: bool) -> None:
    """All submissions would be run, and have 0 points."""
    Scheme(10, {name: 1, "greedy": 1}).check_use(["greedy"], exam, meetings)
    scheme = Scheme(10, {name: 1, "greedy": 0})
    if exam if name == EXAM else meetings:
        scheme.check_use(["greedy"], exam, meetings)
        return
    with pytest.raises(OptionError, match=f"weights {name}: nothing .* such as --weight greedy=1"):
        scheme.check_use(["greedy"], exam, meetings)


def test_every_opponent_counts_by_default() -> None:
    assert _scheme(["uct:10ms", "greedy"], None, 10).weights == {
        EXAM: WEIGHTS[EXAM], "uct:10ms": OTHER, "greedy": WEIGHTS["greedy"],
    }  # fmt: skip


def test_no_cell_of_the_csv_is_a_formula() -> None:
    files = [Submission("=cmd|' /C calc'!A0.py", b"", "a\nb"), Submission("-x.py", b"", "@sum")]
    found = mark_class(files, {}, [], GAME, None, Scheme())
    rows = list(csv.DictReader(io.StringIO(csv_text(found, ["random"]))))
    assert [row["submission"] for row in rows] == ["'=cmd|' /C calc'!A0.py", "'-x.py"]
    assert [row["remarks"] for row in rows] == ["a\nb", "'@sum"]
    assert [row["status"] for row in rows] == ["refused", "refused"]


def test_the_costliest_mistake_is_shown_with_best_play_after_it() -> None:
    sitting = wrong()
    number, answer = blunders(sitting, SMALL)[0]
    assert answer.regret == max(a.regret for a in sitting.answers(SMALL))
    record = refutation(SMALL.start(number), answer.move, "a.py")
    *_, end = replay(record)
    assert record.moves[0] == answer.move
    assert end.is_over
    mover = SMALL.start(number).to_move
    assert end.returns()[mover] == SMALL.start(number).returns()[mover] + min(
        answer.question.values.values()
    )
    assert record.players[mover] == "a.py"
    shown = instructive([marked(sitting)], [], SMALL)
    assert [each.record for each in shown] == [record]


def page_of(*marks: Any, isolation: Isolation | None = None, **plan: Any) -> str:
    """The report on a class."""
    planned = Plan(GAME, "public", **plan)
    return report_page(Report([*marks], [], planned, Scheme(), isolation or Isolation()))


def test_a_run_with_less_isolation_than_the_rest_is_reported() -> None:
    one = marked(right())
    apart = replace(one, run=replace(one.run, missing={"landlock": "none here"}))
    for isolation, told in ((Isolation(), True), (Isolation({}, {"landlock": "none here"}), False)):
        page = page_of(one, apart, isolation=isolation).split("Submission by submission")[1]
        assert page.count("not in force: landlock (none here)") == int(told)


def test_a_report_says_what_affects_the_mark() -> None:
    one = marked(right())
    page = page_of(one)
    assert "one that keeps them all gets all of them" in page
    assert "games in the class do only if <code>class</code> has a weight" in page
    page = page_of(one, opponents=("greedy",))
    assert "There are no ratings, because random is no opponent" in page


def test_links_to_games_lead_to_the_games_that_they_name() -> None:
    """From the table, from the list of games, and from what is said of the submission."""
    one = marked(right(), [("random", 1), ("greedy", -1)])
    page = page_of(one)
    titles = [shown.title for shown in instructive([one], Plan(GAME, "public").opponents, None)]
    found = re.findall(r'#game-(\d+)"[^#]*?(A \w+ against \w+)', page)
    expected = [(str(number), title) for number, title in enumerate(titles, start=1)]
    assert sorted(found) == sorted(3 * expected) != []


# ---- games ----


def test_a_game_is_recorded_as_it_was_played() -> None:
    starts, first = start_set(GAME), Scripted(lambda position, calls: position.legal_moves()[0])
    for seat in (0, 1):
        played = play_game(starts, 3, seat, [first, RandomAgent()])
        *_, end = replay(played.record)  # raises if moves or returns are not those of the rules
        assert end.is_over
        assert played.fault is None
        assert played.result == (end.returns()[seat] > 0) - (end.returns()[seat] < 0)
        assert played.record.players[seat] == "scripted.py"


def test_a_game_lost_by_a_fault_is_recorded_so_far() -> None:
    def fails(position: Position, calls: int) -> Any:
        if calls == 3:
            raise SubmissionError("it crashed")
        return position.legal_moves()[0]

    played = play_game(start_set(GAME), 0, 1, [Scripted(fails), RandomAgent()])
    assert (played.result, played.fault) == (-1, (0, "it crashed"))
    assert played.record.finished is False
    assert len(list(replay(played.record))) == len(played.record.moves) + 1 > 3

    illegal = Scripted(lambda position, calls: position.num_actions - 1 - calls)
    played = play_game(start_set(GAME), 0, 0, [RandomAgent(), illegal])
    assert played.result == 1
    assert played.fault is not None
    assert played.fault[0] == 1
    list(replay(played.record))


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("classmates", range(10))
def test_all_meet_as_many_others_as_the_option_says(size: int, classmates: int) -> None:
    """One more if both numbers are odd, since each game has two players; never the same twice."""
    files = [Submission(f"{n}.py", b"%d" % n) for n in range(size)]
    found = meetings_of(files, classmates, 0)
    assert len({frozenset((one.id, other.id)) for one, other in found}) == len(found)
    counts = {s.id: sum(s in pair for pair in found) for s in files}
    both_odd = classmates % 2 == size % 2 == 1
    assert set(counts.values()) == {min(classmates + both_odd, size - 1)}


def test_games_of_the_class_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is played and what is missing make up all of it, so that progress can be shown."""
    monkeypatch.setattr(grading, "is_fit", lambda run: True)
    files = [Submission(f"{n}.py", b"%d" % n) for n in range(5)]
    file: Any = SimpleNamespace(runs={s.id: None for s in files}, meetings={})
    plan = Plan(GAME, "public", classmates=2, class_pairs=2)
    every = class_meetings(file, files, plan)
    assert len(every) == 5 * 2 // 2 * 2
    first, second, number = every[0]
    file.meetings[first.id, second.id, number] = None
    assert class_meetings(file, files, plan) == every
    assert missing_meetings(file, files, plan) == every[1:]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[ClassFile]:
    """The file of a class by the usual plan."""
    with closing(ClassFile(tmp_path / "class.jsonl", PLAN.settings())) as file:
        yield file


@pytest.fixture
def written(file: ClassFile, tmp_path: Path) -> Callable[..., list[dict[str, str]]]:
    """Writes the marks of submissions by some weights; gives the rows."""

    def write(files: list[Submission], plan: Plan = PLAN, **weights: float) -> list[dict[str, str]]:
        scheme = Scheme(100, weights) if weights else Scheme()
        write_results(file, files, plan, scheme, Isolation(), tmp_path)
        return list(csv.DictReader((tmp_path / "marks.csv").open(encoding="utf-8-sig")))

    return write


def test_games_with_earlier_neighbours_do_not_count(file: ClassFile, written: Any) -> None:
    """Otherwise marks would depend on how often others have handed in."""
    names = [f"{n}.py" for n in range(6)]
    files, runs = class_of(*(crashed(name, 0) for name in names))
    plan = replace(PLAN, classmates=2, class_pairs=1)
    for run in runs.values():
        file.add_run(run)
    wanted = {(one.id, two.id) for one, two, _ in class_meetings(file, files, plan)}
    for pair in combinations(sorted(runs), 2):
        result = 1 if pair in wanted else -1  # as the first player sees it
        file.add_meeting(Meeting(*pair, 0, both(result, result)))
    assert len(file.meetings) == 15 > len(wanted) == 6
    counted = counted_meetings(file, files, plan)
    assert {(meeting.first, meeting.second) for meeting in counted} == wanted
    rows = written(files, plan, **{CLASS: 1})
    won = {s.id: sum(s.id == first for first, _ in wanted) / 2 for s in files}
    assert [float(row["won_class"]) for row in rows] == list(won.values())


def test_spreadsheets_know_the_encoding_of_the_marks(written: Any, tmp_path: Path) -> None:
    """Without a byte order mark they take it for that of the system, and garble names."""
    written([Submission("Jürgen 林.py", b"", "not run")])
    content = (tmp_path / "marks.csv").read_bytes()
    assert content.startswith(codecs.BOM_UTF8 + b"submission,")
    assert "\nJürgen 林.py,refused," in content.decode("utf-8-sig")


def test_a_failing_submission_loses_its_share_of_the_class(file: ClassFile, written: Any) -> None:
    """Also by the command: it says how many others each one was to play."""
    files, runs = class_of(crashed("a.py", MOST_FAULTS), crashed("b.py", 0))
    for run in runs.values():
        file.add_run(run)
    row, _ = written(files, **{"random": 1, CLASS: 1})
    assert (row["won_random"], row["mark"]) == ("0.5", "25.0")


def test_the_order_of_files_changes_no_meeting() -> None:
    files = [Submission(f"{n}.py", b"%d" % n) for n in range(9)]
    found = meetings_of(files, 4, 0)
    assert found == meetings_of(files[::-1], 4, 0)
    assert all(first.id < second.id for first, second in found)
    assert len(meetings_of(files[:4], 4, 0)) == 6
    assert meetings_of(files[:1], 4, 0) == []
    assert meetings_of(files, 0, 0) == []
