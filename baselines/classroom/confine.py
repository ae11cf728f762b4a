"""Confining the process in which a submission runs, as far as the system allows.

A process is confined in two steps. `separate` comes first, before anything is imported: namespaces
and limits. `limit_processor` and `close_off` come when everything that the submission may use has
been loaded: no files but those to read, no system calls that reach out.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from azumaya.baselines.classroom import linux
from azumaya.baselines.classroom.seccomp import filter_calls
from azumaya.baselines.system.keeper import exit_as

NAMESPACES, LANDLOCK, SECCOMP = "namespaces", "landlock", "seccomp"
LAYERS = (NAMESPACES, LANDLOCK, SECCOMP)
FILES, PROCESSES, BYTES_OF_FILE = 64, 64, 0
"""Limits for a submission: open files, processes and threads, and the size of a file it writes."""
DEVICES = {
    "/dev/null": linux.READ_FILE | linux.WRITE_FILE,
    "/dev/zero": linux.READ_FILE,
    "/dev/urandom": linux.READ_FILE,
}
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")


@dataclass
class Isolation:
    """What confines a process.

    Attributes:
        layers: by name of a layer, what is in force, in words.
        missing: by name of a layer or a resource limit, why it is not in force.
    """

    layers: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def attempt(self, layer: str, wanted: Iterable[str], work: Callable[[], str]) -> None:
        """Put a layer in force, and note what came of it."""
        if layer not in wanted:
            self.missing[layer] = "switched off"
            return
        if sys.platform != "linux":
            self.missing[layer] = "only Linux has it"
            return
        try:
            self.layers[layer] = work()
        except OSError as error:
            self.missing[layer] = str(error)


def lacking(isolation: Isolation) -> list[str]:
    """What a submission could do because a layer of isolation is missing, in words."""
    filtered, apart = SECCOMP in isolation.layers, NAMESPACES in isolation.layers
    found = []
    if "RLIMIT_AS" in isolation.missing:
        found.append("take all memory")
    if "RLIMIT_NPROC" in isolation.missing:
        found.append("start as many threads as its memory holds")
    if LANDLOCK not in isolation.layers:
        found.append("read files, empty and change existing ones, and make empty ones")
        if not filtered:
            found.append("delete and rename files")
    if not filtered and not apart:
        found += ["use the network", "send signals to your other processes"]
    if not filtered:
        found += ["start processes", "change the modes of your files"]
    return found


def separate(memory: int, wanted: Iterable[str], ours: Iterable[int]) -> Isolation:
    """Limit what this process may use, and with namespaces go on in a child that is apart.

    The processes before it only wait, and end as it does.

    Args:
        memory: bytes of address space.
        wanted: the layers to put in force.
        ours: file descriptors that waiting processes close.
    """
    found = Isolation()
    if sys.platform == "linux":
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    found.attempt(NAMESPACES, wanted, _namespaces)
    if NAMESPACES in found.layers:
        for _ in range(2):  # the first process of a namespace ignores what `abort` sends it
            if child := os.fork():
                _wait_for(child, ours)
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    _set_limits(memory, found)
    return found


def _namespaces() -> str:
    linux.enter_namespaces()
    return "user, process, network and IPC namespaces"


def _set_limits(memory: int, found: Isolation) -> None:
    limits = {
        "RLIMIT_AS": memory,
        "RLIMIT_FSIZE": BYTES_OF_FILE,
        "RLIMIT_NOFILE": FILES,
        "RLIMIT_CORE": 0,
    }
    if NAMESPACES in found.layers:
        limits["RLIMIT_NPROC"] = PROCESSES
    else:
        found.missing["RLIMIT_NPROC"] = "without namespaces all processes of the user would count"
    for name, value in limits.items():
        _set_limit(name, value, found)


def limit_processor(seconds: int, found: Isolation) -> None:
    """Limit the processor time that this process may use from now on."""
    _set_limit("RLIMIT_CPU", math.ceil(time.process_time()) + seconds, found)


def _set_limit(name: str, value: int, found: Isolation) -> None:
    import resource  # noqa: PLC0415 - not on Windows, whose users can run the other commands

    try:
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (least, least))
    except (OSError, ValueError, AttributeError) as error:
        found.missing[name] = str(error)


def _wait_for(child: int, ours: Iterable[int]) -> NoReturn:
    """Wait for the child to end, and end as it did; what it has left in the namespace ends, too."""
    for descriptor in ours:
        os.close(descriptor)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if os.getpid() == 1:  # no signal ends the first process of a namespace
        os._exit(code if code >= 0 else 128 - code)
    exit_as(128 - code if code - 128 in signal.valid_signals() else code)


def close_off(found: Isolation, wanted: Iterable[str], readable: Iterable[str],
              hidden: Iterable[str]) -> None:  # fmt: skip
    """Deny this process all files but some for reading, and system calls that reach out.

    Args:
        found: what is in force already; what is added is noted in it.
        wanted: the layers to put in force.
        readable: folders and files that may be read.
        hidden: what may not be read even if it is in one of these folders.

    Raises:
        RuntimeError: there are other threads, which would not be confined.
    """
    if max(threading.active_count(), linux.threads()) > 1:
        raise RuntimeError("a process with several threads cannot be confined")
    found.attempt(LANDLOCK, wanted, lambda: _landlock(readable, hidden))
    if NAMESPACES in found.layers or os.geteuid() == 0:
        with contextlib.suppress(OSError, AttributeError):
            linux.drop_capabilities()
    found.attempt(SECCOMP, wanted, _seccomp)


def _landlock(readable: Iterable[str], hidden: Iterable[str]) -> str:
    rights: dict[str, Any] = linux.carve(readable, hidden)
    return f"Landlock version {linux.restrict_files({**rights, **DEVICES})}"


def _seccomp() -> str:
    filter_calls()
    return "a filter of system calls (seccomp)"
