"""Tables of results that stand in the pages, so that they can be read where nothing is built.

    PYTHONPATH=docs/_ext python -m azumaya_docs.pages

writes them again. A test compares them, so that none can become outdated unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from azumaya.benchmarks.report import put_between
from azumaya_docs import tables

DOCS = Path(__file__).parents[2]
PAGES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "games/index.md": {"games": tables.games_table},
    "guides/exams.md": {"exams": tables.exams_table},
    "results/table.md": {
        "azumaya-3": tables.azumaya_3_table,
        "benchmark": tables.benchmark_tables,
        "leaderboard": tables.leaderboard_table,
    },
    "results/training.md": {"training": tables.training_table},
}
"""By page, its tables, each between the lines `<!-- begin: NAME -->` and `<!-- end: NAME -->`."""


def current(page: str) -> str:
    """The text of a page with its tables as they should be."""
    text = (DOCS / page).read_text("utf-8")
    for name, make in PAGES[page].items():
        text = put_between(text, make(), name)
    return text


if __name__ == "__main__":
    for page in PAGES:
        (DOCS / page).write_text(current(page), "utf-8")
