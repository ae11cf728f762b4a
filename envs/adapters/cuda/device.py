"""CUDA memory, owned by torch and shared with numba's kernels.

Torch owns every buffer: its allocator is stream-aware, and its tensors can be shared with other
frameworks through DLPack. Kernels use views of the same memory and run on torch's current stream.
In numba's simulator (`NUMBA_ENABLE_CUDASIM=1`), tensors are in CPU memory.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba import config, cuda
from numpy.lib import NumpyVersion

from azumaya.envs.adapters.cuda.records import WORD, aligned_record
from azumaya.envs.errors import DeviceError
from azumaya.envs.extras import how_to_install, require
from azumaya.envs.game import as_states
from azumaya.envs.kernels.compile import INTERPRETED

BLOCK = 128
"""Threads per block."""
TOO_NEW = "2.5.0"
"""The first NumPy that numba-cuda does not work with, and never will (NVIDIA/numba-cuda#907)."""
SIMULATED = bool(config.ENABLE_CUDASIM)
if SIMULATED:
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # small batches are the user's choice


class Device:
    """Torch's current device in this process, or the simulator.

    Raises:
        MissingExtraError: torch is not installed.
        DeviceError: no usable GPU is available.
    """

    _selected: AbstractContextManager[None] = nullcontext()
    """Selects this device for numba, which otherwise uses the one that the thread has selected."""

    def __init__(self) -> None:
        self._torch = torch = require("torch", "cuda")
        self._streams: dict[int, Any] = {}
        if SIMULATED:
            if not INTERPRETED:
                raise DeviceError("the CUDA simulator needs NUMBA_DISABLE_JIT=1 as well")
            self.place = torch.device("cpu")
            return
        if not torch.cuda.is_available():
            built = "no GPU was found" if torch.version.cuda else "torch was built without CUDA"
            raise DeviceError(f"device='cuda': {built}; device='cpu' works everywhere")
        if find_spec("numba_cuda") and NumpyVersion(np.__version__) >= TOO_NEW:
            raise DeviceError(
                f"device='cuda': numba-cuda does not work with NumPy {np.__version__}; "
                f"pip install 'numpy<{TOO_NEW}'"
            )
        if not cuda.is_available():
            reason = cuda.cuda_error() or "its compiler, NVVM, was not found"
            raise DeviceError(
                f"device='cuda': torch finds a GPU but numba does not ({reason}); in a clone, "
                f"{how_to_install('cuda')} installs what numba needs"
            )
        self.place = torch.device("cuda", torch.cuda.current_device())
        cuda.select_device(self.place.index)
        if torch.cuda.device_count() > 1:
            self._selected = cuda.gpus[self.place.index]

    def new(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An uninitialized tensor, in memory that consists of whole words of eight bytes."""
        item, size = np.dtype(dtype).itemsize, math.prod(shape)
        room = -(-size * item // WORD) * WORD // item
        return self._empty(room, dtype)[:size].view(shape)

    def memory(self, tensor: Any, dtype: Any) -> Any:
        """A kernel's view of all memory of a tensor from `new`, as an array of a type, `(m,)`."""
        memory = tensor.untyped_storage()
        whole = self._empty(0, dtype)
        return self.view(whole.set_(memory, 0, (memory.nbytes() // np.dtype(dtype).itemsize,)))

    def _empty(self, size: int, dtype: Any) -> Any:
        kind = getattr(self._torch, np.dtype(dtype).name)
        return self._torch.empty(size, dtype=kind, device=self.place)

    def view(self, tensor: Any, dtype: Any = None) -> Any:
        """A kernel's view of a contiguous tensor, with rows reinterpreted as `dtype` if given.

        A record type gives an array of records, `(n,)`; any other type gives `(n, words)`.
        """
        shape = tuple(tensor.shape)
        kind = np.dtype(dtype or str(tensor.dtype).removeprefix("torch."))
        if dtype is not None:
            each = math.prod(shape[1:]) * tensor.element_size() // kind.itemsize
            shape = shape[:1] if kind.names else (shape[0], each)
        if SIMULATED:
            seen = tensor.numpy().view(np.uint8).reshape(-1).view(kind).reshape(shape)
            return FakeCUDAArray(as_states(seen) if kind.names else seen)
        described = {
            "shape": shape,
            "typestr": aligned_record(kind) if kind.names else kind.str,
            "data": (tensor.data_ptr(), False),
            "strides": None,
            "version": 3,
        }
        with self._selected:
            return cuda.from_cuda_array_interface(described, owner=tensor)

    def put(self, array: np.ndarray, out: Any = None) -> Any:
        """Copy an array to a new tensor on the device or to `out`; records become rows of bytes."""
        plain = np.ascontiguousarray(array)
        if plain.dtype.names:
            plain = np.frombuffer(plain.tobytes(), np.uint8).reshape(len(plain), -1)
        given = self._torch.from_numpy(plain.copy())
        if out is None:
            return given.to(self.place)
        out.copy_(given)
        return out

    def get(self, tensor: Any) -> np.ndarray:
        """A copy of a tensor on the host."""
        return np.array(tensor.cpu().numpy())

    def launch(self, kernel: Any, threads: int, *arguments: Any) -> None:
        """Queue a kernel with at least `threads` threads on torch's current stream."""
        with self._selected:
            kernel[-(-threads // BLOCK), BLOCK, self._stream()](*arguments)

    def _stream(self) -> Any:
        if SIMULATED:
            return 0
        handle = self._torch.cuda.current_stream(self.place).cuda_stream
        if handle not in self._streams:
            made = cuda.external_stream(handle) if handle else cuda.default_stream()
            self._streams[handle] = made
        return self._streams[handle]
