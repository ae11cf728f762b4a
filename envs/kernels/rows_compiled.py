"""How numba compiles the functions of `rows`: as LLVM vectors.

LLVM splits a vector as the CPU requires, and on a GPU into words. A row of twelve words is held in
a vector of sixteen lanes, and moved from and to memory in pieces of eight and four: LLVM splits a
vector whose size is not a power of two into words wherever a branch lies between two uses.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import register_model

MAX_PIECE_WORDS = 8
"""The most words of a piece: as many as the largest registers hold."""
WORD, PLACE = ir.IntType(64), ir.IntType(32)


class RowType(types.Type):  # type: ignore[misc]
    """A row of `size` words, held in a vector of `lanes`."""

    def __init__(self, size: int) -> None:
        self.size, self.lanes = size, 1 << (size - 1).bit_length()
        super().__init__(name=f"Row({size})")


@register_model(RowType)
class RowModel(models.PrimitiveModel):  # type: ignore[misc]
    """A row is always a vector."""

    def __init__(self, manager: Any, kind: RowType) -> None:
        super().__init__(manager, kind, _vector(kind.lanes))


# ---- LLVM vectors ----


def _vector(lanes: int) -> Any:
    return ir.VectorType(WORD, lanes)


def _constant(values: Iterable[int]) -> Any:
    words = list(values)
    return ir.Constant(_vector(len(words)), words)


def _zeros(lanes: int) -> Any:
    return _constant([0] * lanes)


def _pick(builder: Any, a: Any, b: Any, which: Iterable[int]) -> Any:
    """The elements `which` of two concatenated vectors, as a vector."""
    places = list(which)
    picked = ir.Constant(ir.VectorType(PLACE, len(places)), places)
    return builder.shuffle_vector(a, b, picked)


def _everywhere(builder: Any, word: Any, lanes: int) -> Any:
    """A vector with one word in every lane."""
    nothing = ir.Constant(_vector(lanes), ir.Undefined)
    first = builder.insert_element(nothing, word, ir.Constant(PLACE, 0))
    return _pick(builder, first, nothing, [0] * lanes)


def _own(builder: Any, kind: RowType, row: Any) -> Any:
    """A row without the bits that `~` and `everywhere` leave in the lanes after its words."""
    own = [i if i < kind.size else kind.lanes for i in range(kind.lanes)]
    return _pick(builder, row, _zeros(kind.lanes), own)


def _pieces(size: int) -> Iterator[tuple[int, int]]:
    """The first word and the number of words of each piece of a row in memory."""
    at, piece = 0, MAX_PIECE_WORDS
    while at < size:
        while at + piece > size:
            piece //= 2
        yield at, piece
        at += piece


def _address(context: Any, builder: Any, kind: Any, args: Any, at: int, piece: int) -> Any:
    """The address of the piece at word `at` of a row; `args` are an array and the row's start."""
    data = context.make_array(kind)(context, builder, args[0]).data
    row = builder.gep(builder.bitcast(data, WORD.as_pointer()), [args[1]])
    word = builder.gep(row, [ir.Constant(WORD, at)])
    return builder.bitcast(word, _vector(piece).as_pointer())


# ---- code of the functions ----


def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    lanes = sig.return_type.lanes
    whole = _zeros(lanes)
    for at, count in _pieces(sig.return_type.size):
        address = _address(context, builder, sig.args[0], args, at, count)
        piece = builder.load(address, align=8)
        wide = _pick(builder, piece, piece, [min(i, count) for i in range(lanes)])
        own = range(at, at + count)
        whole = _pick(
            builder, whole, wide, [lanes + i - at if i in own else i for i in range(lanes)]
        )
    return whole


def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    for at, count in _pieces(sig.args[2].size):
        address = _address(context, builder, sig.args[0], args, at, count)
        builder.store(_pick(builder, args[2], args[2], range(at, at + count)), address, align=8)
    return context.get_dummy_value()


