"""A filter of system calls: only those that a computation needs, and none that reach out.

The filter is a program for the kernel's packet filter. It lists what is allowed, so that calls
which nobody has thought of are refused with the others: a refused call fails with `EPERM`. Those
that are newer than Linux 5.0 fail as on an older kernel, with `ENOSYS`, because libraries try them
first and then do without.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from azumaya.baselines.classroom.linux import syscall

SET_MODE_FILTER, FOR_ALL_THREADS = 1, 1
ALLOW, FAIL = 0x7FFF0000, 0x00050000
LOAD, EQUAL, AT_LEAST, ANY_BIT, KEEP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
CALL, KIND, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24
"""Offsets in what the kernel tells of a call."""
CLONE_THREAD = 0x00010000
NEW = 424
"""Calls from here on have the same number on all machines, and are newer than Linux 5.0."""
PR_SET_NAME = 15
F_SETFL, F_DUPFD_CLOEXEC = 4, 1030
TERMINAL = 0x5400
"""The first of 256 `ioctl` commands, of terminals and pipes; none of them changes a file."""

# fmt: off
EVERYWHERE = {"close_range": 436, "openat2": 437, "faccessat2": 439, "epoll_pwait2": 441}
"""Numbers of allowed calls that are the same on all machines."""

X86 = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7,
    "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13,
    "rt_sigprocmask": 14, "rt_sigreturn": 15, "ioctl": 16, "pread64": 17, "readv": 19,
    "writev": 20, "access": 21, "pipe": 22, "select": 23, "sched_yield": 24, "mremap": 25,
    "madvise": 28, "dup": 32, "dup2": 33, "pause": 34, "nanosleep": 35, "getitimer": 36,
    "alarm": 37, "setitimer": 38, "getpid": 39, "sendto": 44, "recvfrom": 45, "shutdown": 48,
    "socketpair": 53, "clone": 56, "exit": 60, "wait4": 61, "uname": 63, "fcntl": 72,
    "getdents": 78, "getcwd": 79, "chdir": 80, "fchdir": 81, "readlink": 89, "umask": 95,
    "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "times": 100,
    "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "getpgrp": 111,
    "getgroups": 115, "getresuid": 118, "getresgid": 120, "getpgid": 121, "getsid": 124,
    "rt_sigpending": 127, "rt_sigtimedwait": 128, "rt_sigsuspend": 130, "sigaltstack": 131,
    "statfs": 137, "fstatfs": 138, "getpriority": 140, "sched_getparam": 143,
    "sched_getscheduler": 145, "sched_get_priority_max": 146, "sched_get_priority_min": 147,
    "prctl": 157, "arch_prctl": 158, "gettid": 186, "time": 201, "futex": 202,
    "sched_getaffinity": 204, "epoll_create": 213, "getdents64": 217, "set_tid_address": 218,
    "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229,
    "clock_nanosleep": 230, "exit_group": 231, "epoll_wait": 232, "epoll_ctl": 233, "tgkill": 234,
    "waitid": 247, "openat": 257, "newfstatat": 262, "readlinkat": 267, "faccessat": 269,
    "pselect6": 270, "ppoll": 271, "set_robust_list": 273, "epoll_pwait": 281, "eventfd": 284,
    "eventfd2": 290, "epoll_create1": 291, "dup3": 292, "pipe2": 293, "preadv": 295,
    "prlimit64": 302, "getcpu": 309, "getrandom": 318, "membarrier": 324, "statx": 332,
    "rseq": 334,
}
ARM = {
    "getcwd": 17, "eventfd2": 19, "epoll_create1": 20, "epoll_ctl": 21, "epoll_pwait": 22,
    "dup": 23, "dup3": 24, "fcntl": 25, "ioctl": 29, "statfs": 43, "fstatfs": 44, "faccessat": 48,
    "chdir": 49, "fchdir": 50, "openat": 56, "close": 57, "pipe2": 59, "getdents64": 61,
    "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "preadv": 69,
    "pselect6": 72, "ppoll": 73, "readlinkat": 78, "newfstatat": 79, "fstat": 80, "exit": 93,
    "exit_group": 94, "waitid": 95, "set_tid_address": 96, "futex": 98, "set_robust_list": 99,
    "nanosleep": 101, "getitimer": 102, "setitimer": 103, "clock_gettime": 113,
    "clock_getres": 114, "clock_nanosleep": 115, "sched_getscheduler": 120, "sched_getparam": 121,
    "sched_getaffinity": 123, "sched_yield": 124, "sched_get_priority_max": 125,
    "sched_get_priority_min": 126, "restart_syscall": 128, "tgkill": 131, "sigaltstack": 132,
    "rt_sigsuspend": 133, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigpending": 136,
    "rt_sigtimedwait": 137, "rt_sigreturn": 139, "getpriority": 141, "getresuid": 148,
    "getresgid": 150, "times": 153, "getpgid": 155, "getsid": 156, "getgroups": 158, "uname": 160,
    "getrlimit": 163, "getrusage": 165, "umask": 166, "prctl": 167, "getcpu": 168,
    "gettimeofday": 169, "getpid": 172, "getppid": 173, "getuid": 174, "geteuid": 175,
    "getgid": 176, "getegid": 177, "gettid": 178, "sysinfo": 179, "socketpair": 199,
    "sendto": 206, "recvfrom": 207, "shutdown": 210, "brk": 214, "munmap": 215, "mremap": 216,
    "clone": 220, "mmap": 222, "mprotect": 226, "madvise": 233, "wait4": 260,
    "prlimit64": 261, "getrandom": 278, "membarrier": 283, "statx": 291, "rseq": 293,
}
# fmt: on


@dataclass(frozen=True)
class Machine:
    """What the filter must know of a kind of machine.

    Attributes:
        code: the kernel's number for it.
        allowed: the numbers of allowed calls, by name.
    """

    code: int
    allowed: Mapping[str, int]


MACHINES = {
    "x86_64": Machine(0xC000003E, {**X86, **EVERYWHERE}),
    "aarch64": Machine(0xC00000B7, {**ARM, **EVERYWHERE}),
}
SECCOMP = {"x86_64": 317, "aarch64": 277}
Instruction = tuple[int, int, int, int]


def program(machine: Machine, process: int) -> list[Instruction]:
    """The filter for a process of this id; threads are allowed, signals only to itself."""
    refuse, conditions = _give(FAIL | errno.EPERM), _conditions(process)
    lines = [(LOAD, 0, 0, KIND), (EQUAL, 1, 0, machine.code), refuse, (LOAD, 0, 0, CALL)]
    for name, number in machine.allowed.items():
        body = [_give(ALLOW)]
        if name in conditions:
            body = [*conditions[name], *body, refuse]
        lines += [(EQUAL, 0, len(body), number), *body]
    return [*lines, (AT_LEAST, 0, 1, NEW), _give(FAIL | errno.ENOSYS), refuse]


def _conditions(process: int) -> dict[str, list[Instruction]]:
    """Tests of arguments by name of a call, which go on to the next line or skip it to refuse."""
    first, second = (LOAD, 0, 0, FIRST_ARGUMENT), (LOAD, 0, 0, SECOND_ARGUMENT)
    return {
        "clone": [first, (ANY_BIT, 0, 1, CLONE_THREAD)],
        "tgkill": [first, (EQUAL, 0, 1, process)],
        "prlimit64": [first, (EQUAL, 0, 1, 0)],
        "prctl": [first, (EQUAL, 0, 1, PR_SET_NAME)],
        # no leases, which keep others from a file, and no signals when a folder changes
        "fcntl": [second, (AT_LEAST, 0, 1, F_SETFL + 1), (EQUAL, 0, 1, F_DUPFD_CLOEXEC)],
        # the flags of a file can be changed even if it is only open for reading
        "ioctl": [second, (KEEP_BITS, 0, 0, 0xFFFFFF00), (EQUAL, 0, 1, TERMINAL)],
        # an event loop needs a pair of streams; datagrams could be sent to anybody's socket
        "socketpair": [
            first, (EQUAL, 0, 4, socket.AF_UNIX),
            second, (KEEP_BITS, 0, 0, 0xF), (EQUAL, 0, 1, socket.SOCK_STREAM),
        ],
    }  # fmt: skip


def _give(value: int) -> Instruction:
    return RETURN, 0, 0, value


def filter_calls() -> None:
    """Put the filter in force for this process, for good.

    Raises:
        OSError: the system does not support it, or not on this kind of machine.
    """
    kind = platform.machine()
    if kind not in MACHINES:
        raise OSError(errno.ENOSYS, f"seccomp: no filter for {kind}")
    lines = program(MACHINES[kind], os.getpid())
    code = b"".join(
        a.to_bytes(2, "little") + bytes([yes, no]) + k.to_bytes(4, "little")
        for a, yes, no, k in lines
    )
    content = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(
        len(lines).to_bytes(8, "little") + ctypes.addressof(content).to_bytes(8, "little"), 16
    )
    syscall("seccomp", SECCOMP[kind], SET_MODE_FILTER, FOR_ALL_THREADS, head)
