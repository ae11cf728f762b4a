"""Rows of words as values: read once, worked on whole, written once.

In compiled kernels a row is a vector register (`rows_compiled`); in plain Python it is an array
(`rows_interpreted`). As vectors, 729 stones take two instructions where twelve words took
twenty-four. Loops over words would not do: LLVM unrolls them before it looks for vectors, and a row
written word by word cannot be read as a vector before it has left for the cache. A batched step of
Sudoku Moyo took 1.4 times as long.

A row has `&`, `|`, `~`, `<<` and `>>` as arrays have them, for its words one by one; the right side
may be a single word. Shifts are by less than 64. Rows are values: write `a = a | b`, as `|=` would
change an array in place where kernels run as plain Python. Sizes are global constants. Nothing is
checked.
"""

from __future__ import annotations

from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.kernels.rows_interpreted import (
    Row,
    any_bit,
    everywhere,
    load,
    meeting,
    raised,
    store,
    union,
    where,
    with_word,
    word_at,
    word_in,
)

__all__ = [
    "Row",
    "any_bit",
    "everywhere",
    "load",
    "meeting",
    "raised",
    "store",
    "union",
    "where",
    "with_word",
    "word_at",
    "word_in",
]

if not INTERPRETED:
    import azumaya.envs.kernels.rows_compiled  # noqa: F401 - teaches numba what rows are
