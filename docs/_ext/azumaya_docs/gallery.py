"""The gallery: a figure and a replay for each game, made when the pages are built."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from azumaya.baselines.play import gallery
from azumaya.baselines.play.gallery import Exhibit, read_gallery
from azumaya.baselines.play.replay import replay_page
from azumaya_docs import boards

REPLAYS = "replays"
"""The folder of the replays, beside the page of the gallery."""
SOURCES = (Path(gallery.__file__), gallery.PACKAGED)
"""What the page of the gallery is made from, besides the code of the games."""


def replay_name(number: int) -> str:
    """The file of a replay, as the page of the gallery links to it."""
    return f"{REPLAYS}/{number + 1}.html"


def exhibit_nodes(exhibit: Exhibit, number: int, folder: Path) -> list[nodes.Node]:
    """The last position of a game, and its replay to open below."""
    record, file = exhibit.record, replay_name(number)
    svg = exhibit.end.svg(last_action=exhibit.last_action)
    picture = nodes.image(uri=f"/_generated/{boards.save_svg(svg, folder)}", alt=exhibit.story)
    caption = nodes.caption("", f"{exhibit.players}, {record.date}. {exhibit.story}")
    figure = nodes.figure("", picture, caption, classes=["board"])
    title = escape(f"{exhibit.title}: {exhibit.players}")
    frame = f'<iframe src="{file}" title="{title}" loading="lazy"></iframe>'
    alone = f'<p><a href="{file}">The replay on a page of its own</a></p>'
    html = f'<details class="replay"><summary>Replay</summary>{frame}{alone}</details>'
    return [figure, nodes.raw("", html, format="html")]


def all_nodes(folder: Path) -> list[nodes.Node]:
    """All games, those of a kind side by side below its name."""
    found: list[nodes.Node] = []
    rows: dict[str, Any] = {}
    for number, exhibit in enumerate(read_gallery()):
        if exhibit.title not in rows:
            rows[exhibit.title] = nodes.container(classes=["gallery"])
            found += [nodes.rubric("", exhibit.title), rows[exhibit.title]]
        rows[exhibit.title] += nodes.container("", *exhibit_nodes(exhibit, number, folder))
    return found


def write_replays(app: Sphinx, error: Exception | None) -> None:
    """Write the replays beside the pages; Sphinx calls this at the end of a build."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / REPLAYS
    folder.mkdir(exist_ok=True)
    for number, exhibit in enumerate(read_gallery()):
        page = replay_page([exhibit.record], values=[exhibit.values])
        (Path(app.outdir) / replay_name(number)).write_text(page, encoding="utf-8")
