"""The key of a compiled kernel: a digest of everything its machine code depends on.

It has two layers; in most cases one would suffice. `folder_digest`
covers all sources of `azumaya.envs` on disk, the versions and the CPU. `overload_key` covers the
function in memory: its code, the variables it captured, the globals it names, and its callees in
the same way. The second layer distinguishes closures of one factory, and notices a table changed at
run time or a source edited between the start of this process and its import.
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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config, errors, sigutils, types
from numba.core.dispatcher import Dispatcher

_PACKAGE = __name__.partition(".")[0]
_UNSOURCED = frozenset({"render", "__pycache__"})
"""Folders that no kernel depends on: `render` contains no kernels, and no kernel imports it."""

# Numba's settings that do not affect the machine code of a CPU kernel. All others are part of the
# key, including those that later versions of numba may add.
_HARMLESS = frozenset(
    [
        "CACHE_DIR",
        "CACHE_LOCATOR_CLASSES",
        "CHROME_TRACE",
        "COLOR_SCHEME",
        "DEBUG_CACHE",
        "DEVELOPER_MODE",
        "DISABLE_CUDA",
        "DISABLE_PERFORMANCE_WARNINGS",
        "FORCE_CUDA_CC",
        "FULL_TRACEBACKS",
        "FUNCTION_CACHE_SIZE",
        "GDB_BINARY",
        "HIGHLIGHT_DUMPS",
        "NUMBA_DEFAULT_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "SHOW_HELP",
        "THREADING_LAYER",
        "THREADING_LAYER_PRIORITY",
    ]
)
_HARMLESS_PREFIXES = ("CUDA_", "DUMP_")

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), slice)
_NAMED = (type, python.BuiltinFunctionType, np.ufunc, python.FunctionType)


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
    """A digest of what all kernels of this process share: sources, versions, CPU."""
    versions = (sys.version, platform.machine(), numba.__version__, llvmlite.__version__)
    return digest([tree_digest(f"{_PACKAGE}.envs"), *versions, np.__version__, *cpu])


@functools.cache
def tree_digest(package: str) -> str:
    """A digest of every Python source of a package: names and contents."""
    parts: list[object] = []
    for root in sorted(sys.modules[package].__path__):
        for path in sorted(_sources(Path(root))):
            parts += [path.relative_to(root), path.read_bytes()]
    return digest(parts)


def _sources(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.suffix == ".py":
            yield path
        elif path.name not in _UNSOURCED and path.is_dir():
            yield from _sources(path)


def overload_key(dispatcher: Any, sig: Any) -> str | None:
    """The key of a kernel for one signature; None if it must not be cached."""
    args, result = sigutils.normalize_signature(sig)
    try:
        own = _dispatcher_digest(dispatcher)
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
        and not name.startswith(_HARMLESS_PREFIXES)
    ]


def _type_text(kind: Any) -> str:
    if isinstance(kind, types.Dispatcher):
        return _dispatcher_digest(kind.dispatcher)
    text = f"{type(kind).__name__} {kind}"
    if " at 0x" in text:
        raise Unkeyable(f"an address in the name of type {kind}")
    return text


# Digests computed during one compilation, by dispatcher: kernels share callees, and nothing changes
# while numba's compiler lock is held.
_found: dict[Any, str] = {}
_depth = 0
_IN_PROGRESS = "recursive"


@contextmanager
def one_look() -> Iterator[None]:
    """Within the outermost block of this kind, compute each digest only once."""
    global _depth  # noqa: PLW0603 - guarded by numba's compiler lock
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _found.clear()


def _dispatcher_digest(dispatcher: Any) -> str:
    """The digest of a function to compile; raises `Unkeyable` if it has changed.

    A kernel that was compiled in this process before a table changed keeps the old table, and a
    caller compiled later would link it. So the first digest is remembered, and a different one
    means that the function must not be cached.
    """
    if dispatcher in _found:
        return _found[dispatcher]
    _found[dispatcher] = _IN_PROGRESS
    try:
        value = digest(_function_parts(dispatcher))
    except BaseException:
        del _found[dispatcher]
        raise
    if vars(dispatcher).setdefault("_azumaya_digest", value) != value:
        del _found[dispatcher]
        raise Unkeyable(f"{dispatcher} was compiled before something it uses changed")
    _found[dispatcher] = value
    return value


def _function_parts(dispatcher: Any) -> Iterator[object]:
    function, code = dispatcher.py_func, dispatcher.py_func.__code__
    yield from (function.__module__, function.__qualname__, code.co_firstlineno)
    yield _tree_of(function)
    yield sorted(dispatcher.targetoptions.items())
    yield [(p.name, p.kind) for p in dispatcher._compiler.pysig.parameters.values()]
    yield from _code_parts(code)
    yield _value(function.__defaults__ or ())
    for cell in function.__closure__ or ():
        try:
            yield _value(cell.cell_contents)
        except ValueError as error:
            raise Unkeyable("a captured variable has no value yet") from error
    read, named = _names(code)
    for name in sorted(read & function.__globals__.keys()):
        yield name
        yield from _global(function.__globals__[name], named)


def _tree_of(function: Any) -> str:
    """The digest of the sources that a function comes from, which must belong to the package."""
    package = ".".join(function.__module__.split(".")[:2])
    roots = getattr(sys.modules.get(package), "__path__", ())
    file = Path(function.__code__.co_filename)
    for root in roots if package.startswith(f"{_PACKAGE}.") else ():
        if file.is_relative_to(root) and not _UNSOURCED & set(file.relative_to(root).parts):
            return tree_digest(package)
    raise Unkeyable(f"{function} lies outside the sources that the digest covers")


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
    if isinstance(value, Dispatcher):
        return _dispatcher_digest(value)
    if isinstance(value, enum.Enum | np.dtype) or type(value) in _PLAIN:
        return digest([kind, repr(value)])
    if isinstance(value, np.ndarray | np.generic):
        return _array(kind, np.asarray(value))
    if isinstance(value, tuple):
        return digest([kind, *map(_value, value)])
    if isinstance(value, enum.EnumType):
        return digest([kind, *map(repr, value)])
    if isinstance(value, _NAMED):
        return digest([kind, getattr(value, "__module__", ""), value.__name__])
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
