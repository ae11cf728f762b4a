"""Faults to plant in the rules of the games, to see whether the suite catches them.

Each module is named after a game and has `FAULTS`, a tuple of `Fault`. `tests/planted_faults.py`
plants each of them in a copy of the library and runs the tests.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One edit that makes the library wrong.

    Attributes:
        name: what is wrong.
        file: the file to edit, relative to the root of the repository.
        right: a text that occurs in it exactly once.
        wrong: the text to replace it with.
    """

    name: str
    file: str
    right: str
    wrong: str
