"""The environment of the CPU and that of a device, played side by side: equal in every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from azumaya.envs import make_vec
from azumaya.envs.errors import IllegalActionError
from azumaya.envs.game import Game

FORMS = ("planes", "packed", "none")
MODES = ("NextStep", "SameStep", "Disabled")
COMBINATIONS = tuple((form, mode) for mode in MODES for form in FORMS)


def on_host(value: Any) -> np.ndarray:
    """A tensor or array as an array."""
    return value.cpu().numpy() if hasattr(value, "cpu") else np.asarray(value)


def equal(name: str, host: Any, device: Any) -> None:
    """Two arrays have the same type, shape and content."""
    left, right = np.asarray(host), on_host(device)
    assert left.dtype == right.dtype, name
    assert left.shape == right.shape, name
    assert np.array_equal(left, right), f"{name} differs in {np.argwhere(left != right)[:5]}"


def equal_infos(host: dict[str, Any], device: dict[str, Any]) -> None:
    """Infos are the same, those on games that ended in their rows."""
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
    """Results of `reset`, `set_state` or `step` are the same."""
    assert host[0].keys() == device[0].keys()
    for name, array in host[0].items():
        equal(name, array, device[0][name])
    for name, left, right in zip("rtt", host[1:-1], device[1:-1], strict=False):
        equal(name, left, right)
    assert len(host) == len(device)
    equal_infos(host[-1], device[-1])


def equal_states(host: Any, device: Any) -> None:
    """Both are in the same state, to the last byte."""
    for left, right in zip(host.get_state(), device.get_state(), strict=True):
        assert left.dtype.itemsize == right.dtype.itemsize
        assert left.tobytes() == right.tobytes()


class Pair:
    """Both environments, made alike, to which everything is done twice."""

    def __init__(self, game: Game, num_envs: int, form: str, mode: str, **options: Any) -> None:
        alike = {"observation": form, "autoreset_mode": mode, **options}
        self.host = make_vec(game.name, num_envs, threads=1, **alike)
        self.device: Any = make_vec(game.name, num_envs, device="cuda", **alike)
        self.mode, self.ends, self._over = mode, 0, np.zeros(num_envs, bool)

    def reset(self, **arguments: Any) -> None:
        """Reset both and compare."""
        equal_results(self.host.reset(**arguments), self.device.reset(**arguments))

    def step(self) -> None:
        """One random step of both, compared; games that are over are reset if nobody else does."""
        if self.mode == "Disabled" and self._over.any():
            self.reset(options={"reset_mask": self._over})
        actions = self.device.random_actions()
        equal("actions", self.host.random_actions(), actions)
        results = self.host.step(on_host(actions).copy())
        equal_results(results, self.device.step(actions))
        self._over = results[2] | results[3]
        self.ends += int(self._over.sum())

    def play(self, steps: int, seed: int) -> None:
        """A reset and so many steps."""
        self.reset(seed=seed)
        for _ in range(steps):
            self.step()
        equal_states(self.host, self.device)


def illegal_actions_are_told_later(game: Game, count: int) -> None:
    """The word of errors keeps the first step with one, and in it the lowest row."""
    env: Any = make_vec(game.name, count, device="cuda", observation="none")
    env.reset(seed=1)
    for bad_rows in ([count - 96, 17, 300], [5]):
        actions = env.random_actions()
        actions[bad_rows] = -1
        env.step(actions)
    with pytest.raises(IllegalActionError, match=r"actions\[17\]: -1 .* step 1 of 2"):
        env.check()
    env.check()  # it is told once


def checked_actions_change_no_game(game: Game) -> None:
    """With `check_actions` a step with an illegal action is refused whole."""
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
