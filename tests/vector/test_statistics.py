"""Returns and lengths by seat in every autoreset mode, and illegal moves that lose."""

from __future__ import annotations

import pickle
from copy import copy
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.errors import OptionError
from azumaya.envs.game import TERMINATED
from azumaya.envs.observation import planes_of
from azumaya.wrappers import SeatStatistics
from tests.cases import Case
from tests.vector.cases import DRAWN_GAME, ONE_GAME, UNLIKE_GAMES, vector

MODES = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)


@ONE_GAME
@MODES
def test_returns_by_seat(case: Case, mode: AutoresetMode) -> None:
    """Returns are those of the final position, and lengths count moves."""
    games = SeatStatistics(vector(case, 6, autoreset_mode=mode))
    games.reset(seed=1)
    inner, ended = games.unwrapped, 0
    moves, over = np.zeros(6, np.int64), np.zeros(6, np.bool_)
    for _ in range(200):
        actions = inner.random_actions()
        if mode is AutoresetMode.DISABLED and over.any():
            games.reset(options={"reset_mask": over})
            moves[over], actions = 0, inner.random_actions()
            over[:] = False
        before = moves + (1 if mode is not AutoresetMode.NEXT_STEP else ~over)
        _, _, terminated, truncated, infos = games.step(actions)
        moves = np.where(over, 0, before)
        over = terminated | truncated
        assert np.array_equal(infos["_episode"], over)
        assert np.array_equal(infos["episode"]["l"], np.where(over, moves, 0))
        for row in np.flatnonzero(over):
            ended += 1
            gained = infos["episode"]["r"][row]
            assert gained.sum() == 0
            if mode is AutoresetMode.SAME_STEP:
                assert np.array_equal(gained, infos["rewards"][row])  # all rewards come at the end
            else:
                assert gained.tolist() == list(inner.position(int(row)).returns())
        if mode is AutoresetMode.SAME_STEP:
            moves[over], over = 0, np.zeros(6, np.bool_)
    assert ended > 12


@ONE_GAME
def test_other_environments_are_refused(case: Case) -> None:
    """The wrapper refuses environments of other kinds."""
    for other in (case.env(), VectorEnv(), None):
        with pytest.raises(OptionError, match="must be an Azumaya vector environment"):
            SeatStatistics(other)


@ONE_GAME
def test_a_copy_has_games_of_its_own(case: Case) -> None:
    games = SeatStatistics(vector(case, 6))
    games.reset(seed=1)
    other, before = copy(games), str(games.unwrapped.position(0))
    other.step(other.unwrapped.random_actions())
    assert str(games.unwrapped.position(0)) == before != str(other.unwrapped.position(0))
    assert not games._lengths.any()
    assert other._lengths.all()


def test_the_counts_begin_anew_after_calls_to_the_games_inside() -> None:
    """`set_state`, `rollout` and `step` of the environment inside change games as well."""
    games = SeatStatistics(AzumayaVectorEnv("abalone", 2, max_plies=4, threads=1))
    inner = games.unwrapped

    def lengths(steps: int) -> list[list[int]]:
        return [
            games.step(inner.random_actions())[4]["episode"]["l"].tolist() for _ in range(steps)
        ]

    games.reset(seed=1)
    start = inner.get_state()
    assert lengths(4)[-1] == [4, 4]
    over = inner.get_state()
    inner.set_state(start)
    assert lengths(5) == [[0, 0]] * 3 + [[4, 4], [0, 0]]
    inner.set_state(over)
    assert lengths(5) == [[0, 0]] * 4 + [[4, 4]]
    games.reset(seed=1)
    inner.rollout(1)
    assert lengths(3)[-1] == [3, 3]
    games.reset(seed=1)
    lengths(1)
    inner.step(inner.random_actions())
    assert lengths(2)[-1] == [2, 2]
    inner.set_state(over)
    games.reset(options={"reset_mask": np.array([True, False])})
    assert lengths(5)[3:] == [[4, 0], [0, 4]]
    with pytest.raises(OptionError):
        inner.set_state(None)  # nothing has changed
    lengths(1)
    assert SeatStatistics(inner).step(inner.random_actions())[4]["episode"]["l"].tolist() == [0, 0]


@ONE_GAME
def test_in_disabled_mode_each_game_is_counted_once(case: Case) -> None:
    """A game that is over stays over, but it ends in one step."""
    games = SeatStatistics(vector(case, 6, autoreset_mode="Disabled"))
    games.reset(seed=1)
    counts, lengths = np.zeros(6, np.int64), np.zeros(6, np.int64)
    while not counts.all():
        infos = games.step(games.unwrapped.random_actions())[4]
        counts += infos["_episode"]
        lengths += infos["episode"]["l"]
    assert (counts == 1).all()
    assert (lengths > 1).all()


# ---- with Gymnasium's statistics ----


def test_some_games_restart_under_a_wrapper_that_takes_the_mask_out_of_the_options() -> None:
    """Gymnasium's statistics do that; the counts of the other games go on."""
    inner = AzumayaVectorEnv("abalone", 2, max_plies=4, threads=1, autoreset_mode="Disabled")
    games = SeatStatistics(RecordEpisodeStatistics(inner, stats_key="mixed"))
    games.reset(seed=1)
    games.step(inner.random_actions())
    options = {"reset_mask": np.array([True, False])}
    games.reset(options=options)
    assert list(options) == ["reset_mask"]
    for _ in range(3):
        infos = games.step(inner.random_actions())[4]
    assert infos["episode"]["l"].tolist() == [0, 4]


