"""Exams as a table with a row for every position."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.exams import Exam
from azumaya.baselines.export.columns import (
    POSITION_COLUMNS,
    Column,
    Table,
    facts,
    seen,
    seen_columns,
)
from azumaya.baselines.export.table import check_output, write_table

POSITIONS = "positions"
LICENCE = "https://opensource.org/license/mit"
VALUES = (
    Column("moves", "string", "The names of the legal moves.", 0),
    Column("actions", "int32", "Their actions, in ascending order.", 0),
    Column(
        "values", "float64", "What the mover still gains after each move, by best play of both.", 0
    ),
    Column("value", "float64", "The largest of these values."),
    Column("plies_left", "int32", "Plies that the game it comes from still lasted."),
    Column("player_0", "string", "Who played this game as player_0."),
    Column("player_1", "string", "Who played it as player_1."),
    Column("seed", "uint64", "The seed of this game."),
)


def export_exam(exam: Exam, output: str | Path, *, planes: bool = False) -> int:
    """Write an exam to `positions.parquet` in a folder, with a card.

    Args:
        exam: the exam, as `load_exam` gives it.
        output: the folder, which is made if there is none.
        planes: as for `export_games`.

    Returns:
        The number of positions.

    Raises:
        OptionError: the folder cannot be used.
        ExamError: a position does not fit the game.
        MissingExtraError: the extra `data` is not installed.
        OSError: a file cannot be written.
    """
    check_output(Path(output), POSITIONS)
    start = exam.start(0)
    number = Column("number", "int32", "The number of the position in the exam, from 0.")
    exact = "exact values" if exam.exact else "estimated values"
    table = Table(
        POSITIONS,
        f"Positions of {start.game.title} with {exact} of all legal moves: the part {exam.part} "
        f"of its exam, version {exam.version}.",
        (number, *POSITION_COLUMNS, *seen_columns(start, planes), *VALUES),
        {
            "table": "exam", "options": dict(exam.options), "part": exam.part,
            "version": exam.version, "exact": exam.exact, **facts(start, planes),
        },
        LICENCE,
    )  # fmt: skip
    return write_table(Path(output), table, _rows(exam, planes))


def _rows(exam: Exam, planes: bool) -> Iterator[dict[str, Any]]:
    for number, each in enumerate(exam.positions):
        start = exam.start(number)
        moves = start.legal_moves()
        yield {
            "number": number,
            **seen(start, planes),
            "moves": moves,
            "actions": start.legal_actions(),
            "values": [each.values[move] for move in moves],
            "value": each.value,
            "plies_left": each.plies_left,
            "player_0": each.players[0],
            "player_1": each.players[1],
            "seed": each.seed,
        }
