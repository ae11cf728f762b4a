"""Workers that play the games of a run: how many they are makes no difference, nor does a death."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.system.cluster import RETRIES, CrewError
from azumaya.baselines.training import value, value_games
from azumaya.baselines.training.crews import (
    TRIES,
    OnRay,
    Parcel,
    Processes,
    crew_of,
)
from azumaya.baselines.training.value_games import kept_for
from azumaya.envs import OptionError
from azumaya.envs.extras import MissingExtraError
from tests.baselines.odd_jobs import bytes_and_wipe, die, fail, identity_of, square_or_die
from tests.library import ROOT
from tests.processes import python
from tests.training.run_helpers import SCRIPTS, differing, results


@pytest.fixture(scope="module")
def crew() -> Iterator[Processes]:
    """Two processes, started once."""
    crew = Processes(2)
    yield crew
    crew.close()


def test_a_job_whose_worker_dies_is_done_again(crew: Processes, tmp_path: Path) -> None:
    mark = str(tmp_path / "died")
    assert crew.run(square_or_die, mark, range(8)) == [n**2 for n in range(8)]
    assert Path(mark).exists()
    assert crew.run(square_or_die, mark, []) == []


def test_what_jobs_share_is_sent_once_and_anew_for_each_run(crew: Processes) -> None:
    for word in ("first", "second"):
        found = crew.run(identity_of, [word], range(12))
        assert [each[:2] for each in found] == [(word, n) for n in range(12)]
        assert len({each[2:] for each in found}) == len({process for _, _, process, _ in found})


def test_arrays_that_jobs_share_are_their_own(crew: Processes) -> None:
    """Of any type and size, also after larger ones; what a job writes stays in its process."""
    for size in (5, 100_000, 3):
        arrays = {
            "bytes": np.arange(size, dtype=np.uint8),
            "weights": np.linspace(1, 2, size, dtype=np.float32),
            "none": np.zeros(0, np.int64),
            "backwards": np.arange(1, size)[::-1],
        }
        before = {name: array.tobytes() for name, array in arrays.items()}
        assert crew.run(bytes_and_wipe, arrays, list(arrays)) == list(before.values())
        assert {name: array.tobytes() for name, array in arrays.items()} == before


def test_what_is_written_to_shared_arrays_is_not_in_the_file(tmp_path: Path) -> None:
    parcel = Parcel.packed(np.arange(1000), tmp_path / "arrays", 1)
    parcel.unpacked()[:] = 7
    assert (parcel.unpacked() == np.arange(1000)).all()


KILLED = """
import os, signal
import numpy as np
from azumaya.baselines.training.crews import Processes
from tests.baselines.odd_jobs import bytes_and_wipe

