"""Marks: what was found out about a submission as numbers, and one of them as its mark."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from azumaya.baselines.arena.exams import Exam
from azumaya.baselines.arena.intervals import of_pairs, share_of_pairs, wilson
from azumaya.baselines.arena.league.ratings import ALL, Rating, rate
from azumaya.baselines.arena.league.results import PairKey, PairResult
from azumaya.baselines.arena.report import counted
from azumaya.baselines.classroom.sitting import MOST_FAULTS, chance
from azumaya.baselines.classroom.store import Meeting, Run
from azumaya.baselines.classroom.submissions import Submission
from azumaya.envs import OptionError

EXAM, CLASS = "exam", "class"
WEIGHTS: Mapping[str, float] = {EXAM: 60, "random": 10, "greedy": 15, "uct:100": 15}
"""What counts for the mark by default, and how much."""
OTHER = 15.0
"""The default weight of an opponent that is not listed there."""
RESAMPLES = 200
"""Resamples for the intervals of ratings."""
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins with one of these would be computed by a spreadsheet."""
GRADED, FAILED, REFUSED = "graded", "failed", "refused"


@dataclass(frozen=True)
class Scheme:
    """How marks are computed: the weighted mean of some shares, times the points.

    The share of the exam is that of positions in which the submission kept the win or the draw,
    moved so that a random mover has 0: `(kept - chance) / (1 - chance)`, at least 0. The share of
    an opponent is that of games won against it, a draw counting as half; `class` stands for all
    games against other submissions. What nobody could do, because the game has no exam or there is
    no other submission to play, is left out of the mean; what a submission missed by its own doing
    counts as 0.

    Attributes:
        points: the best mark.
        weights: by `exam`, `class` and names of opponents, how much each counts.
    """

    points: float = 100.0
    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))

    def check(self, opponents: Iterable[str]) -> None:
        """Raise `OptionError` if weights or points cannot be used with these opponents."""
        known = {EXAM, CLASS, *opponents}
        for name, weight in self.weights.items():
            if name not in known:
                raise OptionError(f"weight {name}: must be {', '.join(sorted(known))}")
            if not 0 <= weight < math.inf:
                raise OptionError(f"weight {name}={weight}: must be 0 or a positive number")
        if not 0 < self.points < math.inf:
            raise OptionError(f"points={self.points}: must be a positive number")
        if not any(self.weights.values()):
            raise OptionError("weights: at least one must be above 0")

    def check_use(self, opponents: Sequence[str], exam: bool, meetings: bool) -> None:
        """Raise `OptionError` if nothing that counts can be measured; all marks would be 0.

        Args:
            opponents: the agents that all play.
            exam: whether there is an exam.
            meetings: whether there are games in the class.
        """
        there = {EXAM: exam, CLASS: meetings, **dict.fromkeys(opponents, True)}
        counting = [name for name, weight in self.weights.items() if weight]
        if not any(there.get(name) for name in counting):
            named = ", ".join(counting)
            raise OptionError(
                f"weights {named}: nothing that counts for the mark can be measured, because the "
                "game has no exam or the class no games; give an opponent a weight, such as "
                f"--weight {opponents[0]}=1"
            )

    def counted(self, shares: Mapping[str, float | None]) -> dict[str, float]:
        """The weights above 0 of those shares that are known; empty if nothing can be marked."""
        return {n: w for n, w in self.weights.items() if w and shares.get(n) is not None}

    def mark(self, shares: Mapping[str, float | None]) -> float:
        """The mark for some shares; those that are None are left out. 0 if nothing is left."""
        counted = self.counted(shares)
        if not counted:
            return 0.0
        total = sum(counted.values())
        mean = sum(weight * float(shares[name] or 0.0) for name, weight in counted.items()) / total
        return round(self.points * mean, 1)


