"""Grading a class: every submission is run, what it did is kept, and they play each other."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from azumaya.baselines.agents.names import find_agent
from azumaya.baselines.arena.exams import (
    Exam,
    ExamError,
    Part,
    has_exam,
    load_exam,
    read_exam,
)
from azumaya.baselines.arena.rounds import StartSet, start_set
from azumaya.baselines.classroom import player
from azumaya.baselines.classroom.confine import Isolation
from azumaya.baselines.classroom.games import Played, play_both_seats
from azumaya.baselines.classroom.marks import is_fit
from azumaya.baselines.classroom.mistakes import find_mistakes
from azumaya.baselines.classroom.process import Limits, PlayerProcess, Room, SubmissionError
from azumaya.baselines.classroom.sitting import AT_ONCE, CHECKED, check, sit
from azumaya.baselines.classroom.store import MARKS, NAME, REPORT, ClassFile, Meeting, Run
from azumaya.baselines.classroom.submissions import Submission, SubmissionAgent
from azumaya.baselines.system.threads import work_through
from azumaya.envs.engine.workers import available_cores

OPPONENTS = ("random", "greedy", "uct:100")
MOST_PROCESSOR_SECONDS = 1 << 31
"""What every system takes for a limit."""
HARMLESS = b"def act(position):\n    return position.legal_moves()[0]\n"
"""A submission that is run first, to see what is in force."""


@dataclass(frozen=True)
class Plan:
    """What submissions are given to do.

    Attributes:
        game: the name of the game.
        part: the part of the exam that ships with the library.
        own_exam: the file of another exam, which takes its place.
        seed: draws the order of the exam, the starts, and all that agents draw.
        opponents: names of the library's agents.
        pairs: pairs of games against each of them, at most.
        exam_seconds: after this time no further positions of the exam are asked.
        game_seconds: after this time of its own no further games of a submission against the
            library's agents are begun; one pair against each is played in any case.
        classmates: how many other submissions each one plays, see `meetings_of`.
        class_pairs: pairs of games against each of them.
        limits: what a submission may use.
    """

    game: str
    part: Part = "held-out"
    seed: int = 0
    opponents: tuple[str, ...] = OPPONENTS
    pairs: int = 10
    exam_seconds: float = 30.0
    game_seconds: float = 30.0
    classmates: int = 4
    class_pairs: int = 2
    limits: Limits = field(default_factory=Limits)
    own_exam: Path | None = None

    @property
    def exam(self) -> Exam | None:
        """The exam; None if the game has none.

        Raises:
            ExamError: the file is missing or damaged, or its exam is one of another game.
        """
        if self.own_exam is not None:
            exam = read_exam(self.own_exam)
            if exam.name != self.game:
                raise ExamError(f"{self.own_exam}: an exam of {exam.game}, not of {self.game}")
            return exam
        return load_exam(self.game, self.part) if has_exam(self.game) else None

    def settings(self) -> dict[str, Any]:
        """The plan as JSON values, with the version of the exam, or the digest of its file."""
        exam = self.exam
        known: int | str | None = None if exam is None else exam.version
        if self.own_exam is not None:
            known = hashlib.sha256(self.own_exam.read_bytes()).hexdigest()[:12]
        return {**asdict(replace(self, own_exam=None)), "exam": known}


def room_for(plan: Plan, hidden: tuple[Path, ...] = ()) -> Room:
    """Where the submissions of a class run; `hidden` is what none of them may read."""
    return Room(plan.limits, hidden, processor_seconds(plan))


def processor_seconds(plan: Plan) -> int:
    """A limit on the processor time of a process, against threads that never end.

    A submission that computes only during its own moves cannot reach it: all cores may be busy from
    the loading of the file to the last game against the library, which is more than it can be given
    to do in one process.
    """
    limits, pair = plan.limits, 2 * plan.limits.game
    exam = plan.exam_seconds + AT_ONCE * limits.move
    games = max(len(plan.opponents) * pair, plan.game_seconds + pair)
    own = limits.loading + CHECKED * limits.move + exam + games
    return math.ceil(min(available_cores() * own, MOST_PROCESSOR_SECONDS))


def isolation_of(plan: Plan, room: Room) -> Isolation:
    """What confines submissions here; a harmless one is run to see that.

    Raises:
        IsolationError: the limits require isolation, and a submission could do harm.
        StartingError: no submission can be run.
    """
    process = PlayerProcess(plan.game, "harmless.py", HARMLESS, room)
    process.close()
    return process.isolation


class OpponentFailedError(RuntimeError):
    """An agent that submissions are to play against failed; nobody can be marked by it."""


def warm_up(plan: Plan) -> None:
    """Compile what the games need, once and before any clock is running.

    Raises:
        OpponentFailedError: an opponent does not play.
    """
    player.warm_up(plan.game)  # processes of submissions load this, and cannot keep it
    starts = start_set(plan.game, None, plan.seed)
    searches = ("uct:1",) if plan.limits.baselines else ()  # submissions cannot keep kernels
    for name in (*plan.opponents, *searches):
        games = play_both_seats(starts, 0, [find_agent(name), find_agent("random")], 0.0)
        _check_opponent(name, 0, games)


def _check_opponent(name: str, which: int, games: Sequence[Played]) -> None:
    for fault in (game.fault for game in games):
        if fault and fault[0] == which:
            raise OpponentFailedError(f"opponent {name}: {fault[1]}")


def grade(
    file: ClassFile,
    submissions: Sequence[Submission],
    plan: Plan,
    room: Room,
    jobs: int = 1,
    told: Callable[[str, str], None] = lambda kind, name: None,
) -> None:
    """Run what is missing in the file of a class.

    Args:
        file: the file, in which results are kept as they come.
        submissions: the submissions; those with a problem are passed over.
        plan: what they are given to do.
        room: where they run.
        jobs: how many run at once.
        told: called with `submission`, `meeting` or `review` and a name when one is done.

    Raises:
        StartingError: a process cannot be started, through no fault of a submission.
        OpponentFailedError: an agent that they play against fails.
    """
    whole = [s for s in submissions if not s.problem]

    def examine(submission: Submission) -> None:
        file.add_run(run_alone(submission, plan, room))
        told("submission", submission.name)

    def meet(pair: tuple[Submission, Submission, int]) -> None:
        meeting = play_classmates(pair, plan, room)
        file.add_meeting(meeting)
        told("meeting", f"{pair[0].name} - {pair[1].name}")

    def review(submission: Submission) -> None:
        found = find_mistakes(file.runs[submission.id], plan.opponents, plan.game, room.stop)
        file.add_mistakes(submission.id, found)
        told("review", submission.name)

    work_through([s for s in whole if s.id not in file.runs], [examine] * jobs, room.stop)
    work_through(missing_meetings(file, whole, plan), [meet] * jobs, room.stop)
    # Last, when no submission is running whose clock this would take time from.
    work_through([s for s in whole if s.id not in file.mistakes], [review] * jobs, room.stop)


def run_alone(submission: Submission, plan: Plan, room: Room) -> Run:
    """Check a submission, give it the exam, and let it play against the library's agents."""
    agent = SubmissionAgent(submission, plan.game, room)
    problem, sitting, meetings = "", None, tuple[Meeting, ...]()
    isolation = Isolation()
    try:
        check(agent, plan.game, plan.seed)
        isolation = agent.isolation
        if plan.exam is not None:
            sitting = sit(agent, plan.exam, plan.seed, plan.exam_seconds)
        meetings = tuple(_against_library(agent, submission, plan))
    except SubmissionError as error:
        problem = str(error)
    finally:
        agent.close()
    output = agent.output.decode(errors="replace")
    return Run(
        submission.id, problem, sitting, meetings, isolation.layers, isolation.missing,
        round(agent.seconds, 3), agent.moves, round(agent.thinking, 4), agent.printed, output,
    )  # fmt: skip


