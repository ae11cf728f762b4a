"""When an opponent fails in the middle of a step, all games stay as they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from gymnasium.error import ResetNeeded

from azumaya.envs.adapters.duel.duel import Duel
from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.envs.position import Position
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.cases import Case
from tests.vector.cases import ONE_GAME, UNLIKE_GAMES, check_plays_like, last_legal, pick, same

GAMES = 4


class Agent:
    """An agent that plays by its keys and fails after a given number of calls."""

    def __init__(self) -> None:
        self.left = 10**9
        self.fail: Callable[[Sequence[Position]], Any] = illegal

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """Actions, or the failure."""
        self.left -= 1
        if self.left < 0:
            return self.fail(positions)
        every = [position.legal_actions() for position in positions]
        return [legal[key % len(legal)] for legal, key in zip(every, keys, strict=True)]


class Policy:
    """The same as a policy that plays the last legal action."""

    def __init__(self) -> None:
        self.left = 10**9
        self.fail: Callable[[Any], Any] = illegal

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> Any:
        """An action for each game."""
        self.left -= 1
        if self.left < 0:
            return self.fail(masks)
        return last_legal(observations, masks)


def illegal(asked: Sequence[Any]) -> list[int]:
    """Invalid actions."""
    return [-1] * len(asked)


def short(asked: Sequence[Any]) -> list[int]:
    """No actions."""
    return []


def broken(asked: Sequence[Any]) -> None:
    """An exception of the opponent."""
    raise RuntimeError("broken")


def interrupted(asked: Sequence[Any]) -> None:
    """Ctrl-C."""
    raise KeyboardInterrupt


FAILURES = pytest.mark.parametrize(
    ("fail", "error"),
    [
        (illegal, IllegalActionError),
        (short, IllegalActionError),
        (broken, RuntimeError),
        (interrupted, KeyboardInterrupt),
    ],
)
OPPONENTS = pytest.mark.parametrize("make", [Agent, Policy])


def games_of(case: Case, opponent: Any, **arguments: Any) -> AzumayaVecEnv:
    """An environment with shaped rewards, whose state must not change either."""
    arguments = {"seat": "random", "seed": 7, "shaping": 0.5, **case.options, **arguments}
    return AzumayaVecEnv(case.game, GAMES, opponent=[(opponent, 3), ("random", 1)], **arguments)


def everything(duel: Duel) -> list[Any]:
    """Everything that a step or a reset may change."""
    arrays = (duel.states, duel.series, duel.seats, duel.legal, duel.planes, duel.masks)
    return [array.tobytes() for array in arrays] + [duel.evaluations.tolist()]


@UNLIKE_GAMES
@OPPONENTS
def test_a_failed_step_is_undone(case: Case, make: Callable[[], Any]) -> None:
    """The moves of a failed step are undone; repeated, it gives the result it would have given."""
    opponent, other = make(), make()
    games, twin = games_of(case, opponent), games_of(case, other)
    games.reset()
    twin.reset()
    rng, failures = np.random.default_rng(1), 0
    for step in range(60):
        actions = pick(games.action_masks(), rng)
        before = everything(games.duel)
        # a step asks again when moves follow each other or new games begin
        opponent.left, opponent.fail = step % 3, broken
        try:
            results = games.step(actions)
        except RuntimeError:
            failures += 1
            assert everything(games.duel) == before
            opponent.left = 10**9
            results = games.step(actions)
        assert same(results[:3], twin.step(actions)[:3])
        assert everything(games.duel) == everything(twin.duel)
    assert failures >= 20


def play_on(games: AzumayaVecEnv) -> None:
    """Play until every game has ended twice, so that new opponents have played a whole one."""
    ended = np.zeros(GAMES, np.int64)
    while ended.min() < 2:
        ended += games.step(games.action_masks().argmax(axis=1))[2]


@UNLIKE_GAMES
def test_policies_may_write_into_what_they_are_given(case: Case) -> None:
    """Legality is judged by the game: a policy can neither cheat nor be refused a legal move."""

    def honest(planes: np.ndarray, masks: np.ndarray) -> np.ndarray:
        actions = masks.argmax(axis=1)
        masks -= 1
        planes[:] = 0
        return actions

    def cheat(planes: np.ndarray, masks: np.ndarray) -> np.ndarray:
        actions = masks.argmin(axis=1)
        masks[:] = 1
        return actions

    games = AzumayaVecEnv(case.game, GAMES, opponent=honest, seed=1, **case.options)
    games.reset()
    for _ in range(5):
        games.step(games.action_masks().argmax(axis=1))
    games.set_opponent(cheat)
    with pytest.raises(IllegalActionError, match=r"opponent's actions\[\d\]: "):
        play_on(games)


@ONE_GAME
@OPPONENTS
@FAILURES
def test_no_failure_changes_the_games(
    case: Case, make: Callable[[], Any], fail: Any, error: type[BaseException]
) -> None:
    """Exceptions, bad answers and Ctrl-C, in a step and in a reset."""
    opponent = make()
    games = games_of(case, opponent, seat=0)
    games.reset()
    actions = games.action_masks().argmax(axis=1)
    before = everything(games.duel)
    opponent.left, opponent.fail = 0, fail
    with pytest.raises(error):
        games.step(actions)
    assert everything(games.duel) == before
    games.duel.seating = 1  # so that a reset asks opponents
    for seed in (None, 3):
        games._seed = seed
        with pytest.raises(error):
            games.reset()
        assert everything(games.duel) == before
    games._seed, opponent.left = None, 10**9
    games.step(actions)


@UNLIKE_GAMES
@OPPONENTS
def test_a_failed_first_reset_begins_nothing(case: Case, make: Callable[[], Any]) -> None:
    """No game has begun, and the next reset uses the same seed."""
    opponent = make()
    games, twin = games_of(case, opponent, seat=1), games_of(case, make(), seat=1)
    opponent.left, opponent.fail = 0, broken
    with pytest.raises(RuntimeError, match="broken"):
        games.reset()
    for call in (games.action_masks, lambda: games.step(np.zeros(GAMES, np.int64))):
        with pytest.raises(ResetNeeded, match=r"^(action_masks|step): reset must be called first"):
            call()
    opponent.left = 10**9
    assert np.array_equal(games.reset(), twin.reset())


@ONE_GAME
def test_a_bad_seed_changes_no_game(case: Case) -> None:
    """With compiled opponents and with others."""
    games = AzumayaVecEnv(case.game, GAMES, seed=1, **case.options)
    games.reset()
    before = everything(games.duel)
    for seeds in (-1, [1, 2], [1, 2, 3, "x"]):
        with pytest.raises(OptionError, match="seed"):
            games.duel.reset(seeds)  # type: ignore[arg-type]
        assert everything(games.duel) == before
    games.step(games.action_masks().argmax(axis=1))


@ONE_GAME
def test_an_interrupted_step_against_compiled_opponents(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a step cannot be undone, so the next call must be a reset."""
    games, twin = (AzumayaVecEnv(case.game, GAMES, seed=1, **case.options) for _ in range(2))
    for each in (games, twin):
        each.reset()
    actions = games.action_masks().argmax(axis=1)
    with monkeypatch.context() as patch:
        patch.setattr(games.duel, "_respond", interrupted)
        with pytest.raises(KeyboardInterrupt):
            games.step(actions)
    for name, call in (
        ("step", lambda: games.step(actions)),
        ("action_masks", games.action_masks),
        ("position", lambda: games.env_method("position")),
    ):
        with pytest.raises(
            ResetNeeded, match=f"^{name}: the last call was interrupted; reset must"
        ):
            call()
    assert np.array_equal(games.reset(), twin.reset())
    check_plays_like(games, twin, 1)
