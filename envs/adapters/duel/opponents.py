"""Opponents: named compiled players, agents, policies, and weighted mixtures of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np

from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.adapters.lookahead import choose_random, greedy_kernel
from azumaya.envs.errors import IllegalActionError, OptionError, brief
from azumaya.envs.extras import opponent_named
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.position import Position
from azumaya.envs.whole import as_whole

Policy = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Maps observations `(n, C, rows, columns)` int8 and masks `(n, A)` int8 to actions `(n,)`."""


class Opponent(Protocol):
    """An opponent: any agent from `azumaya.baselines.agents`, or your own."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Sequence[int] | np.ndarray:
        """An action for each position; randomness comes from the keys."""


class UniformOpponent:
    """Plays uniformly random legal actions."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """A uniformly random legal action for each position."""
        positions, keys = check_asked(positions, keys, alike=False)
        return [
            int(choose_random(words, len(words), np.uint64(key), 0))
            for words, key in zip((p.legal_words() for p in positions), keys, strict=True)
        ]


class GreedyOpponent:
    """Plays the move with the best resulting `evaluate` for the player who makes it.

    A move that ends the game is valued by the result. Ties are broken at random.
    """

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """A legal action for each position; all must be of one game."""
        positions, keys = check_asked(positions, keys)
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
"""Kernel codes: named opponents first, then policies and agents in the order given."""


class Named(NamedTuple):
    """A named opponent: its code in the compiled kernels, and the agent with the same strategy.

    Their random choices differ, but where draws are hidden, greedy makes the same moves.
    """

    code: int
    agent: Callable[[], Opponent]


NAMED: Mapping[str, Named] = {
    "random": Named(RANDOM, UniformOpponent),
    "greedy": Named(GREEDY, GreedyOpponent),
}
"""The named opponents."""
SEATS = (0, 1, "alternating", "random")
"""Valid values for the learner's seat; their places are the codes in compiled kernels."""
WHOLE = 1 << 31
"""The total weight of all opponents."""
MAX_EPISODES = 1000
"""Maximum consecutive episodes skipped because they end before the learner can act."""
_NAMES = ", ".join(map(repr, NAMED))


def check_seat(seat: Any) -> int | str:
    """Validate the learner's seat, an int or a name; raises `OptionError`."""
    known = seat if isinstance(seat, str) else as_whole(seat)
    if known is None or known not in SEATS:
        raise OptionError(f"seat={brief(seat)}: must be one of {SEATS}")
    return known


def never_acts() -> OptionError:
    """The error when the learner never gets to act."""
    return OptionError(
        f"options: in {MAX_EPISODES} episodes the game was over before the learner could act"
    )


def is_agent(opponent: Any) -> bool:
    """Whether this is an instance with an `act` method; it may also be callable."""
    return not isinstance(opponent, type) and callable(getattr(opponent, "act", None))


def is_policy(opponent: Any) -> bool:
    """Whether this is a callable other than a class."""
    return not isinstance(opponent, type) and callable(opponent)


def checked_answer(actions: Any, count: int, name: str) -> list[Any]:
    """What the agent called `name` returned for `count` positions, as a list.

    Raises:
        IllegalActionError: it is no sequence with the right number of actions.
    """
    try:
        given = list(itertools.islice(actions, count + 1))
    except TypeError:
        given = []
    if len(given) != count:
        raise IllegalActionError(
            f"{name}: act returned {brief(actions)} for {count} positions; it must return a list "
            "with one action for each"
        )
    return given


