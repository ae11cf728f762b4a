"""Validation of what games are given: arguments, actions, seeds and saved states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from azumaya.envs.engine.kernels import EPISODE, NONE, PACKED, PLANES
from azumaya.envs.engine.setups import ORIGIN
from azumaya.envs.errors import IllegalActionError, OptionError, UnknownOptionError, brief, told
from azumaya.envs.game import Game, as_states, one_of, state_kind
from azumaya.envs.kernels.checksum import broken_row, checksum_key, seal
from azumaya.envs.kernels.states import words_of
from azumaya.envs.position import Position, check_seed
from azumaya.envs.setup import option_names
from azumaya.envs.whole import are_several, whole_number

FORMS = {"planes": PLANES, "packed": PACKED, "none": NONE}
"""Observation formats by name."""
check_illegal = one_of("illegal", "raise", "lose")
"""Validate the way to handle illegal actions; raises `OptionError`."""
ILLEGAL_REWARD = -1.0
"""What an illegal action gives to the player who loses the game by it."""
MAX_GAMES = 2**31 - 1
NONE_YET = -1
"""The number of the episode in a series that has none."""
SAVED = np.dtype([*EPISODE.descr, *ORIGIN.descr, ("checksum", np.uint64)])
"""How series are saved: `EPISODE` and `ORIGIN`, with a checksum of them and the state."""
STANDING, NAMED = slice(0, EPISODE.itemsize // 8), slice(EPISODE.itemsize // 8, -1)
"""Which words of a saved series are its `EPISODE`, as in `SERIES`, and which its `ORIGIN`."""


def check_count(count: Any) -> int:
    """Validate a number of games, at least 1; raises `OptionError`."""
    return whole_number(count, "num_envs", 1, MAX_GAMES)


def check_form(form: Any) -> int:
    """The observation format with this name; raises `OptionError`."""
    return FORMS[one_of("observation", *FORMS)(form)]


def save_series(
    game: Game, num_actions: int, states: np.ndarray, series: np.ndarray, origins: np.ndarray
) -> np.ndarray:
    """Series with checksums of the games' states, `(n,)` `SAVED`, for the caller to keep.

    The setups' origins are words, `(n, 2)`.
    """
    saved = as_states(np.empty(len(series), SAVED))
    words = words_of(saved)
    words[:, STANDING] = words_of(series)[:, STANDING]
    words[:, NAMED] = origins
    seal(_key(game, num_actions), words_of(states), words)
    return saved


def _key(game: Game, num_actions: int) -> np.uint64:
    """What the checksums of saved series begin with."""
    return checksum_key(state_kind(game, num_actions), game.rules.state, EPISODE, ORIGIN)


def check_states(game: Game, num_actions: int, count: int, states: Any, saved: Any) -> np.ndarray:
    """Reject states that were not saved for such games.

    Returns:
        The words of the saved series, `(n, W)`; see `STANDING` and `NAMED`.

    Raises:
        OptionError: a type or shape is wrong, or a checksum does not match: the row was modified
            or belongs to another game or action space.
    """
    for name, given, own in (("states", states, game.rules.state), ("series", saved, SAVED)):
        if not isinstance(given, np.ndarray):
            raise OptionError(f"{name}: {type(given).__name__} given, an array is needed")
        alike = given.dtype == own or np.dtype(given.dtype.descr) == np.dtype(own.descr)
        if given.shape != (count,) or not alike:
            raise OptionError(
                f"{name}: {given.dtype} of shape {given.shape} given; the states of "
                f"{count} games of {game.title} are needed"
            )
    words = words_of(saved)
    wrong = broken_row(_key(game, num_actions), words_of(states), words)
    if wrong >= 0:
        raise OptionError(
            f"state: row {wrong} was changed after get_state() returned it, or is "
            f"from an environment that does not have {num_actions} actions"
        )
    return words


def seed_series(series: np.ndarray, seeds: Sequence[int] | int, rows: np.ndarray) -> None:
    """Start new series of episodes in the given rows, from one shared seed or one seed per game.

    None of their episodes has begun yet: the next one, number 0, is the first.

    With a shared seed, game `i` is environment number `i` of that seed. With its own seed, a game
    is environment number 0, like a single environment.

    Raises:
        OptionError: a seed is invalid, or the number of seeds is wrong; nothing has changed.
    """
    if are_several(seeds):
        if len(seeds) != len(series):
            raise OptionError(f"seed: {len(seeds)} seeds given for {len(series)} games")
        every = np.array([check_seed(seed) for seed in seeds], np.uint64)
        series["seed"][rows], series["number"][rows] = every[rows], 0
    else:
        series["seed"][rows], series["number"][rows] = np.uint64(check_seed(seeds)), rows
    series["episode"][rows] = NONE_YET


def seeds_of(series: np.ndarray) -> int | tuple[int, ...]:
    """The seeds that started the series: one if all games share it, or one for each game."""
    seeds: list[int] = series["seed"].tolist()
    numbered = (series["number"] == np.arange(len(seeds))).all()
    return seeds[0] if numbered and len(set(seeds)) == 1 else tuple(seeds)


def copy_actions(actions: Any, out: np.ndarray, whose: str = "") -> None:
    """Copy an integer array of actions into `out`, `(n,)` int64, which has the same shape.

    Raises:
        IllegalActionError: the shape or type is wrong; the message starts with `whose`.
    """
    try:
        given = np.asarray(actions)
    except ValueError:  # rows of different lengths
        raise IllegalActionError(
            f"{whose}actions: not an array; shape {out.shape} is needed"
        ) from None
    except Exception as error:  # tensors with a gradient or on a device, and any `__array__`
        raise IllegalActionError(f"{whose}actions: not an array: {told(error)}") from error
    if given.shape != out.shape:
        raise IllegalActionError(
            f"{whose}actions: shape {given.shape} given, {out.shape} is needed"
        )
    if given.dtype.kind not in "iu":
        raise IllegalActionError(f"{whose}actions: {given.dtype} given, whole numbers are needed")
    if given.dtype == np.uint64:  # too large for int64: clamped, still illegal
        given = np.minimum(given, np.uint64(np.iinfo(np.int64).max))
    out[:] = given


def illegal_row(position: Position, row: int, action: int, whose: str = "") -> IllegalActionError:
    """The error for an illegal action in one game of a batch, naming its row."""
    try:
        reason = position.explain(action)
    except IllegalActionError as error:
        reason = str(error)
    return IllegalActionError(f"{whose}actions[{row}]: {reason}")


# ---- what only vector environments are given ----

WORDS = ("uint64", "int64")
"""The valid dtypes of packed observations."""


def check_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The autoreset mode, given as such or by its name or value; raises `OptionError`."""
    for known in AutoresetMode:
        if mode is known or (isinstance(mode, str) and mode in (known.value, known.name)):
            return known
    modes = [known.value for known in AutoresetMode]
    raise OptionError(f"autoreset_mode={brief(mode)}: must be one of {modes}")


