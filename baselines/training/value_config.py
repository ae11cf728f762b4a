"""The options that the scripts share that train a compiled value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from azumaya.baselines.agents.sidecar import Sidecar, describe
from azumaya.baselines.training.checks import Count, Numbers, Share
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.values.champion import SEARCH, SearchName
from azumaya.baselines.values.feature_sets import features_of
from azumaya.baselines.values.value import KIND, MOST_WIDTH
from azumaya.envs import find_game


@dataclass(frozen=True)
class ValueConfig(RunConfig):
    """The options of a run that trains a compiled value by self-play."""

    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that play games. Results do not depend on their number."""
    features: Literal["shared", "plain"] | None = None
    """Whether numbers, cells and patterns that are alike share weights, or no bit shares any; the
    default is `shared`."""
    width: Annotated[int, Numbers(1, MOST_WIDTH)] = 16
    """Hidden units of the network."""
    games: Annotated[int, Numbers(1, 100_000)] = 128
    """Games played between two updates."""
    most_plies: Annotated[int, Numbers(1, 100_000)] = 400
    """A game that lasts longer counts with the value of its last position. One that the game's own
    limit ends counts with its result, which may be a draw, as in search."""
    explore: Share = 0.1
    """Fraction of moves that are random."""
    random_seats: Share = 0.0
    """Fraction of seats, drawn for each game, whose player makes only random moves, so that more
    positions are met in which something can be won."""
    decay: Share = 0.8
    """TD(lambda)'s lambda: 1 learns from results alone, 0 from the next value alone."""
    learning_rate: Annotated[float, Numbers(0, 1, above=True)] = 0.002
    """Adam's initial learning rate."""
    final_share: Share = 0.05
    """The learning rate at the end, as a fraction of the initial one."""
    batch: Count = 64
    """Positions in a batch."""
    averaging: Share = 0.98
    """How much of the agent's weights stays after each update; the rest are the weights just
    learned. With 0 the agent has the last weights."""
    workers: Annotated[int, Numbers(0, 1024)] = 0
    """Processes that play games; 0 means threads of this process. Results do not depend on it."""
    ray: str = ""
    """The address of a Ray cluster that plays games, or `local` to start one here."""
    search: SearchName = "alphabeta"
    """The search that the agent plays best with; it is stored with the agent. In games with hidden
    draws it has no effect: there agents search by PUCT."""

    def completed(self) -> Self:
        """As `RunConfig.completed`; also fills in the kind of features."""
        return replace(super().completed(), features=self.features or "shared")

    @property
    def plain(self) -> bool:
        """Whether the features are plain."""
        return self.features == "plain"

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar:
        """The sidecar of this run's checkpoints."""
        game = find_game(self.game)
        kind = features_of(game, self.plain).kind
        notes = {"features": kind, "seed": self.seed, SEARCH: self.search, **notes}
        sizes = {"width": self.width}
        return describe(game, num_actions, KIND, sizes, options=dict(self.options), notes=notes)
