"""The harness writes a valid row for each measurement and continues where it stopped."""

from __future__ import annotations

import importlib.metadata
import io
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from azumaya.benchmarks import machine, plan
from azumaya.benchmarks import run as runner
from azumaya.benchmarks.games import StepLoop
from azumaya.benchmarks.limits import CHUNK, limits
from azumaya.benchmarks.results import Results, ResultsError, Row, read_run
from azumaya.benchmarks.timing import Rates
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.engine.workers import available_cores
from azumaya.envs.game import Game
from tests.benchmarks.conftest import QUIET, TINY
from tests.cases import YARDSTICK


def of_kind(rows: list[Row], kind: str, game: str | None = None) -> list[Row]:
    return [row for row in rows if row["kind"] == kind and row.get("game") == game]


def test_every_job_has_one_row(rows: list[Row], games: tuple[Game, ...]) -> None:
    keys = [row["key"] for row in rows]
    assert keys == [job.key for job in plan.jobs(TINY, games)]
    assert len(set(keys)) == len(keys)
    assert not [row for row in rows if "value" not in row and "error" not in row]


def test_rates_are_numbers_in_order(rows: list[Row], games: tuple[Game, ...]) -> None:
    kinds = {"bare": 1, "match": 1, "aec": 2, "batch": 3 * (2 + (available_cores() > 1)) + 1}
    for game, (kind, count) in itertools.product(games, kinds.items()):
        found = of_kind(rows, kind, game.name)
        assert len(found) == count, (game.name, kind)
        for row in found:
            assert 0 < row["low"] <= row["value"] <= row["high"] < 1e12
            assert row["wall"] > 0
            assert row["includes"]


def test_bytes_match_the_observations_of_the_games(
    rows: list[Row], games: tuple[Game, ...]
) -> None:
    for game in games:
        check_bytes(rows, game)


