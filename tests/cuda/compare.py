"""Plays an environment on the CPU and one on a device side by side; all results must be equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from azumaya.envs import make_vec
from azumaya.envs.adapters.cuda import spreading
from azumaya.envs.errors import IllegalActionError
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.observation import unpack_bits, unpack_planes

FORMS = ("planes", "packed", "none")
MODES = ("NextStep", "SameStep", "Disabled")
COMBINATIONS = tuple((form, mode) for mode in MODES for form in FORMS)
PLANTED = (-1, 2**40, 0)
"""Actions of which the first two are never legal, and the last one is not always."""


def on_host(value: Any) -> np.ndarray:
    """A tensor or array as a NumPy array."""
    return value.cpu().numpy() if hasattr(value, "cpu") else np.asarray(value)


def equal(name: str, host: Any, device: Any) -> None:
    """Assert that two arrays have the same dtype, shape and content."""
    left, right = np.asarray(host), on_host(device)
    assert left.dtype == right.dtype, name
    assert left.shape == right.shape, name
    assert np.array_equal(left, right), f"{name} differs in {np.argwhere(left != right)[:5]}"


def equal_infos(host: dict[str, Any], device: dict[str, Any]) -> None:
    """Assert that infos are equal; final infos only in the rows of games that ended."""
    for name in ("action_mask", "to_move", "rewards"):
        equal(name, host[name], device[name])
        equal(f"_{name}", host[f"_{name}"], device[f"_{name}"])
    if "final_obs" not in device:
        assert "final_obs" not in host
        return
    which = on_host(device["_final_obs"])
    equal("_final_obs", host.get("_final_obs", np.zeros(len(which), bool)), which)
    for row in np.flatnonzero(which):
        for name, array in host["final_obs"][row].items():
            equal(f"final {name}", array, device["final_obs"][name][row])
    if which.any():
        for name in ("action_mask", "to_move", "rewards"):
            equal(f"final {name}", host["final_info"][name], device["final_info"][name])
            equal(f"final _{name}", which, device["final_info"][f"_{name}"])


def equal_results(host: tuple[Any, ...], device: tuple[Any, ...]) -> None:
    """Assert that results of `reset`, `set_state` or `step` are equal."""
    assert host[0].keys() == device[0].keys()
    for name, array in host[0].items():
        equal(name, array, device[0][name])
    for name, left, right in zip("rtt", host[1:-1], device[1:-1], strict=False):
        equal(name, left, right)
    assert len(host) == len(device)
    equal_infos(host[-1], device[-1])


def equal_states(host: Any, device: Any) -> None:
    """Assert that the states of both environments are equal byte for byte."""
    for left, right in zip(host.get_state(), device.get_state(), strict=True):
        assert left.dtype.itemsize == right.dtype.itemsize
        assert left.tobytes() == right.tobytes()


class Pair:
    """Two environments with the same arguments, one on the CPU and one on a device.

    With `illegal="lose"`, every fifth game gets an action that may be illegal in each step.
    """

    def __init__(self, game: Game, num_envs: int, form: str, mode: str, **options: Any) -> None:
        alike = {"observation": form, "autoreset_mode": mode, **options}
        self.host = make_vec(game.name, num_envs, threads=1, **alike)
        self.device: Any = make_vec(game.name, num_envs, device="cuda", **alike)
        self.mode, self.ends, self._over = mode, 0, np.zeros(num_envs, bool)
        self._steps, self._spoils = 0, options.get("illegal") == "lose"

    def reset(self, **arguments: Any) -> None:
        """Reset both and compare the results."""
        equal_results(self.host.reset(**arguments), self.device.reset(**arguments))

    def step(self) -> None:
        """One random step of both, compared; in disabled mode every second resets games first."""
        self._steps += 1
        if self.mode == "Disabled" and self._over.any() and self._steps % 2:
            self.reset(options={"reset_mask": self._over})
        actions = self.device.random_actions()
        equal("actions", self.host.random_actions(), actions)
        if self._spoils:
            actions[self._steps % 5 :: 5] = PLANTED[self._steps % len(PLANTED)]
        results = self.host.step(on_host(actions).copy())
        equal_results(results, self.device.step(actions))
        self._over = results[2] | results[3]
        self.ends += int(self._over.sum())

    def play(self, steps: int, seed: int) -> None:
        """A reset and `steps` random steps."""
        self.reset(seed=seed)
        for _ in range(steps):
            self.step()
        equal_states(self.host, self.device)


def illegal_actions_lose(game: Game, count: int, form: str, mode: str, **options: Any) -> None:
    """As on the CPU in steps, saved games, positions and rollouts; and no error is kept."""
    pair = Pair(game, count, form, mode, illegal="lose", **options)
    pair.play(7, seed=6)
    state = pair.host.get_state()
    lost = np.flatnonzero(state[1]["lost"])
    assert (len(lost) > 0) == (mode != "SameStep")
    equal_results(pair.host.set_state(state), pair.device.set_state(state))
    for row in lost[:2]:
        assert pair.host.position(row) == pair.device.position(row)
    assert pair.host.rollout(0) == pair.device.rollout(0) == 0
    equal_states(pair.host, pair.device)
    pair.step()
    assert pair.host.rollout(3) == pair.device.rollout(3)
    equal_states(pair.host, pair.device)
    pair.reset()
    pair.step()
    pair.device.check()


def illegal_actions_are_reported_later(game: Game, count: int) -> None:
    """The device remembers the first step with an illegal action, and its lowest row."""
    env: Any = make_vec(game.name, count, device="cuda", observation="none")
    env.reset(seed=1)
    for bad_rows in ([count - 96, 17, 300], [5]):
        actions = env.random_actions()
        actions[bad_rows] = -1
        env.step(actions)
    with pytest.raises(IllegalActionError, match=r"actions\[17\]: -1 .* step 1 of 2"):
        env.check()
    env.check()  # the error is reported once


def checked_actions_change_no_game(game: Game) -> None:
    """With `check_actions` a step with an illegal action changes no game."""
    env: Any = make_vec(game.name, 64, device="cuda", check_actions=True)
    env.reset(seed=1)
    before, actions = env.get_state()[0].tobytes(), env.random_actions()
    legal = actions.clone()
    actions[[40, 9]] = -1
    with pytest.raises(IllegalActionError, match=r"actions\[9\]"):
        env.step(actions)
    assert env.get_state()[0].tobytes() == before
    env.step(legal)
    env.check()


def random_bits_are_spread(device: Any, game: Game, count: int) -> None:
    """Rows of random words, not only those that games produce, become what NumPy makes of them."""
    rng, seen = np.random.default_rng(count), game.observation
    words = rng.integers(0, 2**64, (count, seen.packed_words), np.uint64)
    bits, size = seen.cell_planes * seen.cells, len(seen.planes) * seen.cells
    words[:, word_count(bits) - 1] &= np.uint64((1 << ((bits - 1) % 64 + 1)) - 1)
    which = np.arange(count) % 3 == 0
    flags = device.view(device.put(which))

    def spread(kernel: Any, rows: np.ndarray, width: int) -> np.ndarray:
        given, out = device.new(rows.shape, np.int64), device.new((count, width), np.int8).fill_(7)
        device.put(rows.view(np.int64), given)
        octets, place = device.memory(given, np.uint8), device.memory(out, np.uint64)
        device.launch(kernel, spreading.threads(count, width), octets, flags, place)
        found: np.ndarray = device.get(out)
        return found

    planes = unpack_planes(game, words).reshape(count, -1)
    assert np.array_equal(spread(spreading.write_planes_kernel(game, False), words, size), planes)
    some = spread(spreading.write_planes_kernel(game, True), words, size)
    assert np.array_equal(some[which], planes[which])
    assert count == 1 or (some[1] == 7).any()
    whole = 64 * seen.packed_words
    for actions in (whole, whole - 3, 9, 3):
        rows = words if actions > 8 else words & np.uint64(2**actions - 1)
        masks = spread(spreading.write_masks_kernel(seen.packed_words, actions), rows, actions)
        assert np.array_equal(masks, unpack_bits(rows, actions))
