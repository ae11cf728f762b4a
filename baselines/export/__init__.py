"""Games and exams as Parquet files with a Croissant card, which `azumaya export` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azumaya.baselines.system.imports import lazily

if TYPE_CHECKING:
    from azumaya.baselines.export.exams import export_exam
    from azumaya.baselines.export.games import export_games
    from azumaya.baselines.export.table import read_positions

__all__ = ["export_exam", "export_games", "read_positions"]

__getattr__, __dir__ = lazily(
    __name__, {"exams": "export_exam", "games": "export_games", "table": "read_positions"}
)
