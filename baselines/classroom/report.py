"""The report of a class: one HTML page that needs nothing else, with games to replay.

Everything that comes from submissions is escaped, and the page's policy lets it run its own script
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files

from azumaya.baselines.arena.league.ratings import ANCHOR
from azumaya.baselines.arena.report import counted
from azumaya.baselines.classroom.confine import Isolation, lacking
from azumaya.baselines.classroom.grading import Plan
from azumaya.baselines.classroom.marks import (
    CLASS,
    EXAM,
    GRADED,
    GamesWon,
    Marked,
    Scheme,
    faults_of,
)
from azumaya.baselines.classroom.pictures import Pictures
from azumaya.baselines.classroom.replays import Shown, blunders, instructive, verdict
from azumaya.baselines.classroom.store import Meeting, Mistake
from azumaya.baselines.play.replay import games_element, page_head, replay_script, replay_style
from azumaya.baselines.system.machine import version
from azumaya.envs.registry import find_game

SHOWN_BLUNDERS, SHOWN_FAILURES = 5, 5
LONGEST_TEXT = 400
"""Characters of a remark that are shown."""


@dataclass(frozen=True)
class Report:
    """What a report is made from.

    Attributes:
        marked: the submissions with their marks.
        meetings: the games among them.
        plan: what they were given to do.
        scheme: how marks were computed.
        isolation: what confined them.
        mistakes: by id of a submission, its costliest moves.
    """

    marked: Sequence[Marked]
    meetings: Sequence[Meeting]
    plan: Plan
    scheme: Scheme
    isolation: Isolation
    mistakes: Mapping[str, Sequence[Mistake]] = field(default_factory=dict)


def report_page(report: Report) -> str:
    """The report as one page of HTML."""
    title = f"Class: {find_game(report.plan.game).title}"
    games = instructive(report.marked, report.plan.opponents, report.plan.exam)
    script = replay_script() if games else ""
    style = f"{replay_style()}\n{_own_style()}"
    runs = [each.run for each in report.marked if each.run is not None]
    pictures = Pictures([(run, report.mistakes.get(run.id, ())) for run in runs])
    details = "".join(_details(each, report, games, pictures) for each in report.marked)
    return f"""{page_head(title, script, style)}