def weighted(opponent: Any) -> list[tuple[Any, float]]:
    """Validate opponents and their weights, and make the agents that names ask for.

    Args:
        opponent: one, or several with their weights, as pairs or a mapping; None plays at random.

    Returns:
        Names of `NAMED`, policies and agents, with their weights.

    Raises:
        OptionError: it is none of these.
        ValueError, MissingExtraError: a named agent cannot be made, see `opponent_named`.
    """
    if opponent is None:
        return [("random", 1.0)]
    if isinstance(opponent, str | type) or is_policy(opponent) or is_agent(opponent):
        pairs = [(opponent, 1.0)]
    else:
        items = opponent.items() if isinstance(opponent, Mapping) else opponent
        try:
            pairs = [(each, _weight(weight)) for each, weight in items]
        except (TypeError, ValueError, OverflowError):
            pairs = []
    known = all(isinstance(p, str) or is_policy(p) or is_agent(p) for p, _ in pairs)
    if not pairs or not known or not all(0 <= w < np.inf for _, w in pairs):
        raise OptionError(
            f"opponent={brief(opponent)}: must be {_NAMES}, the name of another agent (such as "
            "'uct:100'), a policy (a function from observations and masks to actions), an agent "
            "(an object with act(positions, keys)), pairs of one of these and a weight, or None"
            f"{class_hint(each for each, _ in pairs)}"
        )
    if not any(weight for _, weight in pairs):
        raise OptionError(f"opponent={brief(opponent)}: at least one weight must be above 0")
    return [(_made(each), weight) for each, weight in pairs]


def _weight(weight: Any) -> float:
    """A weight as a float; raises `TypeError` for anything but a number, also True and False."""
    if not isinstance(weight, Real) or isinstance(weight, bool):
        raise TypeError
    return float(weight)


def _made(opponent: Any) -> Any:
    other = isinstance(opponent, str) and opponent not in NAMED
    return opponent_named(opponent) if other else opponent


def limits_of(pairs: Sequence[tuple[Any, float]]) -> np.ndarray:
    """Where the share of each opponent ends in a draw below `WHOLE`, `(n,)` int64."""
    weights = np.array([weight for _, weight in pairs], np.float64)
    # Scaled by a power of two: the ratios stay exact, and the sum is finite.
    weights = np.ldexp(weights, -np.frexp(weights.max())[1])
    limits = np.floor(np.cumsum(weights) / weights.sum() * WHOLE).astype(np.int64)
    limits[np.flatnonzero(weights)[-1] :] = WHOLE
    return limits


def class_hint(opponents: Iterable[Any]) -> str:
    """A hint about the first class among the opponents; empty if there is none."""
    for each in opponents:
        if isinstance(each, type):
            return f"; this is a class; pass an instance of it: {each.__name__}(...)"
    return ""


class Opponents:
    """Who plays in games: the code of the opponent in each, and policies and agents by their codes.

    Args:
        given: the opponents that are drawn, see `weighted`.

    Attributes:
        others: the policies and agents that are drawn or still play, by their codes.
        limits, codes: where the share of each opponent ends in a draw, and its code, `(n,)` int64.
    """

    def __init__(self, given: Any) -> None:
        self.others: dict[int, Any] = {}
        self._next_code = OTHERS
        self.draw(given, ())

    def draw(self, given: Any, playing: Iterable[int]) -> None:
        """Draw other opponents from now on; those with the codes `playing` are kept as well."""
        pairs = weighted(given)
        self.others = self.among(playing)
        codes = [NAMED[p].code if isinstance(p, str) else self._add(p) for p, _ in pairs]
        self.limits, self.codes = limits_of(pairs), np.array(codes, np.int64)

    def _add(self, other: Any) -> int:
        """Give a policy or agent a code."""
        code, self._next_code = self._next_code, self._next_code + 1
        self.others[code] = other
        return code

    def among(self, codes: Iterable[int]) -> dict[int, Any]:
        """The policies and agents with these codes."""
        wanted = set(codes)
        return {code: each for code, each in self.others.items() if code in wanted}

    def adopted(self, codes: np.ndarray, others: Mapping[int, Any]) -> np.ndarray:
        """The codes here, `(n,)`, of the opponents that have other codes where they were saved."""
        adopted = codes.copy()
        self.others = self.among(self.codes.tolist())
        for code, other in others.items():
            here = [known for known, each in self.others.items() if each is other]
            adopted[codes == code] = here[0] if here else self._add(other)
        return adopted