def test_results_of_a_wrapper_inside_are_not_overwritten() -> None:
    inner = AzumayaVectorEnv("abalone", 1, max_plies=2, threads=1)
    games = SeatStatistics(RecordEpisodeStatistics(inner))
    games.reset(seed=1)
    games.step(inner.random_actions())
    with pytest.raises(OptionError, match="'episode' as well"):
        games.step(inner.random_actions())


# ---- illegal moves that lose ----


def illegal(masks: np.ndarray) -> np.ndarray:
    return np.argmin(masks, axis=1)


@DRAWN_GAME
@MODES
@pytest.mark.parametrize("threads", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_an_illegal_move_loses(case: Case, mode: AutoresetMode, threads: int) -> None:
    """The player who makes it loses; other games continue as usual."""
    many: dict[str, Any] = {"autoreset_mode": mode, "threads": threads}
    games, twin = vector(case, 4000, illegal="lose", **many), vector(case, 4000, **many)
    masks = games.reset(seed=1)[0]["action_mask"]
    twin.reset(seed=1)
    for ply in range(2):
        actions = twin.random_actions()
        movers = games.get_state()[0]["to_move"]
        if ply:
            wrong = np.arange(4000) % 3 == 0
            twin_results = twin.step(actions)
            actions[wrong] = illegal(masks)[wrong]
            actions[0] = -(2**40)
            seen, rewards, terminated, _, infos = games.step(actions)
            assert (rewards[wrong] == -1).all()
            assert terminated[wrong].all()
            each = np.arange(4000)
            assert (infos["rewards"][each, movers][wrong] == -1).all()
            assert (infos["rewards"].sum(axis=1) == 0).all()
            assert np.array_equal(rewards[~wrong], twin_results[1][~wrong])
            assert np.array_equal(
                seen["action_mask"][~wrong], twin_results[0]["action_mask"][~wrong]
            )
            if mode is AutoresetMode.SAME_STEP:
                assert seen["action_mask"].any(axis=1).all()
                assert infos["_final_obs"][wrong].all()
            else:
                assert not seen["action_mask"][wrong].any()
        else:
            masks = games.step(actions)[0]["action_mask"]
            twin.step(actions)
    seen, rewards, terminated, *_ = games.step(games.random_actions())
    if mode is AutoresetMode.NEXT_STEP:
        assert seen["action_mask"][wrong].any(axis=1).all()
    if mode is not AutoresetMode.SAME_STEP:
        assert not rewards[wrong].any()
        assert (terminated[wrong] == (mode is AutoresetMode.DISABLED)).all()


@UNLIKE_GAMES
def test_a_game_lost_by_an_illegal_move_can_be_read_back(case: Case) -> None:
    """Its position is the one before that move; only the environment knows that it is over."""
    games, twin = vector(case, 3, illegal="lose"), vector(case, 3)
    games.reset(seed=1)
    twin.reset(seed=1)
    before, actions = games.position(1), games.random_actions()
    actions[1] = -1
    seen = games.step(actions)[0]
    assert games.position(1) == before == case.read(str(games.position(1)))
    assert not games.position(1).is_over
    state = games.get_state()
    with pytest.raises(OptionError, match="state: row 1 was lost by an illegal action"):
        twin.set_state(state)
    for copied in (pickle.loads(pickle.dumps(games)), vector(case, 3, illegal="lose")):
        again = copied.set_state(state)[0]
        assert all(np.array_equal(again[name], seen[name]) for name in seen)
        assert copied.step(copied.random_actions())[1][1] == 0
        assert copied.get_state()[1]["episode"].tolist() == [0, 1, 0]
    assert games.rollout(1) == 0
    assert games.get_state()[1]["episode"].tolist() == [0, 1, 0]
    assert not games.get_state()[1]["lost"].any()


@UNLIKE_GAMES
def test_the_end_of_a_game_lost_by_an_illegal_move_is_shown(case: Case) -> None:
    """To both players as that of any other game: no action, and no player to move."""
    games = vector(case, 2, illegal="lose", autoreset_mode="SameStep")
    games.reset(seed=1)
    ended = games.position(1)
    final = games.step(np.array([games.random_actions()[0], -1]))[-1]["final_obs"][1]
    states = ended.state
    states["over"] = TERMINATED
    shown = planes_of(case.game, states[0], ended.to_move)
    assert np.array_equal(final["observation"], shown)
    assert not np.array_equal(shown, ended.observation(ended.to_move))
    assert not final["action_mask"].any()


@ONE_GAME
def test_the_autoreset_mode_is_an_attribute(case: Case) -> None:
    """`autoreset_mode` is an attribute, as in Gymnasium's vector environments."""
    for mode in AutoresetMode:
        assert vector(case, 2, autoreset_mode=mode).autoreset_mode is mode
        assert vector(case, 2, autoreset_mode=mode.value).autoreset_mode is mode