<body>
<main class="azc">
<h1>{escape(title)}</h1>
{_introduction(report)}
{_table(report, games)}
{_explanation(report)}
{_replays(games)}
<h2>Submission by submission</h2>
{pictures.legend()}{pictures.shared()}{details}
</main>
{games_element([shown.record for shown in games]) if games else ""}
<script type="module">{script}</script>
</body>
</html>
"""


def isolation_lines(isolation: Isolation) -> list[str]:
    """What confined submissions, what is missing, and what they could therefore do."""
    lines = [f"isolation: {'; '.join(isolation.layers.values()) or 'none'}; resource limits"]
    for layer, why in isolation.missing.items():
        lines.append(f"not in force: {layer} ({why})")
    could = lacking(isolation)
    if could:
        lines.append(f"so a submission could {', '.join(could)}")
    return lines


def _own_style() -> str:
    return files(__package__).joinpath("web", "report.css").read_text("utf-8")


def _introduction(report: Report) -> str:
    plan, exam = report.plan, report.plan.exam
    counts = [counted(len(report.marked), "submission")]
    if exam is not None:
        which = "your own" if plan.own_exam else f"{exam.part} part, version {exam.version}"
        about = f"exam: {which}, {counted(len(exam.positions), 'position')}"
        counts.append(about)
    counts.append(f"opponents: {', '.join(plan.opponents)}")
    counts.append(f"{plan.limits.move:g} s for a move, {plan.limits.game:g} s for a game")
    counts.append(f"seed {plan.seed}, azumaya {version()}")
    warned = ' class="azc-warning"' if lacking(report.isolation) else ""
    lines = "".join(f"<p{warned}>{escape(line)}</p>" for line in isolation_lines(report.isolation))
    return f"<p>{escape('; '.join(counts))}</p>\n{lines}"


def _table(report: Report, games: Sequence[Shown]) -> str:
    """All submissions in one table."""
    opponents = report.plan.opponents
    names = ["Submission", "Mark", "Exam kept", *(f"Won against {n}" for n in opponents)]
    names += ["Won in class", "Rating", "ms a move", "Games", "Remarks"]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    spread = _spread(report.marked)
    rows = "".join(_line(each, report, games, spread) for each in report.marked)
    return (
        '<div class="azc-wide"><table>\n<caption>Marks, with 95 % intervals</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _spread(marked: Sequence[Marked]) -> tuple[float, float]:
    """The range of ratings that is drawn."""
    ends = [e for each in marked if each.rating for e in (each.rating.low, each.rating.high)]
    return min([0.0, *ends]), max([100.0, *ends])


def _line(each: Marked, report: Report, games: Sequence[Shown], spread: tuple[float, float]) -> str:
    number = report.marked.index(each) + 1
    head = (
        f'<tr class="azc-{each.status}"><th scope="row"><a href="#submission-{number}">'
        f'{escape(each.submission.name)}</a></th><td class="azc-mark">{each.mark:g}</td>'
    )
    remarks = f'<span class="azc-remarks">{escape(_cut("; ".join(each.remarks)))}</span>'
    if each.status != GRADED:
        span = len(report.plan.opponents) + 6
        return f'{head}<td colspan="{span}">{each.status}: {remarks}</td></tr>\n'
    cells = [_share(each.kept, each.kept_interval, each.luck)]
    for opponent in (*report.plan.opponents, CLASS):
        score = each.scores.get(opponent, GamesWon())
        cells.append(_share(score.rate, score.interval))
    cells.append(_rating(each, spread))
    time = 1000 * each.run.thinking / each.run.moves if each.run and each.run.moves else None
    cells.append("" if time is None else f"{time:.1f}")
    links = [
        f'<a href="#game-{n}" title="{escape(shown.title)}">{n}</a>'
        for n, shown in enumerate(games, start=1)
        if each.run is not None and shown.submission == each.run.id
    ]
    row = "".join(f"<td>{cell}</td>" for cell in (*cells, " ".join(links), remarks))
    return f"{head}{row}</tr>\n"


def _share(
    value: float | None, interval: tuple[float, float] | None, mark: float | None = None
) -> str:
    """A share as a bar with its interval, and as a number."""
    if value is None or interval is None:
        return ""
    low, high = interval
    picture = _bar(value, low, high, mark)
    return f"{picture}<span>{value:.0%}</span> <small>{low:.0%} to {high:.0%}</small>"


def _bar(value: float, low: float, high: float, mark: float | None = None) -> str:
    """A bar from 0 to a value, the range of its interval, and maybe a mark; all from 0 to 1."""
    a, b, c = (round(100 * part, 1) for part in (value, low, high))
    tick = "" if mark is None else _tick(100 * mark)
    return (
        '<svg class="azc-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="azc-ground" width="100" height="10"/><rect class="azc-value" width="{a}" '
        f'height="10"/><rect class="azc-range" x="{b}" y="4" width="{round(c - b, 1)}" height="2"/>'
        f"{tick}</svg>"
    )


def _tick(place: float) -> str:
    return f'<rect class="azc-tick" x="{place:.1f}" width="1" height="10"/>'


def _rating(each: Marked, spread: tuple[float, float]) -> str:
    if each.rating is None:
        return ""
    least, most = spread
    elo, low, high = (
        min(1.0, max(0.0, (value - least) / (most - least)))
        for value in (each.rating.elo, each.rating.low, each.rating.high)
    )
    picture = (
        '<svg class="azc-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="azc-ground" width="100" height="10"/><rect class="azc-value" '
        f'x="{100 * low:.1f}" y="2" width="{100 * (high - low):.1f}" height="6"/>'
        f"{_tick(99 * elo)}</svg>"
    )
    words = f"{each.rating.low:.0f} to {each.rating.high:.0f}"
    return f"{picture}<span>{each.rating.elo:.0f}</span> <small>{words}</small>"


def _explanation(report: Report) -> str:
    """How marks are made, in words."""
    weights = {n: w for n, w in report.scheme.weights.items() if w}
    if report.plan.exam is None:
        weights.pop(EXAM, None)
    total = sum(weights.values()) or 1.0
    parts = ", ".join(f"{escape(name)} {weight / total:.0%}" for name, weight in weights.items())
    exam = (
        "<p>The exam counts the positions in which a move kept the win, or the draw where nothing "
        "wins. A random mover, marked by a line in the bar, has no points for it; one that keeps "
        "them all gets all of them.</p>"
        if EXAM in weights
        else ""
    )
    ratings = (
        "Ratings are on an Elo scale on which random play has 0; they do not affect the mark; "
        "games in the class do only if <code>class</code> has a weight."
        if ANCHOR in report.plan.opponents
        else f"There are no ratings, because {ANCHOR} is no opponent: their scale begins there."
    )
    return (
        f"<h2>How marks are made</h2>\n<p>Best mark {report.scheme.points:g}. Weights: {parts}. "
        "The share of an opponent is that of games won, a draw counting as half. A submission "
        "that fails loses the game, or the position of the exam. One that does not pass its check "
        f"has 0 points.</p>\n{exam}\n<p>{ratings}</p>"
    )


def _replays(games: Sequence[Shown]) -> str:
    if not games:
        return ""
    items = "".join(
        f'<li><a href="#game-{n}">{escape(shown.submission.rpartition("@")[0])}</a>: '
        f"{escape(shown.title)}</li>\n"
        for n, shown in enumerate(games, start=1)
    )
    return (
        '<h2>Instructive games</h2>\n<ol class="azc-games">'
        f'{items}</ol>\n<div id="replay"></div>\n<noscript>The boards need JavaScript.</noscript>'
    )


def _details(each: Marked, report: Report, games: Sequence[Shown], pictures: Pictures) -> str:
    number = report.marked.index(each) + 1
    parts = [f"<p>{escape(_cut(remark))}</p>" for remark in each.remarks if remark]
    run, exam = each.run, report.plan.exam
    if run is not None:
        if set(run.missing) - set(report.isolation.missing):
            isolation = Isolation(dict(run.isolation), dict(run.missing))
            parts.append(_list("Run with less isolation", isolation_lines(isolation), 0))
        failures = faults_of(run, report.meetings)
        parts.append(_list("Failures", failures[:SHOWN_FAILURES], len(failures)))
        parts.append(pictures.of(run))
        if run.sitting is not None and exam is not None:
            found = blunders(run.sitting, exam)
            lines = [f"{a.question.position}: {verdict(a)}" for _, a in found[:SHOWN_BLUNDERS]]
            parts.append(_list("Mistakes in the exam", lines, len(found)))
        if run.output:
            parts.append(f"<p>It printed:</p><pre>{escape(run.output)}</pre>")
        parts.append(f"<p>{counted(run.moves, 'move')}, {run.seconds:.1f} s in all.</p>")
    own = [
        f'<a href="#game-{n}">{escape(shown.title)}</a>'
        for n, shown in enumerate(games, start=1)
        if run is not None and shown.submission == run.id
    ]
    if own:
        parts.append(f"<p>Games: {', '.join(own)}.</p>")
    return (
        f'<details id="submission-{number}" open><summary>{escape(each.submission.name)}'
        f"</summary>\n{''.join(parts)}</details>\n"
    )


def _list(title: str, lines: Sequence[str], of: int) -> str:
    """Some of a number of lines as a list."""
    if not lines:
        return ""
    items = "".join(f"<li>{escape(_cut(line))}</li>" for line in lines)
    more = f" (the first {len(lines)} of {of})" if of > len(lines) else ""
    return f"<p>{title}{more}:</p><ul>{items}</ul>"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."
