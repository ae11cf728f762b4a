"""PUCT with a network: many games are searched at once, and their leaves evaluated in batches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from azumaya.baselines.search.arguments import (
    allocating,
    check_exploration,
    check_megabytes,
    check_temperature,
)
from azumaya.baselines.search.batch_kernels import (
    LEAF,
    finish_hidden_kernel,
    finish_kernel,
    select_hidden_kernel,
    select_kernel,
)
from azumaya.baselines.search.budget import Budget, check_budget
from azumaya.baselines.search.evaluator import (
    Evaluator,
    check_evaluator,
    check_fits,
    evaluated,
)
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of, payoff_bound
from azumaya.baselines.search.outcome import Outcome, SearchedTree
from azumaya.baselines.search.puct_trees import new_lists
from azumaya.baselines.search.tree import MOST_VISITS, PRIOR_NODE, STATS, new_nodes, slot_bytes
from azumaya.baselines.search.uct import MEGABYTES, slots_for
from azumaya.baselines.search.uct_kernels import DEEPEST
from azumaya.envs import Position
from azumaya.envs.adapters.batch.workers import check_threads
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.game import as_states
from azumaya.envs.observation import unpack_bits, unpack_planes
from azumaya.envs.whole import whole_number

EXPLORATION, TEMPERATURE = 1.25, 1.0
BATCH, GAMES, LEAVES = 16, 64, 1
LEAST = 16
"""The fewest games for which another thread is used."""
FREE = 256
"""The most simulations in one round that end at a proven node, without the network."""


class Grove:
    """The trees of several games that are searched at once.

    Args:
        kernels: the game's kernels.
        num_actions: the number of actions.
        games: the number of trees.
        leaves: the most leaves of each tree in one round.
        slots: nodes for each tree.
        threads: the number of threads that may work on it.
    """

    def __init__(
        self,
        kernels: GameKernels,
        num_actions: int,
        games: int,
        leaves: int,
        slots: int,
        threads: int,
    ) -> None:
        self.kernels, self.num_actions, self.leaves = kernels, num_actions, leaves
        rows, new = games * leaves, kernels.new_states
        nodes, mean, reach = new_nodes(games * slots, PRIOR_NODE)
        self.nodes, self.mean = nodes.reshape(games, slots), mean.reshape(games, slots)
        self.reach, self.stats = reach.reshape(games, slots), as_states(np.zeros(games, STATS))
        self.paths = np.zeros((rows, DEEPEST + 1), np.int64)
        self.roots, self.trials = new(games), new(rows)
        self.words = np.zeros((rows, kernels.words), np.uint64)
        self.observed = np.zeros((rows, kernels.game.observation.packed_words), np.uint64)
        self.rows = as_states(np.zeros(rows, LEAF))
        self.keys = np.zeros(games, np.uint64)
        hidden = kernels.hidden_draws
        self._select = (select_hidden_kernel if hidden else select_kernel)(kernels)
        self._finish = (finish_hidden_kernel if hidden else finish_kernel)(kernels)
        self._own = [(new(1), new_lists(kernels)) for _ in range(threads)]
        self._nothing = np.zeros(0, np.float32), np.zeros(0, np.uint64)

    def begin(self, positions: Sequence[Position], keys: Sequence[int]) -> None:
        """Plant a tree for each position, in the first rows."""
        self.count = len(positions)
        first = self.nodes[:, 0]
        self.stats[:] = np.zeros(1, STATS)
        self.stats["used"] = 1
        for g, (position, key) in enumerate(zip(positions, keys, strict=True)):
            bound = payoff_bound(position)
            self.roots[g], self.keys[g] = position.state[0], np.uint64(key)
            first[g] = np.zeros(1, PRIOR_NODE)[0]
            first["low"][g], first["high"][g] = -bound, bound
            self.stats["bound"][g], self.mean[g, 0] = bound, 0.0

    def unfinished(self, limit: int) -> bool:
        """Whether a search has simulations left, and a root that is not proven."""
        root = self.nodes[: self.count, 0]
        open_ = root["low"] != root["high"]
        return bool((open_ & (self.stats["simulations"][: self.count] < limit)).any())

    def select(self, first: int, last: int, thread: int, limit: int, weight: float) -> None:
        """Select leaves of the trees `first` to `last - 1`."""
        self._select(
            first, last, self.leaves, limit, FREE, self.keys, weight, self.roots, self.trials,
            self.words, self._own[thread][1][0], self.observed, self.rows, self.nodes, self.mean,
            self.reach, self.stats, self.paths,
        )  # fmt: skip

    def finish(
        self,
        first: int,
        last: int,
        thread: int,
        logits: np.ndarray,
        values: np.ndarray,
        heat: float,
    ) -> None:
        """Expand the leaves of the trees `first` to `last - 1`, and pass their values up."""
        child, lists = self._own[thread]
        self._finish(
            first, last, self.leaves, logits, values, self.trials, child, self.words, *lists,
            self.rows, self.nodes, self.mean, self.reach, self.stats, self.paths, heat,
            *self._nothing,
        )  # fmt: skip

    def evaluate(
        self, evaluator: Evaluator, batch: int, logits: np.ndarray, values: np.ndarray
    ) -> None:
        """Evaluate the leaves that wait, `batch` at a time, into the rows of the two arrays."""
        game, view = self.kernels.game, self.kernels.game.observation
        waiting = np.flatnonzero(self.rows["waits"][: self.count * self.leaves])
        for at in range(0, len(waiting), batch):
            rows = waiting[at : at + batch]
            planes = np.zeros((batch, len(view.planes), *view.shape), np.int8)
            masks = np.zeros((batch, self.num_actions), bool)
            planes[: len(rows)] = unpack_planes(game, self.observed[rows])
            masks[: len(rows)] = unpack_bits(self.words[rows], self.num_actions)
            found = evaluated(evaluator, planes, masks)
            logits[rows], values[rows] = (part[: len(rows)] for part in found)

    def tree(self, g: int) -> SearchedTree:
        """One of the trees."""
        tree = SearchedTree()
        tree.nodes, tree._mean = self.nodes[g], self.mean[g]
        tree._stats, tree.hidden_draws = self.stats[g : g + 1], self.kernels.hidden_draws
        return tree


class BatchPUCT:
    """PUCT with a network; one object can search any number of positions.

    Args:
        budget: simulations or time per searched position. Games that are searched at once share
            their time.
        evaluator: the network.
        exploration: exploration weight for results from -1 to 1; for larger payoffs it is scaled
            by the range of the results so far and 0.
        temperature: the priors are the softmax of the logits divided by this.
        leaves: the most leaves of one game in a batch. More fill the batches of few games, and make
            the search a little worse for the same simulations. Games with hidden draws have one.
        batch: the size of the batches, which are filled up with zeros.
        games: the most games searched at once.
        megabytes: memory for the nodes of each game; less is used for a small budget.
        threads: the number of threads for the trees; None means one per core. The evaluator has
            threads of its own.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        budget: Budget,
        evaluator: Evaluator,
        *,
        exploration: float = EXPLORATION,
        temperature: float = TEMPERATURE,
        leaves: int = LEAVES,
        batch: int = BATCH,
        games: int = GAMES,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
    ) -> None:
        self.budget, self.evaluator = check_budget(budget), check_evaluator(evaluator)
        self.exploration = check_exploration(exploration)
        self.temperature = check_temperature(temperature)
        self.leaves = whole_number(leaves, "leaves", 1, 1024)
        self.batch = whole_number(batch, "batch", 1, 1 << 16)
        self.games = whole_number(games, "games", 1, 1 << 16)
        self.megabytes, self.threads = check_megabytes(megabytes), check_threads(threads)
        self._grove: Grove | None = None

    def search(
        self, positions: Sequence[Position], keys: Sequence[int], *, lines: bool = True
    ) -> list[Outcome]:
        """Search running positions of the same game; each position's key seeds its draws.

        With a budget in simulations, the result depends only on position, key, settings and what
        the evaluator returns for a row of a batch; not on the other positions.

        Args:
            positions: the positions.
            keys: one for each position.
            lines: whether to find the lines of best moves; without them `line` is empty.

        Raises:
            OptionError: a position or a key is invalid, the memory cannot hold the moves of a
                position, or the evaluator returned arrays of the wrong shape or numbers that are
                not finite.
        """
        positions, keys = check_asked(positions, keys)
        if not positions:
            return []
        check_fits(self.evaluator, positions[0])
        found: list[Outcome] = []
        for at in range(0, len(positions), self.games):
            few = positions[at : at + self.games]
            grove = self._grove_for(few)
            grove.begin(few, keys[at : at + self.games])
            self._spend(grove)
            found += [grove.tree(g).outcome(lines) for g in range(len(few))]
        return found

    def _grove_for(self, positions: Sequence[Position]) -> Grove:
        """Room for some positions of a game, kept for the next search."""
        kernels, actions = kernels_of(positions[0]), positions[0].num_actions
        kept = self._grove
        if (
            kept is None
            or (kept.kernels, kept.num_actions) != (kernels, actions)
            or len(kept.roots) < len(positions)
        ):
            slots = slots_for(kernels, self.megabytes, slot_bytes(PRIOR_NODE))
            if self.budget.steps is not None:
                slots = min(slots, (self.budget.steps + 1) * 64 * kernels.words + 1)
            leaves = 1 if kernels.hidden_draws else self.leaves
            with allocating(self.megabytes, len(positions)):
                kept = Grove(kernels, actions, len(positions), leaves, slots, self.threads)
            self._grove = kept
        return kept

    def _spend(self, grove: Grove) -> None:
        """Search all trees of a grove until they are finished or the budget is spent."""
        limit = min(self.budget.steps or MOST_VISITS, MOST_VISITS)
        rows = len(grove.rows)
        logits, values = np.zeros((rows, grove.num_actions), np.float32), np.zeros(rows)
        parts = _parts(grove.count, self.threads)
        end, rounds = math.inf, 0
        with ThreadPoolExecutor(len(parts)) as pool:

            def each(work: Callable[..., None], *arguments: Any) -> None:
                if len(parts) == 1:
                    work(*parts[0], 0, *arguments)
                    return
                calls = [pool.submit(work, *p, i, *arguments) for i, p in enumerate(parts)]
                for call in calls:
                    call.result()

            while grove.unfinished(limit) and time.perf_counter() < end:
                each(grove.select, limit, self.exploration)
                grove.evaluate(self.evaluator, self.batch, logits, values)
                each(grove.finish, logits, values, self.temperature)
                rounds += 1
                if rounds == 1 and self.budget.milliseconds is not None:
                    # As in `spend`, the first round does not count: it may have to compile.
                    end = time.perf_counter() + self.budget.milliseconds * grove.count / 1000

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_grove": None}


def _parts(count: int, threads: int) -> list[tuple[int, int]]:
    """The trees of each thread, as ranges of at least `LEAST`."""
    size = max(LEAST, -(-count // threads))
    return [(first, min(first + size, count)) for first in range(0, count, size)]
