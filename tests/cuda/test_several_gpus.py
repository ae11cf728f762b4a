"""With several GPUs, kernels run on that of the environment, whichever the thread has selected."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from azumaya.envs.adapters.cuda import device as cuda_device

torch = pytest.importorskip("torch")


class Computer:
    """Stands for numba and torch's CUDA on a computer with GPUs; notes where calls take place."""

    def __init__(self, count: int) -> None:
        self.selected, self.calls = [0], list[tuple[str, int]]()
        self.gpus = [Gpu(self, index) for index in range(count)]
        self.cuda = SimpleNamespace(
            is_available=lambda: True,
            current_device=lambda: count - 1,
            device_count=lambda: count,
            current_stream=lambda place: SimpleNamespace(cuda_stream=0),
            select_device=lambda index: None,
            gpus=self.gpus,
            from_cuda_array_interface=lambda described, owner: self.note("view"),
            default_stream=lambda: self.note("stream"),
        )

    def note(self, what: str) -> str:
        """Note that a call took place on the GPU selected now."""
        self.calls.append((what, self.selected[-1]))
        return what

    def __getitem__(self, configuration: Any) -> Any:
        """As of a kernel."""
        return lambda *arguments: self.note("kernel")


class Gpu:
    """One of the GPUs, as in `cuda.gpus`."""

    def __init__(self, computer: Computer, index: int) -> None:
        self.computer, self.index = computer, index

    def __enter__(self) -> None:
        self.computer.selected.append(self.index)

    def __exit__(self, *error: object) -> None:
        assert self.computer.selected.pop() == self.index


@pytest.mark.parametrize("count", [1, 2, 3])
def test_kernels_and_their_views_are_on_the_gpu_of_the_environment(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer = Computer(count)
    monkeypatch.setattr(cuda_device, "cuda", computer.cuda)
    monkeypatch.setattr(cuda_device, "find_spec", lambda name: None)
    monkeypatch.setattr(torch, "cuda", computer.cuda)
    device = cuda_device.Device()
    assert device.place == torch.device("cuda", count - 1)
    device.view(torch.from_numpy(np.zeros(4, np.int64)))
    device.launch(computer, 4)
    assert computer.calls == [(what, count - 1) for what in ("view", "stream", "kernel")]
    assert computer.selected == [0]
