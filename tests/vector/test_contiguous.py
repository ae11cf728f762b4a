"""Arrays returned to users are contiguous and writable, so that every framework takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.kernels.spread import aligned, spread_row_kernel
from azumaya.wrappers import SingleAgentEnv
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.cases import Case
from tests.vector.cases import ONE_GAME, vector

COUNTS = (1, 7, 63, 64, 65, 81, 100, 127, 128, 129, 200, 257, 729)


@pytest.mark.parametrize("count", COUNTS)
def test_bits_are_spread_to_bytes(count: int) -> None:
    """Each bit becomes a byte, at any offset in the buffer; other bytes are not touched."""
    words = -(-count // 64)
    spread_row, rng = spread_row_kernel(words), np.random.default_rng(count)
    for base in range(0, 70 if not INTERPRETED else 9):
        row = rng.integers(0, 2**64, words, np.uint64, endpoint=False)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")[:count]
        if count % 64:
            row[-1] &= np.uint64((1 << count % 64) - 1)
        out = aligned((1, 70 + count + 64), np.int8)
        out[:] = 9
        spread_row(out, base, count, row)
        assert np.array_equal(out[0, base : base + count], bits)
        assert (out[0, :base] == 9).all()
        assert (out[0, base + count :] == 9).all()


def arrays_in(results: Any) -> Iterator[np.ndarray]:
    """All arrays in a result, at any depth."""
    if isinstance(results, np.ndarray) and results.dtype != object:
        yield results
    elif isinstance(results, dict):
        for each in results.values():
            yield from arrays_in(each)
    elif isinstance(results, tuple | list | np.ndarray):
        for each in results:
            yield from arrays_in(each)


def check_usable(results: Any) -> int:
    found = list(arrays_in(results))
    for array in found:
        assert array.flags.c_contiguous
        assert array.flags.writeable
        np.from_dlpack(array)
        if array.dtype != np.bool_:
            torch.from_numpy(array).view(-1)
    return len(found)


@ONE_GAME
@pytest.mark.parametrize("form", ["planes", "packed", "none"])
@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_vector_environments(case: Case, form: str, copy: bool, mode: str) -> None:
    """Every array, including final observations."""
    games = vector(case, 5, observation=form, copy=copy, autoreset_mode=mode)
    assert check_usable(games.reset(seed=1)) >= 6
    finals = 0
    for _ in range(60):
        results = games.step(games.random_actions())
        finals += "final_obs" in results[-1]
        assert check_usable(results) >= 9
    assert finals or mode == "NextStep"


@ONE_GAME
def test_other_environments(case: Case) -> None:
    """The SB3 environment, the AEC environment and the single-agent environment."""
    games = AzumayaVecEnv(case.game, 5, seed=1, **case.options)
    check_usable(games.reset())
    check_usable(games.step(games.action_masks().argmax(axis=1)))
    check_usable(games.action_masks())
    env = case.env()
    env.reset(seed=1)
    check_usable([env.last()[0], env.infos, env.state()])
    check_usable(SingleAgentEnv(case.game, **case.options).reset(seed=1))
