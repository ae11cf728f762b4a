"""The code blocks of a Markdown page, and running them.

The `python` blocks of a page run in order and share a namespace. An `output` block contains exactly
what the block before it prints. A block directly after a line `<!-- not run: why -->` is skipped.

    python -m tests.docs.blocks PAGE ...

updates the `output` blocks with what the code prints; check the result before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<skip><!-- not run: [^\n]+ -->\n(?P=indent))?"
    r"```(?P<kind>python|output|bash|console)\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its kind, as written after the fence, and its first line.

    In a list, `indent` is what stands before each line; `code` is without it.
    """

    kind: str
    code: str
    indent: str
    line: int
    span: tuple[int, int]
    skipped: bool


def pages() -> list[Path]:
    """All Markdown pages whose code must work."""
    found = [p for p in (ROOT / "docs").rglob("*.md") if not {"_build"} & set(p.parts)]
    return [*sorted(found), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page."""
    return [
        Block(
            kind=match["kind"],
            code=re.sub(f"^{match['indent']}", "", match["code"], flags=re.MULTILINE),
            indent=match["indent"],
            line=text.count("\n", 0, match.start("code")) + 1,
            span=match.span("code"),
            skipped=bool(match["skip"]),
        )
        for match in FENCE.finditer(text)
    ]


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Work in a temporary folder: files written there, and modules imported from there, go."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            for imported, module in [*sys.modules.items()]:
                file = getattr(module, "__file__", None)
                if file and Path(file).is_relative_to(folder):
                    del sys.modules[imported]


def run_page(path: Path) -> list[tuple[Block, str]]:
    """Run the page's Python; returns each `output` block with the text printed before it.

    Tracebacks name the page and the line.
    """
    namespace: dict[str, Any] = {"__name__": "__page__"}
    printed, outputs = "", []
    with elsewhere():
        for block in blocks_of(path.read_text("utf-8")):
            if block.kind == "output":
                outputs.append((block, printed))
            elif block.kind == "python" and not block.skipped:
                lines = "\n" * (block.line - 1) + block.code  # so that errors name the page's line
                written = io.StringIO()
                with contextlib.redirect_stdout(written):
                    exec(compile(lines, str(path), "exec", dont_inherit=True), namespace)
                printed = written.getvalue()
    return outputs


def fill(path: Path) -> None:
    """Update the page's `output` blocks with what the code prints."""
    text = path.read_text("utf-8")
    for block, printed in reversed(run_page(path)):
        shown = textwrap.indent(printed, block.indent)
        text = text[: block.span[0]] + shown + text[block.span[1] :]
    path.write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fill(Path(name).resolve())
