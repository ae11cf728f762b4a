"""Faults in the tile game and what it stands on: it alone has rewards before the end."""

from tests.faults import Fault

FAULTS = (
    Fault(
        "rewards of earlier steps are handed out again",
        "envs/adapters/aec.py",
        "        self._cumulative_rewards[agent] = 0.0\n",
        "",
    ),
)