def check_bytes(rows: list[Row], game: Game) -> None:
    planes = len(game.observation.planes) * game.observation.cells
    actions = game.options.num_actions(game.options.defaults)
    small = 2 + 8 + 8 + 16  # two flags, the reward, who moves, both rewards
    for row in of_kind(rows, "batch", game.name):
        least = {"planes": planes + actions, "packed": (planes + actions) // 16, "none": actions}
        assert least[row["form"]] + small <= row["bytes_per_step"] <= planes + actions + small + 126
        assert row["bytes"] == pytest.approx(row["bytes_per_step"] * row["size"], abs=1)
        assert 0 < row["memset"] < 1e12
        assert 0 < row["memcpy"] < 1e12
        assert row["limits"]
    by_form = {row["form"]: row for row in of_kind(rows, "memory", game.name)}
    assert by_form["planes"]["value"] > planes + actions + game.rules.state.itemsize
    assert game.rules.state.itemsize < by_form["packed"]["value"] < by_form["planes"]["value"]


def test_all_rows_of_a_game_have_one_signature(rows: list[Row], games: tuple[Game, ...]) -> None:
    signed = [row for row in rows if "game" in row and "signature" in row]
    pairs = {(row["game"], row["signature"]) for row in signed}
    assert sorted(game for game, _ in pairs) == sorted(game.name for game in games)
    assert len({signature for _, signature in pairs}) == len(games)


def test_references_are_measured_before_and_after_every_game(
    rows: list[Row], games: tuple[Game, ...]
) -> None:
    order = [row.get("game", "-") for row in rows if row["kind"] in ("bare", "reference")]
    assert order == ["-"] * 3 + [name for game in games for name in (game.name, "-", "-", "-")]
    assert all(row["value"] > 0 for row in of_kind(rows, "reference"))


def test_the_file_begins_with_the_machine(finished: Path, rows: list[Row]) -> None:
    header, *lines = map(json.loads, (finished / "rows.jsonl").read_text().splitlines())
    assert lines == rows
    assert header["settings"] == "tiny"
    assert {"cpu", "cores", "python", "numpy", "numba", "commit"} <= header["machine"].keys()


def test_only_applied_moves_count() -> None:
    env = AzumayaVectorEnv(YARDSTICK, 8, threads=1, observation="none", copy=False)
    loop = StepLoop(env)
    steps = [0, 0]
    step = env.step

    def counted(actions: np.ndarray) -> object:
        steps[0] += len(actions)
        answer = step(actions)
        steps[1] += int((answer[2] | answer[3]).sum())
        return answer

    env.step = counted  # type: ignore[assignment, method-assign]
    moves = loop.chunk()
    assert steps[1] > 0
    assert moves == steps[0] - steps[1] + loop._over


def test_limits_write_all_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one call from Python for many rounds: such calls cost more than small buffers."""
    buffers: list[np.ndarray] = []
    ones = np.ones
    monkeypatch.setattr(np, "ones", lambda *given: buffers.append(ones(*given)) or buffers[-1])
    calls = 0

    def once(chunk: Callable[[], int], *_: object) -> Rates:
        nonlocal calls
        assert chunk() == CHUNK
        calls += 1
        assert [int(each.sum()) for each in buffers[:2]] == [[0, 0], [640, 80]][calls - 1]
        return Rates([1.0], [1.0])

    monkeypatch.setattr("azumaya.benchmarks.limits.measure", once)
    assert set(limits([640, 80], 8, 0.0005, 2)) == {"memset", "memcpy"}
    assert len(buffers) == 4


# ---- continuing ----


def jobs_of(names: list[str], log: list[str], stop_at: str = "") -> list[plan.Job]:
    def measure(name: str) -> Row:
        if name == stop_at:
            raise KeyboardInterrupt
        log.append(name)
        return {"value": 1.0}

    return [plan.Job(name, {"kind": "x"}, lambda name=name: measure(name)) for name in names]  # type: ignore[misc]


def test_a_stopped_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    monkeypatch.setattr(runner, "jobs", lambda *_: jobs_of(["a", "b", "c"], log, stop_at="c"))
    assert not runner.run(TINY, [], tmp_path, QUIET)
    assert [row["key"] for row in read_run(tmp_path)[1]] == ["a", "b"]
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write('{"key": "c", "val')  # cut off by a kill
    monkeypatch.setattr(runner, "jobs", lambda *_: jobs_of(["a", "b", "c"], log))
    assert runner.run(TINY, [], tmp_path, QUIET)
    assert log == ["a", "b", "c"]
    assert [row["key"] for row in read_run(tmp_path)[1]] == ["a", "b", "c"]


@pytest.mark.parametrize("why", ["error", "skipped"])
def test_what_could_not_be_measured_is_tried_again(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For instance because of a missing package, or of too little memory."""
    log: list[str] = []
    failing = plan.Job("a", {"kind": "x"}, lambda: {why: "no luck"})
    later = jobs_of(["a", "b"], log)
    for jobs in ([failing, later[1]], later, later):
        monkeypatch.setattr(runner, "jobs", lambda *_, jobs=jobs: jobs)
        assert runner.run(TINY, [], tmp_path, QUIET)
        rows = read_run(tmp_path)[1]
        assert [row["key"] for row in rows] == ["a", "b"]
        assert (why in rows[0]) == (jobs[0] is failing)
    assert log == ["b", "a"]


def test_a_run_with_other_settings_cannot_continue(tmp_path: Path) -> None:
    Results(tmp_path, "tiny").add({"key": "a", "kind": "x"})
    with pytest.raises(ResultsError, match=r"settings tiny.*another --output"):
        Results(tmp_path, "full")
    assert "a" in Results(tmp_path, "tiny")
    file = tmp_path / "rows.jsonl"
    file.write_text(file.read_text().replace('"cores": ', '"cores": 9'))
    with pytest.raises(ResultsError, match="cores 9"):
        Results(tmp_path, "tiny")


@pytest.mark.parametrize("package", machine.MEASURED)
def test_a_run_with_other_packages_cannot_continue(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor one without a package that the run had."""
    header = Results(tmp_path, "tiny").header["machine"]
    assert header[package] == importlib.metadata.version(package)
    version = importlib.metadata.version
    for other in ("0.0.1", None):

        def another(name: str, other: str | None = other) -> str:
            if name == package and other is None:
                raise importlib.metadata.PackageNotFoundError(name)
            return other if name == package and other else version(name)

        with monkeypatch.context() as patch:
            patch.setattr(importlib.metadata, "version", another)
            with pytest.raises(ResultsError, match=re.escape(f"{package} {header[package]}")):
                Results(tmp_path, "tiny")


def test_a_run_that_is_continued_says_what_it_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    said = [""]
    for stop_at in ("c", "c", ""):
        jobs = jobs_of(["a", "b", "c"], log, stop_at)
        monkeypatch.setattr(runner, "jobs", lambda *_, jobs=jobs: jobs)
        out = Console(width=400, file=io.StringIO(), record=True)
        assert runner.run(TINY, [], tmp_path, out) == (not stop_at)
        said.append(out.export_text())
    assert "measured before" not in said[1]
    for text in said[2:]:
        assert f"{tmp_path}: keeps 2 rows measured before; 1 to be measured" in text


def test_batches_too_large_for_memory_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "available_memory", lambda: 2**20)
    job = plan._batch_job(TINY, YARDSTICK, "packed", plan.LARGE, 1, copies=False)
    assert "GiB" in job.measure()["skipped"]
