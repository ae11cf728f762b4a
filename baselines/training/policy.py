"""How a network acts and learns over legal actions: on a CPU part by part in several threads.

Whatever the number of threads, the parts have the same positions and their results are put together
in order, so results do not depend on it. On a GPU there is one part, and nothing waits for it.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import nn

PART = 256
"""Positions that a thread evaluates at once. With fewer, calling torch takes a larger share of the
time; with more, fewer threads have something to do."""
ILLEGAL = -1e9
"""The logit of an illegal action. It is finite, because games that are over have no legal one."""
BELOW = 1 - 2.0**-20
"""A factor of uniform numbers, so that rounding never lifts one to the sum of all probabilities."""
Result = TypeVar("Result")
Rows = TypeVar("Rows", torch.Tensor, np.ndarray)
Unpack = Callable[[Mapping[str, Any]], dict[str, Any]]
"""`unpack` of a vector environment."""


class Seen(NamedTuple):
    """Packed observations of B positions for the player to move.

    Attributes:
        observation: the observations, `(B, W)` int64.
        action_mask: the legal actions, `(B, W')` int64.
    """

    observation: torch.Tensor
    action_mask: torch.Tensor

    def at(self, rows: slice | torch.Tensor) -> Seen:
        """Some of the positions."""
        return Seen(self.observation[rows], self.action_mask[rows])


class Policy(NamedTuple):
    """What a network says of B positions.

    Attributes:
        logits: a logit for each action, `(B, A)` float32.
        masks: the legal actions, `(B, A)` int8; games that are over have none.
        values: values for the players to move, `(B,)`.
    """

    logits: torch.Tensor
    masks: torch.Tensor
    values: torch.Tensor

    def sample(self, uniform: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """An action of each position, and the logarithm of its probability, `(B,)` each.

        Args:
            uniform: random numbers from 0 to less than 1, `(B,)`. Each chooses the action in whose
                share of the probabilities, laid end to end, it falls.
        """
        probs = _legal(self.logits, self.masks).softmax(1)
        ends = probs.cumsum(1)
        points = ends[:, -1:] * (uniform * BELOW)[:, None]
        actions = torch.searchsorted(ends, points, right=True)
        return actions[:, 0], probs.gather(1, actions)[:, 0].log()

    def log_probs(self) -> torch.Tensor:
        """The logarithms of the probabilities of all actions, `(B, A)`."""
        return _legal(self.logits, self.masks).log_softmax(1)

    def judge(self, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The logarithms of the probabilities of actions, and the entropies, `(B,)` each."""
        found: tuple[torch.Tensor, torch.Tensor] = _Judged.apply(*self[:2], actions)  # type: ignore[no-untyped-call]
        return found


