"""Sphinx directives that draw boards and make tables from the code when the pages are built.

- `{board} GAME`: a position as a figure; the body is its caption. Options: `position` (a text) or
  `seed`, `options` (a Python dict), `moves` to play from there, `candidates`, `cropped` for the
  board alone, and `legal` and `illegal`, lists of moves that the page calls so; they are checked
  when it is built.
- `{bits} GAME`: sets of cells side by side; see `boards.evaluate`.
- `{hyperparameters}`, `{facts} GAME`, `{options} GAME`, `{planes} GAME`, `{actions} GAME`,
  `{statistics} GAME`, `{state} GAME`: tables. Those of results stand in the pages, see `pages.py`.
- `{gallery}`: the games of the gallery, with replays that play in the page.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import azumaya.envs
from azumaya.baselines import training
from azumaya.envs import find_game
from azumaya_docs import boards, gallery, offline, tables


class Generated(SphinxDirective):
    """A directive whose page is rebuilt when the code, the data or this extension changes."""

    def depend_on_code(self) -> None:
        """Tell Sphinx which files the page depends on."""
        for module in (azumaya.envs.__file__, training.__file__, __file__):
            for path in Path(module).parent.rglob("*.py"):
                self.env.note_dependency(path)
        for folder in (Path(self.env.srcdir) / "_data", Path(training.__file__).parent):
            for path in folder.glob("*.json"):
                self.env.note_dependency(path)


class Picture(Generated):
    """The base class of directives with a picture."""

    required_arguments = 1
    has_content = True

    def figure(self, svg: str, alt: str, caption: list[nodes.Node]) -> list[nodes.Node]:
        """A picture with a caption, stored in `docs/_generated`."""
        name = boards.save_svg(svg, Path(self.env.srcdir) / "_generated")
        figure = nodes.figure(classes=["board"])
        figure += nodes.image(uri=f"/_generated/{name}", alt=alt)
        if caption:
            text = nodes.caption("", "", *caption[0].children)
            figure += text
            if caption[1:]:
                figure += nodes.legend("", *caption[1:])
        return [figure]

    def position(self) -> tuple[Any, int | None]:
        """The position that the directive's options describe."""
        self.depend_on_code()
        return boards.make_position(
            self.arguments[0],
            self.options.get("position"),
            int(self.options.get("seed", 0)),
            ast.literal_eval(self.options.get("options", "{}")),
            self.options.get("moves", "").split(),
        )


class Board(Picture):
    """A position of a game."""

    option_spec: ClassVar[Any] = {
        "position": directives.unchanged,
        "seed": directives.nonnegative_int,
        "options": directives.unchanged,
        "moves": directives.unchanged,
        "legal": directives.unchanged,
        "illegal": directives.unchanged,
        "candidates": directives.flag,
        "cropped": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Check the claims of the page, then draw the board."""
        claims = (self.options.get(key, "").split() for key in ("legal", "illegal"))
        try:
            position, last = self.position()
            boards.check_claims(position, *claims)
        except ValueError as error:
            raise self.error(str(error)) from error
        if "cropped" in self.options:
            givens = "position" not in self.options
            svg = boards.cropped(position, last, 'width="360" height="360"', givens)
        else:
            svg = position.svg(candidates="candidates" in self.options, last_action=last)
        caption = self.parse_text_to_nodes("\n".join(self.content)) if self.content else []
        return self.figure(svg, f"{position.game.title}: {position}", caption)


class BitBoards(Picture):
    """Sets of cells of a position, side by side."""

    option_spec: ClassVar[Any] = {
        "position": directives.unchanged,
        "seed": directives.nonnegative_int,
        "options": directives.unchanged,
        "moves": directives.unchanged,
        "caption": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Check the set to the right of `=`, then draw all sets."""
        try:
            position, _ = self.position()
            parts = boards.evaluate(position, [line for line in self.content if line.strip()])
        except ValueError as error:
            raise self.error(str(error)) from error
        alt = " ".join(part if isinstance(part, str) else part.title for part in parts)
        caption = self.options.get("caption")
        return self.figure(
            boards.draw_bits(position, parts),
            alt,
            self.parse_text_to_nodes(caption) if caption else [],
        )


class Gallery(Generated):
    """The games of the gallery."""

    def run(self) -> list[nodes.Node]:
        """Draw the games; the replays are written at the end of the build."""
        self.depend_on_code()
        for path in gallery.SOURCES:
            self.env.note_dependency(path)
        return gallery.all_nodes(Path(self.env.srcdir) / "_generated")


def table_directive(make: Callable[..., str], arguments: int) -> type[SphinxDirective]:
    """A directive that inserts the Markdown made by a function, which may take a game."""

    class Table(Generated):
        required_arguments = arguments

        def run(self) -> list[nodes.Node]:
            self.depend_on_code()
            return self.parse_text_to_nodes(make(*map(find_game, self.arguments)))

    return Table


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives; Sphinx calls this when it loads the extension."""
    app.add_directive("board", Board)
    app.add_directive("bits", BitBoards)
    app.add_directive("gallery", Gallery)
    app.connect("build-finished", gallery.write_replays)
    app.connect("build-finished", offline.check)
    app.add_directive("facts", table_directive(tables.facts_table, 1))
    app.add_directive("options", table_directive(tables.options_table, 1))
    app.add_directive("planes", table_directive(tables.planes_table, 1))
    app.add_directive("actions", table_directive(tables.actions_table, 1))
    app.add_directive("statistics", table_directive(tables.statistics_table, 1))
    app.add_directive("hyperparameters", table_directive(tables.hyperparameters_table, 0))
    app.add_directive("state", table_directive(tables.state_table, 1))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
