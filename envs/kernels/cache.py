"""A disk cache that keeps compiled kernels between processes.

One file holds one kernel compiled for one signature. Its folder is named by a digest of the
versions, the CPU and what kernels are compiled with; its own name by a digest of all that went into
the kernel: code, captured variables, globals, callees, numba's settings (`cache_key.py`). A file is
written aside and renamed into place, and carries a checksum of its name and content. So an entry is
never out of date and never half written. Entries are pickles, which run code when they are loaded,
so they are trusted only in a folder that no other user can write to. A lock lets one process
compile a kernel while others that need it wait; it only saves work.

`AZUMAYA_CACHE_DIR` names the folder; if it is empty, there is no disk cache. See
`docs/decisions/compile-cache.md`.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import filelock
import llvmlite.binding as llvm
import platformdirs
from numba.core import serialize, sigutils
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.compiler import compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys

from azumaya.envs.kernels import cache_key, code

KEPT_S = 30 * 24 * 3600.0
"""Files that nobody has used for so long are removed."""
LOCK_TIMEOUT_S = 300.0
"""How long to wait for another process, once; after that kernels are compiled without the lock."""
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_STORED = ("signature", "fndesc", "environment", "objectmode", "referenced_envs")
_CHECKSUM = hashlib.blake2b
_CHECKSUM_BYTES = 64


_compiling: list[CachedDispatcher] = []
"""The kernels that are being compiled, callers first; numba's compiler lock is held."""


