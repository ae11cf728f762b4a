"""Search agents by name: `uct:1000`, `puct:10ms`, `alphabeta:50000`, `puct:10ms:PATH`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from azumaya.baselines.agents import Agent
from azumaya.baselines.agents.search import (
    AlphaBetaAgent,
    BatchPUCTAgent,
    PUCTAgent,
    UCTAgent,
)
from azumaya.baselines.agents.sidecar import checkpoint_files, is_checkpoint, read_sidecar
from azumaya.baselines.search.evaluation import Evaluation
from azumaya.baselines.search.evaluator import Evaluator
from azumaya.baselines.system.files import shown
from azumaya.baselines.values.champion import ChampionAgent
from azumaya.baselines.values.value import is_value, load_value
from azumaya.envs.errors import OptionError
from azumaya.envs.extras import require

KINDS = ("uct", "puct", "alphabeta", "champion")
"""The first parts of the names of search agents."""
TRAINED = ("puct", "alphabeta")
"""The kinds that take the path of a checkpoint."""
FORMS = (
    "uct:1000 or puct:1000 (simulations), alphabeta:50000 or champion:50000 (nodes), or a time, "
    "such as uct:10ms; puct and alphabeta also take a checkpoint, such as puct:200:PATH"
)


@dataclass(frozen=True)
class SearchName:
    """The parts of a search agent's name.

    Attributes:
        kind: one of `KINDS`.
        steps: simulations or nodes per move; None if the name gives a time.
        milliseconds: the time per move; None if the name gives a number of steps.
        path: the path of a checkpoint; None if the name gives none.
    """

    kind: str
    steps: int | None
    milliseconds: float | None
    path: str | None


def is_search_name(name: str) -> bool:
    """Whether a name refers to a search agent, even if it is malformed."""
    return name.partition(":")[0] in KINDS and name != "champion"


def read_search_name(name: str) -> SearchName:
    """The parts of a search agent's name.

    Raises:
        OptionError: the name is malformed.
    """
    kind, _, rest = name.partition(":")
    budget, colon, path = rest.partition(":")
    parts = re.fullmatch(r"([0-9]{1,15})|([0-9]{1,15}(?:\.[0-9]{1,30})?)ms", budget)
    known = kind in (TRAINED if colon else KINDS) and bool(path) == bool(colon)
    if not known or parts is None or not float(parts[1] or parts[2]):
        raise OptionError(f"agent {shown(name)!r}: write {FORMS}; numbers are above 0")
    steps, milliseconds = parts[1], parts[2]
    return SearchName(
        kind,
        int(steps) if steps else None,
        float(milliseconds) if milliseconds else None,
        path or None,
    )


def search_agent(name: str) -> Agent:
    """The search agent with a given name.

    Raises:
        OptionError: the name is malformed, or alpha-beta is to search with a network.
        CheckpointError: the checkpoint cannot be used.
        MissingExtraError: a package that the checkpoint needs is not installed.
    """
    said = read_search_name(name)
    budget = said.steps, said.milliseconds
    if said.kind == "uct":
        return UCTAgent(*budget)
    if said.kind == "champion":
        return ChampionAgent(*budget)
    made = PUCTAgent if said.kind == "puct" else AlphaBetaAgent
    if said.path is None:
        return made(*budget)
    learned = load_learned(said.path)
    agent: Agent
    if isinstance(learned, Evaluation):
        agent = made(*budget, evaluation=learned)
        agent.sidecar = read_sidecar(said.path)
    elif said.kind == "puct":
        agent = BatchPUCTAgent(learned, *budget)
    else:
        raise OptionError(
            f"agent {shown(name)!r}: alpha-beta evaluates one position at a time, for which a "
            f"torch network is too slow; use puct{name.removeprefix('alphabeta')}"
        )
    agent.files = checkpoint_files(said.path)
    return agent


def load_learned(path: str) -> Evaluation | Evaluator:
    """What the checkpoint at a path evaluates positions with: this is where names find it.

    A checkpoint of a compiled value is loaded as an `Evaluation`, one of a torch network as an
    `Evaluator`.

    Raises:
        OptionError: there is no checkpoint at this path.
        CheckpointError: the checkpoint cannot be used.
        MissingExtraError: safetensors, or for a torch network torch, is not installed.
    """
    if not is_checkpoint(path):
        raise OptionError(f"checkpoint {shown(path)!r}: does not exist")
    if is_value(path):
        return replace(load_value(path).evaluation(), name=path)
    require("torch", "train")
    from azumaya.baselines.agents.evaluator import NetworkEvaluator  # noqa: PLC0415 - needs torch

    return NetworkEvaluator.load(path)
