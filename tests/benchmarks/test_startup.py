"""Start-up is measured in fresh processes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from azumaya.benchmarks.startup import measure_start, probe
from tests.cases import TESTED

GAME = next(iter(TESTED.values()))


@pytest.mark.slow  # a cold cache
def test_cold_compiles_and_warm_does_not() -> None:
    row = measure_start(GAME, "aec", repeats=1)
    assert row["cold_compiled"] > 0 == row["compiled"]
    assert 0 < row["import"] < row["value"]
    assert row["compile"] == pytest.approx(row["cold"] - row["value"], abs=0.02)
    assert row["low"] <= row["value"] <= row["high"]


def test_failure_says_why(tmp_path: object) -> None:
    with pytest.raises(RuntimeError, match="no such game"):
        probe(replace(GAME, name="nim"), "aec", str(tmp_path))
