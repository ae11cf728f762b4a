"""The rules of a game for people to read."""

from __future__ import annotations

import itertools
import re

_ENDS = re.compile(r"[.:]$")
_NUMBER = re.compile(r"\d+\. ")


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
