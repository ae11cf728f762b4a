"""Who plays the games of an update: threads of this process, other processes, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from azumaya.baselines.training.crews import crew_of

Kept = TypeVar("Kept")
Played = TypeVar("Played")
Played_co = TypeVar("Played_co", covariant=True)


class Crewed(Protocol):
    """The options of a run that say who plays its games."""

    @property
    def threads(self) -> int:
        """Threads of this process."""

    @property
    def workers(self) -> int:
        """Other processes; 0 for threads of this one."""

    @property
    def ray(self) -> str:
        """The address of a Ray cluster; empty for none."""


class Player(Protocol[Played_co]):
    """Plays games and finds out what can be learned from them."""

    def play_games(self, keys: np.ndarray, weights: np.ndarray) -> Played_co:
        """Play a game for each key; the result depends on keys and weights alone.

        Args:
            keys: the keys of the games, `(games,)` uint64.
            weights: the network's parameters.
        """


Make = Callable[[Any], Player[Played]]
"""What makes a player from the options of a run; workers import it."""


class Players(Generic[Played]):
    """Players in threads or workers; what they play does not depend on which of them plays it.

    Args:
        make: makes a player; each thread and each worker has its own.
        config: the options of the run.
        part: how many games a player plays at a time; Ctrl-C takes effect when they are over.

    Raises:
        OptionError: both processes and Ray are asked for.
        MissingExtraError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """

    def __init__(self, make: Make[Played], config: Crewed, part: int) -> None:
        self._crew = crew_of(config.workers, config.ray)
        self._make, self._part = make, part
        self._config = config
        self._free: SimpleQueue[Player[Played]] = SimpleQueue()
        if self._crew is None:
            for _ in range(config.threads):
                self._free.put(make(self._config))
        self._pool = ThreadPoolExecutor(config.threads)

    def play(self, keys: np.ndarray, weights: np.ndarray) -> list[Played]:
        """Play a game for each key with these weights.

        Returns:
            What the players return, in the order of the keys.

        Raises:
            CrewError: workers keep dying.
        """
        parts = [keys[at : at + self._part] for at in range(0, len(keys), self._part)]
        if self._crew is not None:
            return self._crew.run(work, (self._make, self._config, weights), parts)
        played = [self._pool.submit(self._play_part, part, weights) for part in parts]
        try:
            return [part.result() for part in played]
        finally:
            for part in played:
                part.cancel()

    def _play_part(self, keys: np.ndarray, weights: np.ndarray) -> Played:
        player = self._free.get()
        try:
            return player.play_games(keys, weights)
        finally:
            self._free.put(player)

    def close(self) -> None:
        """End the threads and workers."""
        self._pool.shutdown()
        if self._crew is not None:
            self._crew.close()


# ---- in a worker ----


def work(task: tuple[Make[Played], Crewed, np.ndarray], keys: np.ndarray) -> Played:
    """Play some games in a worker, which keeps its player until another run begins."""
    make, config, weights = task
    return kept_for(config, make).play_games(keys, weights)


def kept_for(config: Crewed, make: Callable[[Any], Kept]) -> Kept:
    """What a worker keeps while it plays for a run; made with the first job of that run."""
    run = make, config
    if not _KEPT or _KEPT[0][0] != run:
        _KEPT.clear()
        _KEPT.append((run, make(config)))
    kept: Kept = _KEPT[0][1]
    return kept


_KEPT: list[tuple[tuple[Callable[[Any], Any], Crewed], Any]] = []
"""What is kept, after what it was made by and from; nothing before the first job."""
