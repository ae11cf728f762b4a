"""The games of a class that are worth looking at: costly mistakes, wins over strong opponents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from azumaya.baselines.arena.exam_results import Answer
from azumaya.baselines.arena.exams import Exam
from azumaya.baselines.classroom.games import Played
from azumaya.baselines.classroom.marks import Marked
from azumaya.baselines.classroom.sitting import Sitting
from azumaya.baselines.search.solver import solve
from azumaya.envs import Position
from azumaya.envs.notation import GameRecord, record_of

MOST = 100
"""Games of a report, which are all in it as pictures."""
NODES = 200_000
"""Positions that the solver visits for the line after a mistake."""
MEGABYTES = 16
BEST = "best play"


@dataclass(frozen=True)
class Shown:
    """A game of the report.

    Attributes:
        submission: the id of the submission it is about.
        title: what there is to see.
        record: the game.
    """

    submission: str
    title: str
    record: GameRecord


def blunders(sitting: Sitting, exam: Exam) -> list[tuple[int, Answer]]:
    """The mistakes in an exam with the numbers of their positions, the costliest first.

    Positions in which the submission failed, or that it was not asked, are left out: it chose no
    move there.
    """
    failed = {fault.position for fault in sitting.faults}
    pairs = list(zip(sitting.asked, sitting.answers(exam), strict=True))
    pairs = pairs[: len(pairs) - sitting.skipped]
    found = [(n, a) for n, a in pairs if a.regret > 0 and a.question.position not in failed]
    return sorted(found, key=lambda pair: (pair[1].kept, -pair[1].regret, pair[0]))


def instructive(
    marked: Sequence[Marked], opponents: Sequence[str], exam: Exam | None
) -> list[Shown]:
    """Games to show, up to three for each submission: its costliest mistake, a win and a loss.

    If these are more than `MOST`, each submission has fewer.

    Args:
        marked: the submissions.
        opponents: the library's agents, the weakest first.
        exam: the exam; None if the game has none.
    """
    lists = [list(_of_one(each, opponents, exam)) for each in marked]
    share = max(1, MOST // max(1, len([games for games in lists if games])))
    return [shown for games in lists for shown in games[:share]][:MOST]


def _of_one(each: Marked, opponents: Sequence[str], exam: Exam | None) -> Iterator[Shown]:
    run, name = each.run, each.submission.name
    if run is None or run.problem:
        return
    if exam is not None and run.sitting is not None:
        for number, answer in blunders(run.sitting, exam)[:1]:
            record = refutation(exam.start(number), answer.move, name)
            yield Shown(run.id, f"The costliest mistake in the exam: {verdict(answer)}", record)
    by_name = {name: [m for m in run.meetings if m.second == name] for name in opponents}
    found: list[tuple[str, Iterable[str], Callable[[Played], bool]]] = [
        ("A loss against", opponents, lambda played: played.result < 0),
        ("A win against", reversed(opponents), lambda played: played.result > 0),
    ]
    for words, order, wanted in found:
        for opponent in order:
            games = [p for m in by_name[opponent] for p in m.games if wanted(p) and not p.fault]
            if games:
                shortest = min(games, key=lambda played: len(played.record.moves))
                yield Shown(run.id, f"{words} {opponent}", shortest.record)
                break


def verdict(answer: Answer) -> str:
    """What a mistake was, in words."""
    best = max(answer.question.values, key=answer.question.values.__getitem__)
    gains = {name: answer.question.values[name] for name in (answer.move, best)}
    if answer.kept:
        return f"{answer.move} gains {gains[answer.move]:g}, {best} {gains[best]:g}"
    return f"{answer.move} {_outcome(gains[answer.move])}, {best} {_outcome(gains[best])}"


def _outcome(value: float) -> str:
    return "wins" if value > 0 else "loses" if value < 0 else "draws"


def refutation(start: Position, move: str, name: str) -> GameRecord:
    """A game that begins with a mistake and goes on with best play by both, as far as is known."""
    mover, here, moves = start.to_move, start.copy().play(move), [move]
    if not here.is_over:
        line = solve(here, nodes=NODES, megabytes=MEGABYTES, line=True).line
        for action in line:
            moves.append(here.move_name(action))
            here.play(action)
    players = (name, BEST) if mover == 0 else (BEST, name)
    return record_of(start, moves, here, players)
