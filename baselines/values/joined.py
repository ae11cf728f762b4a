"""Arrays that hold many examples, one after another, each as long as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Joinable:
    """Examples in arrays, one for each field, that can be appended to others of their kind."""

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The examples of all parts, of which there is at least one."""
        names = (item.name for item in fields(cls))
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def offsets_of(counts: np.ndarray) -> np.ndarray:
    """Where each example begins, and where the last one ends, `(n + 1,)`; `counts` is `(n,)`."""
    return np.concatenate([[0], np.cumsum(counts)])
