"""Texts of the games for people to read: with the names of the sides, in paragraphs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from azumaya.envs import Position

_PLAYER = re.compile(r"\bplayer_([01])(?: \([a-z]+\))?")
_OVER = re.compile(r"^over[:,] ")
_ENDS = re.compile(r"[.:]$")
_NUMBER = re.compile(r"\d+\. ")


def sides(position: Position) -> tuple[str, str]:
    """The names of both sides, such as `white` and `black`."""
    state = position.state[0]
    side = position.game.words.side
    return side(state, 0), side(state, 1)


def in_words(text: str, side: Sequence[str]) -> str:
    """A text of the library with the sides' names for `player_0` and `player_1`."""
    return _PLAYER.sub(lambda found: side[int(found[1])], text)


def notes(view: Mapping[str, Any], side: Sequence[str]) -> dict[str, Any]:
    """The task, the notes and the trays of a view with the names of the sides."""
    return {
        "task": capital(in_words(_OVER.sub("", view["status"]), side)),
        "notes": [capital(in_words(note, side)) for note in view["notes"]],
        "trays": [[in_words(label, side), pieces] for label, pieces in view["trays"]],
    }


def worded(view: Mapping[str, Any], side: Sequence[str]) -> dict[str, Any]:
    """A view with the names of the sides in all its texts."""
    found = notes(view, side)
    task = found.pop("task")
    return {**view, **found, "status": task}


def capital(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def paragraphs(text: str) -> list[str]:
    """A text that was wrapped by hand, such as `how_to_play`, as paragraphs of one line each.

    A line begins a paragraph if it is numbered, or if a sentence ends before it on a line that has
    room for its first word.
    """
    lines = text.splitlines()
    width = max(map(len, lines))
    found = lines[:1]
    for before, line in itertools.pairwise(lines):
        has_room = len(before) + 1 + len(line.split(" ")[0]) <= width
        if _NUMBER.match(line) or (_ENDS.search(before) and has_room):
            found.append(line)
        else:
            found[-1] += f" {line}"
    return found
