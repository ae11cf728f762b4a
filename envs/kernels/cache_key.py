"""The key of a compiled kernel: a digest of everything its machine code depends on.

`folder_digest` covers what all kernels have in common: the versions, the CPU, and the sources of
`azumaya.envs.kernels`, which tell numba how to compile. `overload_key` covers one function as it is
in memory: its code, the variables it captured, the globals it names, and its callees in the same
way. So an edit compiles again what it concerns and nothing else, and closures of one factory are
told apart.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import platform
import sys
import types as python
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config, errors, sigutils, types
from numba.core.dispatcher import Dispatcher
from numba.core.types.containers import NamedTuple, NamedUniTuple

_PACKAGE = __name__.partition(".")[0]
_HARMLESS = frozenset({"CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DEFAULT_NUM_THREADS"})
"""Settings of numba that differ between processes and change no machine code. All others count."""

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), slice)
_NAMED = (type, python.BuiltinFunctionType, np.ufunc)


class Unkeyable(Exception):  # noqa: N818 - no error: it means "do not cache this one"
    """Something that a kernel depends on has no digest, so the kernel is not stored on disk."""


def digest(parts: Iterable[object]) -> str:
    """A digest of the texts of some objects (by `str`), 128 bits in hexadecimal."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode(errors="surrogatepass")
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()


@functools.cache
def folder_digest(cpu: tuple[str, ...]) -> str:
    """A digest of what all kernels of this process share."""
    versions = (sys.version, platform.machine(), numba.__version__, llvmlite.__version__)
    sources = (file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    return digest([*versions, np.__version__, *cpu, *sources])


def overload_key(dispatcher: Any, sig: Any) -> str | None:
    """The key of a kernel for one signature; None if it must not be cached."""
    args, result = sigutils.normalize_signature(sig)
    try:
        own = _code_digest(dispatcher)
        return digest([own, *(_type_text(t) for t in args), result, *_settings()])
    except Unkeyable:
        return None


def _settings() -> list[str]:
    return [
        f"{name}={value!r}"
        for name, value in sorted(vars(config).items())
        if name.isupper()
        and isinstance(value, _PLAIN)
        and name not in _HARMLESS
        and not name.startswith("CUDA_")
    ]


def _type_text(kind: Any) -> str:
    if isinstance(kind, types.Dispatcher):
        return _code_digest(kind.dispatcher)
    text = f"{type(kind).__name__} {kind}"
    if isinstance(kind, NamedTuple | NamedUniTuple):  # their names lack the fields
        text += str(kind.fields)
    if " at 0x" in text:
        raise Unkeyable(f"an address in the name of type {kind}")
    return text


_looking: list[Any] = []
"""What `_code_digest` is at work on, callers first; numba's compiler lock is held."""


def _code_digest(thing: Any) -> str:
    """The digest of a kernel or of a function that numba may compile into one.

    It is that of the first time it was asked for: a kernel that was compiled before a table changed
    keeps the old table, and its callers link it.
    """
    known: str | None = vars(thing).get("_azumaya_digest")
    if known is not None:
        return known
    if thing in _looking:
        if thing is _looking[-1]:
            return "recursive"
        raise Unkeyable(f"{thing} and {_looking[-1]} call each other")
    _looking.append(thing)
    try:
        value = digest(_dispatcher_parts(thing) if isinstance(thing, Dispatcher) else _parts(thing))
    finally:
        _looking.pop()
    thing._azumaya_digest = value
    return value


def _dispatcher_parts(dispatcher: Any) -> Iterator[object]:
    yield sorted(dispatcher.targetoptions.items())
    yield [(p.name, p.kind) for p in dispatcher._compiler.pysig.parameters.values()]
    yield from _parts(dispatcher.py_func)


def _parts(function: Any) -> Iterator[object]:
    yield from (function.__module__, function.__qualname__, function.__code__.co_firstlineno)
    yield from _code_parts(function.__code__)
    yield _value(function.__defaults__ or ())
    for cell in function.__closure__ or ():
        try:
            yield _value(cell.cell_contents)
        except ValueError as error:
            raise Unkeyable("a captured variable has no value yet") from error
    read, named = _names(function.__code__)
    for name in sorted(read & function.__globals__.keys()):
        yield name
        yield from _global(function.__globals__[name], named)


def _code_parts(code: python.CodeType) -> Iterator[object]:
    yield from (code.co_code, code.co_names, code.co_varnames, code.co_freevars)
    yield code.co_exceptiontable  # co_flags is left out: numba changes it under a profiler
    for constant in code.co_consts:
        if isinstance(constant, python.CodeType):
            yield from _code_parts(constant)
        elif isinstance(constant, frozenset):
            yield sorted(map(repr, constant))
        else:
            yield f"{type(constant).__name__} {constant!r}"


@functools.cache
def _names(code: python.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The globals that code reads, and all names in it, including attributes."""
    found = dis.get_instructions(code)
    read = {step.argval for step in found if step.opname in {"LOAD_GLOBAL", "LOAD_NAME"}}
    named = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, python.CodeType):
            more_read, more_named = _names(constant)
            read, named = read | more_read, named | more_named
    return frozenset(read), frozenset(named)


def _global(value: Any, names: frozenset[str]) -> Iterator[object]:
    """A global variable: its value or, for a module of the package, the members that are named."""
    if isinstance(value, python.ModuleType) and value.__name__.startswith(f"{_PACKAGE}."):
        for name in sorted(names & vars(value).keys()):
            yield name
            yield _value(vars(value)[name])
    else:
        yield _value(value)


def _value(value: Any) -> str:
    """The digest of a value that a kernel freezes into its code."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, Dispatcher | python.FunctionType):
        return _code_digest(value)
    if isinstance(value, enum.Enum | np.dtype) or type(value) in _PLAIN:
        return digest([kind, repr(value)])
    if isinstance(value, np.ndarray | np.generic):
        return _array(kind, np.asarray(value))
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", ())  # of a named tuple
        return digest([kind, fields, *map(_value, value)])
    if isinstance(value, enum.EnumType):
        return digest([kind, *map(repr, value)])
    if isinstance(value, _NAMED):
        fields = getattr(value, "_fields", ())  # of a named tuple, which kernels may make
        return digest([kind, getattr(value, "__module__", ""), value.__name__, fields])
    if isinstance(value, python.ModuleType | types.Type):
        return digest([kind, str(getattr(value, "__name__", value))])
    try:
        numba.typeof(value)
    except (errors.TypingError, ValueError):
        return kind  # numba cannot type it, so the kernel does not use it: only the names coincide
    raise Unkeyable(f"no digest for a value of type {kind}")


def _array(kind: str, array: np.ndarray[Any, Any]) -> str:
    if array.dtype.hasobject:
        raise Unkeyable("an array of Python objects")
    layout = (array.flags.c_contiguous, array.flags.f_contiguous, array.flags.aligned)
    return digest([kind, repr(array.dtype), array.shape, layout, array.tobytes()])