def _against_library(
    agent: SubmissionAgent, submission: Submission, plan: Plan
) -> Iterator[Meeting]:
    """Games in rounds, so that a slow submission meets all opponents about equally often."""
    starts, before = start_set(plan.game, None, plan.seed), agent.seconds
    opponents = {name: find_agent(name) for name in plan.opponents}
    for number in range(plan.pairs):
        for name, opponent in opponents.items():  # an agent may call itself by another name
            if number and agent.seconds - before > plan.game_seconds:
                return
            games = play_both_seats(starts, number, [agent, opponent], plan.limits.game, name)
            _check_opponent(name, 1, games)
            yield Meeting(submission.id, name, number, games)


def missing_meetings(
    file: ClassFile, submissions: Sequence[Submission], plan: Plan
) -> list[tuple[Submission, Submission, int]]:
    """The games of the class that are still to be played, round by round."""
    return [
        (first, second, number)
        for first, second, number in class_meetings(file, submissions, plan)
        if (first.id, second.id, number) not in file.meetings
    ]


def class_meetings(
    file: ClassFile, submissions: Sequence[Submission], plan: Plan
) -> list[tuple[Submission, Submission, int]]:
    """All games of the class, played or not, round by round.

    Submissions that did not pass their check or failed too often stay out, so that nobody gains or
    loses by meeting them.
    """
    fit = [s for s in submissions if s.id in file.runs and is_fit(file.runs[s.id])]
    pairs = meetings_of(fit, plan.classmates, plan.seed)
    return [(*pair, number) for number in range(plan.class_pairs) for pair in pairs]