def check_flag(name: str, value: Any) -> bool:
    """A value that must be True or False, not merely truthy or falsy; raises `OptionError`."""
    return bool(one_of(name, True, False)(value))


def explain_misplaced(game: Game, options: Mapping[str, Any]) -> None:
    """Reject arguments that only `gymnasium.make` accepts, and say what to use instead."""
    elsewhere = options.keys() - set(option_names(game))
    for name in sorted(elsewhere & {"opponent", "seat"}):
        raise UnknownOptionError(
            f"unexpected keyword argument {name!r}: make_vec plays both seats, and every action "
            "is that of the player to move. For one seat of many games, against opponents, use "
            "azumaya.wrappers.sb3.AzumayaVecEnv or "
            f"gymnasium.make_vec({game.id!r}, vectorization_mode='sync', {name}=...)"
        )
    if "render_mode" in elsewhere:
        raise UnknownOptionError(
            "unexpected keyword argument 'render_mode': a vector environment does not draw; "
            "position(row) returns one game's position, with draw() and svg()"
        )


def packed_words(observations: Any, name: str, width: int) -> Any:
    """The words under a name in packed observations; raises `OptionError`."""
    words: Any = observations.get(name) if isinstance(observations, Mapping) else None
    shaped = tuple(getattr(words, "shape", ()))[-1:] == (width,)
    if not shaped or str(getattr(words, "dtype", None)).removeprefix("torch.") not in WORDS:
        raise OptionError(
            f"observations[{name!r}]: must be an array of 64-bit words, (..., {width}), as "
            "returned by an environment with observation='packed'"
        )
    return words