class CachedDispatcher(CPUDispatcher):  # type: ignore[misc]
    """numba's dispatcher, with this disk cache instead of numba's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, pipeline_class=code.KernelCompiler, **kwargs)
        self._cache = KernelCache(self)

    def enable_caching(self) -> None:
        """Nothing to do: it is on."""

    def compile(self, sig: Any) -> Any:
        """Load or compile one signature; returns the entry point, as numba's own method does.

        If this is not for a kernel that is being compiled, it is for Python.
        """
        with global_compiler_lock:
            args, _ = sigutils.normalize_signature(sig)
            result = self.overloads.get(tuple(args))
            if result is None or not (_compiling or callable(result.entry_point)):
                with _unique_symbols(), self._cache.building(sig):
                    result = self._compile(sig, tuple(args))
            return result.entry_point

    def _compile(self, sig: Any, args: tuple[Any, ...]) -> Any:
        misses = self._cache_misses[sig]
        if args not in self.overloads:
            callers = len(_compiling)
            try:
                _compiling.append(self)
                super().compile(sig)
            finally:
                del _compiling[callers:]  # also if Ctrl-C came before it was there
        result, new = self.overloads[args], self._cache_misses[sig] > misses
        found = result.entry_point
        if not callable(found) and (not _compiling or found.calls_callers):
            new, result = True, self._for_python(args)
            if found.calls_callers:  # which may be the same kernel, with arguments of other types
                for other in [*self.overloads]:
                    self._for_python(other)
        if new:
            self._cache.save(sig, result)
        return result

    def _for_python(self, args: tuple[Any, ...]) -> Any:
        """Give a compiled signature machine code, unless it has some; returns it."""
        result = self.overloads[args]
        found = result.entry_point
        if not callable(found):
            result = code.for_python(self.targetctx, result)
            # In this order: after Ctrl-C in between, callers and Python still find one of the two.
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self.add_overload(result)
            self.targetctx.remove_user_function(found)
        return result

    def add_overload(self, cres: Any) -> None:
        """Note a compiled signature; Python finds it if it can call it."""
        if callable(cres.entry_point):
            super().add_overload(cres)
        else:
            self.overloads[tuple(cres.signature.args)] = cres


class KernelCache(NullCache):  # type: ignore[misc]
    """What numba asks for when a dispatcher has a cache: load and save one signature."""

    def __init__(self, dispatcher: CachedDispatcher) -> None:
        self._dispatcher = dispatcher

    @property
    def cache_path(self) -> str | None:
        """The folder of this process's entries; None if there is no disk cache."""
        store = self._store()
        return str(store.path) if store else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel from disk; None if it is missing or damaged."""
        store, name = self._store(), self._name(sig)
        payload = store.read(name) if store and name else None
        if payload is None:
            return None
        try:
            name, inlined, fields, machine = pickle.loads(payload)
            library = code.InlinedCode(target_context.codegen(), name).load(*inlined)
            # Kernels and classes that no module has are other objects when they are unpickled.
            args = tuple(sigutils.normalize_signature(sig)[0])
            fields["signature"] = fields["signature"].replace(args=args)
            fields["fndesc"].argtypes = args
            result = compile_result(library=library, entry_point=library, **fields)
            if machine:
                stored, symbols = machine
                _provide(symbols, target_context)
                result = code.with_machine_code(target_context, result, stored)
            return result
        except Exception:  # whatever is wrong with the entry, the kernel can be compiled
            return None

    def save(self, sig: Any, result: Any) -> None:
        """Write a compiled kernel to disk, unless it is tied to this process.

        It is if it contains addresses, or calls kernels that call it: numba links these by name
        when it compiles them.
        """
        store, name = self._store(), self._name(sig)
        library = getattr(result.library, "inlined", result.library)
        tied = library.has_dynamic_globals or library.calls_callers
        if store is None or name is None or result.lifted or tied:
            return
        machine = None
        if library is result.library:
            library.optimise()  # once, for all callers to come
        else:
            functions = result.library._final_module.functions
            symbols = [f.name for f in functions if f.is_declaration]
            machine = result.library._get_compiled_object(), symbols
        result.fndesc.typemap = result.fndesc.calltypes = None  # large
        fields = {field: getattr(result, field) for field in _STORED}
        inlined = library._final_module.as_bitcode(), library.optimised
        store.write(name, serialize.dumps((library.name, inlined, fields, machine)))

    @contextmanager
    def building(self, sig: Any) -> Iterator[None]:
        """Hold the lock around a compilation, unless the kernel is there already."""
        store, name = self._store(), self._name(sig)
        if store is None or name is None:
            yield
        else:
            with store.locked(name):
                yield

    def _store(self) -> Store | None:
        return open_store(self._dispatcher.targetctx.codegen().magic_tuple())

    def _name(self, sig: Any) -> str | None:
        key = cache_key.overload_key(self._dispatcher, sig)
        return key and f"{self._dispatcher.py_func.__name__.strip('<>')[:40]}-{key}.kernel"


@contextmanager
def _unique_symbols() -> Iterator[None]:
    """Number functions at random, so that symbols of different processes never coincide.

    numba counts functions from 1 in each process and writes the number into the names of
    symbols. Two closures of one factory, compiled by two processes, could get the same name; a
    third that loads both would call the wrong one.
    """
    counter = FunctionIdentity._unique_ids
    FunctionIdentity._unique_ids = iter(lambda: int.from_bytes(os.urandom(8), "big"), -1)
    try:
        yield
    finally:
        FunctionIdentity._unique_ids = counter


def _provide(symbols: list[str], target_context: Any) -> None:
    """Make sure, at the lowest cost, that the symbols a loaded kernel calls exist.

    numba fills its whole registry first (0.3 s), which loading needs only for rare symbols.
    """
    outside = [name for name in symbols if not name.startswith("llvm.")]
    if all(llvm.address_of_symbol(name) for name in outside):
        return
    rtsys.initialize(target_context)
    if not all(llvm.address_of_symbol(name) for name in outside):
        target_context.refresh()


class Store:
    """The folder of one digest: its entries and their locks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writable = self._waits = True
        self._holds = self._pruned = False

    def read(self, name: str) -> bytes | None:
        """The payload of an entry; None if it is missing, incomplete or altered."""
        file = self.path / name
        try:
            content = file.read_bytes()
        except OSError:
            return None
        with suppress(OSError):
            os.utime(file)  # pruning goes by the last use
        checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        return payload if _checksum(name, payload) == checksum else None

    def write(self, name: str, payload: bytes) -> None:
        """Write an entry in one step; if a power cut damages it, the checksum shows that."""
        if not self._writable:
            return
        try:
            descriptor, aside = tempfile.mkstemp(".tmp", dir=self.path)
            try:
                with open(descriptor, "wb") as file:
                    file.write(_checksum(name, payload) + payload)
                os.replace(aside, self.path / name)
            except BaseException as error:
                os.unlink(aside)
                if isinstance(error, PermissionError) and (self.path / name).exists():
                    return  # on Windows, where another process is just reading the entry
                raise
        except OSError as error:
            self._give_up(error)
        if not self._pruned:
            self._pruned = True
            prune(self.path.parent)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Hold the lock of an entry, unless the entry is there.

        Called under numba's compiler lock, so only one thread at a time gets here. Kernels compiled
        within another's compilation take no lock of their own: two processes could wait for each
        other. A process that has waited in vain does not wait again: the lock's holder may have
        been stopped.
        """
        path, held = self.path / f"{name}.lock", None
        alone = self._writable and self._waits and not self._holds
        if alone and not (self.path / name).exists():
            lock = filelock.FileLock(path)
            try:
                lock.acquire(LOCK_TIMEOUT_S)
                self._holds, held = True, lock
            except filelock.Timeout:
                self._waits = False
            except (OSError, NotImplementedError) as error:
                self._give_up(error)
        try:
            yield
        finally:
            if held is not None:
                self._holds = False
                held.release()
                with suppress(OSError):  # another process has it open, on Windows
                    path.unlink()

    def _give_up(self, error: Exception) -> None:
        """Stop writing to the folder."""
        if self._writable:
            _warn(self.path, str(error))
        self._writable = False


def _checksum(name: str, payload: bytes) -> bytes:
    """A digest of an entry and its name, so that an entry under a wrong name is rejected."""
    return _CHECKSUM(name.encode() + b"\0" + payload).digest()


@functools.cache
def open_store(cpu: tuple[str, ...]) -> Store | None:
    """The folder of this process and CPU; None, with a warning, if no folder can be trusted."""
    if os.environ.get("AZUMAYA_CACHE_DIR") == "":
        return None
    root: Path | None = None
    try:
        root = cache_root()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = root / f"kernels-{cache_key.folder_digest(cpu)}"
        folder.mkdir(mode=0o700, exist_ok=True)
        folder = private(folder)
    except (OSError, RuntimeError) as error:  # no home; links in a circle
        _warn(root or "the disk", str(error))
        return None
    return Store(folder)


def cache_root() -> Path:
    """The folder in `AZUMAYA_CACHE_DIR` or, without it, `azumaya` in the user's cache folder."""
    given = os.environ.get("AZUMAYA_CACHE_DIR")
    return Path.cwd() / given if given else platformdirs.user_cache_path("azumaya", False)


