"""Builds the library that runs a kernel: numba and NVVM make PTX, gcc compiles its translation."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from numba import config

CAPABILITY = (9, 0)
ARCHITECTURE = (*CAPABILITY, "a")
"""The architecture that numba-cuda uses for a device of this capability."""
MACHINE = Path(__file__).with_name("machine.c")
OPTIONS = ("-O0", "-std=gnu11", "-w", "-fwrapv", "-fno-strict-aliasing", "-shared", "-fPIC")


def missing() -> str | None:
    """Why nothing can be emulated here; None if it can."""
    if config.DISABLE_JIT or config.ENABLE_CUDASIM:
        return "kernels are interpreted here, not compiled"
    if sys.platform != "linux":
        return "numba-cuda and NVVM are installed on Linux only"
    if c_compiler() is None:
        return "there is no C compiler"
    absent = [name for name in ("numba_cuda", "torch") if find_spec(name) is None]
    if absent:
        return f"{absent[0]} is not installed"
    from numba.cuda.cudadrv.nvvm import NVVM, NvvmSupportError  # noqa: PLC0415

    try:
        NVVM()
    except NvvmSupportError as error:
        return f"there is no NVVM: {error}"
    return None


def c_compiler() -> str | None:
    """The path of gcc or of a compiler that takes its options."""
    return shutil.which(os.environ.get("CC") or "gcc") or shutil.which("cc")


def can_link() -> bool:
    """Whether numba can optimize kernels at link time, which needs nvJitLink."""
    from numba.cuda.cudadrv.driver import _have_nvjitlink  # noqa: PLC0415

    return bool(_have_nvjitlink())


@contextmanager
def device_to_compile_for() -> Iterator[None]:
    """Within this context numba finds a stand-in when it asks for the device's capability."""
    from numba.cuda import dispatcher  # noqa: PLC0415
    from numba.cuda.codegen import CUDACodeLibrary  # noqa: PLC0415

    there = SimpleNamespace(compute_capability=CAPABILITY)
    with ExitStack() as stack:
        for owner, name, answer in (
            (dispatcher, "get_current_device", lambda: there),
            (CUDACodeLibrary, "_ensure_cc", lambda _library, cc: cc or ARCHITECTURE),
        ):
            stack.enter_context(patch.object(owner, name, answer))
        yield


def ptx_of(kernel: Any, types: tuple[Any, ...], lto: bool) -> str:
    """The PTX of a kernel for arguments of these types.

    Args:
        kernel: the result of `cuda.jit`.
        types: the numba types of its arguments.
        lto: whether to optimize at link time, as numba does if nvJitLink is installed.

    Raises:
        Exception: any error of numba that prevents compilation.
    """
    from numba.cuda.dispatcher import _Kernel  # noqa: PLC0415

    with device_to_compile_for():
        options = {**kernel.targetoptions, "lto": lto}
        library = _Kernel(kernel.py_func, types, **options)._codelibrary
        text = library.get_lto_ptx() if lto else library.get_asm_str()
    return str(text)


def cache_folder() -> Path:
    """The folder of libraries: beside the compiled kernels, or in the temporary folder.

    Raises:
        PermissionError: others could write to the folder, from which libraries are loaded.
    """
    place, user = os.environ.get("AZUMAYA_CACHE_DIR"), os.geteuid()
    temporary = Path(tempfile.gettempdir()) / f"azumaya-emulator-{user}"
    folder = Path(place) / "emulator" if place else temporary
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != user or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{folder}: others can write there; remove it")
    return folder


def library_of(source: str) -> ctypes.CDLL:
    """The compiled library of a translated kernel, cached by its source.

    Raises:
        subprocess.CalledProcessError: the C compiler reports an error.
    """
    said = "\0".join((source, MACHINE.read_text(), str(c_compiler()), *OPTIONS))
    file = cache_folder() / f"{hashlib.sha256(said.encode()).hexdigest()[:32]}.so"
    if not file.exists():
        _compile(source, file)
    return ctypes.CDLL(str(file))


def _compile(source: str, file: Path) -> None:
    """Compile a library aside and move it into place."""
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        (Path(folder) / "kernel.c").write_text(source)
        made = Path(folder) / file.name
        command = [str(c_compiler()), *OPTIONS, f"-I{folder}", str(MACHINE), "-o", str(made)]
        subprocess.run(command, check=True)
        made.replace(file)
