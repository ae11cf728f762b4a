"""A filter of system calls: no processes, no sockets, no signals to others, no changes to files.

The filter is a program for the kernel's packet filter. It lists what is refused, not what is
allowed, because the interpreter and its libraries need a list of calls that changes with their
versions. A refused call fails with `EPERM`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass

from azumaya.baselines.classroom.linux import PR_SET_PDEATHSIG, syscall

SET_MODE_FILTER, FOR_ALL_THREADS = 1, 1
ALLOW, FAIL = 0x7FFF0000, 0x00050000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
CALL, KIND, FIRST_ARGUMENT = 0, 4, 16
"""Offsets in what the kernel tells of a call."""
CLONE_THREAD = 0x00010000
X32 = 0x40000000
"""Calls of another convention, which would go round the filter, have numbers from here on."""

# fmt: off
EVERYWHERE = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432,
    "fspick": 433, "pidfd_open": 434, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "memfd_secret": 447, "fchmodat2": 452, "setxattrat": 463,
    "removexattrat": 466, "file_setattr": 469,
}
"""Numbers of refused calls that are the same on all machines."""

X86 = {
    "shmget": 29, "socket": 41, "connect": 42, "bind": 49, "listen": 50, "fork": 57, "vfork": 58,
    "execve": 59, "kill": 62, "semget": 64, "msgget": 68, "truncate": 76, "rename": 82,
    "mkdir": 83, "rmdir": 84, "link": 86, "unlink": 87, "symlink": 88, "chmod": 90, "fchmod": 91,
    "chown": 92, "fchown": 93, "lchown": 94, "ptrace": 101, "setpgid": 109, "setsid": 112,
    "rt_sigqueueinfo": 129, "utime": 132, "mknod": 133, "setpriority": 141, "sched_setparam": 142,
    "sched_setscheduler": 144, "pivot_root": 155, "chroot": 161, "mount": 165, "umount2": 166,
    "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198,
    "fremovexattr": 199, "tkill": 200, "sched_setaffinity": 203, "utimes": 235, "mq_open": 240,
    "add_key": 248, "request_key": 249, "keyctl": 250, "ioprio_set": 251, "mkdirat": 258,
    "mknodat": 259, "fchownat": 260, "futimesat": 261, "unlinkat": 263, "renameat": 264,
    "linkat": 265, "symlinkat": 266, "fchmodat": 268, "unshare": 272, "utimensat": 280,
    "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "sched_setattr": 314, "renameat2": 316,
    "memfd_create": 319, "bpf": 321, "execveat": 322, "userfaultfd": 323,
}
ARM = {
    "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15,
    "fremovexattr": 16, "ioprio_set": 30, "mknodat": 33, "mkdirat": 34, "unlinkat": 35,
    "symlinkat": 36, "linkat": 37, "renameat": 38, "umount2": 39, "mount": 40, "pivot_root": 41,
    "truncate": 45, "chroot": 51, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55,
    "utimensat": 88, "unshare": 97, "ptrace": 117, "sched_setparam": 118,
    "sched_setscheduler": 119, "sched_setaffinity": 122, "kill": 129, "tkill": 130,
    "rt_sigqueueinfo": 138, "setpriority": 140, "setpgid": 154, "setsid": 157, "mq_open": 180,
    "msgget": 186, "semget": 190, "shmget": 194, "socket": 198, "bind": 200, "listen": 201,
    "connect": 203, "add_key": 217, "request_key": 218, "keyctl": 219, "execve": 221,
    "rt_tgsigqueueinfo": 240, "perf_event_open": 241, "setns": 268, "process_vm_readv": 270,
    "process_vm_writev": 271, "kcmp": 272, "sched_setattr": 274, "renameat2": 276,
    "memfd_create": 279, "bpf": 280, "execveat": 281, "userfaultfd": 282,
}
# fmt: on


@dataclass(frozen=True)
class Machine:
    """What the filter must know of a kind of machine.

    Attributes:
        code: the kernel's number for it.
        refused: the numbers of refused calls, by name.
        clone, clone3, tgkill, prlimit, prctl: calls that depend on their arguments.
    """

    code: int
    refused: Mapping[str, int]
    clone: int
    clone3: int
    tgkill: int
    prlimit: int
    prctl: int


MACHINES = {
    "x86_64": Machine(0xC000003E, {**X86, **EVERYWHERE}, 56, 435, 234, 302, 157),
    "aarch64": Machine(0xC00000B7, {**ARM, **EVERYWHERE}, 220, 435, 131, 261, 167),
}
SECCOMP = {"x86_64": 317, "aarch64": 277}
Instruction = tuple[int, int, int, int]


def program(machine: Machine, process: int) -> list[Instruction]:
    """The filter for a process of this id; threads are allowed, signals only to itself."""
    refuse, absent = _give(FAIL | errno.EPERM), _give(FAIL | errno.ENOSYS)
    lines = [(LOAD, 0, 0, KIND), (EQUAL, 1, 0, machine.code), refuse, (LOAD, 0, 0, CALL)]
    lines += [(AT_LEAST, 0, 1, X32), refuse]
    # Its flags are out of the filter's sight. The C library falls back to `clone`.
    lines += [(EQUAL, 0, 1, machine.clone3), absent]
    for number, test in (
        (machine.clone, (ANY_BIT, 0, 1, CLONE_THREAD)),
        (machine.tgkill, (EQUAL, 0, 1, process)),
        (machine.prlimit, (EQUAL, 0, 1, 0)),
        (machine.prctl, (EQUAL, 1, 0, PR_SET_PDEATHSIG)),  # it must not outlive its parent
    ):
        lines += [(EQUAL, 0, 4, number), (LOAD, 0, 0, FIRST_ARGUMENT), test, _give(ALLOW), refuse]
    for number in sorted(machine.refused.values()):
        lines += [(EQUAL, 0, 1, number), refuse]
    return [*lines, _give(ALLOW)]


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
