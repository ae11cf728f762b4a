"""Games between agents, and the statistics of their results; names are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azumaya.baselines.system.imports import lazily

if TYPE_CHECKING:
    from azumaya.baselines.arena.endgames import Endgames
    from azumaya.baselines.arena.exam_results import Answer, ExamResult
    from azumaya.baselines.arena.exams import (
        PARTS,
        Exam,
        ExamError,
        ExamPosition,
        has_exam,
        read_exam,
    )
    from azumaya.baselines.arena.exploitability import Exploitation, Point, exploit
    from azumaya.baselines.arena.intervals import normal, wilson
    from azumaya.baselines.arena.matches import answer_exam, play_pairing
    from azumaya.baselines.arena.rounds import Score
    from azumaya.baselines.arena.starts import (
        BalancedStart,
        Book,
        BookError,
        balanced_starts,
        load_book,
    )

__all__ = [
    "PARTS",
    "Answer",
    "BalancedStart",
    "Book",
    "BookError",
    "Endgames",
    "Exam",
    "ExamError",
    "ExamPosition",
    "ExamResult",
    "Exploitation",
    "Point",
    "Score",
    "answer_exam",
    "balanced_starts",
    "exploit",
    "has_exam",
    "load_book",
    "normal",
    "play_pairing",
    "read_exam",
    "wilson",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "endgames": "Endgames",
        "exam_results": "Answer ExamResult",
        "exams": "Exam ExamError ExamPosition PARTS has_exam read_exam",
        "exploitability": "Exploitation Point exploit",
        "intervals": "normal wilson",
        "matches": "answer_exam play_pairing",
        "rounds": "Score",
        "starts": "BalancedStart Book BookError balanced_starts load_book",
    },
)
