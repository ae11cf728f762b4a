"""Agent cards: what a league says of each agent, and how it tells agents apart."""

from __future__ import annotations

import hashlib
import inspect
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azumaya.baselines.agent_names import SIMPLE, find_agent
from azumaya.baselines.agents.asking import check_agent
from azumaya.baselines.agents.program import PREFIX
from azumaya.baselines.search.naming import is_search_name, read_search_name
from azumaya.envs import OptionError, Position

CLASSES = (1.0, 10.0, 100.0)
"""Classes of time per move, by their upper limits in milliseconds."""
TOLERANCE = 1.5
"""How far the measured time may exceed the limit of a class."""
SLOWER = "slower"


@dataclass(frozen=True)
class AgentCard:
    """An agent of a league.

    Attributes:
        name: its name, as `find_agent` takes it.
        kind: `built in`, `search`, `checkpoint`, `program` or `python`.
        digest: the beginning of the SHA-256 of its files; empty if there are none.
        milliseconds: the time per move that its name sets; None if it sets none.
        games: the names of the games that it plays.
        training: what a checkpoint says of its training, such as seed and steps.
    """

    name: str
    kind: str
    digest: str
    milliseconds: float | None
    games: tuple[str, ...]
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """What tells it apart in a file of results: an agent with other files is another one."""
        return f"{self.name}@{self.digest}" if self.digest else self.name

    def time_class(self, measured: float | None) -> str:
        """The class of time per move, such as `10 ms`.

        Args:
            measured: the mean time of its moves in milliseconds; decides if the name sets none.
        """
        time = self.milliseconds
        if time is None:
            time = None if measured is None else measured / TOLERANCE
        if time is None:
            return ""
        return next((f"{limit:g} ms" for limit in CLASSES if time <= limit), SLOWER)


def card_of(name: str, games: Iterable[str]) -> AgentCard:
    """The card of an agent, which is made once to see what it can play.

    Args:
        name: its name, as for `find_agent`.
        games: the names of the games of the league.

    Raises:
        OptionError: the name is unknown, or the agent plays none of the games.
        CheckpointError: the checkpoint cannot be used.
    """
    agent = find_agent(name)
    sidecar = getattr(agent, "sidecar", None)
    time = read_search_name(name).milliseconds if is_search_name(name) else None
    played, problem = [], ""
    for game in games:
        try:
            check_agent(agent, Position(game), name)
            played.append(game)
        except ValueError as error:
            problem = f": {error}"
    if not played:
        raise OptionError(f"agent {name}: plays none of the league's games{problem}")
    return AgentCard(
        name,
        _kind(name, sidecar),
        _digest(_files(name, agent, sidecar)),
        time,
        tuple(played),
        {} if sidecar is None else _training(sidecar),
    )


def _kind(name: str, sidecar: Any) -> str:
    if name in SIMPLE:
        return "built in"
    if is_search_name(name):
        return "search"
    if name.startswith(PREFIX):
        return "program"
    return "python" if sidecar is None else "checkpoint"


def _training(sidecar: Any) -> dict[str, Any]:
    """The plain values among the notes of a checkpoint, and the size of its network."""
    plain = {k: v for k, v in sidecar.notes.items() if isinstance(v, str | int | float)}
    return {"network": sidecar.network, **sidecar.sizes, **plain}


def _files(name: str, agent: Any, sidecar: Any) -> list[Path]:
    """The files that make an agent what it is, as far as they are known."""
    path = read_search_name(name).path if is_search_name(name) else None
    if sidecar is not None or path is not None:
        return [Path(path or name).with_suffix(end) for end in (".safetensors", ".json")]
    if name.startswith(PREFIX):
        return [Path(word) for word in shlex.split(name.removeprefix(PREFIX))]
    if type(agent).__module__.startswith("azumaya."):
        return list(getattr(agent, "files", ()))
    try:
        source = inspect.getsourcefile(sys.modules[type(agent).__module__])
    except (KeyError, TypeError):
        return []
    return [Path(source)] if source else []


def _digest(files: Iterable[Path]) -> str:
    total, found = hashlib.sha256(), False
    for file in files:
        try:
            content = file.read_bytes()
        except OSError:  # a word of a command that names no file
            continue
        total.update(hashlib.sha256(content).digest())
        found = True
    return total.hexdigest()[:12] if found else ""
