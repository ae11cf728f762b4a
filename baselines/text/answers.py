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

_MARKED = (
    re.compile(r"<move>(.*?)</move>", re.IGNORECASE | re.DOTALL),
    re.compile(r"\\boxed\{([^{}]*)\}"),
    re.compile(r"\b(?:move|answer)\b[\s*_`]*(?:is\b|:|=)[\s*_`]*([^\n]*)", re.IGNORECASE),
)
"""How models mark the move they mean; the last match of a pattern counts."""
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

    The first of these that is found counts: the last marked move (`move: 5e4`, `<move>5e4</move>`,
    `\boxed{5e4}`); a last line that names one move; an answer that names one move in all. Case,
    spaces and hyphens inside a name, and Markdown around it make no difference. If several
    different moves are named and none is marked, nothing is guessed.

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
    """The text after the last mark; None if nothing is marked."""
    last = [(hit.start(), hit.group(1)) for mark in _MARKED for hit in mark.finditer(text)]
    return max(last)[1] if last else None


def _names_in(position: Position, text: str) -> Iterator[str]:
    """The names of moves in a text: the whole of it if it is one, otherwise its words."""
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
