"""The earlier name of `value.py --nodes 300`, for commands and runs that have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from azumaya.baselines.training import renamed, value
from azumaya.baselines.training.config import Numbers

PROGRAM = "azumaya.baselines.training.expert_iteration"


@dataclass(frozen=True)
class Config(value.Config):
    """The options, with a search and the folders of this name."""

    script = renamed.script(value.Config.script, PROGRAM)

    nodes: Annotated[int, Numbers(0, 10**9)] = 300
    """Positions that a search visits for each move; it completes at least one ply. With 0 there is
    no search."""


main, run_words = renamed.commands(Config, value)

if __name__ == "__main__":
    renamed.run(PROGRAM)