@dataclass(frozen=True)
class GamesWon:
    """Games against one opponent, or all of the class.

    Attributes:
        pairs: how many pairs of games gave 0, 1, 2, 3 and 4 half points.
    """

    pairs: tuple[int, ...] = (0,) * 5

    @property
    def rate(self) -> float | None:
        """The share won, a draw counting as half; None without games."""
        return share_of_pairs(self.pairs) if any(self.pairs) else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the rate."""
        return of_pairs(self.pairs) if any(self.pairs) else None


@dataclass(frozen=True)
class Marked:
    """A submission with its mark.

    Attributes:
        submission: the file.
        run: what was found out; None if it could not be run.
        status: `graded`; `failed` if it did not pass its check; `refused` if it was not run.
        mark: its mark.
        kept: the share of positions in which it kept the win or the draw.
        kept_interval: the 95 % interval of this share.
        luck: the share that a random mover keeps of the same positions.
        regret: how much less its moves gained there than the best ones, on average.
        scores: by name of an opponent, and `class`, the games.
        rating: its rating among all that have played; None if it has not.
        failures: how often it failed instead of giving a move.
        remarks: what a teacher should know.
    """

    submission: Submission
    run: Run | None
    status: str
    mark: float
    kept: float | None = None
    kept_interval: tuple[float, float] | None = None
    luck: float | None = None
    regret: float | None = None
    scores: Mapping[str, GamesWon] = field(default_factory=dict)
    rating: Rating | None = None
    failures: int = 0
    remarks: tuple[str, ...] = ()


def mark_class(
    submissions: Sequence[Submission],
    runs: Mapping[str, Run],
    meetings: Sequence[Meeting],
    game: str,
    exam: Exam | None,
    scheme: Scheme,
    classmates: int = 0,
) -> list[Marked]:
    """The marks of a class, in the order of the submissions.

    Args:
        submissions: the files.
        runs: by id, what was found out about those that can be graded.
        meetings: the games among the submissions.
        game: the name of the game.
        exam: the exam; None if the game has none.
        scheme: how marks are computed.
        classmates: how many other submissions each one was to play.
    """
    own = [runs[s.id] for s in submissions if s.id in runs]
    every = [*(meeting for run in own for meeting in run.meetings), *meetings]
    ratings = _ratings(every, game)
    several = classmates > 0 and sum(not run.problem for run in own) > 1
    return [
        _marked(s, runs.get(s.id), meetings, ratings, exam, scheme, submissions, several)
        for s in submissions
    ]  # fmt: skip


def _marked(
    submission: Submission, run: Run | None, meetings: Sequence[Meeting],
    ratings: Mapping[str, Rating], exam: Exam | None, scheme: Scheme,
    others: Sequence[Submission], several: bool,
) -> Marked:  # fmt: skip
    if submission.problem or run is None:
        return Marked(submission, None, REFUSED, 0.0, remarks=(submission.problem,))
    remarks = tuple(_remarks(submission, run, meetings, others))
    if run.problem:
        return Marked(submission, run, FAILED, 0.0, remarks=(run.problem, *remarks))
    answers = run.sitting.answers(exam) if run.sitting and exam else ()
    kept = sum(answer.kept for answer in answers) / len(answers) if answers else None
    luck = chance(exam, run.sitting.asked) if run.sitting and exam else None
    regret = statistics.fmean(answer.regret for answer in answers) if answers else None
    scores = _scores(run, meetings)
    shares: dict[str, float | None] = {name: score.rate for name, score in scores.items()}
    if kept is not None and luck is not None and luck < 1:  # otherwise nothing was asked
        shares[EXAM] = max(0.0, (kept - luck) / (1 - luck))
    if several and not is_fit(run):
        # left out of the mean, it would raise a mark that games in the class would have lowered
        shares[CLASS] = 0.0
        remarks = (*remarks, _absence(run, scheme))
    interval = wilson(kept, len(answers)) if kept is not None else None
    mark = scheme.mark(shares)
    if not scheme.counted(shares):
        remarks = (*remarks, "nothing that counts for the mark could be measured")
    return Marked(
        submission, run, GRADED, mark, kept, interval, luck, regret, scores,
        ratings.get(submission.id), len(faults_of(run, meetings)), remarks,
    )  # fmt: skip


def is_fit(run: Run) -> bool:
    """Whether a submission plays in the class: it passed its check and has seldom failed since."""
    return not run.problem and len(faults_of(run, ())) < MOST_FAULTS


def _absence(run: Run, scheme: Scheme) -> str:
    counts = "; they count as lost" if scheme.weights.get(CLASS) else ""
    return f"no games in the class, as it had failed {len(faults_of(run, ()))} times{counts}"


def _scores(run: Run, meetings: Sequence[Meeting]) -> dict[str, GamesWon]:
    scores: dict[str, GamesWon] = {}
    own = [(meeting, meeting.second) for meeting in run.meetings]
    own += [(m, CLASS) for m in meetings if run.id in (m.first, m.second)]
    for meeting, other in own:
        sign = 1 if meeting.first == run.id else -1
        pairs = list(scores.get(other, GamesWon()).pairs)
        pairs[2 + sign * sum(played.result for played in meeting.games)] += 1
        scores[other] = GamesWon(tuple(pairs))
    return scores


def _ratings(meetings: Sequence[Meeting], game: str) -> dict[str, Rating]:
    """The ratings of all that have played, by id."""
    pairs = [_as_pair(meeting, game) for meeting in meetings]
    agents = sorted({name for pair in pairs for name in (pair.key.first, pair.key.second)})
    return rate(pairs, agents, RESAMPLES)[ALL] if pairs else {}


def _as_pair(meeting: Meeting, game: str) -> PairResult:
    """A meeting as the pair of a league, whose first agent sorts before the second."""
    swapped = meeting.first > meeting.second
    first, second = sorted((meeting.first, meeting.second))
    one, other = (-played.result if swapped else played.result for played in meeting.games)
    plies = len(meeting.games[0].record.moves), len(meeting.games[1].record.moves)
    key = PairKey(game, meeting.number, first, second)
    return PairResult(key, (one, other), plies, (0, 0), (0.0, 0.0))


def faults_of(run: Run, meetings: Iterable[Meeting]) -> list[str]:
    """The failures of a submission, in the exam and in games."""
    found = [fault.what for fault in run.sitting.faults] if run.sitting else []
    for meeting in (*run.meetings, *meetings):
        if run.id in (meeting.first, meeting.second):
            which = int(meeting.second == run.id)
            found += [p.fault[1] for p in meeting.games if p.fault and p.fault[0] == which]
    return found


def _remarks(
    submission: Submission, run: Run, meetings: Sequence[Meeting], others: Sequence[Submission]
) -> Iterable[str]:
    faults = faults_of(run, meetings)
    if faults:
        more = f", and {counted(len(faults) - 1, 'more failure')}" if len(faults) > 1 else ""
        yield f"{faults[0]}{more}"
    if run.sitting and len(run.sitting.asked) < run.sitting.of:
        yield f"slow: {len(run.sitting.asked)} of {run.sitting.of} positions of the exam were asked"
    if run.sitting and run.sitting.skipped:
        yield f"not asked any more: the last {run.sitting.skipped} of {run.sitting.of} positions"
    if run.printed:
        yield f"printed {counted(run.printed, 'byte')}"
    same = [o.name for o in others if o.digest == submission.digest and o is not submission]
    if same and submission.source:
        yield f"the same file as {', '.join(same)}"


def csv_text(marked: Sequence[Marked], opponents: Sequence[str]) -> str:
    """The marks as CSV, one line for each submission.

    Cells that a spreadsheet would take for formulas get an apostrophe.
    """
    output = io.StringIO()
    rows = [_row(each, opponents) for each in marked]
    writer = csv.DictWriter(output, _columns(opponents), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return output.getvalue()


def _columns(opponents: Sequence[str]) -> list[str]:
    return [
        "submission", "status", "mark", "exam_positions", "exam_kept", "exam_kept_low",
        "exam_kept_high", "exam_regret", *(f"won_{name}" for name in opponents), "won_class",
        "rating", "rating_low", "rating_high", "ms_per_move", "failures", "digest", "remarks",
    ]  # fmt: skip


def _row(each: Marked, opponents: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(_columns(opponents), "")
    row |= {
        "submission": each.submission.name, "status": each.status, "mark": each.mark,
        "digest": each.submission.digest, "remarks": "; ".join(each.remarks),
        "failures": each.failures,
    }  # fmt: skip
    sitting = each.run and each.run.sitting
    if sitting and each.kept is not None and each.kept_interval and each.regret is not None:
        row["exam_positions"] = len(sitting.asked)
        row["exam_kept"] = round(each.kept, 4)
        row["exam_kept_low"], row["exam_kept_high"] = (round(v, 4) for v in each.kept_interval)
        row["exam_regret"] = round(each.regret, 4)
    for name in (*opponents, CLASS):
        won = each.scores.get(name, GamesWon()).rate
        row[f"won_{name}"] = "" if won is None else round(won, 4)
    if each.rating:
        row |= {
            "rating": each.rating.elo, "rating_low": each.rating.low,
            "rating_high": each.rating.high,
        }  # fmt: skip
    if each.run and each.run.moves:
        row["ms_per_move"] = round(1000 * each.run.thinking / each.run.moves, 2)
    return row


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value