def private(path: Path) -> Path:
    """The path of a folder without links, unless others can write to the folder or replace it.

    On Windows, where the access list of the user's profile keeps others out, nothing is checked.

    Raises:
        PermissionError: it, a folder above it or a link on the way belongs to someone else, or can
            be written by others. (All but the folder itself may be root's, and a sticky bit, such
            as that of `/tmp`, protects what is below.)
    """
    folder = path.resolve()
    if not hasattr(os, "geteuid"):
        return folder
    for place in (folder, *folder.parents, path, *path.parents):
        status = place.lstat()
        owners = (os.geteuid(),) if place == folder else (0, os.geteuid())
        if status.st_uid not in owners:
            raise PermissionError(f"{place} belongs to user {status.st_uid}")
        open_to_others = status.st_mode & _OTHERS_WRITE and not stat.S_ISLNK(status.st_mode)
        if open_to_others and (place == folder or not status.st_mode & stat.S_ISVTX):
            raise PermissionError(f"{place} can be written by others; `chmod go-w` keeps them out")
    return folder


def prune(root: Path) -> None:
    """Remove files that have long been unused, and folders of kernels without any."""
    limit = time.time() - KEPT_S
    for folder in root.glob("kernels-*"):
        with suppress(OSError):
            for file in folder.iterdir():
                if file.stat().st_mtime < limit:
                    file.unlink()
            folder.rmdir()  # if it is empty


def _warn(place: object, reason: str) -> None:
    warnings.warn(
        f"kernels are compiled anew in every process, as {place} cannot keep them: {reason}. "
        "Set AZUMAYA_CACHE_DIR to a folder of your own, or to nothing for no disk cache.",
        RuntimeWarning,
        stacklevel=2,
    )
