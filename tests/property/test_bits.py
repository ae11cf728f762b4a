"""The bit helpers, compared with Python's integers; also run with `NUMBA_DISABLE_JIT=1`."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from azumaya.envs.kernels import bits
from azumaya.envs.observation import unpack_bits

U64 = np.uint64
words = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1])
boards = st.lists(words, min_size=1, max_size=4)


def row(numbers: list[int]) -> np.ndarray:
    """A row of words."""
    return np.array(numbers, U64)


def whole(board: np.ndarray) -> int:
    """A row of words as one integer."""
    return sum(int(word) << 64 * i for i, word in enumerate(board))


@given(words)
def test_popcount_and_lowest(word: int) -> None:
    assert bits.popcount(U64(word)) == word.bit_count()
    assert bits.lowest(U64(word)) == ((word & -word).bit_length() - 1 if word else 64)


@given(words, st.integers(0, 63))
def test_bit_and_has(word: int, index: int) -> None:
    assert int(bits.bit(index)) == 1 << index
    assert bool(bits.has(U64(word), index)) == bool(word >> index & 1)


@given(words.filter(bool), st.data())
def test_select_finds_the_kth_bit(word: int, data: st.DataObject) -> None:
    lit = [i for i in range(64) if word >> i & 1]
    k = data.draw(st.integers(0, len(lit) - 1))
    assert bits.select(U64(word), k) == lit[k]


@given(boards)
def test_operations_on_rows_of_words(numbers: list[int]) -> None:
    board, value = row(numbers), whole(row(numbers))
    lit = [i for i in range(64 * len(numbers)) if value >> i & 1]
    assert bits.count(board, len(board)) == len(lit)
    assert bits.cells_of(board) == lit
    assert [bits.select_in(board, len(board), k) for k in range(len(lit))] == lit
    assert bits.select_in(board, len(board), len(lit)) == -1
    assert [i for i in range(64 * len(numbers)) if bits.get(board, i)] == lit
    assert (bits.board_of(lit, len(numbers)) == board).all()
    assert unpack_bits(board, 64 * len(numbers)).nonzero()[0].tolist() == lit
    bits.clear(board)
    assert not board.any()


@given(boards, st.data())
def test_put_places_a_board_anywhere(numbers: list[int], data: st.DataObject) -> None:
    total = 64 * len(numbers)
    width = data.draw(st.integers(1, 64))
    offset = data.draw(st.integers(0, total - width))
    board = data.draw(st.integers(0, 2**width - 1))
    into = row(numbers)
    bits.put(into, offset, width, U64(board))
    assert whole(into) == whole(row(numbers)) | board << offset


@given(boards, st.data())
def test_put_bit_and_put_byte(numbers: list[int], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, 64 * len(numbers) - 1))
    into = row(numbers)
    bits.put_bit(into, index)
    assert whole(into) == whole(row(numbers)) | 1 << index
    place, value = data.draw(st.integers(0, 8 * len(numbers) - 1)), data.draw(st.integers(0, 127))
    into = np.zeros(len(numbers), U64)
    bits.put_byte(into, place, value)
    assert into.view(np.uint8)[place] == value
    assert into.view(np.uint8).sum() == value


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_pictures(columns: int, rows: int, data: st.DataObject) -> None:
    cells = data.draw(st.sets(st.integers(0, columns * rows - 1)))
    board = bits.board_of(cells, bits.word_count(columns * rows))
    lines = bits.draw(board, columns, rows).split("\n")
    assert [len(line) for line in lines] == [columns] * rows
    assert set("".join(lines)) <= set("x.")
    assert {cell for cell, mark in enumerate("".join(lines)) if mark == "x"} == cells


@given(st.integers(0, 10_000))
def test_word_count(count: int) -> None:
    assert 64 * (bits.word_count(count) - 1) < count <= 64 * bits.word_count(count)
