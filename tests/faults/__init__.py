"""Faults to plant in a game's rules, so that it is seen that the suite catches them.

A module of a game's name here has `FAULTS`, a tuple of `Fault`. `tests/planted_faults.py` plants
each in a copy of the library and runs the tests.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One edit that makes the library wrong.

    Attributes:
        name: what is wrong.
        file: the file to edit, from the root of the repository.
        right: a text that stands in it exactly once.
        wrong: what is put in its place.
    """

    name: str
    file: str
    right: str
    wrong: str
