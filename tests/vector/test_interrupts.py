"""After Ctrl-C a call has either taken effect, had no effect, or a reset is required."""

from __future__ import annotations

import gc
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.cases import Case
from tests.vector.cases import ONE_GAME, alike, first_legal, interrupt, vector

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers"),
    pytest.mark.skipif(INTERPRETED, reason="needs the speed of compiled kernels"),
]
GAMES, MOMENTS, ROUNDS = 5000, 30, 40


class Alarm:
    """Acts like Ctrl-C when the timer ends, but not after the call for which it was set.

    Python may see a signal late: one that comes as a thread takes the interpreter's lock back waits
    until the lock is next asked for, which may be after the call, or in pytest after the test.
    """

    def __init__(self) -> None:
        self.armed = False

    def ring(self, _number: int, _frame: Any) -> None:
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt


ALARM = Alarm()


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    old = signal.signal(signal.SIGALRM, ALARM.ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)


def interrupted(call: Callable[[], Any], delay: float) -> bool:
    """Make a call with an interrupt after `delay` seconds; returns whether it was interrupted."""
    try:
        ALARM.armed = True
        signal.setitimer(signal.ITIMER_REAL, delay)
        call()
        ALARM.armed = False
    except KeyboardInterrupt:
        return True
    return False


def delays(call: Callable[[], Any], enough: Callable[[], bool]) -> Iterator[float]:
    """Delays spread over the duration of a call, again and again until there were enough.

    The duration is measured anew for each round: where the system stops the process meanwhile, it
    seems so long that most delays are.
    """
    call()
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        call()
        yield from np.linspace(2e-6, 1.1 * (time.perf_counter() - begun), MOMENTS).tolist()
        if enough():
            return


def check_masks(games: Any) -> None:
    """The masks used to check actions are those of the games' positions."""
    batch, rows = games.games, range(0, GAMES, 311)
    for row in rows:
        words = batch.position(row).legal_words()
        assert np.array_equal(words, batch.legal[row]), row


CALLS = ("reset", "step", "rollout", "set_state")


def call_of(games: Any, name: str) -> Callable[[], Any]:
    """A call that begins or changes games, and can be made again and again from the same state."""
    saved, actions = games.get_state(), games.random_actions()
    arguments = {"reset": {"seed": 2}, "step": {"actions": actions}, "rollout": {"plies": 6}}
    given = arguments.get(name, {"state": saved})
    return lambda: getattr(games, name)(**given)


@ONE_GAME
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", CALLS)
def test_vector_environments(case: Case, name: str, threads: int) -> None:
    """After an interrupted call every other call asks for a reset."""
    games = vector(case, GAMES, threads=threads)
    games.reset(seed=1)
    saved, actions, call = games.get_state(), games.random_actions(), call_of(games, name)
    broken = 0

    def prepare() -> None:
        if name in ("step", "rollout"):
            games.set_state(saved)

    def enough() -> bool:
        return broken > 0

    for delay in delays(lambda: (prepare(), call()), enough):
        prepare()
        stopped = interrupted(call, delay)
        # the interrupt may also fall between the end of the work and the end of the call
        if stopped and (not games.games.guard.playing or games.games.guard.thread is not None):
            broken += 1
            for ask in (lambda: games.step(actions), games.get_state, games.random_actions):
                with pytest.raises(ResetNeeded, match="the last call was interrupted; reset must"):
                    ask()
            games.reset(seed=3)
        else:
            games.random_actions()  # the call took effect or had none: play continues
        if games.games.guard.playing:
            check_masks(games)
        games.set_state(saved)
    assert enough()


@ONE_GAME
@pytest.mark.parametrize("opponent", ["random", "policy"])
def test_sb3_environments(case: Case, opponent: str) -> None:
    """With a Python policy the step is undone; with compiled opponents a reset is required."""
    other = first_legal if opponent == "policy" else opponent
    games = AzumayaVecEnv(case.game, 300, opponent=other, seed=1, **case.options)
    games.reset()
    broken = kept = 0

    def step() -> None:
        games.step(games.action_masks().argmax(axis=1))

    def enough() -> bool:
        return (kept if opponent == "policy" else broken) > 0

    for delay in delays(step, enough):
        before = games.duel.states.tobytes(), games.duel.series.tobytes()
        if interrupted(step, delay):
            if not games.duel.guard.playing:
                broken += 1
                with pytest.raises(ResetNeeded, match="was interrupted; reset must"):
                    step()
                games.reset()
            elif before == (games.duel.states.tobytes(), games.duel.series.tobytes()):
                kept += 1
        masks = [games.duel.position(row).action_mask() for row in range(0, 300, 37)]
        assert np.array_equal(masks, games.action_masks()[::37])
    assert enough()


@ONE_GAME
def test_after_an_interrupt_all_games_must_be_reset(case: Case) -> None:
    """After an interrupted call a reset mask that leaves games out is refused."""
    games = vector(case, 3)
    games.reset(seed=1)
    interrupt(games, 1)
    some = np.array([True, False, True])
    with pytest.raises(
        ValueError, match="the first reset after an interrupted call must include all"
    ):
        games.reset(options={"reset_mask": some})
    games.reset(seed=1)
    games.reset(options={"reset_mask": some})
    games.step(games.random_actions())


@ONE_GAME
def test_after_an_interrupt_the_series_continue(case: Case) -> None:
    """A reset without a seed begins the next episodes of the seed, in copies as well."""
    games, other = vector(case, 3), vector(case, 3)
    for env in (games, other):
        env.reset(seed=1)
        env.rollout(1)
    interrupt(games, 0)
    twin = pickle.loads(pickle.dumps(games))
    other.reset()
    for env in (games, twin):
        with pytest.raises(ResetNeeded, match="interrupted"):
            env.rollout(1)
        env.reset()
        assert alike(env.get_state(), other.get_state())


def interrupted_at(call: Callable[[], Any], moment: int) -> tuple[bool, bool]:
    """Make a call that Ctrl-C stops in its `moment`-th Python function.

    Returns whether it calls that many, and whether the interrupt came out of it.
    """
    left, came_out = moment, False

    def press(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal left
        left -= event == "call"
        if left == 0 and event == "call":
            raise KeyboardInterrupt

    gc.disable()  # Python swallows what is raised in finalizers, such as those of earlier tests
    sys.setprofile(press)
    try:
        call()
    except KeyboardInterrupt:
        came_out = True
    finally:
        sys.setprofile(None)
        gc.enable()
    return left <= 0, came_out


@ONE_GAME
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_is_never_another_error(case: Case, name: str) -> None:
    """Whichever function Ctrl-C falls into, one of NumPy too, it comes out as it is."""
    games = vector(case, 4)
    games.reset(seed=1)
    call = call_of(games, name)
    call()  # compiles: Python swallows what is raised while llvmlite frees its objects
    moment, reached = 0, True
    while reached:
        moment += 1
        reached, came_out = interrupted_at(call, moment)
        assert came_out == reached, f"the interrupt in function {moment} was swallowed"
        games.reset(seed=1)
    assert moment > 5
