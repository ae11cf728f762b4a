"""The players of a command, found by name, and the game and options that they play."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from azumaya.baselines.agents import Agent
from azumaya.baselines.agents.asking import AgentFailedError, check_agent
from azumaya.baselines.agents.names import find_agent
from azumaya.baselines.agents.program import ProgramError
from azumaya.baselines.arena.game_options import check_value, game_named, read_options
from azumaya.envs import GAMES, IllegalActionError, MoveNameError, OptionError, Position, find_game
from azumaya.envs.game import Game
from azumaya.envs.setup import check_names, option_names

if TYPE_CHECKING:
    from azumaya.baselines.agents.sidecar import Sidecar

HUMAN = "human"


@dataclass(frozen=True)
class Entrant:
    """One of two players.

    Attributes:
        name: as the user gave it: `human`, or a name that `find_agent` knows.
        agent: the agent that chooses the moves; None for a person.
        game: the game that a checkpoint was trained on; None if the agent plays any game.
        options: the options that a checkpoint was trained with.
    """

    name: str
    agent: Agent | None
    game: Game | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def find_entrant(name: str, evaluated: bool = False) -> Entrant:
    """Find a player by name: `human`, or one of the names that `find_agent` knows.

    Args:
        name: the name.
        evaluated: whether the player is to be evaluated, which a person cannot be.

    Raises:
        ValueError: the name is unknown, or the checkpoint cannot be used.
    """
    if name == HUMAN and not evaluated:
        return Entrant(name, None)
    try:
        agent = find_agent(name, () if evaluated else (HUMAN,))
    except OptionError as error:
        if name == HUMAN:
            raise OptionError(f"a person cannot be evaluated: {error}") from None
        raise
    sidecar = getattr(agent, "sidecar", None)
    return Entrant(name, agent) if sidecar is None else _trained(name, agent, sidecar)


def _trained(name: str, agent: Agent, sidecar: Sidecar) -> Entrant:
    """A checkpoint's agent, with the game and options it was trained with."""
    game = find_game(sidecar.game)
    options = sidecar.options
    try:
        check_names(game, options)
        for option in game.options:
            check_value(option, options.get(option.name))
    except ValueError as error:
        raise OptionError(f"checkpoint {name}: its options do not fit: {error}") from error
    return Entrant(name, agent, game, options)


@contextlib.contextmanager
def wrong_moves_fail() -> Iterator[None]:
    """Take an agent's illegal move, or what ends a program, for a failure of the agent.

    Raises:
        AgentFailedError: such a move was made, or such a program ended.
    """
    try:
        yield
    except (IllegalActionError, MoveNameError, ProgramError) as error:
        raise AgentFailedError(str(error)) from error


def choose_game(
    entrants: Sequence[Entrant], game: str | None, texts: Iterable[str] = ()
) -> tuple[Game, dict[str, Any]]:
    """Choose the game and its options: the user's, otherwise those of the checkpoints.

    Args:
        entrants: the players.
        game: the game's name, if the user gave one.
        texts: the user's options, `NAME=VALUE`; they override those of the checkpoints.

    Raises:
        ValueError: there is no such game or option, or a checkpoint was trained on another game.
    """
    chosen = _game_of(entrants, game)
    given = read_options(chosen, texts)
    options = {**trained_options(chosen, entrants, given), **given}
    return chosen, {name: value for name, value in options.items() if value is not None}


def _game_of(entrants: Sequence[Entrant], name: str | None) -> Game:
    trained = [(entrant.name, entrant.game) for entrant in entrants if entrant.game is not None]
    wanted = game_named(name) if name is not None else None
    for agent, game in trained:
        if wanted is not None and game is not wanted:
            raise OptionError(
                f"game {wanted.name}: the checkpoint {agent} plays {game.name} only; leave the "
                "game out, or name another agent"
            )
    if len({id(game) for _, game in trained}) > 1:
        said = " and ".join(f"{agent} plays {game.name}" for agent, game in trained)
        raise OptionError(f"the checkpoints are of different games: {said}; name two of one game")
    return wanted or (trained[0][1] if trained else next(iter(GAMES.values())))


def trained_options(
    game: Game, entrants: Sequence[Entrant], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The options of the checkpoints, which must agree on all that the user has not given.

    Raises:
        OptionError: they do not.
    """
    trained = [entrant for entrant in entrants if entrant.game is not None]
    if not trained:
        return {}
    for name in option_names(game):
        values = [entrant.options.get(name) for entrant in trained]
        if name not in given and not all(_same(game, name, values[0], v) for v in values):
            said = " and ".join(
                f"{entrant.name} with {name}={'default' if value is None else value}"
                for entrant, value in zip(trained, values, strict=True)
            )
            raise OptionError(
                f"the checkpoints were trained with different options, {said}; choose one with "
                f"--option {name}=VALUE"
            )
    return dict(trained[0].options)


def _same(game: Game, name: str, one: Any, other: Any) -> bool:
    option = next((o for o in game.options if o.name == name and not o.reads_files), None)
    if option is None:  # a position text or a file: compared as text
        return bool(one == other)
    return bool(check_value(option, one) == check_value(option, other))


def described(game: Game, options: Mapping[str, Any]) -> str:
    """A game and its options in one line."""
    return " ".join([game.name, *(f"{name}={value}" for name, value in options.items())])


def first_position(
    entrants: Sequence[Entrant], game: Game, options: Mapping[str, Any], seed: int
) -> Position:
    """The start of the game, after checking that all entrants can play it.

    Raises:
        ValueError: the options do not fit together, the seed is invalid, or a checkpoint's network
            cannot play with these options.
    """
    start = Position(game, seed=seed, **options)
    for entrant in entrants:
        if entrant.agent is not None:
            check_agent(entrant.agent, start, entrant.name)
    return start
