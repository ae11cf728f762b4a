"""Where the time of PPO goes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from azumaya.benchmarks.studies import learning_profile
from azumaya.benchmarks.studies.learning_profile import GROUPS, OTHERS


def test_the_time_of_some_updates_is_divided(tmp_path: Path) -> None:
    found = learning_profile.profiled(
        2, game="score_dominari", network="plain", width=8, depth=1, games=8, rollout=4, batch=16,
        past_share=0.0,
    )  # fmt: skip
    assert found.steps == 2 * 8 * 4
    assert found.learning > 0
    assert found.playing > 0
    assert sum(found.groups.values()) == pytest.approx(found.seconds)
    assert found.groups["matrix products"] > 0
    shown = learning_profile.table(found)
    assert f"learning alone {found.learning:,.0f} steps/s" in shown
    assert all(f"| {name} |" in shown for name in found.groups)
    learning_profile.draw(found, tmp_path / "profile.svg")
    assert "matrix products" in (tmp_path / "profile.svg").read_text()


@pytest.mark.parametrize(
    ("kernel", "group"),
    [
        ("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", "matrix products"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_bf16>", "matrix products"),
        ("triton_poi_fused_add_mul_relu_3", "compiled for the network"),
        ("cudapy::azumaya::envs::adapters::cuda::kernels::step", "games and observations"),
        ("void at::native::multi_tensor_apply_kernel<FusedAdam>", "optimizer"),
        ("Memcpy DtoD (Device -> Device)", "copies"),
        ("something else", OTHERS),
    ],
)
def test_kernels_are_grouped_by_name(kernel: str, group: str) -> None:
    event = SimpleNamespace(key=kernel, self_device_time_total=2e6)
    assert learning_profile._timed([event], on_gpu=True) == [(kernel, group, 2.0)]
    assert group in (*GROUPS, OTHERS)
