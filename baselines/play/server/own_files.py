"""The files of the folder `web`: the page, its scripts and styles, pictures of games."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

KINDS = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
"""The media types of files that are served, by the end of their names."""


@cache
def own_files() -> frozenset[str]:
    """The names of all files of the folder."""
    folder = files("azumaya.baselines.play.server").joinpath("web")
    return frozenset(file.name for file in folder.iterdir())


@cache
def own_file(name: str) -> str:
    """The text of a file of the folder."""
    folder = files("azumaya.baselines.play.server").joinpath("web")
    return folder.joinpath(name).read_text(encoding="utf-8")
