"""The configuration of a training run: options, their defaults and their file.

A script's own `Config` inherits from `RunConfig`, which has what every run needs, and adds the
script's own options. `completed` checks the options and fills in defaults; `stored_form` and `read`
convert to and from a run's `config.json`. The range of a number is declared with the option and
checked by `check_values`, as are literals, texts, truth values and paths:

    steps: Annotated[int, Numbers(1)] = 250_000
    search: Literal["alphabeta", "puct"] = "alphabeta"
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from azumaya.baselines.agents.sidecar import Sidecar
from azumaya.baselines.arena.game_options import game_named, read_value
from azumaya.baselines.system.command_line import Time, Words, flag
from azumaya.baselines.training.run_folder import PLACE, SAVED, RunError, RunFolder, Script
from azumaya.envs import OptionError, find_game
from azumaya.envs.setup import check_names, prepare


@dataclass(frozen=True)
class Numbers:
    """Numbers from `low` to `high`, or all above `low`; integers if the type is `int`."""

    low: float
    high: float = math.inf
    above: bool = False

    def has(self, value: Any, whole: bool) -> bool:
        """Whether a value is in the range; infinite values never are."""
        kind: Any = Integral if whole else Real
        if not isinstance(value, kind) or isinstance(value, bool):
            return False
        if not isinstance(value, Integral) and not math.isfinite(value):
            return False
        return self.low < value <= self.high if self.above else self.low <= value <= self.high

    def text(self, whole: bool) -> str:
        """The range in words."""
        kind = "a whole number" if whole else "a number"
        end = f" to {self.high:,.10g}" if math.isfinite(self.high) else ""
        return f"{kind} {'above' if self.above else 'from'} {self.low:g}{end}"


Count = Annotated[int, Numbers(1)]
Share = Annotated[float, Numbers(0, 1)]
Weight = Annotated[float, Numbers(0, 1_000_000)]
Positive = Annotated[float, Numbers(0, 1_000_000, above=True)]


PLAIN: Mapping[Any, str] = {str: "a text", bool: "True or False", Path: "a pathlib.Path"}
"""What an option of a type must be, in words."""


def check_values(options: Any) -> None:
    """Check that every number in a dataclass is in its declared range, and what else is declared.

    The command line checks the latter itself; these may come from Python or a stored file.

    Raises:
        OptionError: a value is another; the error names the option as typed.
    """
    for name, hint in get_type_hints(type(options), include_extras=True).items():
        value = getattr(options, name)
        hints = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if value is None and type(None) in hints:
            continue
        for each in hints:
            wanted = _unmet(each, value)
            if wanted:
                raise OptionError(f"{flag(name)} {value}: must be {wanted}")


def check_begun(config: Any, sizes: Mapping[str, Any]) -> None:
    """Check that sizes which were given are those of what a run begins with, its `start`.

    Raises:
        OptionError: one is another.
    """
    for name, size in sizes.items():
        given = getattr(config, name)
        if given and given != size:
            raise OptionError(
                f"{flag(name)} {given}: start={config.start!r} has {size}; leave {flag(name)} out"
            )


def _unmet(hint: Any, value: Any) -> str:
    """What a value must be by a hint; empty if it is that, or if it is not checked here."""
    if get_origin(hint) is Annotated and isinstance(hint.__metadata__[0], Numbers):
        numbers, whole = hint.__metadata__[0], hint.__origin__ is int
        return "" if numbers.has(value, whole) else numbers.text(whole)
    if get_origin(hint) is Literal:
        known = get_args(hint)
        return "" if value in known else f"one of {', '.join(map(str, known))}"
    return PLAIN[hint] if hint in PLAIN and not isinstance(value, hint) else ""


def pairs(words: Sequence[str]) -> dict[str, str]:
    """Parse words `NAME VALUE NAME VALUE ...` into a mapping.

    Raises:
        OptionError: a name has no value or is repeated.
    """
    names, values = words[::2], words[1::2]
    if len(names) > len(values):
        raise OptionError(f"must be pairs NAME VALUE; {names[-1]!r} has no value")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise OptionError(f"{twice[0]!r} is given twice; give it one value")
    return dict(zip(names, values, strict=True))


def game_options(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check a game's options; convert texts to the options' types, and lists to tuples.

    Raises:
        OptionError: an option is unknown, or has a value that is invalid or cannot be stored
            as JSON.
    """
    game = find_game(name)
    try:
        check_names(game, given)
        options = {
            name: read_value(game, name, value) if isinstance(value, str) else value
            for name, value in given.items()
        }
        options = {name: tuple(v) if isinstance(v, list) else v for name, v in options.items()}
        json.dumps(options)  # they are stored with the run and the agent
        prepare(game, options)
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(f"--options: {str(error).removeprefix('option ')}") from error
    return options


def check_exact(nodes: int, game: str) -> None:
    """Check that the solver can be asked about a game, if it is to visit any positions.

    Raises:
        OptionError: it cannot.
    """
    if nodes and find_game(game).rules.resample is not None:
        raise OptionError(
            f"--exact-nodes {nodes}: in {game} draws are hidden, so no value is exact; leave "
            "--exact-nodes out"
        )


# ---- the options ----

AGENT_FILES = ("policy.safetensors", "policy.json")
CHANGEABLE = (
    "steps", "minutes", "threads", "measure_every", "measure_starts", "final_starts",
    "ladder_starts", "workers", "ray", "device",
)  # fmt: skip
"""Options that may change when a run is resumed."""
PAIRS = Words(
    read=pairs,
    write=lambda given: [str(part) for pair in given.items() for part in pair],
    metavar="NAME VALUE ...",
)