def _fill(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _everywhere(builder, args[0], sig.return_type.lanes)


def _meeting(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    lanes = sig.args[0].lanes
    shared = builder.and_(_own(builder, sig.args[0], args[0]), _everywhere(builder, args[1], lanes))
    which = builder.icmp_unsigned("!=", shared, _zeros(lanes))
    return builder.zext(builder.bitcast(which, ir.IntType(lanes)), WORD)


def _union(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    lanes, rest = sig.args[0].lanes, _own(builder, sig.args[0], args[0])
    while lanes > 1:
        lanes //= 2
        high = _pick(builder, rest, rest, range(lanes, 2 * lanes))
        rest = builder.or_(_pick(builder, rest, rest, range(lanes)), high)
    return builder.extract_element(rest, PLACE(0))


def _any_bit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.icmp_unsigned("!=", _union(context, builder, sig, args), WORD(0))


def _where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    nothing = _zeros(sig.return_type.lanes)
    return builder.select(builder.icmp_unsigned("!=", args[0], nothing), args[1], nothing)


def _word_in(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_element(*args)


def _word_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    lanes = sig.return_type.lanes
    index, word = (_everywhere(builder, arg, lanes) for arg in args[:2])
    here = builder.icmp_unsigned("==", index, _constant(range(lanes)))
    return builder.select(here, word, _zeros(lanes))


def _with_word(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    row, index, word = args
    return builder.insert_element(row, word, index)


def _raised(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    lanes = sig.return_type.lanes
    bits = _everywhere(builder, args[1], lanes)
    below = _pick(builder, args[0], _zeros(lanes), [lanes, *range(lanes - 1)])
    rest = builder.sub(_constant([63] * lanes), bits)
    carried = builder.lshr(builder.lshr(below, _constant([1] * lanes)), rest)
    return builder.or_(builder.shl(args[0], bits), carried)


# ---- registration with numba ----


def _row(size: Any) -> RowType:
    return RowType(size.literal_value)


INT, U64 = types.int64, types.uint64
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "load": (_load, lambda words, start, size: (_row(size), words, INT, size)),
    "store": (_store, lambda words, start, row: (types.void, words, INT, row)),
    "everywhere": (_fill, lambda word, size: (_row(size), U64, size)),
    "union": (_union, lambda row: (U64, row)),
    "meeting": (_meeting, lambda row, word: (U64, row, U64)),
    "any_bit": (_any_bit, lambda row: (types.boolean, row)),
    "where": (_where, lambda test, row: (row, row, row)),
    "word_in": (_word_in, lambda row, index: (U64, row, INT)),
    "word_at": (_word_at, lambda index, word, size: (_row(size), INT, U64, size)),
    "with_word": (_with_word, lambda row, index, word: (row, row, INT, U64)),
    "raised": (_raised, lambda row, bits: (row, row, INT)),
}
"""For each function of `rows`: its code, and a function from the types of the arguments given to
those of the result and the arguments."""

OPERATORS = {
    operator.and_: "and_",
    operator.or_: "or_",
    operator.lshift: "shl",
    operator.rshift: "lshr",
    operator.invert: "not_",
}
"""Operators, and the builder's methods for them."""


def _define_function(function: Any, code: Any, types_of: Any) -> None:
    class Template(AbstractTemplate):  # type: ignore[misc]
        prefer_literal = True  # sizes are part of types

        def generic(self, args: Any, kws: Any) -> Any:
            return signature(*types_of(*args))

    infer_global(function)(Template)
    lower_builtin(function, *[types.Any] * len(inspect.signature(function).parameters))(code)


def _define_operator(symbol: Any, method: str) -> None:
    class Template(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            row = isinstance(args[0], RowType)
            fits = row and args[1:] in ((), (args[0],), (U64,))
            return signature(args[0], *args) if fits else None

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        row, *others = args
        if sig.args[1:] == (U64,):
            others = [_everywhere(builder, others[0], sig.return_type.lanes)]
        return getattr(builder, method)(row, *others)

    infer_global(symbol)(Template)
    for others in ((), (RowType,), (U64,)):
        lower_builtin(symbol, RowType, *others)(code)


def register(rows: Mapping[str, Any]) -> None:
    """Tell numba how the functions of `rows`, given by name, and the operators compile."""
    for name, (code, types_of) in FUNCTIONS.items():
        _define_function(rows[name], code, types_of)
    for symbol, method in OPERATORS.items():
        _define_operator(symbol, method)
