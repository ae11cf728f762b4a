"""Environments are copied with their games, whichever way they are copied."""

from __future__ import annotations

from copy import deepcopy
from typing import Self


class CopiedDeeply:
    """A class whose objects `copy.copy` copies like `copy.deepcopy`: they share no game."""

    def __copy__(self) -> Self:
        """An independent copy."""
        return deepcopy(self)
