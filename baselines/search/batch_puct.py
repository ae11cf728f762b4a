"""PUCT with a network: many games are searched at once, and their leaves evaluated in batches."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from azumaya.baselines.search.arguments import (
    allocating,
    check_exploration,
    check_number,
    check_temperature,
)
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.evaluator import AnyEvaluator, check_evaluator
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.grove import Grove
from azumaya.baselines.search.outcome import Outcome, outcome_of
from azumaya.baselines.search.tree import MOST_VISITS, PRIOR_NODE, slot_bytes
from azumaya.baselines.search.trees import MEGABYTES, Trees, TreeSearch, slots_for
from azumaya.baselines.search.walks import Terms
from azumaya.envs import Position
from azumaya.envs.whole import whole_number

EXPLORATION, TEMPERATURE = 1.25, 1.0
CONCENTRATION = 10.0
"""That of AlphaZero: 0.3 a move in chess, with some 35 moves, and 0.03 in Go."""
LEAST_CONCENTRATION = 0.01
BATCH, GAMES, LEAVES = 16, 64, 1
KEPT = 4
"""The searches for whose nodes a tree that is kept has room."""


class BatchPUCT(TreeSearch):
    """PUCT with a network; one object can search any number of positions.

    Args:
        budget: simulations or time per searched position. Games that are searched at once share
            their time.
        evaluator: the network, an `Evaluator` or a `PackedEvaluator`.
        exploration: exploration weight for results from -1 to 1; for larger payoffs it is scaled
            by the range of the results so far and 0.
        temperature: the priors are the softmax of the logits divided by this.
        leaves: the most leaves of one game in a batch. More fill the batches of few games, and make
            the search a little worse for the same simulations. Games with hidden draws have one.
        batch: the size of an `Evaluator`'s batches, which are filled up with zeros.
        games: the most games searched at once.
        megabytes: memory for the nodes of each game; less is used for a small budget.
        threads: the number of threads for the trees; None means one per core. The evaluator has
            threads of its own.
        noise: the share of noise in the priors at the root, from 0 to 1, for exploration in
            self-play; AlphaZero has 0.25. The noise is drawn from a Dirichlet distribution over the
            legal moves, by the key of the search.
        concentration: the sum of the distribution's parameters, which are equal: 10 moves with 10
            have parameters of 1. Smaller ones give most of the noise to fewer moves.

    Raises:
        OptionError: an argument is invalid.
    """

    most = "games"

    def __init__(
        self,
        budget: Budget,
        evaluator: AnyEvaluator,
        *,
        exploration: float = EXPLORATION,
        temperature: float = TEMPERATURE,
        leaves: int = LEAVES,
        batch: int = BATCH,
        games: int = GAMES,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
        noise: float = 0.0,
        concentration: float = CONCENTRATION,
    ) -> None:
        super().__init__(budget, megabytes, threads)
        self.evaluator = check_evaluator(evaluator)
        self.exploration = check_exploration(exploration)
        self.temperature = check_temperature(temperature)
        self.leaves = whole_number(leaves, "leaves", 1, 1024)
        self.batch = whole_number(batch, "batch", 1, 1 << 16)
        self.games = whole_number(games, "games", 1, 1 << 16)
        self.noise = check_number("noise", noise, most=1.0)
        self.concentration = check_number(
            "concentration", concentration, least=LEAST_CONCENTRATION, most=1e6
        )
        self._grove: Grove | None = None

    def check(self, position: Position) -> None:
        """Let the evaluator refuse a position's game; raises what its `check` does."""
        check = getattr(self.evaluator, "check", None)
        if check is not None:
            check(position)

    def _search(
        self,
        positions: Sequence[Position],
        keys: Sequence[int],
        lines: bool,
        followed: Sequence[Trees],
    ) -> tuple[list[Outcome], Sequence[Trees]]:
        found: list[Outcome] = []
        for at in range(0, len(positions), self.games):
            few = positions[at : at + self.games]
            grove = self.grove_for(few)
            grove.start(few, keys[at : at + self.games], bool(followed) and at == 0)
            self.spend(grove)
            found += [outcome_of(grove[g], lines) for g in range(len(few))]
            grove.end(few)
        return found, [grove] if len(positions) <= self.games else []

    def grove_for(self, positions: Sequence[Position]) -> Grove:
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
                slots = min(slots, KEPT * (self.budget.steps + 1) * 64 * kernels.words + 1)
            leaves = 1 if kernels.hidden_draws else self.leaves
            with allocating(self.megabytes, len(positions)):
                kept = Grove(kernels, actions, len(positions), leaves, slots, self.threads)
            self._grove = kept
        return kept

    def spend(self, grove: Grove) -> None:
        """Search all trees of a grove until they are finished or the budget is spent."""
        limit = min(self.budget.steps or MOST_VISITS, MOST_VISITS)
        terms = Terms(
            self.exploration, self.temperature, noise=self.noise, concentration=self.concentration
        )
        parts, turn, end = grove.parts(), 0, math.inf
        turns = deque((part, grove.ask(*part, self.evaluator, self.batch)) for part in parts)
        while turns:
            part, take_in = turns.popleft()
            take_in()
            if turn == len(parts) and self.budget.milliseconds is not None:
                # As in `spend`, the first round does not count: it may have to compile.
                end = time.perf_counter() + self.budget.milliseconds * grove.count / 1000
            if grove.play_round(*part, limit if time.perf_counter() < end else 0, terms):
                turns.append((part, grove.ask(*part, self.evaluator, self.batch)))
            turn += 1

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_grove": None}
