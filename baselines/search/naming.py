"""Search agents by name: `uct:1000`, `uct:10ms`, `alphabeta:50000`, `alphabeta:10ms`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from azumaya.baselines.agents import Agent
from azumaya.baselines.files import shown
from azumaya.baselines.search.agents import AlphaBetaAgent, UCTAgent
from azumaya.envs.errors import OptionError

KINDS: Mapping[str, Callable[[int | None, float | None], Agent]] = {
    "uct": UCTAgent,
    "alphabeta": AlphaBetaAgent,
}
"""By the first part of a name: the function that builds the agent from a budget."""
FORMS = "uct:SIMULATIONS, uct:MILLISECONDSms, alphabeta:NODES or alphabeta:MILLISECONDSms"


def is_search_name(name: str) -> bool:
    """Whether a name refers to a search agent, even if it is malformed."""
    return name.partition(":")[0] in KINDS


def search_agent(name: str) -> Agent:
    """The search agent with a given name.

    Raises:
        OptionError: the name is malformed.
    """
    kind, _, budget = name.partition(":")
    parts = re.fullmatch(r"([0-9]{1,15})|([0-9]{1,12}(?:\.[0-9]{1,6})?)ms", budget)
    if kind not in KINDS or parts is None or not float(parts[1] or parts[2]):
        raise OptionError(f"agent {shown(name)!r}: must be {FORMS}, with a number above 0")
    if parts[1]:
        return KINDS[kind](int(parts[1]), None)
    return KINDS[kind](None, float(parts[2]))