@dataclass(frozen=True)
class RunConfig:
    """The options of every run."""

    script: ClassVar[Script]
    """The script that the options belong to."""
    added: ClassVar[Mapping[str, Any]] = {}
    """Options that runs of earlier versions lack, with what they did without them."""

    game: str = "sudoku_moyo"
    """The game's name."""
    options: Annotated[dict[str, Any], PAIRS] = field(default_factory=dict)
    """The game's options, as NAME VALUE pairs: `--options max_plies 100 tiebreak marbles`."""
    seed: Annotated[int, Numbers(0, 2**32 - 1)] = 1
    """Seed of the games, the network and the learner."""
    steps: Annotated[int, Numbers(0, 10**15)] = 0
    """Total actions of the learner; the last rollout is always completed. 0: as many as the time
    allows if `time` is given, otherwise 250,000."""
    minutes: Annotated[float, Numbers(0), Time("min", least=0)] = 0.0
    """Stop training after this time, such as `30s` or `10min`. Without `steps` the learning rate
    falls with the time; with them a run that is stopped is incomplete. Default: no limit."""
    output: Path | None = None
    """The run's folder; the default is a folder in runs/ with the game and the seed in its name."""
    resume: bool = False
    """Resume the run in the output folder with its own configuration; only `steps`, `time`,
    `device`, `threads`, `workers`, `ray`, and the numbers of measurements and starts may be
    changed."""
    overwrite: bool = False
    """Start a new run in a folder that already holds one, and delete the old run's files."""
    threads: Annotated[int, Numbers(1, 1024)] = 1
    """Torch threads; more than one is faster on an idle machine but much slower on a busy one."""
    measure_every: Annotated[int, Numbers(0)] = 0
    """Actions between two evaluations for the learning curve; 0: a tenth of the run."""
    measure_starts: Annotated[int, Numbers(1, 1_000_000)] = 50
    """Starts in each of these evaluations, played in both seats against each baseline."""
    final_starts: Annotated[int, Numbers(1, 1_000_000)] = 500
    """Starts in the final evaluation, played in both seats against each baseline."""
    ladder_starts: Annotated[int, Numbers(0, 1_000_000)] = 20
    """Starts for each agent of the ladder that searches; 0 for no ladder."""

    @property
    def usual_steps(self) -> int:
        """The steps of a run for which neither steps nor a time are given."""
        return 250_000

    @property
    def folder(self) -> RunFolder:
        """The run's folder."""
        name = f"{self.script.prefix}{self.game}-{self.seed}"
        return self.run_at(self.output or Path("runs") / name)

    @classmethod
    def run_at(cls, path: Path) -> RunFolder:
        """A folder for a run of this script."""
        return RunFolder(path, cls.script)

    @property
    def continues(self) -> bool:
        """Whether a save is resumed; it holds what the run began with."""
        return self.resume and os.path.lexists(self.folder.path / SAVED)

    def completed(self) -> Self:
        """Check every option and fill in the defaults that depend on other options.

        Raises:
            OptionError: an option has an invalid value.
        """
        check_values(self)
        # those of NumPy cannot be stored as JSON
        numbers = {name: n.item() for name, n in vars(self).items() if isinstance(n, np.generic)}
        config = replace(self, **numbers)
        game = game_named(config.game).name
        steps = config.steps or (0 if config.minutes else config.usual_steps)
        return replace(
            config,
            game=game,
            options=game_options(game, config.options),
            steps=steps,
            measure_every=config.measure_every or -(-steps // 10),
        )

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The configuration of the run in a folder.

        Raises:
            RunError: it is missing, malformed or from another version of this script.
        """
        try:
            return cls(**cls.stored_in(folder), output=folder, resume=True).completed()
        except OptionError as error:
            raise RunError(f"{folder / 'config.json'} is malformed: {error}") from error

    @classmethod
    def stored_in(cls, folder: Path) -> dict[str, Any]:
        """The options of the run in a folder, as they were stored; raises as `read`."""
        names = {item.name for item in fields(cls)} - set(PLACE)
        return cls.run_at(folder).options(names, cls.added)

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar | None:
        """The sidecar of this run's checkpoints; None if its agents are stored in another way."""
        return None

    def stored_form(self) -> dict[str, Any]:
        """The content of `config.json` for this configuration."""
        stored = {name: value for name, value in asdict(self).items() if name not in PLACE}
        form: dict[str, Any] = json.loads(json.dumps(stored))
        return form

    def ready(self) -> Self:
        """Check and complete the configuration, and check that its folder can be used.

        Raises:
            OptionError: an option has an invalid value.
            RunError: the folder already holds a run, or has none to resume.
            CheckpointError: the save cannot be read.
        """
        config = replace(self, game=game_named(self.game).name)
        check_values(config)
        folder = config.folder
        folder.check_place()
        if not config.resume:
            config = config.completed()
            if not config.overwrite:
                folder.check_free()
            return config
        if config.overwrite:
            raise RunError("--resume and --overwrite: one continues a run, the other deletes it")
        before = self.read(folder.path)
        folder.check_same({"game": before.game}, {"game": config.game})
        config = config.completed()
        now, done = config.stored_form(), folder.steps()
        kept = {name: value for name, value in now.items() if name not in CHANGEABLE}
        folder.check_same(before.stored_form(), kept)
        if before.steps != config.steps and 0 < config.steps <= done:
            raise RunError(
                f"--steps {config.steps}: the run in {folder.path} has already done {done:,}; give "
                "more, or leave --steps out to evaluate it again"
            )
        return config
