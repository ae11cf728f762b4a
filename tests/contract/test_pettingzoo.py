"""PettingZoo's own tests; every warning but the documented ones is an error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from azumaya.baselines.cli.contract import legal_of
from azumaya.envs import make
from azumaya.envs.adapters.aec.moments import AGENTS
from tests.cases import Case
from tests.contract.checker import fingerprint
from tests.vector.cases import UNLIKE_GAMES

ALLOWED = (
    "Observation is not a NumPy array",  # both warnings are about Dict observations
    "Observation space for each agent probably should be",
    "reset\\(options=...\\): .* has no option",  # api_test passes an option of its own
)
CYCLES = 150


@contextmanager
def only_documented_warnings() -> Iterator[None]:
    """Turn all warnings but those in `ALLOWED` into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in ALLOWED:
            warnings.filterwarnings("ignore", message=message)
        yield


@pytest.mark.parametrize("kind", ["raw", "env"])
def test_api(shape_case: Case, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`api_test` passes, raw and wrapped."""
    with only_documented_warnings():
        api_test(getattr(shape_case, kind)(), num_cycles=CYCLES, verbose_progress=False)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["raw", "env"])
def test_seed(shape_case: Case, kind: str) -> None:
    """`seed_test` passes, raw and wrapped."""
    with only_documented_warnings():
        seed_test(getattr(shape_case, kind), num_cycles=CYCLES)


def test_parallel_api(shape_case: Case) -> None:
    """`parallel_api_test` passes on the game converted to the parallel API."""
    with only_documented_warnings():
        parallel_api_test(turn_based_aec_to_parallel(shape_case.env()), num_cycles=CYCLES)


@UNLIKE_GAMES
def test_render(case: Case) -> None:
    """`render_test` passes in every mode, without a display and without pauses.

    `tests/render/test_games_drawn.py` draws every game.
    """
    for package in ("azumaya.envs.render.raster", "resvg_py", "pygame"):
        pytest.importorskip(package, reason="needs the extra `render`")
    with only_documented_warnings():
        render_test(lambda render_mode: without_pauses(case.env(render_mode=render_mode)))


def without_pauses(env: Any) -> Any:
    """An environment whose window does not wait between frames."""
    env.unwrapped.metadata["render_fps"] = 10_000
    return env


def test_wrapper_order(shape_case: Case) -> None:
    """Wrappers are in PettingZoo's order: call order, bounds, illegal moves."""
    env = shape_case.env()
    kinds = []
    while env is not env.unwrapped:
        kinds.append(type(env))
        env = env.env
    expected = (
        wrappers.OrderEnforcingWrapper,
        wrappers.AssertOutOfBoundsWrapper,
        wrappers.TerminateIllegalWrapper,
    )
    assert len(kinds) == 3
    assert all(issubclass(kind, base) for kind, base in zip(kinds, expected, strict=True))


def test_an_illegal_move_loses_the_wrapped_game(shape_case: Case) -> None:
    """The offender gets -1, and both agents are terminated."""
    env = shape_case.env()
    env.reset(seed=1)
    while env.last()[0]["action_mask"].all():
        env.step(0)
    offender = env.agent_selection
    env.step(int(np.argmin(env.last()[0]["action_mask"])))
    assert env.unwrapped.rewards[offender] == -1
    assert all(env.terminations.values())
    assert_nothing_legal(env)
    assert_nothing_legal(deepcopy(env))
    moment = env.unwrapped.get_state()
    env.reset(seed=2)
    env.unwrapped.set_state(moment)
    assert_nothing_legal(env)
    for _ in AGENTS:
        env.step(None)
    assert env.agents == []
    moment = env.unwrapped.get_state()
    env.reset(seed=2)
    env.unwrapped.set_state(moment)
    assert env.agents == []
    assert not any(env.observe(agent)["action_mask"].any() for agent in AGENTS)


def test_an_illegal_move_loses_again_after_set_state(shape_case: Case) -> None:
    """The second time, too, no action is legal afterwards."""
    env = shape_case.env()
    env.reset(seed=1)
    while env.last()[0]["action_mask"].all():
        env.step(0)
    moment, illegal = env.unwrapped.get_state(), int(np.argmin(env.last()[0]["action_mask"]))
    for _ in range(2):
        env.unwrapped.set_state(moment)
        assert env.last()[0]["action_mask"].any()
        env.step(illegal)
        assert all(env.terminations.values())
        assert_nothing_legal(env)


def assert_nothing_legal(env: Any) -> None:
    """Both masks are all 0, in the observations and in the infos."""
    for agent in AGENTS:
        assert not env.observe(agent)["action_mask"].any()
        assert not env.unwrapped.infos[agent]["action_mask"].any()


def test_the_wrapped_mask_is_never_stale(shape_case: Case) -> None:
    """After `set_state` a move legal there can be played without observing first."""
    env = shape_case.env()
    env.reset(seed=2)
    raw = env.unwrapped
    moment = raw.get_state()
    env.last()
    first = int(legal_of(raw)[0])
    env.step(first)
    after = fingerprint(raw)
    env.last()
    raw.set_state(moment)
    env.step(first)
    assert fingerprint(raw) == after


def test_moves_are_judged_by_the_game_not_by_a_mask_handed_out(first_case: Case) -> None:
    """Users may write into masks: a legal move is played all the same, an illegal one loses."""
    env, twin = first_case.env(), first_case.raw()
    for place in ("observation", "infos"):
        for value in (0, 1):
            env.reset(seed=1)
            twin.reset(seed=1)
            agent = env.agent_selection
            seen = env.last()[0] if place == "observation" else env.infos[agent]
            illegal = np.flatnonzero(seen["action_mask"] == 0)
            legal = int(legal_of(twin)[0])
            seen["action_mask"][:] = value
            if value == 0:
                env.step(legal)
                twin.step(legal)
                assert fingerprint(env.unwrapped) == fingerprint(twin)
            elif illegal.size:
                env.step(int(illegal[0]))
                assert env.unwrapped.rewards[agent] == -1


def test_make_takes_names_and_ids(first_case: Case) -> None:
    """`make` takes a game's name, its id, or its name with the version."""
    game = first_case.game
    texts = set()
    for env in (make(game.name), make(game.id), make(f"{game.name}_v{game.version}")):
        env.reset(seed=1)
        texts.add(str(env.unwrapped.position))
        assert env.metadata["name"] == f"{game.name}_v{game.version}"
    assert len(texts) == 1


def test_a_game_is_in_pettingzoos_registry(first_case: Case) -> None:
    """`pettingzoo.make`, new in PettingZoo 1.27, gives the same environment."""
    registration = pytest.importorskip("pettingzoo.env_registry.registration")
    game = first_case.game
    env, ours = registration.make("aec", game.id), make(game.name)
    env.reset(seed=1)
    ours.reset(seed=1)
    assert env.metadata["name"] == f"{game.name}_v{game.version}"
    assert str(env.unwrapped.position) == str(ours.unwrapped.position)


def test_spaces_describe_the_game(case: Case) -> None:
    """The spaces match the game's record, and every call returns the same objects."""
    env = case.raw()
    game = case.game
    for agent in AGENTS:
        space = env.observation_space(agent)
        assert space is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert space["observation"].shape == (len(game.observation.planes), *game.observation.shape)
        assert env.action_space(agent).n == case.setup.num_actions
    assert env.observation_planes == game.observation.planes
    names = [plane.name for plane in game.observation.planes]
    assert len(set(names)) == len(names)
    assert all(plane.meaning and 1 <= plane.high <= 127 for plane in game.observation.planes)
    assert all(option.meaning and option.values for option in game.options)
