"""The algorithms by name. Their scripts need the extra `train`, this list of them does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Algorithm(NamedTuple):
    """What runs an algorithm.

    Attributes:
        script: a module of `azumaya.baselines.training`.
        options: options of the script that are not its defaults.
    """

    script: str
    options: Mapping[str, Any] = {}


ALGORITHMS = {
    "td_value": Algorithm("value"),
    "expert_iteration": Algorithm("value", {"nodes": 300}),
    "ppo": Algorithm("ppo"),
    "maskable_ppo": Algorithm("maskable_ppo"),
}
