"""A disk cache that keeps compiled kernels between processes.

One file holds one kernel compiled for one signature. Its folder is named by a digest of the
sources, the versions and the CPU; its own name by a digest of all that went into the kernel:
code, captured variables, globals, callees, numba's settings (`cache_key.py`). A file is written
aside and renamed into place, and carries a checksum of its name and content. So an entry is never
out of date and never half written. Entries are trusted only in a folder that no other user can
write to (`private_folder.py`). A lock lets one process compile while the others wait; it only saves
work.

`AZUMAYA_CACHE_DIR` names the folder; if it is empty, there is no disk cache. See
`docs/decisions/compile-cache.md`.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import serialize, sigutils
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys

from azumaya.envs.kernels import cache_key
from azumaya.envs.kernels.private_folder import PrivacyError, PrivateFolder

KEEP = 8
"""How many folders pruning keeps, besides those used within `FRESH` seconds."""
FRESH = 3600.0
LOCK_TIMEOUT_S = 300.0
"""How long to wait for another process, once; after that kernels are compiled without the lock."""
PAUSE = 0.02
_CHECKSUM = hashlib.blake2b
_CHECKSUM_BYTES = 64


class CachedDispatcher(CPUDispatcher):  # type: ignore[misc]
    """numba's dispatcher, with this disk cache instead of numba's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cache = KernelCache(self)

    def enable_caching(self) -> None:
        """Nothing to do: it is on."""

    def compile(self, sig: Any) -> Any:
        """Load or compile one signature; returns the entry point, as numba's own method does."""
        with global_compiler_lock:
            args, _ = sigutils.normalize_signature(sig)
            existing = self.overloads.get(tuple(args))
            if existing is not None:
                return existing.entry_point
            with cache_key.one_look(), _unique_symbols(), self._cache.building(sig):
                return super().compile(sig)


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
            reduced, symbols = pickle.loads(payload)
            _provide(symbols, target_context)
            return CompileResult._rebuild(target_context, *reduced)
        except Exception:  # whatever is wrong with the entry, the kernel can be compiled
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel to disk, unless it contains addresses of this process."""
        store, name = self._store(), self._name(sig)
        if store is None or name is None or data.lifted or data.library.has_dynamic_globals:
            return
        symbols = [f.name for f in data.library._final_module.functions if f.is_declaration]
        store.write(name, serialize.dumps((data._reduce(), symbols)))

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
    """The folder of one digest: its entries and its lock."""

    def __init__(self, folder: PrivateFolder, root: PrivateFolder) -> None:
        self._folder, self._root = folder, root
        self._locked = False
        self._usable = True
        self._writable = True
        self._pruned = False
        self._waits = True

    @property
    def path(self) -> Path:
        """Where the folder is."""
        return self._folder.path

    def read(self, name: str) -> bytes | None:
        """The payload of an entry; None if it is missing, incomplete or altered."""
        if not self._usable:
            return None
        try:
            content = self._folder.read(name)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._give_up(error)
            return None
        checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        return payload if _checksum(name, payload) == checksum else None

    def write(self, name: str, payload: bytes) -> None:
        """Write an entry in one step; if a power cut damages it, the checksum shows that."""
        if not self._writable:
            return
        try:
            self._folder.write(name, _checksum(name, payload) + payload)
            self._prune_once()
        except OSError as error:
            self._give_up(error)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Hold the lock of the folder, or wait until someone else has published the entry.

        Called under numba's compiler lock, so only one thread at a time gets here; kernels
        compiled within another's compilation find the lock held. A process that has waited
        in vain does not wait again: the lock's holder may have been stopped.
        """
        if self._locked or not self._writable or not self._waits or self._folder.exists(name):
            yield
            return
        try:
            file = self._folder.open("lock")
        except OSError as error:
            self._give_up(error)
            yield
            return
        try:
            self._locked, self._waits = _wait(file, lambda: self._folder.exists(name))
            yield
        finally:
            if self._locked:
                _unlock(file)
            self._locked = False
            os.close(file)

    def _give_up(self, error: OSError) -> None:
        """Stop writing to the folder, and stop reading it if others may have written to it."""
        if self._writable:
            _warn(self.path, str(error))
        self._writable = False
        self._usable = self._usable and not isinstance(error, PrivacyError)

    def _prune_once(self) -> None:
        if not self._pruned:
            self._pruned = True
            prune(self._root, self._folder)


def _checksum(name: str, payload: bytes) -> bytes:
    """A digest of an entry and its name, so that an entry under a wrong name is rejected."""
    head = name.encode()
    return _CHECKSUM(len(head).to_bytes(8, "little") + head + payload).digest()


@functools.cache
def open_store(cpu: tuple[str, ...]) -> Store | None:
    """The folder of this process and CPU; None, with a warning, if no folder can be trusted."""
    place = os.environ.get("AZUMAYA_CACHE_DIR")
    if place == "":
        return None
    path = Path(place) if place else None
    try:
        path = Path.cwd() / path if path else default_root()
        root = PrivateFolder(path)
        folder = PrivateFolder(path / f"kernels-{cache_key.folder_digest(cpu)}")
        with suppress(OSError):
            folder.touch()  # pruning goes by the last use
    except OSError as error:
        _warn(path or Path("the user's cache folder"), str(error))
        return None
    return Store(folder, root)


def default_root() -> Path:
    """The folder `azumaya` in `XDG_CACHE_HOME` or, without it, in the user's cache folder."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]) / "azumaya"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "azumaya" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "azumaya"
    try:
        return Path.home() / ".cache" / "azumaya"
    except RuntimeError as error:
        raise OSError(str(error)) from error


def prune(root: PrivateFolder, folder: PrivateFolder) -> None:
    """Remove folders that have long been unused, and what killed processes left in `folder`."""
    limit = time.time() - FRESH
    others = [name for name in root.names() if name.startswith("kernels-")]
    others.sort(key=lambda name: _last_use(root, name), reverse=True)
    for old in others[KEEP:]:
        if old != folder.path.name and _last_use(root, old) < limit:
            root.remove_folder(old)
    for left in folder.names():
        if left.endswith(".tmp") and _last_use(folder, left) < limit:
            with suppress(OSError):
                folder.remove(left)


def _last_use(folder: PrivateFolder, name: str) -> float:
    try:
        return folder.changed_at(name)
    except OSError:
        return 0.0


def _warn(place: Path, reason: str) -> None:
    warnings.warn(
        f"kernels are compiled anew in every process, as {place} cannot keep them: {reason}. "
        "Set AZUMAYA_CACHE_DIR to a folder of your own, or to nothing for no disk cache.",
        RuntimeWarning,
        stacklevel=2,
    )


def _wait(file: int, is_published: Callable[[], bool]) -> tuple[bool, bool]:
    """Wait for the lock or the entry, or until the time is up.

    Returns whether the lock is held, and whether to wait for it the next time.
    """
    end = time.monotonic() + LOCK_TIMEOUT_S
    while time.monotonic() < end:
        try:
            _try_lock(file)
        except (BlockingIOError, PermissionError):
            time.sleep(PAUSE)
        except OSError:
            return False, False  # a file system without locks
        else:
            return True, True
        if is_published():
            return False, True
    return False, False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _unlock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: int) -> None:
        # A process forked meanwhile shares the lock, so closing alone would not free it.
        fcntl.flock(file, fcntl.LOCK_UN)
