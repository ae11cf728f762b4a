"""Reading moves from what language models write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from azumaya.baselines.text.prompts import ANSWER
from azumaya.envs import MoveNameError, OptionError, Position
from azumaya.envs.errors import brief

LONGEST_ANSWER = 20_000
"""Only this many characters at the end of an answer are read."""

_TAGGED = re.compile(
    r"<move>(.*?)</move>|\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", re.IGNORECASE | re.DOTALL
)
"""Marks that have an end."""
_LINE = re.compile(
    r"^[ \t*_`\"'>#-]*(?:(?:my|the|final)[ \t]+)*(?:move|answer)[ \t*_`]*[:=][\s*_`]*([^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
"""A line of the form that prompts ask for."""
_PROSE = re.compile(r"\b(?:move|answer)\b[\s*_`]*(?:is\b|:|=)[\s*_`]*([^\n]*)", re.IGNORECASE)
"""Words that mark a move only if one follows at once: `this move is strong` marks none."""
_DENIED = re.compile(
    r"\b(?:move|answer)\b[\s*_`]*(?:is[\s*_`]+(?:\w+\s+[*_`]*)?not|isn['’]t)\b[^\n.]*",
    re.IGNORECASE,
)
"""A sentence about a move that is not the answer."""
_WRAPPED = re.compile(
    r"\\[a-z]+\{([^{}]*)\}|</?(?:move|answer|b|strong|i|em|code|br)\s*/?>", re.IGNORECASE
)
"""LaTeX and tags around a name: `\\text{5e4}`, `5e4</move>`."""
_DEEPEST = 4
"""How often names are unwrapped."""
_AROUND = " \t\r\n`*_~\"'.,;:!?()[]{}<>|"
"""What may surround a move's name."""
_BETWEEN = re.compile(r"[\s\-]+")
"""What may stand inside a move's name: `5 e4`, `a1-b2`."""


@dataclass(frozen=True)
class Answer:
    """What an answer says.

    Attributes:
        action: the legal action it names; None if it names none.
        name: the move it names, legal or not; empty if none could be read.
        problem: why there is no action, as a sentence for a second try; empty if there is one.
    """

    action: int | None
    name: str = ""
    problem: str = ""

    @property
    def is_legal(self) -> bool:
        """Whether the answer names a legal move."""
        return self.action is not None


def read_answer(position: Position, answer: str | None) -> Answer:
    r"""The move that an answer names.

    The first of these that is found counts: the last marked move (a line `move: 5e4` or
    `answer: 5e4`, `<move>5e4</move>`, `\boxed{5e4}`); the last one in a sentence (`my move is
    5e4`); a last line that names one move; an answer that names one move in all. Case, spaces and
    hyphens inside a name, and Markdown, LaTeX or tags around it make no difference. If several
    different moves are named and none is marked, nothing is guessed, nor is a move taken from a
    sentence which says that it is not the answer.

    Args:
        position: the position in which the answer was given.
        answer: what the model wrote; None for nothing, as chat interfaces say it.

    Raises:
        OptionError: the answer is no text.
    """
    if answer is None:
        answer = ""
    if not isinstance(answer, str):
        raise OptionError(f"answer={brief(answer)}: must be the text of an answer, or None")
    text = answer[-LONGEST_ANSWER:].strip()
    marked = _last_marked(text)
    if marked is None:
        text = _DENIED.sub("", text).strip()
        marked = _last_told(position, text)
    places = (text.rpartition("\n")[2], text) if marked is None else (marked,)
    found: list[str] = []
    for place in places:
        found = list(dict.fromkeys(_names_in(position, place)))
        if len(found) == 1:
            return _judge(position, found[0])
    form = f"End your answer with one line of the form `{ANSWER}NAME`."
    if found:
        listed = ", ".join(found[:5])
        return Answer(None, "", f"Your answer names several moves: {listed}. {form}")
    shown = f" in {marked.strip()[:40]!r}" if marked is not None else ""
    return Answer(None, "", f"No move could be read{shown}. {form}")


def _last_marked(text: str) -> str | None:
    """The text after the last explicit mark; None if nothing is marked. The outermost counts."""
    tagged = list(_TAGGED.finditer(text))
    last = [(hit.start(), hit.group(1) or hit.group(2) or "") for hit in tagged]
    last += (
        (line.start(), line.group(1))
        for line in _LINE.finditer(text)
        if not any(line.start() < hit.end() and hit.start() < line.end() for hit in tagged)
    )
    return max(last)[1] if last else None


def _last_told(position: Position, text: str) -> str | None:
    """The text from the last move on of which a sentence says that it is the answer."""
    told = [hit.group(1) for hit in _PROSE.finditer(text)]
    begins = (said for said in reversed(told) if _begins_with_name(position, said))
    return next(begins, None)


def _begins_with_name(position: Position, text: str) -> bool:
    return any(_names_in(position, " ".join(text.split()[:2])))


def _names_in(position: Position, text: str) -> Iterator[str]:
    """The names of moves in a text: the whole of it if it is one, otherwise its words."""
    for _ in range(_DEEPEST):
        text = _WRAPPED.sub(r" \1 ", text)
    whole = _name_of(position, _BETWEEN.sub("", text)) if len(text) < 40 else None
    if whole is not None:
        yield whole
        return
    words = [word for word in text.split() if word.strip(_AROUND + "-")]
    skip = False
    for word, after in zip(words, [*words[1:], ""], strict=False):
        if skip:
            skip = False
            continue
        single = _name_of(position, word)
        pair = None if single or not after else _name_of(position, word + after)
        skip = pair is not None
        name = single or pair
        if name is not None:
            yield name


def _name_of(position: Position, word: str) -> str | None:
    """The move that a word names, as the game writes it; None if it names none."""
    bare = word.strip(_AROUND).replace("-", "").lower()
    try:
        return position.move_name(position.parse_move(bare))
    except MoveNameError:
        return None


def _judge(position: Position, name: str) -> Answer:
    action = position.parse_move(name)
    if action in position.legal_actions():
        return Answer(action, name)
    return Answer(None, name, f"That move is not legal. {position.explain(action)}.")
