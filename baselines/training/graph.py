"""Work on a GPU that is launched as a whole."""

from __future__ import annotations

from collections.abc import Callable

import torch


class Graph:
    """Work that a GPU repeats as one CUDA graph; on a CPU, a call of the function.

    Launching kernels one by one takes longer than most of them. The first call with tensors of some
    shape does the work kernel by kernel, so that everything is compiled and allocated; the second
    one captures it; from then on it is replayed with the contents of the tensors given. A call with
    other shapes does it kernel by kernel.

    Args:
        work: does the work. It may not wait for the GPU, and must read and write tensors that stay
            where they are.
        device: where it is done.
    """

    def __init__(self, work: Callable[..., object], device: torch.device) -> None:
        self._work, self._on_gpu = work, device.type == "cuda"
        self._shapes: list[torch.Size] | None = None
        self._graph: torch.cuda.CUDAGraph | None = None
        self._given: list[torch.Tensor] = []

    def __call__(self, *tensors: torch.Tensor) -> None:
        """Do the work."""
        shapes = [tensor.shape for tensor in tensors]
        if not self._on_gpu or (self._shapes is not None and shapes != self._shapes):
            self._work(*tensors)
        elif self._shapes is None:
            self._shapes = shapes
            self._work(*tensors)
        else:
            if self._graph is None:
                self._capture(tensors)
            for own, tensor in zip(self._given, tensors, strict=True):
                own.copy_(tensor)
            assert self._graph is not None
            self._graph.replay()

    def forget(self) -> None:
        """Begin anew, because the work is about other tensors now."""
        self._graph = self._shapes = None

    def _capture(self, tensors: tuple[torch.Tensor, ...]) -> None:
        graph, given = torch.cuda.CUDAGraph(), [tensor.clone() for tensor in tensors]
        with torch.cuda.graph(graph):
            self._work(*given)
        self._graph, self._given = graph, given
