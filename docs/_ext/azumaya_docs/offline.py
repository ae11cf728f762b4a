"""The built pages load nothing from a network: checked at the end of each build."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

LOADED = re.compile(
    r"""<(?:script|link|img|iframe|audio|video|source|object|embed)\b[^>]*"""
    r"""\b(?:src|href|data)=["']((?:https?:)?//[^"']+)"""
)


def check(app: Sphinx, failure: Exception | None) -> None:
    """Fail the build if a page loads something from elsewhere; Sphinx calls this at its end.

    Raises:
        ExtensionError: a page does.
    """
    if failure or app.builder.format != "html":
        return
    for page in sorted(Path(app.outdir).rglob("*.html")):
        found = LOADED.search(page.read_text(encoding="utf-8"))
        if found:
            raise ExtensionError(f"{page.relative_to(app.outdir)} loads {found[1]}")
