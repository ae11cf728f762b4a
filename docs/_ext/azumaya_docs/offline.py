"""The built pages load nothing from a network: checked at the end of each build."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ELSEWHERE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
"""How the address of another machine begins."""
LOADED = {"src", "srcset", "imagesrcset", "poster", "data", "background"}
"""Attributes with an address that is loaded, whatever their element; others have `LINKED`."""
LINKED = {"link", "image", "feimage", "use", "script", "base"}
"""Elements that load the address in `href`; that of `<a>` is only followed."""
IN_STYLES = re.compile(r"""(?:\burl\(|@import\s+(?!url\())\s*["']?\s*([^"')\s;]+)""", re.IGNORECASE)
IN_SCRIPTS = re.compile(r"""\b(?:from|import|fetch|importScripts)\s*\(?\s*["'`]([^"'`]+)""")


class _Page(HTMLParser):
    """The addresses in a page that a browser loads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        for name, value in attrs:
            if value is None:
                continue
            if name.endswith("srcset"):
                self.loaded += re.split(r"[\s,]+", value)
            elif name in LOADED or (name in ("href", "xlink:href") and tag in LINKED):
                self.loaded.append(value)
            elif name == "style":
                self.loaded += IN_STYLES.findall(value)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.loaded += IN_STYLES.findall(data)
        elif self._inside == "script":
            self.loaded += IN_SCRIPTS.findall(data)


def _loaded(file: Path) -> list[str]:
    """The addresses that a built file makes a browser load."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".css":
        return IN_STYLES.findall(text)
    if file.suffix == ".js":
        return IN_SCRIPTS.findall(text)
    page = _Page()
    page.feed(text)
    page.close()
    return page.loaded


def loaded_from_elsewhere(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files that load something from a network, with its address."""
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".html", ".svg", ".css", ".js"):
            yield from ((file, address) for address in _loaded(file) if ELSEWHERE.match(address))


def check(app: Sphinx, failure: Exception | None) -> None:
    """Fail the build if a page loads something from elsewhere; Sphinx calls this at its end.

    Raises:
        ExtensionError: a page does.
    """
    if failure or app.builder.format != "html":
        return
    for file, address in loaded_from_elsewhere(Path(app.outdir)):
        raise ExtensionError(f"{file.relative_to(app.outdir)} loads {address}")
