"""Agents by name: `random`, `uct:1000`, a checkpoint's path, `module:Class` and others."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from azumaya.baselines.agents import Agent, GreedyAgent, RandomAgent
from azumaya.baselines.agents.champion_net import CHAMPION_NET, ChampionNetAgent
from azumaya.baselines.agents.program import PREFIX, ProgramAgent
from azumaya.baselines.agents.search import AlphaBetaAgent, BatchPUCTAgent, PUCTAgent, UCTAgent
from azumaya.baselines.agents.sidecar import checkpoint_files, is_checkpoint, read_sidecar
from azumaya.baselines.search.evaluation import Evaluation
from azumaya.baselines.search.evaluator import Evaluator
from azumaya.baselines.system.files import shown
from azumaya.baselines.system.signals import Ended
from azumaya.baselines.values.champion import CHAMPION, ChampionAgent
from azumaya.baselines.values.value import ValueAgent, is_value, load_value
from azumaya.envs.adapters.duel.opponents import Opponent, class_hint, is_agent
from azumaya.envs.errors import OptionError, brief, did_you_mean, told
from azumaya.envs.extras import import_own, require

if TYPE_CHECKING:
    from azumaya.baselines.agents.policy import PolicyAgent

SIMPLE: Mapping[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    CHAMPION: ChampionAgent,
    CHAMPION_NET: ChampionNetAgent,
}
"""Agents without settings, by name."""

MODULE_AND_CLASS = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(:.+)?")
"""The names of classes of one's own, such as `package.module:Class`, perhaps with an argument."""

NAMES_HELP = (
    "random, greedy, champion, champion:NODES, champion-net, champion-net:SIMULATIONS, "
    "uct:SIMULATIONS (such as uct:1000), puct:SIMULATIONS, alphabeta:NODES (such as "
    "alphabeta:50000), each of these with a time per move instead (such as uct:10ms), the last two "
    "also with a checkpoint (such as puct:200:PATH), a checkpoint's path, module:Class or "
    "module:Class:ARGUMENT, or program:COMMAND"
)
"""The names of agents, for help texts."""

EXAMPLES: Mapping[str, str] = {
    "random": "random legal moves",
    "greedy": "the move with the best next position",
    "champion": "trained values that ship with azumaya",
    "champion:10ms": "the same with search, time per move",
    "champion-net": "a trained network that ships with azumaya",
    "champion-net:100": "the same with search, simulations per move",
    "uct:1000": "tree search, simulations per move",
    "uct:10ms": "tree search, time per move",
    "puct:1000": "tree search with the game's evaluation, simulations per move",
    "puct:10ms": "tree search with the game's evaluation, time per move",
    "alphabeta:50000": "alpha-beta, nodes per move",
    "alphabeta:10ms": "alpha-beta, time per move",
}
"""Names that shells complete, with their meanings."""

KINDS: Mapping[str, Callable[..., Agent]] = {
    "uct": UCTAgent,
    "puct": PUCTAgent,
    "alphabeta": AlphaBetaAgent,
    CHAMPION: ChampionAgent,
    CHAMPION_NET: ChampionNetAgent,
}
"""Agents that search, by the first part of their names; each takes a budget."""
TRAINED = ("puct", "alphabeta")
"""The kinds that take the path of a checkpoint."""
FORMS = (
    "uct:1000, puct:1000 or champion-net:1000 (simulations), alphabeta:50000 or champion:50000 "
    "(nodes), or a time, such as uct:10ms; puct and alphabeta also take a checkpoint, such as "
    "puct:200:PATH"
)


def example_agents() -> list[tuple[str, str]]:
    """The agents that shells complete, as `typer` takes them: names with meanings."""
    return [*EXAMPLES.items()]


