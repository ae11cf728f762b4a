"""How a network acts and learns on a CPU: over legal actions only, part by part in several threads.

Whatever the number of threads, the parts have the same positions and their results are put together
in order, so results do not depend on it.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

PART = 256
"""Positions that a thread evaluates at once. With fewer, calling torch takes a larger share of the
time; with more, fewer threads have something to do."""
Result = TypeVar("Result")
Question = tuple[nn.Module, torch.Tensor, torch.Tensor]
"""A network, and the planes and masks of positions in which it is to act."""


@dataclass(frozen=True)
class Policy:
    """The legal actions of B positions, one after another, and how likely a network plays them.

    Only legal actions are computed with. They are few: in Sudoku Moyo one in thirty, and a loss
    over all of them took as long as the network.

    Attributes:
        actions: the actions, `(M,)` int64, of each position in ascending order.
        rows: their positions, `(M,)` int64, in ascending order.
        counts: how many each position has, `(B,)` int64.
        chances: the logarithms of their probabilities, `(M,)`.
    """

    actions: torch.Tensor
    rows: torch.Tensor
    counts: torch.Tensor
    chances: torch.Tensor

    def sample(self, uniform: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """An action of each position, and the logarithm of its probability, `(B,)` each.

        Args:
            uniform: random numbers from 0 to less than 1, `(B,)`. Each chooses the action in whose
                share of the probabilities, laid end to end, it falls.
        """
        ends, last = self.chances.double().exp().cumsum(0), self.counts.cumsum(0) - 1
        end = ends.index_select(0, last)
        begin = torch.cat((end.new_zeros(1), end[:-1]))
        found = torch.searchsorted(ends, begin + uniform * (end - begin), right=True)
        found = found.clamp(last + 1 - self.counts, last)  # where a sum was rounded
        return self.actions.index_select(0, found), self.chances.index_select(0, found)

    def chances_of(self, actions: torch.Tensor) -> torch.Tensor:
        """The logarithms of the probabilities of an action of each position, `(B,)`."""
        return self.chances[self.actions == actions.index_select(0, self.rows)]


def policy(
    network: nn.Module, planes: torch.Tensor, masks: torch.Tensor
) -> tuple[Policy, torch.Tensor]:
    """The policy of a network, and its values for the players to move, `(B,)`.

    Args:
        network: the network.
        planes: observations, `(B, C, rows, columns)` int8.
        masks: legal actions, `(B, A)` int8, at least one in each position.
    """
    logits, values = network(planes)
    # NumPy's function takes a fifth of the time of torch's.
    places = torch.from_numpy(np.flatnonzero(masks.view(torch.bool).numpy()))
    rows, actions = places // masks.shape[1], places % masks.shape[1]
    counts = torch.bincount(rows, minlength=len(masks))
    own = logits.flatten().index_select(0, places)
    own = own - torch.segment_reduce(own.detach(), "max", lengths=counts).index_select(0, rows)
    totals = torch.segment_reduce(own.exp(), "sum", lengths=counts)
    return Policy(actions, rows, counts, own - totals.log().index_select(0, rows)), values


def copy_of(network: nn.Module) -> nn.Module:
    """An independent copy of a network that is not trained."""
    return copy.deepcopy(network).requires_grad_(False)


def parts_of(tensor: torch.Tensor, size: int = PART) -> Sequence[torch.Tensor]:
    """A tensor in parts of `size` rows; the last may have fewer."""
    return [tensor[first : first + size] for first in range(0, len(tensor), size)]


class Threads:
    """Threads that evaluate networks part by part; the one that calls is one of them.

    Args:
        count: how many.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        # OpenMP counts threads for each calling thread, so each has to be told.
        self._pool = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,))

    def share(self, work: Callable[..., Result], parts: Sequence[tuple[Any, ...]]) -> list[Result]:
        """What `work` returns for each part; every thread takes each n-th of them."""

        def some(first: int) -> list[Result]:
            return [work(*part) for part in parts[first :: self.count]]

        others = [self._pool.submit(some, n) for n in range(1, min(self.count, len(parts)))]
        found = [some(0), *(other.result() for other in others)]
        return [found[i % self.count][i // self.count] for i in range(len(parts))]

    def act(self, questions: Sequence[Question]) -> list[tuple[torch.Tensor, ...]]:
        """Ask several networks at once, each about positions of its own, at least one.

        Returns:
            For each question actions sampled from the policy, the logarithms of their
            probabilities, and values, `(B,)` each.
        """

        @torch.no_grad()
        def work(
            network: nn.Module, planes: torch.Tensor, masks: torch.Tensor, uniform: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            found, values = policy(network, planes, masks)
            return *found.sample(uniform), values

        parts, counts = list[tuple[Any, ...]](), list[int]()
        for network, *seen in questions:
            cut = list(zip(*map(parts_of, (*seen, torch.rand(len(seen[0])))), strict=True))
            parts += [(network, *part) for part in cut]
            counts.append(len(cut))
        found = iter(self.share(work, parts))
        return [
            tuple(map(torch.cat, zip(*itertools.islice(found, count), strict=True)))
            for count in counts
        ]

    def gradients(
        self,
        losses: Callable[[torch.Tensor], dict[str, torch.Tensor]],
        network: nn.Module,
        rows: torch.Tensor,
    ) -> dict[str, float]:
        """Add the gradients of a minibatch's mean loss to the parameters of a network.

        Args:
            losses: the sums of losses over some rows; the gradient is that of `loss`.
            network: the network.
            rows: the rows of the minibatch, `(n,)`.

        Returns:
            The sums over all rows.
        """
        parameters = list(network.parameters())

        def work(part: torch.Tensor) -> tuple[dict[str, float], Sequence[torch.Tensor]]:
            found = losses(part)
            gradients = torch.autograd.grad(found["loss"] / len(rows), parameters)
            return {name: loss.item() for name, loss in found.items()}, gradients

        total = dict[str, float]()
        for found, gradients in self.share(work, [(part,) for part in parts_of(rows)]):
            for name, loss in found.items():
                total[name] = total.get(name, 0.0) + loss
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
        return total

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
