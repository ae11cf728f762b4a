"""Agent cards: what a league says of each agent, and how it tells agents apart."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from azumaya.baselines.agents.asking import check_agent
from azumaya.baselines.agents.names import (
    SIMPLE,
    find_agent,
    is_own_class,
    is_search_name,
    read_search_name,
)
from azumaya.baselines.agents.program import PREFIX, words_of
from azumaya.baselines.agents.sidecar import checkpoint_files, is_checkpoint
from azumaya.baselines.system.files import is_special, shown
from azumaya.envs import OptionError, Position, find_game
from azumaya.envs.errors import brief

CLASSES = (1.0, 10.0, 100.0)
"""Classes of time per move, by their upper limits in milliseconds."""
TOLERANCE = 1.5
"""How far the measured time may exceed the limit of a class."""
SLOWER = "slower"
CHANGED = "its files have changed"
"""Why an agent sits out whose name another one has now."""


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
        return _id(self.name, self.digest)

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


def _id(name: str, digest: str) -> str:
    return f"{name}@{digest}" if digest else name


def identity(name: str, agent: Any) -> str:
    """The id of an agent, as its files are now.

    Args:
        name: its name, as for `find_agent`.
        agent: the agent that was made by this name.
    """
    return _id(name, digest_of(name, agent))


def digest_of(name: str, agent: Any) -> str:
    """The beginning of the SHA-256 of an agent's files, as they are now; empty if it has none.

    Args:
        name: its name, as for `find_agent`.
        agent: the agent that was made by this name.
    """
    return _digest(_files(name, agent))


def game_names(games: Any) -> tuple[str, ...]:
    """The names of some games, which may be given in any form that `find_game` takes.

    Raises:
        OptionError: these are not the names of games.
    """
    if isinstance(games, str) or not isinstance(games, Iterable):
        raise OptionError(f"games={brief(games)}: must be a list of names of games")
    try:
        return tuple(find_game(name).name for name in games)
    except OptionError as error:
        raise OptionError(f"games={brief(games)}: {error}") from error


def card_of(name: str, games: Iterable[str]) -> AgentCard:
    """The card of an agent, which is made once to see what it can play.

    Args:
        name: its name, as for `find_agent`.
        games: the names of the games of the league.

    Raises:
        OptionError: a name is unknown, or the agent plays none of the games.
        CheckpointError: the checkpoint cannot be used.
        AgentFailedError: the agent raised an exception when it was asked whether it plays a game.
    """
    agent = find_agent(name)
    digest = digest_of(name, agent)
    sidecar = getattr(agent, "sidecar", None)
    time = read_search_name(name).milliseconds if is_search_name(name) else None
    played, problem = [], ""
    for game in game_names(games):
        position = Position(game)
        try:
            check_agent(agent, position, name)
            played.append(game)
        except ValueError as error:
            problem = f": {error}"
    if not played:
        raise OptionError(f"agent {name}: plays none of the league's games{problem}")
    return AgentCard(
        name,
        _kind(name, sidecar),
        digest,
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


def _files(name: str, agent: Any) -> list[Path]:
    """The files that make an agent what it is, as far as they are known.

    Raises:
        OptionError: the files that it names are none.
    """
    if name.startswith(PREFIX):
        return [Path(word) for word in words_of(name.removeprefix(PREFIX))]
    found = _named_files(name, agent)
    if is_own_class(name):  # it may make an agent of another module's class, even of the library's
        module, _, *argument = name.split(":", 2)
        modules = dict.fromkeys((type(agent).__module__, module))
        own = [_source(module) for module in modules if not module.startswith("azumaya.")]
        found += [*filter(None, own), *(file for each in argument for file in _files_at(each))]
    return list(dict.fromkeys(found))


def _named_files(name: str, agent: Any) -> list[Path]:
    """The files that an agent names as its own."""
    given = getattr(agent, "files", ())
    try:
        found = [Path(file) for file in given] if not isinstance(given, str) else None
    except TypeError:
        found = None
    if found is None:
        raise OptionError(f"agent {name}: files={brief(given)}: must be a list of paths")
    for file in found:
        if not file.exists():
            raise OptionError(f"agent {name}: files: there is no file {shown(file)}")
    return [each for file in found for each in _files_in(file)]


def _files_at(path: str) -> Iterable[Path]:
    """The files that the argument of a class stands for, if it is a path."""
    return checkpoint_files(path) if is_checkpoint(path) else _files_in(Path(path))


def _files_in(path: Path) -> Iterable[Path]:
    """A file itself, or all files in a folder, such as a checkpoint of several files."""
    if not os.path.isdir(path):
        return [path]
    return (file for file in sorted(path.rglob("*")) if "__pycache__" not in file.parts)


def _source(module: str) -> Path | None:
    try:
        source = inspect.getsourcefile(sys.modules[module])
    except (KeyError, TypeError):
        return None
    return Path(source) if source else None


def _digest(files: Iterable[Path]) -> str:
    total, found = hashlib.sha256(), False
    for file in files:
        try:
            if is_special(file):  # a pipe or a device may never end
                continue
            with file.open("rb") as opened:
                own = hashlib.file_digest(opened, "sha256")
        except OSError:  # a word of a command that names no file
            continue
        total.update(own.digest())
        found = True
    return total.hexdigest()[:12] if found else ""
