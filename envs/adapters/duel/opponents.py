"""Who plays the other seat: compiled players by their names, agents, policies, and several."""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from azumaya.envs.adapters.lookahead import choose_random, greedy_kernel
from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.position import Position
from azumaya.envs.whole import as_whole

Policy = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Observations `(n, C, rows, columns)` int8 and masks `(n, A)` int8 to actions `(n,)`."""


class Opponent(Protocol):
    """What plays the other seat: any agent of `azumaya.baselines.agents`, or your own."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """An action for each position; chance comes from the keys."""


class UniformOpponent:
    """Plays a legal action at random."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """A legal action for each position, each as likely as the others."""
        return [
            int(choose_random(words, len(words), np.uint64(key), 0))
            for words, key in zip((p.legal_words() for p in positions), keys, strict=True)
        ]


class GreedyOpponent:
    """Plays the move after which the game's `evaluate` is best for the mover.

    A move that ends the game counts as its result. Among equals chance decides.
    """

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """A legal action for each position."""
        if not positions:
            return []
        game = positions[0].game
        choose, trial = greedy_kernel(game), game.new_states(1)
        ties = np.zeros(word_count(positions[0].num_actions), np.uint64)
        return [
            int(choose(p.state[0], p.legal_words(), np.uint64(key), 0, trial, ties))
            for p, key in zip(positions, keys, strict=True)
        ]


RANDOM, GREEDY, OTHERS = 0, 1, 2
"""Codes of opponents in kernels: those that have names, then policies and agents as they came."""


class Named(NamedTuple):
    """An opponent that has a name: compiled for many games, and as an agent."""

    code: int
    agent: Callable[[], Opponent]


NAMED: Mapping[str, Named] = {
    "random": Named(RANDOM, UniformOpponent),
    "greedy": Named(GREEDY, GreedyOpponent),
}
"""The opponents that have names."""
SEATS = (0, 1, "alternating", "random")
"""What the learner's seat may be."""
MAX_EPISODES = 1000
"""So many episodes in a row may be over before the learner could act; they are passed over."""
_NAMES = ", ".join(map(repr, NAMED))
_AN_AGENT = "an agent (an object with act(positions, keys))"
_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = 60


def brief(thing: Any) -> str:
    """What `repr` tells, in one line and cut where it is long: a network would fill the screen."""
    return " ".join(_BRIEF.repr(thing).split())


def check_seat(seat: Any) -> int | str:
    """The learner's seat, as an int or a name; raises `OptionError`."""
    known = seat if isinstance(seat, str) else as_whole(seat)
    if known is None or known not in SEATS:
        raise OptionError(f"seat={brief(seat)}: must be one of {SEATS}")
    return known


def never_acts() -> OptionError:
    """The error where no episode comes to the learner."""
    return OptionError(
        f"options: in {MAX_EPISODES} episodes the game was over before the learner could act"
    )


def is_agent(opponent: Any) -> bool:
    """Whether this is an object, not a class, with a method `act`; it may be callable, too."""
    return not isinstance(opponent, type) and callable(getattr(opponent, "act", None))


def is_policy(opponent: Any) -> bool:
    """Whether this can be called as a policy; a class is not meant to be."""
    return not isinstance(opponent, type) and callable(opponent)


def ask(agent: Opponent, positions: Sequence[Position], keys: Sequence[int], name: str) -> Any:
    """An agent's actions, one for each position; whether they are legal is not asked.

    Raises:
        IllegalActionError: it gave too many, too few, or no list; the error calls it by `name`.
    """
    actions, count = agent.act(positions, keys), len(positions)
    try:
        given = list(itertools.islice(actions, count + 1))
    except TypeError:
        given = []
    if len(given) != count:
        raise IllegalActionError(
            f"{name}: act gave {brief(actions)} for {count} positions; a list with an action for "
            "each is needed"
        )
    return given


def agent_of(opponent: Any) -> Opponent:
    """The agent that an argument `opponent` stands for; None plays at random.

    Raises:
        OptionError: it stands for none.
    """
    if opponent is None:
        return UniformOpponent()
    if isinstance(opponent, str) and opponent in NAMED:
        return NAMED[opponent].agent()
    if is_agent(opponent):
        agent: Opponent = opponent
        return agent
    hint = class_hint([opponent])
    if is_policy(opponent):
        hint = "; policies on arrays are for azumaya.wrappers.sb3.AzumayaVecEnv"
    raise OptionError(f"opponent={brief(opponent)}: must be {_NAMES}, {_AN_AGENT} or None{hint}")


def weighted(opponent: Any) -> list[tuple[Any, float]]:
    """Opponents with their weights, checked: names, policies and agents.

    Args:
        opponent: one, or several with their weights, as pairs or a mapping; None plays at random.

    Raises:
        OptionError: it is none of these.
    """
    if opponent is None:
        return [("random", 1.0)]
    if isinstance(opponent, str | type) or is_policy(opponent) or is_agent(opponent):
        pairs = [(opponent, 1.0)]
    else:
        items = opponent.items() if isinstance(opponent, Mapping) else opponent
        try:
            pairs = [(each, float(weight)) for each, weight in items]
        except (TypeError, ValueError):
            pairs = []
    known = all(_is_known(each) for each, _ in pairs)
    if not pairs or not known or not all(0 <= w < np.inf for _, w in pairs):
        raise OptionError(
            f"opponent={brief(opponent)}: must be {_NAMES}, a policy (a function from observations "
            f"and masks to actions), {_AN_AGENT}, pairs of such and weights, or None"
            f"{class_hint(each for each, _ in pairs)}"
        )
    if not any(weight for _, weight in pairs):
        raise OptionError(f"opponent={brief(opponent)}: one of the weights must be above 0")
    return pairs


def _is_known(opponent: Any) -> bool:
    if isinstance(opponent, str):
        return opponent in NAMED
    return is_policy(opponent) or is_agent(opponent)


def class_hint(opponents: Iterable[Any]) -> str:
    """What to do about the first class among opponents; nothing where there is none."""
    for each in opponents:
        if isinstance(each, type):
            return f"; this is a class, make an object of it: {each.__name__}(...)"
    return ""
