"""Reading moves from what language models write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from azumaya.baselines.text.prompts import ANSWER
from azumaya.envs import MoveNameError, OptionError, Position
from azumaya.envs.adapters.duel.asked import check_position
from azumaya.envs.errors import brief

LONGEST_ANSWER = 20_000
"""Only this many characters at the end of an answer are read, after its reasoning is left out."""

_TAGS = (
    r"(?:\w+:)?think\w*", r"thought\w*", r"reason\w*", "analysis", "reflection", "scratchpad",
    "inner_monologue",
)  # fmt: skip
_FINAL = r"<\|channel\|>\s*final\b[^<]*(?:<\|message\|>)?"
_BLOCKS = (
    *((rf"<\|?{tag}\b[^<>/]*>", rf"<\|?/\s*{tag}\s*\|?>") for tag in _TAGS),
    (r"\[think\]", r"\[/think\]"),
    ("◁think▷", "◁/think▷"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|start_thinking\|>", r"<\|end_thinking\|>"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    ("<unused94>", "<unused95>"),
    (r"<\|channel>", r"<channel\|>"),
    (rf"(?!{_FINAL})<\|channel\|>", f"(?={_FINAL})"),  # all before the last channel is none
    (r"\A\s*(?-i:analysis(?=[A-Z]))", "assistantfinal"),  # the same without its special tokens
)
"""How blocks of reasoning begin and end, in the forms of models, chat templates and servers."""
_BLOCK = re.compile(
    "|".join(rf"{begin}.*?(?:{end}|\Z)" for begin, end in _BLOCKS), re.IGNORECASE | re.DOTALL
)
"""A block of reasoning, or one that was cut off."""
_THOUGHT_OUT = re.compile(
    rf"{_FINAL}|here(?: is|'s) my response:|\[begin final response\]|"
    + "|".join(end for _, end in _BLOCKS),
    re.IGNORECASE,
)
"""What ends reasoning whose beginning is in the prompt, or is a mere sentence."""
_TAGGED = re.compile(
    r"<move>(.*?)</move>|\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", re.IGNORECASE | re.DOTALL
)
"""Marks that have an end."""
_LINE = re.compile(
    r"^[ \t*_`\"'>#-]*(?:(?:my|the|final)[ \t]+)*(?:move|answer)[ \t*_`]*[:=：][\s*_`]*([^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
"""A line of the form that prompts ask for."""
_PROSE = re.compile(r"\b(?:move|answer)\b[\s*_`]*(?:is\b|[:=：])[\s*_`]*([^\n]*)", re.IGNORECASE)
"""Words that mark a move only if one follows at once: `this move is strong` marks none."""
_DENIED = re.compile(
    r"\b(?:move|answer)\b[\s*_`]*(?:is[\s*_`]+(?:\w+\s+[*_`]*)?not|isn['’]t)\b[^\n.]*",
    re.IGNORECASE,
)
"""A sentence about a move that is not the answer."""
_WRAPPED = re.compile(
    r"\\[a-z]+\{([^{}]*)\}|</?(?:move|answer|b|strong|i|em|code|br)\s*/?>"
    r"|<[|｜][^<>\s]*>|<\w+\|>",
    re.IGNORECASE,
)
"""LaTeX, tags and special tokens around a name: `\\text{5e4}`, `5e4</move>`, `5e4<|im_end|>`."""
_DEEPEST = 4
"""How often names are unwrapped."""
_AROUND = " \t\r\n`*_~\"'.,;:!?()[]{}<>|。，；：！？（）"
"""What may surround a move's name."""
_BETWEEN = re.compile(r"[\s\-–—]+")
"""What may stand inside a move's name: `5 e4`, `a1-b2`."""
_APART = re.compile(r"[/–—。，；：！？（）]")
"""What ends a word without a space: `5e4/4d4`, `5e4—because`."""
_ENGLISH = {"a", "be", "i", "we"}
"""Words that could be the first part of a name, but not in a sentence: `a 5`, `it will be e4`."""
_MOST_PARTS = 3
"""The most words of a name: `d3 d5 e4`."""
_LONGEST_NAMING = 40
"""Longer texts are no name as a whole."""
_CHOICE = {"or", "/"}
"""What tells that the move just named was only one of several."""
_LISTING = {"and", *_CHOICE}
"""What may stand between the moves of a list."""


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
    hyphens inside a name, and Markdown, LaTeX or tags around it make no difference.

    Blocks of reasoning, such as `<think>...</think>`, are left out first: a block that was cut off
    goes on to the end of the text, and one whose beginning is missing starts with the text.

    After a mark, the move that comes at once is taken, whatever else is named as a reason, unless
    it is only one of a choice or a list (`5e4 or 4d4`, `5e4, 4d4`). If several different moves are
    named and none is marked, nothing is guessed, nor is a move taken from a sentence which says
    that it is not the answer. A move whose name is a word, like `end`, counts only after a mark or
    alone on a line.

    Args:
        position: the position in which the answer was given.
        answer: what the model wrote; None for nothing, as chat interfaces say it.

    Raises:
        OptionError: `position` is not a position, or the answer is no text.
    """
    check_position(position)
    if answer is None:
        answer = ""
    if not isinstance(answer, str):
        raise OptionError(f"answer={brief(answer)}: must be the text of an answer, or None")
    text = _THOUGHT_OUT.split(_BLOCK.sub("\n", answer))[-1][-LONGEST_ANSWER:].strip()
    marked = _last_marked(text)
    if marked is None:
        text = _DENIED.sub("", text).strip()
        marked = _last_told(position, text)
    found = _unmarked(position, text) if marked is None else _after_mark(position, marked)
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
    """Whether a move is among the first two words; one that is named by a word must be first."""
    words = _words(text)
    first, second = (_name_at(position, words[place:])[0] for place in (0, 1))
    return first is not None or (second is not None and not second.isalpha())


def _after_mark(position: Position, text: str) -> list[str]:
    """The moves that the text after a mark may mean: the one it begins with, or all in it."""
    words = _words(text)
    whole = _whole_name(position, text)
    first, used = (whole, len(words)) if whole else _name_at(position, words, marked=True)
    rest = list(_read(position, words[used:]))
    named = _moves_of(rest)
    if first is None:
        in_words = (_name_of(position, word) for word in words)
        return _candidates(position, named or [name for name in in_words if name])
    joined = used > 1 and _bare(words[0]) in _ENGLISH  # `a 5 on e4`
    goes_on = joined or (first.isalpha() and words[0][-1].isalpha())  # `claim the corner by 5e4`
    lists = all(name is not None or word in _LISTING for name, word in rest)
    chooses = rest and (rest[0][1] in _CHOICE or lists)
    return _candidates(position, [first, *named]) if goes_on or chooses else [first]


def _unmarked(position: Position, text: str) -> list[str]:
    """The moves that a text without a mark may mean: that of its last line, or all in it."""
    lines, found = text.split("\n"), list[str]()
    for part in (lines[-1:], lines):
        found = _candidates(position, [n for line in part for n in _names_in_line(position, line)])
        if len(found) == 1:
            break
    return found


def _candidates(position: Position, names: list[str]) -> list[str]:
    """The different names, without those of the opponent's moves if there are any others."""
    different = list(dict.fromkeys(names))
    return [name for name in different if not _is_opponents(position, name)] or different