def _legal(logits: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    return torch.where(masks.view(torch.bool), logits, ILLEGAL)


class _Judged(torch.autograd.Function):
    """`Policy.judge`.

    Its own gradient takes half the time of one that is put together from those of a mask, of a
    softmax and its logarithm, and of an entropy.
    """

    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        legal, chosen = _legal(logits, masks), actions[:, None]
        # not `log_probs.exp()`, which takes twenty times as long on a CPU where it becomes 0
        probs, log_probs = legal.softmax(1), legal.log_softmax(1)
        entropy = -torch.linalg.vecdot(probs, log_probs)
        ctx.save_for_backward(probs, log_probs, entropy, chosen)
        return log_probs.gather(1, chosen)[:, 0], entropy

    @staticmethod
    def backward(
        ctx: Any, of_chosen: torch.Tensor, of_entropy: torch.Tensor
    ) -> tuple[torch.Tensor, None, None]:
        probs, log_probs, entropy, chosen = ctx.saved_tensors
        same = of_entropy * entropy + of_chosen
        grad = (log_probs * -of_entropy[:, None]).sub_(same[:, None]).mul_(probs)
        return grad.scatter_add_(1, chosen, of_chosen[:, None]), None, None


def evaluated(
    network: nn.Module, planes: torch.Tensor, bfloat16: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits `(B, A)` and values `(B,)` of planes, as for `Threads.evaluate`."""
    with torch.autocast(planes.device.type, torch.bfloat16, enabled=bfloat16):
        logits, values = network(planes)
    return logits.float(), values.float()


@functools.cache
def _compiled() -> Callable[..., tuple[torch.Tensor, torch.Tensor]]:
    """The same with what lies between two matrix products in one kernel.

    Networks of one shape share it. It is compiled for the first number of positions, and once more
    for any number.
    """
    return torch.compile(evaluated)


def copy_of(network: nn.Module) -> nn.Module:
    """An independent copy of a network that is not trained."""
    return copy.deepcopy(network).requires_grad_(False)


def parts_of(rows: Rows, size: int) -> Sequence[Rows]:
    """A tensor or array in parts of `size` rows; the last may have fewer."""
    return [rows[first : first + size] for first in range(0, len(rows), size)]


class Threads:
    """Threads that evaluate networks part by part; the one that calls is one of them.

    Args:
        count: how many; for a GPU there is one.
        unpack: unpacks observations.
        device: where the networks are.
        part: how many positions a thread evaluates at once on a CPU.
        bfloat16: whether they compute with bfloat16; their weights are float32.

    Attributes:
        part: the same; on a GPU more than there ever are.
    """

    def __init__(
        self, count: int, unpack: Unpack, device: str = "cpu", part: int = PART,
        bfloat16: bool = False,
    ) -> None:  # fmt: skip
        self.count, self._unpack = count if device == "cpu" else 1, unpack
        self._bfloat16 = bfloat16
        self.part = part if device == "cpu" else 1 << 62
        # OpenMP counts threads for each calling thread, so each has to be told.
        self._pool = ThreadPoolExecutor(
            self.count, initializer=torch.set_num_threads, initargs=(1,)
        )

    def share(self, work: Callable[..., Result], parts: Sequence[tuple[Any, ...]]) -> list[Result]:
        """What `work` returns for each part; every thread takes each n-th of them."""

        def some(first: int) -> list[Result]:
            return [work(*part) for part in parts[first :: self.count]]

        others = [self._pool.submit(some, n) for n in range(1, min(self.count, len(parts)))]
        found = [some(0), *(other.result() for other in others)]
        return [found[i % self.count][i // self.count] for i in range(len(parts))]

    def unpacked(self, seen: Seen) -> tuple[torch.Tensor, torch.Tensor]:
        """Planes `(B, C, rows, columns)` and legal actions `(B, A)`, int8 each."""
        bits = self._unpack(seen._asdict())
        return bits["observation"], bits["action_mask"]

    def policy(self, network: nn.Module, seen: Seen) -> Policy:
        """What a network says of packed observations."""
        return self.evaluate(network, *self.unpacked(seen))

    def evaluate(self, network: nn.Module, planes: torch.Tensor, masks: torch.Tensor) -> Policy:
        """What a network says of positions, in the thread that calls.

        Args:
            network: the network.
            planes: observations, `(B, C, rows, columns)` int8.
            masks: legal actions, `(B, A)` int8.
        """
        evaluate = _compiled() if planes.is_cuda else evaluated
        logits, values = evaluate(network, planes, self._bfloat16)
        return Policy(logits, masks, values)

    def ask(self, network: nn.Module, seen: Seen) -> Policy:
        """The same part by part, without gradients."""

        def work(network: nn.Module, *part: torch.Tensor) -> Policy:
            return self.policy(network, Seen(*part))

        [found] = self._in_parts(work, [(network, seen)])
        return Policy(*found)

    def act(self, questions: Sequence[tuple[nn.Module, Seen]]) -> list[tuple[torch.Tensor, ...]]:
        """Ask several networks at once, each about positions of its own, at least one.

        Returns:
            For each question actions sampled from the policy, the logarithms of their
            probabilities, and values, `(B,)` each.
        """

        def work(network: nn.Module, *part: torch.Tensor) -> tuple[torch.Tensor, ...]:
            *seen, uniform = part
            found = self.policy(network, Seen(*seen))
            return *found.sample(uniform), found.values

        asked = list[tuple[nn.Module, tuple[torch.Tensor, ...]]]()
        for network, seen in questions:
            uniform = torch.rand(len(seen.observation), device=seen.observation.device)
            asked.append((network, (*seen, uniform)))
        return self._in_parts(work, asked)

    def _in_parts(
        self,
        work: Callable[..., tuple[torch.Tensor, ...]],
        asked: Sequence[tuple[nn.Module, tuple[torch.Tensor, ...]]],
    ) -> list[tuple[torch.Tensor, ...]]:
        """What `work` returns for each network and its tensors, part by part, without gradients."""
        parts, counts = list[tuple[Any, ...]](), list[int]()
        for network, tensors in asked:
            cut = list(zip(*(parts_of(each, self.part) for each in tensors), strict=True))
            parts += [(network, *part) for part in cut]
            counts.append(len(cut))
        found = iter(self.share(torch.no_grad()(work), parts))
        return [
            tuple(map(torch.cat, zip(*itertools.islice(found, count), strict=True)))
            for count in counts
        ]

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


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


class Descent:
    """Takes a network down the gradients of losses, with Adam; on a GPU each step is a CUDA graph.

    Args:
        network: the network.
        adam: its optimizer, see `adam_of`.
        threads: what computes the gradients.
        longest: the norm to which longer gradients are cut.
        losses: the sums of losses over some rows of a minibatch, from these and the other arguments
            of `step`; the gradient is that of `loss`.

    Attributes:
        step: learns from a minibatch: its rows, `(n,)`, and what else the losses need, all tensors.
    """

    def __init__(
        self,
        network: nn.Module,
        adam: torch.optim.Adam,
        threads: Threads,
        longest: float,
        losses: Callable[..., dict[str, torch.Tensor]],
    ) -> None:
        self.network, self.adam, self.threads = network, adam, threads
        self._longest, self._losses = longest, losses
        self._totals: dict[str, torch.Tensor] = {}
        self.step = Graph(self._step, next(network.parameters()).device)

    def set_rate(self, rate: float) -> None:
        """Set the learning rate."""
        for group in self.adam.param_groups:
            group["lr"].fill_(rate)

    def _step(self, rows: torch.Tensor, *more: torch.Tensor) -> None:
        """Set the gradients to those of the minibatch's mean loss, cut them, and step."""
        parameters = list(self.network.parameters())

        def work(part: torch.Tensor) -> tuple[dict[str, torch.Tensor], Sequence[torch.Tensor]]:
            found = self._losses(part, *more)
            gradients = torch.autograd.grad(found["loss"] / len(rows), parameters)
            return {name: loss.detach() for name, loss in found.items()}, gradients

        parts = self.threads.share(work, [(part,) for part in parts_of(rows, self.threads.part)])
        for parameter, *gradients in zip(parameters, *(part[1] for part in parts), strict=True):
            parameter.grad = sum(gradients[1:], gradients[0]).contiguous()  # as Adam needs them
        for name in parts[0][0]:
            loss = sum((part[0][name] for part in parts[1:]), parts[0][0][name])
            self._totals.setdefault(name, torch.zeros_like(loss, dtype=torch.float32)).add_(loss)
        nn.utils.clip_grad_norm_(parameters, self._longest)
        self.adam.step()

    def means(self, count: int) -> dict[str, float]:
        """The means of the losses since the last call, by the number of positions."""
        means = {name: float(total) / max(count, 1) for name, total in self._totals.items()}
        for total in self._totals.values():
            total.zero_()
        return means


def adam_of(network: nn.Module, rate: float) -> torch.optim.Adam:
    """Adam for a network, which CUDA graphs can take in; they read the learning rate anew."""
    device = next(network.parameters()).device
    tensor = torch.tensor(rate, device=device)
    return torch.optim.Adam(
        network.parameters(), tensor, eps=1e-5, fused=True, capturable=device.type == "cuda"
    )
