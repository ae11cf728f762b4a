"""Agents by name: `random`, `greedy`, `uct:1000`, `alphabeta:10ms`, a checkpoint's path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from azumaya.baselines.agents import Agent, GreedyAgent, RandomAgent
from azumaya.baselines.files import shown
from azumaya.baselines.search.naming import FORMS, is_search_name, search_agent
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.extras import require

SIMPLE: Mapping[str, Callable[[], Agent]] = {"random": RandomAgent, "greedy": GreedyAgent}
"""Agents without settings, by name."""

NAMES_HELP = (
    "random, greedy, uct:SIMULATIONS (such as uct:1000), alphabeta:NODES (such as "
    "alphabeta:50000), either of these with a time per move instead (such as uct:10ms), or a "
    "checkpoint's path"
)
"""The names of agents, for help texts."""


def find_agent(name: str) -> Agent:
    """Make an agent from its name; the command line accepts the same names.

    Args:
        name: one of

            - `random` or `greedy`;
            - `uct:1000` (simulations per move) or `uct:10ms` (time per move);
            - `alphabeta:50000` (nodes per move) or `alphabeta:10ms`;
            - the path of a checkpoint, with or without its suffix (needs the extra `train`).

    Raises:
        OptionError: the name is none of these.
        CheckpointError: the checkpoint cannot be used.
        MissingExtraError: the name is a checkpoint's path, and torch is not installed.
    """
    if not isinstance(name, str):
        raise OptionError(f"agent {brief(name)}: the name of an agent is needed, a text")
    if name in SIMPLE:
        return SIMPLE[name]()
    if is_search_name(name):
        return search_agent(name)
    path = Path(name)
    if _is_checkpoint(path):
        return _trained(name)
    inside = path / "policy"
    hint = f"; did you mean {inside}?" if _is_checkpoint(inside) else ""
    known = ", ".join((*SIMPLE, FORMS))
    raise OptionError(f"agent {shown(name)!r}: must be {known} or a checkpoint's path{hint}")


def _is_checkpoint(path: Path) -> bool:
    """Whether a checkpoint has this path; False, too, for a name that no file can have."""
    try:
        return any(path.with_suffix(end).is_file() for end in (".safetensors", ".json"))
    except (OSError, ValueError):
        return False


def _trained(name: str) -> Agent:
    require("torch", "train")
    from azumaya.baselines.agents.policy import PolicyAgent  # noqa: PLC0415 - needs torch

    agent = PolicyAgent.load(name)
    agent.name = name  # the file name alone says little: most checkpoints are called `policy`
    return agent
