"""Rows of words as values: loaded once, processed as a whole, stored once.

In compiled kernels a row is a vector register (`rows_compiled`), in plain Python an array
(`rows_interpreted`). As vectors, 729 stones take two instructions where twelve words took
twenty-four; with loops over words, a batched step of Sudoku Moyo took 1.4 times as long
(`docs/decisions/vector-rows.md` explains why).

A row has `&`, `|`, `~`, `<<` and `>>`, which apply to each word as they do in arrays; the right
side may be a single word. Shifts must be by less than 64. Rows are values: write `a = a | b`,
because `|=` would change an array in place when kernels run as plain Python. Sizes must be global
constants. Arguments are not checked.
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
    import azumaya.envs.kernels.rows_compiled  # noqa: F401 - registers rows with numba