def counted_meetings(
    file: ClassFile, submissions: Sequence[Submission], plan: Plan
) -> list[Meeting]:
    """The games of the class that were played, in the order of their keys.

    The file also has games of pairs that a later version of some file has parted. If they counted,
    marks would depend on how often others have handed in.
    """
    wanted = {(one.id, two.id, n) for one, two, n in class_meetings(file, submissions, plan)}
    return [file.meetings[key] for key in sorted(wanted & file.meetings.keys())]


def meetings_of(
    submissions: Sequence[Submission], classmates: int, seed: int
) -> list[tuple[Submission, Submission]]:
    """Who plays whom: each submission plays the same number of others.

    The submissions stand in a circle, in an order that a digest draws, and play their neighbours on
    both sides; for an odd number, also the one opposite. If both numbers are odd, nobody is
    opposite, and each plays one more.

    Args:
        submissions: the submissions.
        classmates: how many others each one plays; all of them, if there are no more.
        seed: draws the order.
    """

    def place(submission: Submission) -> str:
        return hashlib.sha256(f"{seed} {submission.id}".encode()).hexdigest()

    circle, found = sorted(submissions, key=place), {}
    size = len(circle)
    others = min(classmates + (classmates * size) % 2, size - 1)
    steps = [*range(1, others // 2 + 1), *([size // 2] if others % 2 else [])]
    for step in steps:
        for i, one in enumerate(circle):
            other = circle[(i + step) % size]
            first, second = sorted((one, other), key=lambda s: s.id)
            found[first.id, second.id] = (first, second)
    return list(found.values())


def play_classmates(pair: tuple[Submission, Submission, int], plan: Plan, room: Room) -> Meeting:
    """Let two submissions play a pair of games."""
    first, second, number = pair
    starts: StartSet = start_set(plan.game, None, plan.seed)
    agents = [SubmissionAgent(s, plan.game, room) for s in (first, second)]
    try:
        games = play_both_seats(starts, number, agents, plan.limits.game)
    finally:
        for agent in agents:
            agent.close()
    return Meeting(first.id, second.id, number, games)


def hidden_from(folder: Path, output: Path, own_exam: Path | None = None) -> tuple[Path, ...]:
    """What submissions must not read: each other, the results, and an exam of the teacher's.

    Of the output folder only the results are hidden: the environment of Python may be in it.
    """
    results = [output / name for name in (NAME, MARKS, REPORT)]
    partial = [path for file in results for path in output.glob(f".{file.name}.*.tmp")]
    exams = [] if own_exam is None else [own_exam]
    return tuple(path.resolve() for path in (folder, *results, *partial, *exams))


def needed_in(folder: Path) -> Path | None:
    """A folder of Python or of this library that is in a folder; None if there is none."""
    places = (sys.prefix, sys.base_prefix, *player.own_folders())
    needed = (Path(path).resolve() for path in places)
    return next((path for path in needed if path.is_relative_to(folder.resolve())), None)
