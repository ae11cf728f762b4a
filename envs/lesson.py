"""A first game that teaches: what a step of it is. Games have their steps beside their words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A step of a lesson: the learner makes one move.

    Attributes:
        say: what this step is about, in a sentence.
        cells: the names of the cells that the sentence speaks of.
        moves: the names of all moves that make the point; those that are not legal do not count.
            Empty if every legal move does.
        otherwise: what is wrong with another legal move; follows its name.
        then: what the right move has done.
        answer: the opponent's move after it, legal whichever of `moves` was made; empty for none.
        position: the text of the position in which the step begins; empty to go on from the one
            before.
    """

    say: str
    cells: tuple[str, ...]
    then: str
    moves: tuple[str, ...] = ()
    otherwise: str = ""
    answer: str = ""
    position: str = ""
