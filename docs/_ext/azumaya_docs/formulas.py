"""Formulas as pictures, drawn when the pages are built: no script, and nothing from a network.

After each picture comes the same formula as MathML, for screen readers only.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator
from ziamath import Latex, config

config.svg2 = False  # its pictures share glyphs by name, and one page has several pictures
SIZE = 16
"""The units of a picture in 1em."""


def formula(latex: str, display: str) -> str:
    """A formula as HTML.

    Args:
        latex: the formula.
        display: `inline` or `block`.

    Raises:
        ExtensionError: the formula is wrong, or has a command that latex2mathml does not know.
    """
    try:
        spoken = convert(latex, display=display)
        picture = Latex(latex, size=SIZE, color="currentColor", inline=display == "inline").svgxml()
    except Exception as error:
        raise ExtensionError(f"{type(error).__name__} in the formula {latex!r}") from error
    unknown = re.search(r"\\\w+", spoken)
    if unknown:
        raise ExtensionError(f"{unknown[0]} in the formula {latex!r} is not known to latex2mathml")
    _, top, width, height = (float(value) / SIZE for value in picture.attrib["viewBox"].split())
    picture.attrib |= {
        "width": f"{width:.3f}em",
        "height": f"{height:.3f}em",
        "style": f"vertical-align: {-top - height:.3f}em",
        "aria-hidden": "true",
    }
    svg = ElementTree.tostring(picture, encoding="unicode")
    return f'<span class="formula {display}">{svg}<span class="spoken">{spoken}</span></span>'


def visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a sentence."""
    writer.body.append(formula(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands alone."""
    writer.body.append(formula(node.astext(), "block") + "\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; Sphinx calls this when it loads the extension."""
    app.add_html_math_renderer("pictures", (visit_inline, None), (visit_block, None))
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
