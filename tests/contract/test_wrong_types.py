"""Arguments of the wrong type are accepted or refused with a documented error, nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from azumaya.envs import OptionError, Position, make, make_vec, raw
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.errors import IllegalActionError, MoveNameError, PositionError
from azumaya.envs.registry import GAMES, find_game
from azumaya.wrappers import SingleAgentEnv
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.contract.begun import NAME, learner, vector

OTHER = next(name for name in GAMES if name != NAME)
OPTION = next(iter(find_game(NAME).options)).name
DOCUMENTED = (OptionError, IllegalActionError, MoveNameError, PositionError)
VALUES = (
    None, True, np.True_, 1.0, float("nan"), -1, 2**62, 2**70, "", "x" * 300, b"x", ["planes"],
    {"a": 1}, (), object(), np.zeros(3), np.zeros((2, 2), np.int64), np.array("a"), int, len,
)  # fmt: skip
"""Values of all types, most of them wrong everywhere."""


def brief(value: Any) -> str:
    return repr(value)[:20].split(" at 0x")[0]


def aec(wrapped: bool) -> Any:
    env = make(NAME) if wrapped else raw(NAME)
    env.reset(seed=1)
    return env


def seat() -> Any:
    env = SingleAgentEnv(NAME)
    env.reset(seed=1)
    return env


CALLS: dict[str, Callable[[], Callable[[Any], Any]]] = {
    "make": lambda: make,
    "make render_mode": lambda: lambda x: make(NAME, render_mode=x),
    "make position": lambda: lambda x: make(NAME, position=x),
    "make action_mask": lambda: lambda x: make(NAME, action_mask=x),
    "find_game": lambda: find_game,
    "Position": lambda: Position,
    "Position seed": lambda: lambda x: Position(NAME, seed=x),
    "from_text game": lambda: lambda x: Position.from_text(x, ""),
    "from_text": lambda: lambda x: Position.from_text(NAME, x),
    "observation": lambda: Position(NAME).observation,
    "play": lambda: Position(NAME).play,
    "explain": lambda: Position(NAME).explain,
    "move_name": lambda: Position(NAME).move_name,
    "parse_move": lambda: Position(NAME).parse_move,
    "check_action": lambda: Position(NAME).check_action,
    "scene": lambda: Position(NAME).scene,
    "resample_hidden": lambda: Position(NAME).resample_hidden,
    "make_vec": lambda: make_vec,
    "num_envs": lambda: lambda x: make_vec(NAME, x),
    "threads": lambda: lambda x: make_vec(NAME, 1, threads=x),
    "device": lambda: lambda x: make_vec(NAME, 1, device=x),
    "vector observation": lambda: lambda x: make_vec(NAME, 1, observation=x),
    "autoreset_mode": lambda: lambda x: make_vec(NAME, 1, autoreset_mode=x),
    "vector illegal": lambda: lambda x: make_vec(NAME, 1, illegal=x),
    "vector step": lambda: vector().step,
    "vector reset seed": lambda: lambda x: vector().reset(seed=x),
    "vector reset options": lambda: lambda x: vector().reset(options=x),
    "reset_mask": lambda: lambda x: vector().reset(options={"reset_mask": x}),
    "rollout": lambda: lambda x: vector().rollout(3 if type(x) is int and x == 2**62 else x),
    "vector position": lambda: vector().position,
    "vector set_state": lambda: vector().set_state,
    "unpack": lambda: make_vec(NAME, 1, observation="packed").unpack,
    "sb3 game": lambda: AzumayaVecEnv,
    "sb3 num_envs": lambda: lambda x: AzumayaVecEnv(NAME, x),
    "sb3 dtype": lambda: lambda x: AzumayaVecEnv(NAME, dtype=x),
    "sb3 illegal": lambda: lambda x: AzumayaVecEnv(NAME, illegal=x),
    "sb3 seat": lambda: lambda x: AzumayaVecEnv(NAME, seat=x),
    "sb3 shaping": lambda: lambda x: AzumayaVecEnv(NAME, shaping=x),
    "sb3 step": lambda: learner().step,
    "sb3 seed": lambda: learner().seed,
    "sb3 position": lambda: lambda x: learner().env_method("position", indices=x),
    "sb3 action_masks": lambda: lambda x: learner().env_method("action_masks", indices=x),
    "sb3 get_attr": lambda: lambda x: learner().get_attr("num_envs", x),
    "aec step": lambda: aec(wrapped=False).step,
    "aec reset": lambda: lambda x: aec(wrapped=False).reset(seed=x),
    "aec reset options": lambda: lambda x: aec(wrapped=False).reset(options=x),
    "aec observe": lambda: aec(wrapped=False).observe,
    "aec observation_space": lambda: aec(wrapped=False).observation_space,
    "aec action_space": lambda: aec(wrapped=False).action_space,
    "aec set_state": lambda: aec(wrapped=False).set_state,
    "aec move_name": lambda: aec(wrapped=False).move_name,
    "aec parse_move": lambda: aec(wrapped=False).parse_move,
    "seat game": lambda: SingleAgentEnv,
    "seat opponent": lambda: lambda x: SingleAgentEnv(NAME, x),
    "seat seat": lambda: lambda x: SingleAgentEnv(NAME, seat=x),
    "seat step": lambda: seat().step,
    "seat action_mask": lambda: lambda x: SingleAgentEnv(NAME, action_mask=x),
}


@pytest.mark.filterwarnings("ignore:.*reset.options.*has no option")
@pytest.mark.parametrize("value", VALUES, ids=brief)
@pytest.mark.parametrize("name", CALLS)
def test_any_value_is_accepted_or_refused_by_a_documented_error(name: str, value: Any) -> None:
    """Each value is accepted or refused with a documented error."""
    call = CALLS[name]()
    with contextlib.suppress(*DOCUMENTED):
        call(value)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Position(None), OptionError),  # type: ignore[arg-type]
        (lambda: Position(3), OptionError),  # type: ignore[arg-type]
        (lambda: Position(NAME).parse_move(None), MoveNameError),  # type: ignore[arg-type]
        (lambda: Position(NAME).observation(True), OptionError),
        (lambda: Position(NAME).observation(1.0), OptionError),  # type: ignore[arg-type]
        (lambda: make(np.zeros(3)), OptionError),  # type: ignore[arg-type]
        (lambda: aec(wrapped=True).step(True), IllegalActionError),
        (lambda: make_vec(NAME, 2**62), OptionError),
        (lambda: make_vec(NAME, 1, copy="no"), OptionError),
        (lambda: make_vec(NAME, 1, copy=0), OptionError),
        (lambda: Position(NAME).revealed("x"), OptionError),  # type: ignore[arg-type]
        (lambda: Position(NAME).revealed(Position(OTHER)), OptionError),
        (lambda: RawEnv("no_such_game"), OptionError),
        (lambda: make_vec(NAME, 1, observation=["planes"]), OptionError),
        (lambda: learner().env_method("position", indices=-1), OptionError),
        (lambda: learner().env_method("position", indices=[0, 2]), OptionError),
    ],
)
def test_known_bad_arguments_are_refused(call: Callable[[], Any], error: type[Exception]) -> None:
    """Calls that once raised another error or returned something broken."""
    with pytest.raises(error):
        call()


def test_a_raw_environment_takes_the_name_of_a_game() -> None:
    assert RawEnv(NAME).game.name == NAME


def test_packed_observations_are_integers() -> None:
    """64-bit floats are not a packed observation."""
    games = make_vec(NAME, 2, observation="packed")
    words = games.reset(seed=1)[0]
    floats = {name: array.astype(np.float64) for name, array in words.items()}
    with pytest.raises(OptionError, match="64-bit words"):
        games.unpack(floats)
    games.unpack({name: array.view(np.int64) for name, array in words.items()})


# ---- keywords ----


@pytest.mark.parametrize(
    "call", [make, raw, make_vec, Position, SingleAgentEnv, AzumayaVecEnv], ids=lambda c: c.__name__
)
def test_unknown_keywords_are_type_errors(call: Callable[..., Any]) -> None:
    """As Python words it; TorchRL tries keywords and recognizes the error by its text."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'") as caught:
        call(NAME, frameskip=1)
    assert isinstance(caught.value, OptionError)


