"""States from outside are accepted only with valid checksums; refusals change nothing."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from azumaya.envs.adapters.aec.moments import AGENTS
from azumaya.envs.errors import OptionError, PositionError
from azumaya.envs.kernels.checksum import checksum, checksums
from azumaya.envs.registry import GAMES
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.cases import Case, cases_of
from tests.vector.cases import (
    DRAWN_GAME,
    EVERY_GAME,
    ONE_GAME,
    UNLIKE_GAMES,
    alike,
    check_plays_like,
    vector,
)

ROWS = 4


def in_play(case: Case) -> Any:
    """A vector environment after some moves."""
    games = vector(case, ROWS)
    games.reset(seed=1)
    for _ in range(6):
        games.step(games.random_actions())
    return games


def flipped(array: np.ndarray, row: int, bit: int) -> np.ndarray:
    """A copy with one bit of a row changed."""
    copy = np.array(array)
    octets = copy.view(np.ndarray).view(np.uint8).reshape(len(copy), -1)
    octets[row, bit // 8] ^= np.uint8(1 << bit % 8)
    return copy


def check_refused(games: Any, state: Any, match: str = "state: row") -> None:
    before = games.get_state()
    with pytest.raises(OptionError, match=match):
        games.set_state(state)
    assert alike(before, games.get_state())
    games.step(games.random_actions())
    games.set_state(before)


@EVERY_GAME
def test_changed_bits_are_refused(case: Case) -> None:
    """A changed bit of a state or of its series is found; the error names the row."""
    games = in_play(case)
    states, series = games.get_state()
    rng = np.random.default_rng(1)
    for bit in rng.choice(8 * states.itemsize, 60, replace=False).tolist():
        row = bit % ROWS
        check_refused(games, (flipped(states, row, bit), series), f"state: row {row}")
    for bit in rng.choice(8 * series.itemsize, 30, replace=False).tolist():
        check_refused(games, (states, flipped(series, bit % ROWS, bit)))


@EVERY_GAME
def test_garbage_is_refused(case: Case) -> None:
    """Random bytes of the right type and shape."""
    games = in_play(case)
    states, series = games.get_state()
    rng = np.random.default_rng(2)
    for _ in range(12):
        noise = np.frombuffer(rng.bytes(states.nbytes), states.dtype)
        check_refused(games, (noise, series), "state: row 0")
    wrong = states.copy()
    wrong["to_move"][2] = 2
    check_refused(games, (wrong, series), "state: row 2")
    check_refused(games, (np.zeros_like(states), np.zeros_like(series)), "state: row 0")


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_states_of_another_action_space_are_refused(game: Any) -> None:
    """States of a variant with other actions are refused, although their layout is the same."""
    by_size = {case.setup.num_actions: case for case in cases_of(game)}
    if len(by_size) == 1:
        pytest.skip("all variants have the same actions")
    one, other = list(by_size.values())[:2]
    state = in_play(one).get_state()
    check_refused(in_play(other), state, f"does not have {other.setup.num_actions} actions")


@ONE_GAME
def test_rows_of_states_may_be_selected_and_joined(case: Case) -> None:
    """Rows of states may be selected, joined and saved, if both arrays are treated alike."""
    games, other = in_play(case), in_play(case)
    other.step(other.random_actions())
    (states, series), (more, their) = games.get_state(), other.get_state()
    joined = np.concatenate([states[2:], more[:2]]), np.concatenate([series[2:], their[:2]])
    games.set_state(pickle.loads(pickle.dumps(joined)))
    assert str(games.position(3)) == str(other.position(1))
    check_refused(games, (states, series[::-1]))


def test_checksums() -> None:
    """A checksum depends on every word of its row, on the order, and on the record type."""
    kind = np.dtype([("a", np.int64), ("b", np.uint64)])
    records = np.zeros(3, kind)
    records["a"], records["b"] = [1, 2, 1], [2, 1, 2]
    sums = checksums("x", records)
    assert sums[0] == sums[2] != sums[1]
    assert (checksums("y", records) != sums).all()
    assert (checksums("x", records, records) != sums).all()
    assert checksums("x", records[1:]).tolist() == sums[1:].tolist()
    assert checksum("x", records) != checksum("x", records[[1, 0, 2]]) != checksum("x", records[:2])


# ---- the AEC environment ----


@EVERY_GAME
def test_changed_aec_states_are_refused(case: Case) -> None:
    """States and all other fields are checked by checksum."""
    env = case.raw()
    env.reset(seed=1)
    moment = env.get_state()
    env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))
    now = str(env.position)
    rng = np.random.default_rng(3)
    bits = rng.choice(8 * moment.states.itemsize, 40, replace=False).tolist()
    wrong = [replace(moment, states=flipped(moment.states, 0, bit)) for bit in bits]
    wrong += [replace(moment, series=flipped(moment.series, 0, bit)) for bit in range(0, 568, 9)]
    wrong += [
        replace(moment, selection="player_2"),
        replace(moment, agents=("player_0", "nobody")),
        replace(moment, terminations={}),
        replace(moment, states=np.concatenate([moment.states] * 2)),
        replace(moment, states=None),
        replace(moment, selection=next(a for a in AGENTS if a != moment.selection)),
        replace(moment, agents=()),
        replace(moment, rewards=dict.fromkeys(AGENTS, float("nan"))),
        replace(moment, cumulative_rewards=dict.fromkeys(AGENTS, 1.0)),
        replace(moment, terminations=dict.fromkeys(AGENTS, True)),
        replace(moment, truncations=dict.fromkeys(AGENTS, True)),
        replace(moment, series=np.concatenate([moment.series] * 2)),
        replace(moment, last_action=0),
        replace(moment, skip_selection="player_0"),
        replace(moment, setup=moment.setup.without_starts()),
        moment.states,
    ]
    for each in wrong:
        with pytest.raises(OptionError, match=r"moment: |state: row 0 was changed|states: "):
            env.set_state(each)
        assert str(env.position) == now
    env.set_state(pickle.loads(pickle.dumps(moment)))


# ---- pickles ----


def sb3_games(case: Case) -> AzumayaVecEnv:
    """An SB3 environment with shaped rewards, which are part of the saved state."""
    games = AzumayaVecEnv(case.game, ROWS, seed=1, shaping=0.5, opponent="greedy", **case.options)
    games.reset()
    return games


def aec_env(case: Case) -> Any:
    """An AEC environment in play."""
    env = case.env()
    env.reset(seed=1)
    return env


SAVED: dict[str, tuple[Callable[[Case], Any], Callable[[Any], np.ndarray]]] = {
    "vector": (in_play, lambda games: games.games.states),
    "starts": (lambda case: replace(case.setup, made_from=None), lambda setup: setup.starts),
    "aec": (aec_env, lambda env: env.unwrapped.games.states),
    "aec series": (aec_env, lambda env: env.unwrapped.games.series),
    "position": (lambda case: case.position(1), lambda position: position._states),
    "sb3": (sb3_games, lambda games: games.duel.states),
    "sb3 seats": (sb3_games, lambda games: games.duel.seats),
}


@DRAWN_GAME
@pytest.mark.parametrize("name", SAVED)
def test_changed_pickles_are_refused(case: Case, name: str) -> None:
    """A changed bit in pickled states is found when they are loaded."""
    make, states_of = SAVED[name]
    saved = pickle.dumps(make(case))
    loaded = pickle.loads(saved)
    content = states_of(loaded).tobytes()
    at = saved.index(content)
    for bit in np.random.default_rng(4).choice(8 * len(content), 20, replace=False).tolist():
        wrong = bytearray(saved)
        wrong[at + bit // 8] ^= 1 << bit % 8
        with pytest.raises((OptionError, PositionError), match="changed after"):
            pickle.loads(bytes(wrong))


@UNLIKE_GAMES
def test_pickled_sb3_games_continue(case: Case) -> None:
    """A copy continues as the original does."""
    games = sb3_games(case)
    check_plays_like(games, pickle.loads(pickle.dumps(games)), 9)