crew = Processes(1)
crew.run(bytes_and_wipe, {"weights": np.ones(9)}, ["weights"])
print(os.listdir(os.environ["TMPDIR"]), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_that_is_killed_leaves_nothing_among_temporary_files(tmp_path: Path) -> None:
    """Its workers remove what they shared with it, since it cannot."""
    done = python("-c", KILLED, cwd=ROOT, environment={"TMPDIR": str(tmp_path)}, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert "azumaya-crew-" in done.stdout
    assert not list(tmp_path.iterdir())  # its output has ended, so its workers have, too


def test_errors_of_a_job_are_raised(crew: Processes) -> None:
    with pytest.raises(ValueError, match="job 0"):
        crew.run(fail, "job", [0, 1])


@pytest.mark.slow
def test_workers_that_keep_dying_end_the_run() -> None:
    crew = Processes(1)
    try:
        with pytest.raises(CrewError, match=f"ended {TRIES} times"):
            crew.run(die, None, [1])
    finally:
        crew.close()


RUNS: dict[str, dict[str, Any]] = {
    "td_value": {"games": 9, "steps": 600},
    "expert_iteration": {"games": 5, "steps": 250},
}
"""The scripts that workers play for, with runs of some updates of more than one part each."""


class Pickled:
    """Does jobs here, as another process would get them."""

    def run(self, work: Callable[[Any, Any], Any], shared: Any, jobs: Sequence[Any]) -> list[Any]:
        """The last job first: the order must not matter."""
        shared = pickle.loads(pickle.dumps(shared))
        backwards = [work(shared, pickle.loads(pickle.dumps(job))) for job in reversed(jobs)]
        assert len(jobs) > 1
        return backwards[::-1]

    def close(self) -> None:
        """Nothing to end."""


@pytest.mark.parametrize("script", RUNS)
def test_jobs_are_all_that_workers_need(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main, tiny = SCRIPTS[script]
    main(tiny(tmp_path / "here", **RUNS[script]))
    monkeypatch.setattr(value_games, "crew_of", lambda workers, _: Pickled() if workers else None)
    main(tiny(tmp_path / "there", **RUNS[script], workers=2))
    one, other = results(tmp_path / "here"), results(tmp_path / "there")
    assert differing(one, other) == ["config.json"]


@pytest.mark.parametrize(
    "script", ["td_value", pytest.param("expert_iteration", marks=pytest.mark.slow)]
)
def test_a_run_does_not_depend_on_its_workers(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights, curve and evaluation are the same; a worker that is killed changes nothing."""
    tries = []
    once = Processes._try

    def killing(self: Processes, *given: object) -> None:
        tries.append(given)
        if len(tries) == 2:
            for process in list(self._pool._processes.values()):
                process.kill()
        once(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Processes, "_try", killing)
    main, tiny = SCRIPTS[script]
    main(tiny(tmp_path / "here", **RUNS[script]))
    assert not tries
    main(tiny(tmp_path / "there", **RUNS[script], workers=1))
    assert len(tries) > 2
    one, other = results(tmp_path / "here"), results(tmp_path / "there")
    assert differing(one, other) == ["config.json"]


def test_a_crew_is_processes_or_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crew_of(0, "") is None
    for main, tiny in (SCRIPTS[script] for script in RUNS):
        with pytest.raises(OptionError, match=r"give one of them, not both; .* --workers 0 or"):
            main(tiny(tmp_path / "run", workers=1, ray="local"))
    assert not (tmp_path / "run").exists()
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match="ray"):
        crew_of(0, "local")
    words = ["--game", "abalone", "--output", str(tmp_path / "run"), "--ray", "local"]
    assert value.run_words(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: this needs the package 'ray'")
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_what_a_worker_keeps_is_made_for_each_run() -> None:
    made = list[object]()

    def make(config: object) -> int:
        made.append(config)
        return len(made)

    td, expert = value.Config(), value.Config(nodes=300)
    assert [kept_for(td, make), kept_for(td, make)] == [1, 1]
    assert kept_for(expert, make) == 2
    assert kept_for(td, make) == 3
    assert kept_for(td, lambda config: "made by another script") == "made by another script"
    assert kept_for(replace(td, seed=7), make) == 4


class Joined:
    """Ray, as far as it tells whether this process has joined a cluster."""

    def __init__(self, joined: bool) -> None:
        self.joined = joined

    def is_initialized(self) -> bool:
        return self.joined

    def init(self, **_: object) -> None:
        self.joined = True
        signal.signal(signal.SIGTERM, lambda number, frame: None)

    def shutdown(self) -> None:
        self.joined = False


@pytest.mark.parametrize("before", [False, True])
def test_a_cluster_that_was_joined_before_a_run_is_not_left(
    before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = Joined(before)
    monkeypatch.setitem(sys.modules, "ray", ray)
    handler = signal.getsignal(signal.SIGTERM)
    crew = OnRay("local")
    assert ray.joined
    assert signal.getsignal(signal.SIGTERM) is handler, "it saves the run"
    crew.close()
    assert ray.joined == before


class WorkerCrashedError(Exception):
    """As Ray's error of this name."""


class Failing(Joined):
    """Ray, whose jobs fail in some way."""

    exceptions = SimpleNamespace(WorkerCrashedError=WorkerCrashedError)

    def __init__(self, error: Exception) -> None:
        super().__init__(True)
        self.error, self.options = error, dict[str, object]()

    def remote(self, **options: object) -> Callable[[object], object]:
        self.options = options
        return lambda work: SimpleNamespace(remote=lambda *_: work)

    def put(self, shared: object) -> object:
        return shared

    def get(self, waiting: object) -> object:
        raise self.error


@pytest.mark.parametrize(
    ("error", "raised", "told"),
    [
        (WorkerCrashedError("killed"), CrewError, r"died 6 times: killed"),
        (ValueError("job 0"), ValueError, "^job 0$"),
    ],
)
def test_jobs_that_kill_their_workers_are_not_done_for_ever(
    error: Exception, raised: type[Exception], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the job itself is raised as it is."""
    ray = Failing(error)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(raised, match=told):
        OnRay("local").run(identity_of, [1], [1, 2])
    assert ray.options["max_retries"] == RETRIES


@pytest.mark.slow
@pytest.mark.parametrize("script", RUNS)
def test_a_run_goes_on_when_a_node_of_ray_dies(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two local nodes, of which one is killed while games are played."""
    ray = pytest.importorskip("ray")
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    small = {"num_cpus": 1, "object_store_memory": 100 << 20}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=small)
    doomed = cluster.add_node(**small)
    calls, killed, run = [], [], OnRay.run

    def killing(self: OnRay, *given: object) -> object:
        calls.append(len(ray.nodes()))
        if len(calls) == 3:
            cluster.remove_node(doomed, allow_graceful=False)
            killed.append(not doomed.any_processes_alive())
        return run(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(OnRay, "run", killing)
    main, tiny = SCRIPTS[script]
    more = RUNS[script] | {name: 3 * RUNS[script][name] for name in ("games", "steps")}
    main(tiny(tmp_path / "here", **more))
    try:
        cluster.wait_for_nodes()
        main(tiny(tmp_path / "there", **more, ray=cluster.address))
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert killed == [True]
    one, other = results(tmp_path / "here"), results(tmp_path / "there")
    assert differing(one, other) == ["config.json"]
