"""The system calls of Linux that confine a process: namespaces, Landlock, and what belongs to them.

Only the standard library is used, because these run before anything else is imported. Each function
raises `OSError` if the system refuses.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable, Mapping
from typing import Any

CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
CLONE_NEWIPC, CLONE_NEWUTS = 0x08000000, 0x04000000
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""The system calls of Landlock, which have the same numbers on every machine."""

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""The rights that a rule about a file, not a folder, may contain."""
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""From which version of Landlock on there are how many rights about files."""
_CAPABILITY_VERSION = 0x20080522
NOBODY = 65534


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(what: str, number: int, *arguments: Any) -> int:
    """Make a system call; `what` is its name in errors."""
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(int(_libc().syscall(ctypes.c_long(number), *given)), what)


def prctl(option: int, value: int) -> None:
    """Change a property of this process."""
    zero = ctypes.c_ulong(0)
    _checked(_libc().prctl(option, ctypes.c_ulong(value), zero, zero, zero), f"prctl({option})")


def enter_namespaces() -> None:
    """Move to new user, network and IPC namespaces, and the next child to a new PID namespace.

    The user keeps its number, so that files it owns are still its own. Root only keeps it as the
    effective one: the kernel limits the processes of the real one, and spares root.
    """
    user, group = os.geteuid(), os.getegid()
    if os.getuid() == 0:
        os.setresuid(NOBODY, -1, -1)
    flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    _checked(_libc().unshare(flags), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def drop_capabilities() -> None:
    """Give up all privileges of this process."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _checked(_libc().capset(header, (ctypes.c_uint32 * 6)()), "capset")


def restrict_files(allowed: Mapping[str, int]) -> int:
    """Deny all access to files, except what is allowed; returns the version of Landlock.

    Args:
        allowed: rights by path; those of a folder hold for all that is in it. Paths that do not
            exist are left out.
    """
    version = syscall("Landlock", CREATE_RULESET, ctypes.c_void_p(None), 0, 1)
    handled = (1 << max(n for least, n in _FILE_RIGHTS.items() if version >= least)) - 1
    # TCP since version 4; signals and abstract sockets to processes outside since version 6
    rules = (ctypes.c_uint64 * 3)(handled, 0b11, 0b11)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = syscall("landlock_create_ruleset", CREATE_RULESET, rules, size, 0)
    try:
        for path, rights in allowed.items():
            _allow(ruleset, path, rights & handled)
        syscall("landlock_restrict_self", RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return version


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= ON_FILES
        rule = ctypes.create_string_buffer(
            rights.to_bytes(8, "little") + place.to_bytes(4, "little")
        )
        syscall("landlock_add_rule", ADD_RULE, ruleset, 1, rule, 0)
    finally:
        os.close(place)


def carve(roots: Iterable[str], hidden: Iterable[str]) -> dict[str, int]:
    """Reading rights for folders, without what is to be hidden in them.

    Landlock can only allow. So a folder that contains something hidden is replaced by its other
    contents; its own listing stays readable, because imports need it.

    Args:
        roots: folders and files that may be read.
        hidden: folders and files that may not.
    """
    found: dict[str, int] = {}
    secrets = {os.path.realpath(path) for path in hidden}
    waiting = [os.path.realpath(path) for path in roots]
    while waiting:
        path = waiting.pop()
        if any(path == s or path.startswith(s + os.sep) for s in secrets):
            continue
        if not any(s.startswith(path.rstrip(os.sep) + os.sep) for s in secrets):
            found[path] = READ
            continue
        found[path] = READ_DIR
        with os.scandir(path) as entries:
            waiting += [entry.path for entry in entries if not entry.is_symlink()]
    return found


def threads() -> int:
    """The number of threads of this process, those of libraries included; 0 if unknown."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0
