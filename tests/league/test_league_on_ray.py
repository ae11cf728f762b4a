"""A league on a Ray cluster of two local nodes, one of which dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from azumaya.baselines.arena.league.crew import ray_crew
from azumaya.baselines.arena.league.league import join, play_league
from azumaya.baselines.arena.league.results import LeagueFile, PairResult
from azumaya.baselines.arena.league.schedule import Plan
from tests.league.playing import GAME, league_here, outcomes

PAIRS = 30


@pytest.mark.slow
def test_a_league_goes_on_when_a_node_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    # processes of Ray do not run the tests' interpreter setup, only its path
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    small = {"num_cpus": 1, "object_store_memory": 100 << 20}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=small)
    doomed = cluster.add_node(**small)
    here, path = tmp_path / "here.jsonl", tmp_path / "ray.jsonl"
    league_here(here, ["greedy", "uct:30"], PAIRS)
    alive: list[int] = []
    killed: list[bool] = []
    try:
        cluster.wait_for_nodes()
        crew = ray_crew(cluster.address)
        file = LeagueFile(path)
        join(file, ["greedy", "uct:30"], [GAME])

        def kill_one(result: PairResult) -> None:
            if len(file.league.pairs) == PAIRS // 2:
                cluster.remove_node(doomed, allow_graceful=False)
                killed.append(not doomed.any_processes_alive())
            alive.append(sum(node["Alive"] for node in ray.nodes()))

        play_league(file, Plan((GAME,), PAIRS), crew, kill_one)
        file.close()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert alive[0] == 2
    assert killed == [True]
    assert outcomes(path) == outcomes(here)
    assert path.read_bytes().count(b'"record":"pair"') == 3 * PAIRS
