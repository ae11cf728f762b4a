"""The setups of games by number, so that a row needs no more than a number to name its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.game import as_states
from azumaya.envs.kernels.bits import U64
from azumaya.envs.setup import Setup

ORIGIN = np.dtype([("rules", U64), ("starts", U64)])
"""What names a setup in saved states: see `Setup.origin`."""
OWN = 0
"""The number of the setup that the games were made with."""
MOST_KNOWN = 64
"""The most setups that are remembered, without their starts, when no row has them any more."""


class Setups:
    """The setups that the rows of `series` have, in this episode or in those after it.

    A number stands for the same setup as long as a row has it. Equal setups share a number, and
    setups with equal starts share these.

    Args:
        own: the setup that the games were made with.
    """

    def __init__(self, own: Setup) -> None:
        self._by_number: dict[int, Setup] = {OWN: own}
        """Those that were asked for last come last."""

    def __getitem__(self, number: int) -> Setup:
        return self._by_number[number]

    def with_room(self, series: np.ndarray) -> Self:
        """A copy that has forgotten setups that no row has, to which others can be added."""
        taken = type(self)(self[OWN])
        taken._by_number = {**self._by_number}
        if len(self._by_number) == 1:
            return taken
        used = {OWN, *numbers_in(series["setup"]), *numbers_in(series["lasting"])}
        unused = [number for number in self._by_number if number not in used]
        for number in unused[:-MOST_KNOWN]:
            del taken._by_number[number]
        for number in unused[-MOST_KNOWN:]:
            setup = self[number]
            if len(setup.starts):
                taken._by_number[number] = setup.without_starts().with_origin(setup.origin)
        return taken

    def number(self, setup: Setup) -> int:
        """The number of a setup, which is added if there is none like it."""
        number = self._number_of(setup)
        if number != OWN:
            self._by_number.pop(number, None)
            self._by_number[number] = setup
        return number

    def _number_of(self, setup: Setup) -> int:
        """The number of a setup like this one, or the first free number."""
        for number, known in self._by_number.items():
            if known is setup or _alike(known, setup):
                return number
        number = 0
        while number in self._by_number:
            number += 1
        return number

    def starts(self, lasting: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The starts of the rows' lasting setups, `(m,)` states, and where those of each setup are.

        Args:
            lasting: the numbers of these setups, `(n,)`.

        Returns:
            The starts, and for setup `k` their begin and end, row `k` of an array. Setups that no
            row needs have the starts of the setup that the games were made with.
        """
        own = self[OWN]
        spans = np.zeros((1 + max(self._by_number), 2), np.int64)
        spans[:, 1] = len(own.starts)
        numbers = numbers_in(lasting)
        if numbers == [OWN]:
            return own.starts, spans
        places = {own.origin[1]: (0, len(own.starts))}
        parts, end = [own.starts], len(own.starts)
        for number in numbers:
            setup = self[number]
            if setup.origin[1] not in places:
                places[setup.origin[1]] = end, end + len(setup.starts)
                parts.append(setup.starts)
                end += len(setup.starts)
            spans[number] = places[setup.origin[1]]
        return as_states(np.concatenate(parts)), spans

    # ---- saved states ----

    def origins(self, numbers: np.ndarray) -> np.ndarray:
        """The origins of the setups with these numbers, as words, `(n, 2)`."""
        if len(self._by_number) == 1:
            return np.array([self[OWN].origin], np.uint64).repeat(len(numbers), 0)
        named = np.empty((1 + max(self._by_number), 2), np.uint64)
        for number in numbers_in(numbers):
            named[number] = self[number].origin
        return named[numbers]

    def numbers(self, origins: np.ndarray, given: Sequence[Setup] = ()) -> np.ndarray:
        """The numbers of saved rows' setups, `(n,)`, by their origins, words, `(n, 2)`.

        Those that are neither here nor among the given ones are added without starts, where others
        have their rules.

        Raises:
            OptionError: a row was played under options that these games were never given.
        """
        by_origin = {
            setup.origin: setup for setup in [*self._by_number.values(), self[OWN], *given]
        }
        by_rules = {rules: setup for (rules, _), setup in by_origin.items()}
        by_rules[self[OWN].origin[0]] = self[OWN]
        found = np.empty(len(origins), np.int64)
        for origin, rows in _kinds(origins):
            setup = by_origin.get(origin)
            if setup is None and origin[0] in by_rules:
                setup = by_rules[origin[0]].without_starts().with_origin(origin)
            if setup is None:
                raise OptionError(
                    f"state: row {int(rows[0])} was played under other options than those of this "
                    "environment; make one with them, or give them to reset first"
                )
            found[rows] = self.number(setup)
        return found


def _alike(one: Setup, other: Setup) -> bool:
    """Whether two setups give the same games and say the same of them."""
    return one.origin == other.origin and repr(one.given) == repr(other.given)


def numbers_in(numbers: np.ndarray) -> list[int]:
    """The different numbers in an array, `(n,)`, in ascending order; a million take 5 ms."""
    return np.flatnonzero(np.bincount(numbers)).tolist()


def groups_of(numbers: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The different numbers in an array, `(n,)`, and where each of them is: indices."""
    order = np.argsort(numbers, kind="stable")
    different, first = np.unique(numbers[order], return_index=True)
    yield from zip(different.tolist(), np.split(order, first[1:]), strict=True)


def _kinds(origins: np.ndarray) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
    """The different origins of rows, words, `(n, 2)`, and the rows that have each.

    Word by word: when NumPy compares records it calls Python code, and Ctrl-C in there becomes a
    `TypeError`.
    """
    if len(origins) == 1 or (origins == origins[0]).all():
        rules, starts = origins[0].tolist()
        yield (rules, starts), np.arange(len(origins))
        return
    rules, of_rules = np.unique(origins[:, 0], return_inverse=True)
    starts, of_starts = np.unique(origins[:, 1], return_inverse=True)
    for pair, rows in groups_of(of_rules * len(starts) + of_starts):
        i, j = divmod(pair, len(starts))
        yield (int(rules[i]), int(starts[j])), rows