@pytest.mark.parametrize(
    ("call", "wrong", "right"),
    [
        (SingleAgentEnv, "oponent", "opponent"),
        (AzumayaVecEnv, "thread", "threads"),
        (make_vec, "autoreset_modes", "autoreset_mode"),
        (raw, "action_masks", "action_mask"),
        (make, f"{OPTION}s", OPTION),
    ],
)
def test_misspelt_keywords_of_environments_are_recognized(
    call: Callable[..., Any], wrong: str, right: str
) -> None:
    with pytest.raises(OptionError, match=f"'{wrong}': .*did you mean '{right}'.*It has {OPTION}"):
        call(NAME, **{wrong: 1})


# ---- where the mask is ----


@pytest.mark.parametrize("wrapped", [True, False])
def test_masks_in_infos_only(wrapped: bool) -> None:
    """With `action_mask="info"` an AEC environment observes planes alone and works as usual."""
    from pettingzoo.test import api_test  # noqa: PLC0415 - slow to load

    env, usual = make(NAME, action_mask="info"), make(NAME)
    env.reset(seed=1)
    usual.reset(seed=1)
    seen, mask = env.last()[0], env.infos[env.agent_selection]["action_mask"]
    assert env.observation_space(env.agent_selection).contains(seen)
    assert np.array_equal(seen, usual.last()[0]["observation"])
    assert np.array_equal(mask, usual.last()[0]["action_mask"])
    if wrapped:
        env.step(int(np.argmin(mask)))
        assert min(env.rewards.values()) == -1
    else:
        api_test(env.unwrapped, 30)


def test_masks_inside_the_observation() -> None:
    """`SingleAgentEnv` can observe a dict with the mask, which many libraries expect."""
    env, usual = SingleAgentEnv(NAME, action_mask="observation"), SingleAgentEnv(NAME)
    (seen, info), (planes, _) = env.reset(seed=1), usual.reset(seed=1)
    assert env.observation_space.contains(seen)
    assert np.array_equal(seen["observation"], planes)
    assert np.array_equal(seen["action_mask"], info["action_mask"])
    action = int(np.argmax(seen["action_mask"]))
    assert env.observation_space.contains(env.step(action)[0])
