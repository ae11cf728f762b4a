"""Making agents to see what they are, in a process that an agent of the user's may end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.agents.names import is_own_class
from azumaya.baselines.arena.league.cards import CHANGED, AgentCard, card_of
from azumaya.baselines.arena.league.games import GRACE
from azumaya.baselines.arena.league.ratings import ANCHOR
from azumaya.baselines.system.calls import Caller
from azumaya.baselines.system.processes import ChildEndedError, ChildTimeoutError
from azumaya.envs import OptionError
from azumaya.envs.errors import told

CardMaker = Callable[[str, Iterable[str]], AgentCard]
"""Gives the card of an agent by its name and the names of games, as `card_of` does."""


@contextlib.contextmanager
def card_maker() -> Iterator[CardMaker]:
    """Within this, cards can be made: those of classes of the user's in one further process."""
    caller = Caller()

    def make(name: str, games: Iterable[str]) -> AgentCard:
        apart = is_own_class(name)
        return _made_apart(caller, name, tuple(games)) if apart else card_of(name, games)

    try:
        yield make
    finally:
        caller.end()


def _made_apart(caller: Caller, name: str, games: tuple[str, ...]) -> AgentCard:
    """The card of an agent whose code may end its process, or never end."""
    caller.call(card_of, ANCHOR, games)  # what is imported and compiled is not the agent's time
    try:
        card: AgentCard = caller.call(card_of, name, games, seconds=GRACE["python"])
    except (ValueError, AgentFailedError):
        raise
    except ChildTimeoutError:
        why = f"cannot be made in {GRACE['python']:g} s"
    except ChildEndedError as error:
        why = f"cannot be made: it crashed its process: {error.how or error}"
    except Exception as error:
        why = told(error)
    else:
        return card
    raise OptionError(f"agent {name}: {why}")


def cards_of(names: Iterable[str], games: Iterable[str]) -> list[AgentCard]:
    """The cards of agents, each of which is made once to see what it can play.

    Raises:
        OptionError: a name is unknown, or an agent plays none of the games; or making it ended its
            process or took too long.
        CheckpointError: a checkpoint cannot be used.
        AgentFailedError: an agent raised an exception when it was asked whether it plays a game.
    """
    games = tuple(games)
    with card_maker() as make:
        return [make(name, games) for name in names]


def sitting_out(cards: Iterable[AgentCard]) -> dict[str, str]:
    """Which agents cannot play now, by id, and why: others have their names, or none can be made.

    Every agent is made once.
    """
    found, now = {}, dict[str, str]()
    with card_maker() as make:
        for card in cards:
            try:
                if card.name not in now:
                    now[card.name] = make(card.name, card.games).id
            except Exception as error:  # whatever is wrong with its files, the others can play
                found[card.id] = cannot(error)
            else:
                if now[card.name] != card.id:
                    found[card.id] = CHANGED
    return found


def cannot(error: Exception) -> str:
    """Why an agent sits out that cannot be made."""
    return f"cannot be made: {told(error)}"