def _words(text: str) -> list[str]:
    """The words of a text without what is wrapped around them."""
    words = _APART.sub(r" \g<0> ", _unwrapped(text)).split()
    return [word for word in words if word.strip(_AROUND + "-–—")]


def _unwrapped(text: str) -> str:
    for _ in range(_DEEPEST):
        text = _WRAPPED.sub(r" \1 ", text)
    return text


def _names_in_line(position: Position, line: str) -> list[str]:
    """The move that a whole line names, or all that its words name."""
    whole = _whole_name(position, line)
    return [whole] if whole else _moves_of(_read(position, _words(line)))


def _whole_name(position: Position, text: str) -> str | None:
    text = _unwrapped(text)
    return _name_of(position, _BETWEEN.sub("", text)) if len(text) < _LONGEST_NAMING else None


def _read(position: Position, words: list[str]) -> Iterator[tuple[str | None, str]]:
    """Some words one after the other: the move that begins with one, if any, and the word."""
    place = 0
    while place < len(words):
        name, used = _name_at(position, words[place : place + _MOST_PARTS])
        yield name, _bare(words[place])
        place += used


def _moves_of(read: Iterable[tuple[str | None, str]]) -> list[str]:
    """The moves that words name; one like `end` names none among others."""
    return [name for name, _ in read if name is not None and not name.isalpha()]


def _bare(word: str) -> str:
    return word.strip(_AROUND).lower()


def _name_at(
    position: Position, words: list[str], *, marked: bool = False
) -> tuple[str | None, int]:
    """The move that the first words name, if they name one, and how many words to go on by.

    Only after a mark are the words of a name joined although the first could be English.
    """
    counts = [1]
    if words and (marked or _bare(words[0]) not in _ENGLISH):
        counts += range(min(_MOST_PARTS, len(words)), 1, -1)
    for count in counts:
        name = _name_of(position, "".join(words[:count]))
        if name is not None:
            return name, count
    return None, 1


def _name_of(position: Position, word: str) -> str | None:
    """The move that a word names, as the game writes it; None if it names none."""
    bare = _bare(word).replace("-", "")
    try:
        return position.move_name(position.parse_move(bare))
    except MoveNameError:
        return bare if _is_opponents(position, bare) else None


def _is_opponents(position: Position, name: str) -> bool:
    """Whether only the player who is not to move has a move of this name: a blank of theirs."""
    mover = position.to_move
    return position.action_named(name, mover) is None is not position.action_named(name, 1 - mover)


def _judge(position: Position, name: str) -> Answer:
    try:
        action = position.parse_move(name)
    except MoveNameError as error:  # a move of the opponent's
        return Answer(None, name, f"That move is not legal. {error}.")
    if action in position.legal_actions():
        return Answer(action, name)
    return Answer(None, name, f"That move is not legal. {position.explain(action)}.")
