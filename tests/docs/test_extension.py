"""The Sphinx extension: formulas, the gallery, rebuilding, and that pages load nothing."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.docs.blocks import ROOT

NAMES = ("azumaya_docs", "azumaya_docs.formulas", "azumaya_docs.gallery", "azumaya_docs.offline")


@pytest.fixture(scope="module")
def extension() -> Any:
    """The extension, and its modules."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        found, *_ = map(importlib.import_module, NAMES)
        yield found
    finally:
        sys.path.pop(0)


# ---- pages load nothing from a network ----


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", '<script src="https://x.example/a.js"></script>'),
        ("a.html", '<img alt="a > b" src="//x.example/a.png">'),
        ("a.html", "<img src=https://x.example/a.png>"),
        ("a.html", '<IMG SRC="HTTPS://x.example/a.png">'),
        ("a.html", '<img src="a.png" srcset="a.png 1x, https://x.example/b.png 2x">'),
        ("a.html", '<svg><image href="https://x.example/a.png"/></svg>'),
        ("a.html", '<object data="https://x.example/a.svg"></object>'),
        ("a.html", '<video poster="https://x.example/a.png"></video>'),
        ("a.html", '<p style="background: url(https://x.example/a.png)">a</p>'),
        ("a.html", '<style>@import "https://x.example/a.css";</style>'),
        ("a.html", '<script type="module">import a from "https://x.example/a.js"</script>'),
        ("a.html", '<script type="module">import("https://x.example/a.js")</script>'),
        ("deep/a.css", "@import url('https://x.example/a.css');"),
        ("a.css", "a { src: url( //x.example/a.woff2 ) }"),
        ("a.js", 'export {a} from "https://x.example/a.js"'),
        ("a.svg", '<svg><use xlink:href="https://x.example/a.svg#b"/></svg>'),
    ],
)
def test_a_page_that_loads_something_is_found(
    name: str, content: str, extension: Any, tmp_path: Path
) -> None:
    page = tmp_path / name
    page.parent.mkdir(exist_ok=True)
    page.write_text(content)
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path)
    with pytest.raises(Exception, match=rf"^{name} loads (?i:https:)?//x\.example/\w"):
        extension.offline.check(app, None)


def test_links_and_files_of_the_pages_are_no_fault(extension: Any, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"></svg><a href="https://x.example">a</a>'
        '<img src="a.png"><img src="data:image/png;base64,//x"><script src="a.js"></script>'
        '<style>a { src: url(a.woff2) }</style>import a from "https://x.example/a.js"'
    )
    (tmp_path / "a.js").write_text('// see https://x.example\nimport "./b.js"')
    assert list(extension.offline.loaded_from_elsewhere(tmp_path)) == []


# ---- the gallery ----
