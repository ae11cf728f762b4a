"""A network as `BatchPUCT` asks it in AlphaZero, on a CPU or a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from azumaya.baselines.search.evaluator import Answer
from azumaya.baselines.training.policy import Graph, Seen, Threads

LEAST = 256
"""The fewest positions that a GPU evaluates at once; fewer take it as long."""


def on(device: torch.device, *arrays: np.ndarray) -> list[torch.Tensor]:
    """Arrays as tensors on a device; packed words become int64."""
    signed = [each.view(np.int64) if each.dtype == np.uint64 else each for each in arrays]
    return [torch.from_numpy(each).to(device) for each in signed]


class Asked:
    """A network as BatchPUCT asks it, wherever it is.

    On a GPU there are batches of a few sizes only, which are filled up with positions asked before:
    what the network does is then compiled and captured once for each size.

    Args:
        network: the network.
        threads: what evaluates it.
        device: where it is.
        most: the most positions that are asked at once.
    """

    def __init__(
        self, network: nn.Module, threads: Threads, device: torch.device, most: int
    ) -> None:
        self.network, self.threads, self.device, self.most = network, threads, device, most
        self._batches: dict[int, Batch] = {}

    def evaluate_packed(
        self, observation: np.ndarray, action_mask: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As for `PackedEvaluator`."""
        return self.begin_packed(observation, action_mask)()

    def begin_packed(self, observation: np.ndarray, action_mask: np.ndarray) -> Answer:
        """As for `PackedEvaluator`; on a GPU, what it finds is overwritten by the next but one."""
        if self.device.type == "cpu":
            found = self.threads.ask(self.network, Seen(*on(self.device, observation, action_mask)))
            return lambda: (found.logits.numpy(), found.values.numpy())
        return self.filled_up(observation, action_mask)

    def filled_up(self, observation: np.ndarray, action_mask: np.ndarray) -> Answer:
        """As `begin_packed` on a GPU."""
        size = LEAST
        while size < len(observation):
            size *= 2
        size = min(size, self.most)
        if size not in self._batches:
            widths = observation.shape[1], action_mask.shape[1]
            self._batches[size] = Batch(self, size, widths)
        return self._batches[size].begin(observation, action_mask)


@dataclass
class Host:
    """What one evaluation of a batch has on the host.

    Attributes:
        given: what is copied to the device.
        found: what is copied back; empty before the first time.
        done: has happened when that is there; None on a CPU.
    """

    given: torch.Tensor
    found: torch.Tensor
    done: torch.cuda.Event | None


class Batch:
    """Room for a batch of a fixed size on the device, and for two evaluations on the host.

    So one can begin before what the last one found is read; the device makes one after the other.

    Args:
        asked: the network.
        size: the number of positions.
        widths: the words of an observation, and those of a mask.
    """

    def __init__(self, asked: Asked, size: int, widths: tuple[int, int]) -> None:
        self._asked, self._size, self._cut = asked, size, size * widths[0]
        self._pinned = asked.device.type == "cuda"  # so that copies do not wait for another buffer
        self._hosts = [
            Host(
                torch.zeros(size * sum(widths), dtype=torch.int64, pin_memory=self._pinned),
                torch.zeros(0),
                torch.cuda.Event() if self._pinned else None,  # type: ignore[no-untyped-call]
            )
            for _ in range(2)
        ]
        self._found = torch.zeros(0, device=asked.device)
        self._graph = Graph(self._work, asked.device)

    def begin(self, observation: np.ndarray, action_mask: np.ndarray) -> Answer:
        """Begin to evaluate up to `size` positions, as `Asked.begin_packed`."""
        self._hosts.reverse()
        host, count = self._hosts[0], len(observation)
        given = host.given.numpy().view(np.uint64)
        seen, masks = (part.reshape(self._size, -1) for part in np.split(given, [self._cut]))
        seen[:count], masks[:count] = observation, action_mask
        self._graph(host.given.to(self._asked.device, non_blocking=True))
        if not len(host.found):
            host.found = torch.zeros(len(self._found), pin_memory=self._pinned)
        host.found.copy_(self._found, non_blocking=True)
        if host.done is not None:
            host.done.record()
        return lambda: self._answer(host, count)

    def _answer(self, host: Host, count: int) -> tuple[np.ndarray, np.ndarray]:
        if host.done is not None:
            host.done.synchronize()
        found = host.found.numpy()
        values, logits = found[: self._size], found[self._size :].reshape(self._size, -1)
        return logits[:count], values[:count]

    def _work(self, given: torch.Tensor) -> None:
        parts = (part.reshape(self._size, -1) for part in given.tensor_split([self._cut]))
        found = self._asked.threads.ask(self._asked.network, Seen(*parts))
        both = torch.cat([found.values, found.logits.flatten()])
        if len(self._found):
            self._found.copy_(both)
        else:
            self._found = both
