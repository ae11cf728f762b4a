"""Asking agents for moves. Failures of agents that are not the library's own name them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from azumaya.baselines.agents.base import ActsOnStates, GameStates
from azumaya.baselines.system.signals import Ended
from azumaya.envs import Position
from azumaya.envs.adapters.duel.opponents import Opponent, checked_answer
from azumaya.envs.errors import told


class AgentFailedError(RuntimeError):
    """An agent raised an exception of its own, which is the cause of this one."""


def name_of(agent: Any) -> str:
    """The name of an agent in tables and messages: its `name`, or that of its class."""
    return str(getattr(agent, "name", type(agent).__name__))


@contextlib.contextmanager
def failures_named(
    agent: Any, name: str, doing: str, passing: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Name an agent in what it raises, unless it is one of the library's.

    Args:
        agent: the agent.
        name: what it is called in the message.
        doing: what it is asked to do, such as `act`.
        passing: exceptions that are no failures.

    Raises:
        AgentFailedError: the agent raised anything but these, and no signal came that ends the
            process.
    """
    try:
        yield
    except (AgentFailedError, KeyboardInterrupt, Ended):
        raise
    except passing:
        raise
    except BaseException as error:
        if type(agent).__module__.startswith("azumaya."):
            raise
        raise AgentFailedError(f"agent {name}: {doing} failed: {told(error)}") from error


def ask(agent: Opponent, positions: Sequence[Position], keys: Sequence[int], name: str) -> Any:
    """An agent's actions, one for each position; legality is not checked.

    Raises:
        AgentFailedError: the agent, which is not the library's, raised an exception.
        IllegalActionError: the agent did not return a sequence with the right number of actions.
    """
    with failures_named(agent, name, "act"):
        actions = agent.act(positions, keys)
        if isinstance(actions, Iterator):  # a generator may fail as late as this
            actions = list(itertools.islice(actions, len(positions) + 1))
    return checked_answer(actions, len(positions), name)


def ask_on_states(agent: ActsOnStates, positions: GameStates, keys: np.ndarray, name: str) -> Any:
    """What the fast path of an agent gives, as an array; nothing about it is checked.

    Raises:
        AgentFailedError: the agent, which is not the library's, raised an exception.
    """
    with failures_named(agent, name, "act_states"):
        return np.asarray(agent.act_states(positions, keys))


def action_of(agent: Opponent, position: Position, key: int, name: str) -> int:
    """The legal action that an agent chooses; what is hidden is drawn anew for it.

    Raises:
        AgentFailedError: the agent raised an exception, or what it gave is no legal move.
    """
    try:
        (answer,) = ask(agent, [position.resample_hidden(key)], [key], name)
        action = position.action(answer)
        position.copy().play(action)
    except ValueError as error:
        raise AgentFailedError(f"agent {name}: {error}") from error
    return action


def move_of(agent: Opponent, position: Position, key: int, name: str) -> str:
    """The name of the legal move that an agent chooses, as `action_of` gives its action.

    Raises:
        AgentFailedError: the agent raised an exception, or what it gave is no legal move.
    """
    return position.move_name(action_of(agent, position, key, name))


def check_agent(agent: Any, position: Position, name: str) -> None:
    """Ask an agent that can tell whether it can play a position.

    Raises:
        ValueError: it cannot; the error says what it can play.
        AgentFailedError: the agent, which is not the library's, raised another exception.
    """
    check = getattr(agent, "check", None)
    if check is not None:
        with failures_named(agent, name, "check", passing=(ValueError,)):
            check(position)
