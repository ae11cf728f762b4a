"""The results of `azumaya class`: marks and report as files, and marks in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from azumaya.baselines.arena.report import counted, result_table
from azumaya.baselines.classroom.confine import Isolation
from azumaya.baselines.classroom.grading import Plan, counted_meetings
from azumaya.baselines.classroom.marks import GRADED, Marked, Scheme, csv_text, mark_class
from azumaya.baselines.classroom.report import Report, report_page
from azumaya.baselines.classroom.store import MARKS, REPORT, ClassFile
from azumaya.baselines.classroom.submissions import Submission
from azumaya.baselines.cli.terminal import console, wrote
from azumaya.baselines.system.files import shown, write_whole

PRIVATE = 0o600
"""The permissions of the results."""


def write_results(
    file: ClassFile, submissions: Sequence[Submission], plan: Plan, scheme: Scheme,
    isolation: Isolation, output: Path,
) -> None:  # fmt: skip
    """Write marks and report from what is in the file."""
    meetings = counted_meetings(file, submissions, plan)
    marked = mark_class(
        submissions, file.runs, meetings, plan.game, plan.exam, scheme, plan.classmates
    )
    write_whole(output / MARKS, csv_text(marked, plan.opponents).encode("utf-8-sig"), PRIVATE)
    page = report_page(Report(marked, meetings, plan, scheme, isolation, file.mistakes))
    write_whole(output / REPORT, page.encode(), PRIVATE)
    show_marks(marked, plan.opponents, counted(len(marked), "submission"))
    wrote(output / MARKS, "the marks")
    wrote(output / REPORT, "the report")


def show_marks(marked: Sequence[Marked], opponents: Sequence[str], title: str) -> None:
    """Show the marks in the terminal."""
    console().print(_table(marked, opponents, title), *_remarks(marked), sep="\n")


def _table(marked: Sequence[Marked], opponents: Sequence[str], title: str) -> Table:
    """Marks in the terminal; names are shown as they are, whatever markup they resemble."""
    headings = ("mark", "exam kept", *(name.replace(":", ":\n") for name in opponents))
    table = result_table(title, "", "submission", headings, leading=0)
    for each in marked:
        rates = [each.scores[name].rate if name in each.scores else None for name in opponents]
        shares = ["" if share is None else f"{share:.0%}" for share in (each.kept, *rates)]
        table.add_row(Text(each.submission.name), f"{each.mark:g}", *shares)
    return table


def _remarks(marked: Sequence[Marked]) -> Iterator[str]:
    """A line for each submission that was not graded, or of which there is more to say."""
    for each in marked:
        status = [] if each.status == GRADED else [each.status]
        if said := [*status, *each.remarks]:
            yield shown(f"{each.submission.name}: {'; '.join(said)}")
