"""Threads: no more than are useful, none left behind, and one caller at a time."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from gymnasium.error import AlreadyPendingCallError, ResetNeeded

from azumaya.envs.engine import workers as workers_module
from azumaya.envs.engine.workers import LEAST, Workers
from azumaya.envs.errors import OptionError
from azumaya.envs.kernels.compile import INTERPRETED
from tests.cases import Case
from tests.processes import eventually
from tests.vector.cases import ONE_GAME, vector
from tests.vector.test_workers import mark, worker_threads

compiled_only = pytest.mark.skipif(INTERPRETED, reason="interpreted kernels use one thread")


@compiled_only
@ONE_GAME
def test_closing_ends_the_threads(case: Case) -> None:
    """Threads end at `close`, although the environment still exists."""
    before, games = worker_threads(), vector(case, 3 * LEAST, threads=3)
    games.reset(seed=1)
    games.step(games.random_actions())
    assert len(worker_threads() - before) == 2
    games.close()
    eventually(lambda: worker_threads() <= before)
    assert games.position(0)


@compiled_only
def test_no_more_threads_than_are_useful() -> None:
    """The number of threads follows the largest batch so far; threads that are replaced end."""
    before, workers = worker_threads(), Workers(20_000)
    for parts, threads in ((4, 4), (2, 4), (6, 6)):
        marks = np.zeros(parts * LEAST, np.int64)
        workers.run(mark, len(marks), lambda marks=marks: (marks,))
        assert (marks == 1).all()
        eventually(lambda more=threads - 1: len(worker_threads() - before) == more)
    workers.close()
    eventually(lambda: worker_threads() <= before)


@compiled_only
def test_an_error_when_a_thread_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is raised, and the threads that did start end."""
    before, started = worker_threads(), []
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == "azumaya" and len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        real(thread)

    workers, marks = Workers(8), np.zeros(8 * LEAST, np.int64)
    with monkeypatch.context() as patch:
        patch.setattr(workers_module.threading.Thread, "start", start)
        with pytest.raises(OptionError, match="threads=8: the system can start only 3"):
            workers.run(mark, len(marks), lambda: (marks,))
    eventually(lambda: worker_threads() <= before)
    workers.run(mark, len(marks), lambda: (marks,))
    assert (marks == 1).all()
    workers.close()


@ONE_GAME
def test_a_second_caller_is_refused(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second caller gets an error; the first call continues undisturbed."""
    games, twin = vector(case, 3), vector(case, 3)
    for each in (games, twin):
        each.reset(seed=1)
    inside, leave, results = threading.Event(), threading.Event(), []
    step = games.games.step

    def slow(*arguments: Any, **more: Any) -> Any:
        inside.set()
        assert leave.wait(60)
        return step(*arguments, **more)

    actions = games.random_actions()
    monkeypatch.setattr(games.games, "step", slow)
    other = threading.Thread(target=lambda: results.append(games.step(actions)))
    other.start()
    assert inside.wait(60)
    for name, call in (
        ("step", lambda: games.step(actions)),
        ("reset", games.reset),
        ("rollout", lambda: games.rollout(1)),
        ("random_actions", games.random_actions),
        ("position", lambda: games.position(0)),
        ("get_state", games.get_state),
        ("copy", lambda: pickle.dumps(games)),
    ):
        with pytest.raises(AlreadyPendingCallError, match=f"{name}: another thread is inside"):
            call()
    leave.set()
    other.join()
    assert np.array_equal(twin.random_actions(), actions)
    assert np.array_equal(results[0][1], twin.step(actions)[1])
    assert np.array_equal(games.random_actions(), twin.random_actions())


@ONE_GAME
def test_after_a_thread_died_in_a_call(case: Case) -> None:
    """Another thread may call again, but must reset first."""
    games = vector(case, 3)
    games.reset(seed=1)
    gone = threading.Thread(target=lambda: None)
    gone.start()
    gone.join()
    games.games.guard.thread = gone.ident
    with pytest.raises(ResetNeeded, match="interrupted"):
        games.rollout(1)
    games.reset()
    games.rollout(1)
