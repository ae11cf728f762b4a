"""Checks of a training run's options, all made before any file is written.

The range of a number is declared with the option and checked by `check_values`, as are literals and
texts:

    steps: Annotated[int, Numbers(1)] = 250_000
    search: Literal["alphabeta", "puct"] = "alphabeta"
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from azumaya.baselines.agents.network import (
    NETWORKS,
    OversizeError,
    can_play,
    check_size,
)
from azumaya.baselines.arena.game_options import read_value
from azumaya.baselines.system.command_line import flag
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


MOST_ACTIONS = 1 << 24
"""The most actions in an update."""
Count = Annotated[int, Numbers(1)]
Share = Annotated[float, Numbers(0, 1)]
Weight = Annotated[float, Numbers(0)]
Positive = Annotated[float, Numbers(0, above=True)]


def check_values(options: Any) -> None:
    """Check that every number in a dataclass is in its declared range, and literals and texts.

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


def _unmet(hint: Any, value: Any) -> str:
    """What a value must be by a hint; empty if it is that, or if it is not checked here."""
    if get_origin(hint) is Annotated and isinstance(hint.__metadata__[0], Numbers):
        numbers, whole = hint.__metadata__[0], hint.__origin__ is int
        return "" if numbers.has(value, whole) else numbers.text(whole)
    if get_origin(hint) is Literal:
        known = get_args(hint)
        return "" if value in known else f"one of {', '.join(map(str, known))}"
    return "a text" if hint is str and not isinstance(value, str) else ""


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


def check_network(network: str, game: str) -> None:
    """Check that a network exists and can play the game; an empty name is always accepted.

    Raises:
        OptionError: the network is unknown or cannot play the game.
    """
    if network not in ("", *NETWORKS):
        raise OptionError(f"--network {network}: must be one of {', '.join(NETWORKS)}")
    record = find_game(game)
    if network and not can_play(network, record):
        needs = {
            "numbers": "with candidates, in which every number on every cell is an action",
            "houses": "with planes of numbers",
        }
        others = ", ".join(name for name in NETWORKS if can_play(name, record))
        raise OptionError(
            f"--network {network}: needs a game {needs[network]}, unlike {game}; choose {others}"
        )


def check_sizes(network: str, game: str, options: Mapping[str, Any], **sizes: int | None) -> int:
    """Check that a network of this `width` and `depth` can be built; returns its parameters.

    Raises:
        OptionError: the sizes are too large.
    """
    record = find_game(game)
    actions = prepare(record, dict(options)).num_actions
    given = {name: size for name, size in sizes.items() if size is not None}
    try:
        return check_size(network, record, actions, given)
    except OversizeError as error:
        said = " ".join(f"{flag(name)} {size}" for name, size in given.items())
        raise OptionError(f"{said}: {error}") from error


def check_update(games: int, rollout: int) -> None:
    """Check the size of an update.

    Raises:
        OptionError: it is too large.
    """
    if games * rollout > MOST_ACTIONS:
        raise OptionError(
            f"--games {games} by --rollout {rollout}: an update would have {games * rollout:,} "
            f"actions; the most is {MOST_ACTIONS:,}"
        )


def check_minibatches(batch: int, games: int, rollout: int) -> None:
    """Check that no minibatch has just one action.

    Stable-Baselines3 divides by the standard deviation of a minibatch's advantages.

    Raises:
        OptionError: a minibatch would have one action.
    """
    if games * rollout % batch == 1:
        raise OptionError(
            f"--batch {batch}: an update of {games * rollout:,} actions (--games {games} by "
            f"--rollout {rollout}) would leave a minibatch of one; change one of the three"
        )