def find_agent(name: str, also: Sequence[str] = ()) -> Agent:
    """Make an agent from its name; the command line accepts the same names.

    Args:
        name: one of

            - `random` or `greedy`;
            - `champion`, trained values that ship with the package, or with search `champion:10ms`
              or `champion:50000` (nodes);
            - `champion-net`, a trained network that ships for some games, or with search
              `champion-net:100` (simulations) or `champion-net:10ms`;
            - `uct:1000` (simulations per move) or `uct:10ms` (time per move);
            - `puct:1000` or `puct:10ms`, with the game's own evaluation;
            - `alphabeta:50000` (nodes per move) or `alphabeta:10ms`;
            - `puct:200:PATH` or `puct:10ms:PATH`, search with the checkpoint at a path;
              `alphabeta:10ms:PATH` if it is a compiled value;
            - the path of a checkpoint, with or without its suffix (needs the extra `values` for a
              compiled value, otherwise `train`);
            - `module:Class`, a class of your own with a method `act(positions, keys)`, see
              `azumaya.baselines.agents.Agent`. It is made without arguments; the module may be in
              the current folder;
            - `module:Class:ARGUMENT`, the same made with one argument, the text after the second
              colon, such as the path of its weights;
            - `program:./my_bot --flag`, a program that reads positions and writes moves, see
              `azumaya.baselines.agents.program.ProgramAgent`.
        also: what else the caller takes for a name; an error lists it first.

    Raises:
        OptionError: the name is none of these, or the class cannot be used.
        CheckpointError: the checkpoint cannot be used.
        MissingExtraError: the checkpoint or champion needs a package that is not installed.
    """
    if not isinstance(name, str):
        raise OptionError(f"agent {brief(name)}: the name of an agent is needed, a text")
    if name in SIMPLE:
        return SIMPLE[name]()
    if is_search_name(name):
        return search_agent(name)
    if name.startswith(PREFIX):
        return ProgramAgent(name.removeprefix(PREFIX))
    path = Path(name)
    if is_checkpoint(path):
        return _trained(name)
    if is_own_class(name):
        return _imported(name)
    inside = path / "policy"
    if is_checkpoint(inside):
        hint = f"; did you mean {inside}?"
    else:
        _, colon, rest = name.partition(":")
        hint = "" if colon else "; there is no checkpoint at this path"
        hint = did_you_mean(name, [*SIMPLE, *(f"{each}{colon}{rest}" for each in KINDS)]) or hint
        if path.suffix == ".zip":
            hint = "; a model of Stable-Baselines3 needs a class, as in the guide One seat"
    known = ", ".join([*also, *SIMPLE, *(f"{kind}:BUDGET" for kind in KINDS)])
    raise OptionError(
        f"agent {shown(name)!r}: must be {known}, a checkpoint's path, module:Class or "
        f"{PREFIX}COMMAND{hint}"
    )


def agent_for(given: Opponent | str, argument: str) -> Opponent:
    """The agent that an argument of a function stands for, given as an object or by name.

    Raises:
        OptionError: it is neither; the error calls the argument by its name.
        CheckpointError, MissingExtraError: as for `find_agent`.
    """
    if isinstance(given, str):
        return find_agent(given)
    if not is_agent(given):
        raise OptionError(
            f"{argument}={brief(given)}: must be an agent, an object with act(positions, keys), or "
            f"the name of one, such as 'greedy'{class_hint([given])}"
        )
    return given


def is_own_class(name: str) -> bool:
    """Whether `find_agent` takes a name for that of a class of one's own, `module:Class...`."""
    other = name in SIMPLE or is_search_name(name) or name.startswith(PREFIX)
    return bool(not other and MODULE_AND_CLASS.fullmatch(name) and not is_checkpoint(Path(name)))


def is_code(name: str) -> bool:
    """Whether `find_agent` runs what the name says: a program, or any function of any module."""
    return name.startswith(PREFIX) or is_own_class(name)


def _imported(name: str) -> Agent:
    """An agent of a class of the user's.

    Raises:
        OptionError: the class cannot be imported or made, or is no agent.
    """
    module, attribute, *argument = name.split(":", 2)
    with _failures_of(name, f"importing {module}"):
        found = getattr(import_own(module), attribute, None)
    if not callable(found):
        raise OptionError(f"agent {name}: {module} has no class {attribute}")
    with _failures_of(name, f"{attribute}({''.join(map(repr, argument))})"):
        made = found(*argument)
    if not is_agent(made):
        raise OptionError(f"agent {name}: it has no method act(positions, keys)")
    if not hasattr(made, "name"):
        with contextlib.suppress(Exception):  # it may have no room for one: scores name its class
            made.name = name
    agent: Agent = made
    return agent


@contextlib.contextmanager
def _failures_of(name: str, doing: str) -> Iterator[None]:
    """Name an agent in whatever the user's own code raises."""
    try:
        yield
    except Ended:
        raise
    except (Exception, SystemExit) as error:
        raise OptionError(f"agent {name}: {doing} failed: {told(error)}") from error


def _trained(name: str) -> Agent:
    agent: ValueAgent | PolicyAgent
    if is_value(name):
        agent = ValueAgent.load(name)
    else:
        require("torch", "train")
        from azumaya.baselines.agents.policy import PolicyAgent  # noqa: PLC0415 - needs torch

        agent = PolicyAgent.load(name)
    agent.name = name  # the file name alone says little: most checkpoints are called `policy`
    return agent


# ---- Agents that search ----


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
    return name.partition(":")[0] in KINDS and name not in SIMPLE


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
    made = KINDS[said.kind]
    if said.path is None:
        return made(*budget)
    learned = load_learned(said.path)
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
